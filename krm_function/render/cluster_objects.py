"""Complete the objects of a cluster: the RuntimeClasses of a release, and the node installers of its platforms.

Rule of this file: both get the scheduling of their platform, so that no node has a handler it cannot run. Existing
values never change; a contradiction is an error. There is no undo record, because no render made these objects. Source:
docs/facts/contrast.md#runtime-file.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.config.collect import Config
from krm_function.contrast.platforms import PLATFORMS
from krm_function.findings import Finding, finding, has_errors
from krm_function.kubernetes.objects import dig, mapping
from krm_function.kubernetes.resource import ObjectEdits, Resource
from krm_function.kubernetes.workload import POD_ROLE, Workload
from krm_function.record import NamedTuple
from krm_function.render.classes import complete_classes, find_class_objects, schedule, schedule_daemon_set
from krm_function.text.splice import splice

TEMPLATE = ("spec", "template")
INSTALLER_ROLE = "contrast-node-installer"
SUFFIX = "-nodeinstaller"  # behind the name of the handler
EDIT_CODES = ("CC0301", "CC0306", "CC0307", "CC0320")  # findings that only announce an edit


class ClusterObjects(NamedTuple):
    """The texts of the given documents, and the classes that none of them has."""

    texts: tuple[str, ...] = ()
    added: tuple[dict[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()


def complete_cluster_objects(resources: Sequence[Resource], config: Config) -> ClusterObjects:
    """Complete the RuntimeClasses and node installers among the resources, and make the missing classes.

    Raises YamlError for an unreadable document.
    """
    parsed = [resource.given()._replace(position=position) for position, resource in enumerate(resources)]
    options = config.generate._replace(runtime_classes="emit")
    used = [PLATFORMS[name] for name in config.release.platforms]
    classes = complete_classes(options, config.release, used, find_class_objects(parsed, config.release))
    edits = [*classes.edits]
    findings = list(classes.findings)
    for workload in _find_installers(parsed):
        runtime_class = classes.classes.get(workload.ref.name.removesuffix(SUFFIX))
        if runtime_class is None:
            findings.append(workload.placed(finding("CC0324", workload.ref, (*workload.root, "metadata", "name"))))
            continue
        problems = map(workload.placed, schedule(workload, runtime_class).findings)
        findings += [problem for problem in problems if problem.severity == "error"]
        position, root = workload.place
        edits.append((position, ObjectEdits(root, workload.ref, schedule_daemon_set(workload, runtime_class).edits)))
    remaining = tuple(problem for problem in findings if problem.code not in EDIT_CODES)
    if has_errors(remaining):
        return ClusterObjects(findings=remaining)
    return ClusterObjects(tuple(_texts(parsed, edits)), classes.added, remaining)


def _find_installers(resources: Sequence[Resource]) -> Iterator[Workload]:
    for resource in resources:
        for _, root, ref, value in resource.objects:
            role = mapping(dig(value, (*TEMPLATE, "metadata", "annotations"))).get(POD_ROLE)
            if ref.kind == "DaemonSet" and (role == INSTALLER_ROLE or ref.name.endswith(SUFFIX)):
                yield Workload(value, root, ref, TEMPLATE, resource)


def _texts(resources: Sequence[Resource], edits: Sequence[tuple[int, ObjectEdits]]) -> Iterator[str]:
    for resource in resources:
        of_resource = [object_edits.edits for position, object_edits in edits if position == resource.position]
        changes = [edit.change for object_edits in of_resource for edit in object_edits]
        yield splice(resource.document, changes).text if changes and resource.document is not None else resource.text
