"""DaemonSets: write the scheduling of the runtime class into the pod template.

Rule of this file: only what the template lacks is added; nothing that it has is changed or removed. The DaemonSet
controller chooses nodes by the template, before admission merges the class into the pods that it makes: without these
entries it makes pods that stay Pending on nodes outside the class, and none on nodes that only the class tolerates.
nodeSelector and tolerations enter no policy. Source: docs/facts/kubernetes.md#scheduling.

    the template's            the class's          edit
    nodeSelector: no key      key: value           the key is added
    nodeSelector: key         the same value       none
    nodeSelector: key         another value        none at all: the schedule stage reports CC0304
    tolerations: one covers   a toleration         none
    tolerations: none covers  a toleration         it is added behind the others
"""

from collections.abc import Iterator

from krm_function.findings import Finding, finding
from krm_function.model.draft import Draft
from krm_function.model.edits import Outcome
from krm_function.model.kinds import template_paths
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_admission import merge_node_selector
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.model.template_scheduling import Lacking, lacking, lost
from krm_function.model.workload import Workload
from krm_function.yamltext.fast.values import read_value

KIND = "DaemonSet"
CODE = "CC0320"


def needs_scheduling(workload: Workload, runtime_class: RuntimeClass | None) -> Lacking:
    """Find what the template of a DaemonSet lacks of its class; nothing for other kinds, or without a class."""
    if workload.ref.kind != KIND or workload.made_by or runtime_class is None:
        return Lacking({}, ())
    if merge_node_selector(workload.pod_spec, runtime_class).conflicts:
        return Lacking({}, ())
    return lacking(workload.pod_spec, runtime_class)


def schedule_daemon_set(workload: Workload, runtime_class: RuntimeClass | None) -> Outcome:
    """Write into the template of a DaemonSet what it lacks of its class's scheduling."""
    missing = needs_scheduling(workload, runtime_class)
    if not missing or runtime_class is None:
        return Outcome()
    name, draft = runtime_class.name, Draft(workload)
    reason = f"the DaemonSet controller does not see the scheduling of runtime class {name}"
    path = (*workload.spec_path, "nodeSelector")
    if workload.at(path) is None and missing.node_selector:
        draft.edit("set", path, dict(missing.node_selector), CODE, reason)
    else:
        for key, value in missing.node_selector.items():
            draft.edit("set", (*path, key), value, CODE, reason)
    path = (*workload.spec_path, "tolerations")
    for toleration in missing.tolerations:
        draft.put(path, len(draft.workload.at(path) or ()), dict(toleration), CODE, reason)
    return Outcome(tuple(draft.edits), (finding(CODE, workload.ref, workload.spec_path, what=missing, name=name),))


def unscheduled_daemon_set(workload: Workload, runtime_class: RuntimeClass | None) -> tuple[Finding, ...]:
    """Report, for the command `check`, what the template of a rendered DaemonSet lacks of its class's scheduling."""
    missing = needs_scheduling(workload, runtime_class)
    if not missing or runtime_class is None:
        return ()
    return (finding("CC0321", workload.ref, workload.spec_path, what=missing, name=runtime_class.name),)


def taken_out(resource: Resource, given: Resource) -> Iterator[Finding]:
    """Report what an undo record took out of the template of a DaemonSet and this render does not write again.

    resource: after the render. given: the same as it stands in the input. An earlier render wrote the entry while the
    class had another scheduling, or an author of the input wrote the record: it is not known which, so it is never
    silent.
    """
    text = resource.output
    if text is None or not resource.may_be((KIND, "List")):
        return
    after = {reference(value): value for _, value in objects(read_value(text))}
    for root in resource.undone:
        ref = reference(dig(given.value, root))
        if ref.kind != KIND or ref not in after:
            continue
        for template in template_paths(KIND, after[ref]):
            spec = mapping(dig(after[ref], (*template, "spec")))
            path = (*root, *template, "spec")
            if gone := lost(mapping(dig(given.value, path)), spec):
                yield given.placed(finding("CC0322", ref, path, what=gone, name=spec.get("runtimeClassName")))
