"""Runtime classes: placeholders, scheduling, the RuntimeClass objects, and the pods' agreement with them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.generate import Generate, Scheduling
from krm_function.config.release import PlatformRelease, Release
from krm_function.contrast.gpus import wants_gpu
from krm_function.contrast.platforms import (
    PLATFORMS,
    Platform,
    parse_runtime_class,
    placeholder,
    suggest_placeholder,
    with_gpu,
)
from krm_function.findings import Finding, Path, Ref, dotted, finding, has_errors
from krm_function.kubernetes.kinds import template_paths
from krm_function.kubernetes.objects import dig, mapping, maps, objects, reference
from krm_function.kubernetes.quantity import equal
from krm_function.kubernetes.resource import Edit, ObjectAt, ObjectEdits, Outcome, Resource
from krm_function.kubernetes.runtime_classes import (
    API_VERSION,
    DEPRECATED_NODE_LABELS,
    KIND,
    Lacking,
    RuntimeClass,
    covers,
    lacking,
    lost,
    merge_node_selector,
    overhead_agrees,
    parse_runtime_class_object,
)
from krm_function.kubernetes.workload import EMITTED, RESOURCE_POLICY, Draft, Workload
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY
from krm_function.text.changes import ABSENT, apply
from krm_function.text.parse import read_value

# --- Resolve: replace the runtime class placeholder by the handler of the release
#
# Rule: the platform set is closed and comes from the name alone; an unknown name is an error and never a default
# (docs/facts/contrast.md#runtime-class-names). `contrast.platforms` has the meaning of a name. Its handler is
# decided here:
#
#     the pod names                        GPU limit   default set   handler of
#     contrast-cc, kata-cc-isolation       no          yes           the default platform
#     contrast-cc, kata-cc-isolation       yes         yes           the default platform's GPU variant
#     contrast-cc, kata-cc-isolation       any         no            CC0402
#     contrast-cc-<platform>[-<hash>]      any         any           that platform (never promoted)
#     contrast-insecure*                   any         any           CC0405
#     contrast-<anything else>             any         any           CC0401


def resolve(workload: Workload, release: Release, default: str) -> tuple[Platform | None, Outcome]:
    """Decide the platform of a workload, None where its class names none. default: a platform's name or ""."""
    name = workload.runtime_class
    path = (*workload.spec_path, "runtimeClassName")

    def failed(code: str, **values: Any) -> tuple[None, Outcome]:
        return None, Outcome(findings=(finding(code, workload.ref, path, **values),))

    parsed = parse_runtime_class(name)
    match parsed:
        case "bare":
            if not default:
                return failed("CC0402", name=name)
            platform = with_gpu(PLATFORMS[default]) if wants_gpu(workload.pod_spec) else PLATFORMS[default]
        case Platform():
            platform = parsed
        case "insecure":
            return failed("CC0405", platform=name)
        case _:
            suggestion = suggest_placeholder(name)
            names = ", ".join(placeholder(entry) for entry in PLATFORMS.values())
            return failed("CC0401.near" if suggestion else "CC0401", name=name, known=names, near=suggestion)
    facts = release.platforms.get(platform.name)
    if facts is None:
        names = ", ".join(sorted(release.platforms)) or "none"
        return failed("CC0403", platform=platform.name, release=release.version, known=names)
    edits: tuple[Edit, ...] = ()
    if name != facts.handler:
        reason = f"{placeholder(platform)} is {facts.handler} in release {release.version}"
        edits = (Edit("set", path, name, facts.handler, "CC0404", reason),)
    return platform, Outcome(edits)


# --- Schedule: check each pod against the RuntimeClass that it names
#
# Rule: no pod is edited here. A conflict that Kubernetes' admission would refuse when it merges the class into the pod
# is an error now, all conflicts at once. The scheduling is written into RuntimeClass objects and, for DaemonSets alone,
# into the pod template (both below).


def schedule(workload: Workload, runtime_class: RuntimeClass | None) -> Outcome:
    """Report where a pod will run and what its admission would refuse; nothing if its class is unknown (None)."""
    if runtime_class is None:
        return Outcome()
    spec, path = workload.pod_spec, workload.spec_path
    name = runtime_class.name
    merged, conflicts = merge_node_selector(spec, runtime_class)
    findings = [
        finding("CC0304", workload.ref, (*path, "nodeSelector", key), key=key, pod=pod, wanted=value, name=name)
        for key, pod, value in conflicts
    ]
    excluded = _find_excluded(spec, runtime_class)
    if excluded:
        at = (*path, "affinity", "nodeAffinity")
        selector = _format_selector(runtime_class.node_selector)
        findings.append(finding("CC0323", workload.ref, at, wanted=excluded, selector=selector, name=name))
    if not overhead_agrees(spec, runtime_class):
        findings.append(finding("CC0305", workload.ref, (*path, "overhead"), name=name))
    if spec.get("nodeName"):
        findings.append(finding("CC0310", workload.ref, (*path, "nodeName"), node=spec["nodeName"]))
    if merged and not conflicts and not excluded:
        findings.append(finding("CC0301", workload.ref, path, selector=_format_selector(merged)))
    return Outcome(findings=tuple(findings))


def _format_selector(selector: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(selector.items()))


def _find_excluded(spec: Mapping[str, Any], runtime_class: RuntimeClass) -> str:
    """Return the required node affinity of a pod that no node of its class satisfies, or ""."""
    if not runtime_class.node_selector or not dig(spec, ("affinity", "nodeAffinity")):
        return ""
    from krm_function.kubernetes.nodes import required_terms, ruled_out

    return ruled_out(required_terms(spec), runtime_class.node_selector)


# --- DaemonSets: write the scheduling of the runtime class into the pod template
#
# Rule: only missing entries are added to the template; existing ones are neither changed nor removed. The DaemonSet
# controller chooses nodes by the template, before admission merges the class into the pods that it makes: without these
# entries it makes pods that stay Pending on nodes outside the class, and none on nodes that only the class tolerates.
# nodeSelector and tolerations enter no policy. Source: docs/facts/kubernetes.md#scheduling.
#
#     the template's            the class's          edit
#     nodeSelector: no key      key: value           the key is added
#     nodeSelector: key         the same value       none
#     nodeSelector: key         another value        none at all: the schedule stage reports CC0304
#     tolerations: one covers   a toleration         none
#     tolerations: none covers  a toleration         it is added behind the others


DAEMON_SET = "DaemonSet"
CODE = "CC0320"


def needs_scheduling(workload: Workload, runtime_class: RuntimeClass | None) -> Lacking:
    """Find the scheduling of its class that a DaemonSet lacks; nothing for other kinds, or without a class."""
    is_daemon_set = workload.ref.kind == DAEMON_SET and not workload.made_by
    if not is_daemon_set or runtime_class is None or merge_node_selector(workload.pod_spec, runtime_class)[1]:
        return Lacking({}, ())
    return lacking(workload.pod_spec, runtime_class)


def schedule_daemon_set(workload: Workload, runtime_class: RuntimeClass | None) -> Outcome:
    """Write the missing scheduling of its class into the template of a DaemonSet."""
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


def check_daemon_set(workload: Workload, runtime_class: RuntimeClass | None) -> tuple[Finding, ...]:
    """Report, for the command `check`, the scheduling of its class that a rendered DaemonSet lacks."""
    missing = needs_scheduling(workload, runtime_class)
    if not missing or runtime_class is None:
        return ()
    return (finding("CC0321", workload.ref, workload.spec_path, what=missing, name=runtime_class.name),)


def find_removed_scheduling(resource: Resource, source: Resource) -> Iterator[Finding]:
    """Report scheduling that an undo record removed from a DaemonSet's template and this render does not write again.

    resource: after the render. source: the same resource in the input. Either an earlier render wrote the entry when
    the class had another scheduling, or an author of the input wrote the record: nothing tells these apart, so the
    removal is always reported.
    """
    text = resource.output
    if text is None or not resource.may_be((DAEMON_SET, "List")):
        return
    rendered = {reference(value): value for _, value in objects(read_value(text))}
    for root in resource.undone:
        ref = reference(dig(source.value, root))
        if ref.kind != DAEMON_SET or ref not in rendered:
            continue
        for template in template_paths(DAEMON_SET, rendered[ref]):
            spec = mapping(dig(rendered[ref], (*template, "spec")))
            path = (*root, *template, "spec")
            if gone := lost(mapping(dig(source.value, path)), spec):
                yield source.placed(finding("CC0322", ref, path, what=gone, name=spec.get("runtimeClassName")))


# --- Runtime classes: write the configured scheduling into RuntimeClass objects of the input, and emit missing ones
#
# Rule: Kubernetes merges the scheduling of a RuntimeClass into every pod that names it, so the configured scheduling is
# written there, and otherwise only into DaemonSets. A contradiction between object, release and configuration is an
# error. A class belongs to the whole cluster, so an emitted one makes Helm keep it on uninstall. Sources:
# docs/facts/kubernetes.md#runtimeclass-admission, docs/facts/helm.md#objects.


class RuntimeClasses(NamedTuple):
    """The classes that pods are checked against, by name; the edits of their objects; the objects to add.

    edits: each with the position of its resource.
    """

    classes: Mapping[str, RuntimeClass] = EMPTY
    edits: Sequence[tuple[int, ObjectEdits]] = ()
    added: tuple[dict[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()


def find_class_objects(resources: Iterable[Resource], release: Release) -> list[ObjectAt]:
    """Find the RuntimeClass objects of the input that belong to the release; without those that a render added."""
    handlers = {platform.handler for platform in release.platforms.values()}
    return [
        item
        for resource in resources
        if resource.document is not None and resource.state != "added"
        for item in resource.objects
        if item.ref.kind == KIND
        and item.ref.name in handlers
        and dig(item.value, ("metadata", "annotations", EMITTED)) is None  # in a List; this render makes it again
    ]


def complete_classes(
    options: Generate, release: Release, used: Iterable[Platform], present: Sequence[ObjectAt]
) -> RuntimeClasses:
    """Fill the RuntimeClass objects of the release, and make those that the used platforms lack.

    present: objects of the input; an object whose name is not a handler of the release stays. A class without an object
    is derived from configuration and release; with runtimeClasses emit, the object is added.
    """
    if options.runtime_classes == "off":
        return RuntimeClasses()
    classes: dict[str, RuntimeClass] = {}
    filled: list[tuple[int, ObjectEdits]] = []
    added: list[dict[str, Any]] = []
    findings: list[Finding] = []
    platforms = {facts.handler: name for name, facts in release.platforms.items()}
    for item in present:
        if item.ref.name not in platforms:
            continue
        platform = platforms[item.ref.name]
        facts, scheduling = release.platforms[platform], options.scheduling.get(platform, Scheduling())
        edits, problems = _fill(item, platform, scheduling)
        value = apply(mapping(item.value), [edit.change for edit in edits])
        runtime_class = parse_runtime_class_object(value).runtime_class
        problems += [
            *_find_problems(item.ref, item.root, value),
            *_find_release_conflicts(item, facts),
            *_find_deprecated_labels(item.ref, runtime_class),
        ]
        findings += problems
        classes.setdefault(item.ref.name, runtime_class)
        if edits and not has_errors(problems):
            absolute = tuple(edit._replace(path=item.root + edit.path) for edit in edits)
            filled.append((item.resource.position, ObjectEdits(item.root, item.ref, absolute)))
    for platform in sorted({platform.name for platform in used} & release.platforms.keys()):
        facts = release.platforms[platform]
        if facts.handler in classes:
            continue
        value = make_runtime_class(facts, options.scheduling.get(platform, Scheduling()))
        ref = Ref(API_VERSION, KIND, "", facts.handler)
        parsed = parse_runtime_class_object(value)
        findings += [*_find_problems(ref, (), value), *_find_deprecated_labels(ref, parsed.runtime_class)]
        classes[facts.handler] = parsed.runtime_class
        if options.runtime_classes == "emit":
            value["metadata"]["annotations"] = {EMITTED: "true", RESOURCE_POLICY: "keep"}
            added.append(value)
            findings.append(finding("CC0307", ref, name=facts.handler))
    return RuntimeClasses(classes, filled, tuple(added), tuple(findings))


def make_classes(values: Iterable[Any], config: Config | None) -> dict[str, RuntimeClass]:
    """Return the classes by name as a render made them, or would make them: of some objects, and of the release."""
    classes: dict[str, RuntimeClass] = {}
    if config is not None and config.generate.runtime_classes != "off":
        for platform, facts in config.release.platforms.items():
            value = make_runtime_class(facts, config.generate.scheduling.get(platform, Scheduling()))
            classes[facts.handler] = parse_runtime_class_object(value).runtime_class
    objects = [(reference(value), value) for value in values]
    return classes | {
        ref.name: parse_runtime_class_object(value).runtime_class
        for ref, value in objects
        if (ref.api_version, ref.kind) == (API_VERSION, KIND)
    }


def make_runtime_class(facts: PlatformRelease, scheduling: Scheduling) -> dict[str, Any]:
    """Make the RuntimeClass that release and configuration describe (docs/facts/contrast.md#runtime-file)."""
    value: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": facts.handler},
        "handler": facts.handler,
    }
    if facts.overhead:
        value["overhead"] = {"podFixed": dict(facts.overhead)}
    if parts := _scheduling(scheduling):
        value["scheduling"] = parts
    return value


def _scheduling(scheduling: Scheduling) -> dict[str, Any]:
    parts = {
        "nodeSelector": dict(scheduling.node_selector),
        "tolerations": [dict(toleration) for toleration in scheduling.tolerations],
    }
    return {key: value for key, value in parts.items() if value}


def _fill(item: ObjectAt, platform: str, scheduling: Scheduling) -> tuple[tuple[Edit, ...], list[Finding]]:
    """Make the edits that add the configured scheduling which an object lacks, and report contradictions.

    Paths of edits start at the object.

    Truth table, per part:      the object has none    the same or more    another value
    a nodeSelector key          it is added            no edit             CC0308
    a toleration                it is added            no edit             it is added
    """
    reason = f"the configuration schedules {platform} so"
    present = dig(item.value, ("scheduling",))
    missing = _scheduling(scheduling)

    def edit(path: Path, old: Any, new: Any) -> Edit:
        return Edit("set" if isinstance(path[-1], str) else "insert", path, old, new, "CC0306", reason)

    if not missing or (present is not None and not isinstance(present, dict)):
        return (), []  # of another type: CC0303 reports it
    if present is None:
        return (edit(("scheduling",), None if "scheduling" in mapping(item.value) else ABSENT, missing),), []
    edits: list[Edit] = []
    findings: list[Finding] = []
    for part, kind in (("nodeSelector", dict), ("tolerations", list)):
        old = present.get(part)
        if old is None and part in missing:
            edits.append(edit(("scheduling", part), present.get(part, ABSENT), missing[part]))
        if not isinstance(old, kind):  # all of it is added, or CC0303 reports the type
            missing.pop(part, None)
    for key, value in missing.get("nodeSelector", {}).items():
        path: Path = ("scheduling", "nodeSelector", key)
        old = dig(item.value, path)
        if key not in present["nodeSelector"]:
            edits.append(edit(path, ABSENT, value))
        elif old != value:
            findings.append(_report_difference(item, path, old, value))
    tolerations = maps(present.get("tolerations"))
    lacking = [new for new in missing.get("tolerations", ()) if not any(covers(old, new) for old in tolerations)]
    edits += [edit(("scheduling", "tolerations", len(tolerations) + at), ABSENT, new) for at, new in enumerate(lacking)]
    return tuple(edits), findings


def _report_difference(item: ObjectAt, path: Path, value: Any, expected: Any) -> Finding:
    shown = "nothing" if value is None else value
    at = item.root + path
    return finding("CC0308", item.ref, at, name=item.ref.name, field=dotted(path), found=shown, wanted=expected)


def _find_release_conflicts(item: ObjectAt, facts: PlatformRelease) -> Iterator[Finding]:
    """Find where the object contradicts the release: another handler, or another overhead by value."""
    handler = mapping(item.value).get("handler")
    if handler != facts.handler:
        yield _report_difference(item, ("handler",), handler, facts.handler)
    overhead = mapping(dig(item.value, ("overhead", "podFixed")))
    for resource in [*facts.overhead, *(key for key in overhead if key not in facts.overhead)]:
        if facts.overhead and not equal(overhead.get(resource), facts.overhead.get(resource)):
            expected = facts.overhead.get(resource, "nothing")
            yield _report_difference(item, ("overhead", "podFixed", resource), overhead.get(resource), expected)


def _find_problems(ref: Ref, root: Path, value: Any) -> Iterator[Finding]:
    """Find the values that the API server would refuse in a RuntimeClass."""
    if ref.api_version != API_VERSION:
        yield finding("CC0303.api-version", ref, (*root, "apiVersion"), name=ref.name, version=API_VERSION)
    for path, problem in parse_runtime_class_object(value).problems:
        yield finding("CC0303.field", ref, root + path, name=ref.name, field=dotted(path), error=problem)


def _find_deprecated_labels(ref: Ref, runtime_class: RuntimeClass) -> Iterator[Finding]:
    for label in sorted(runtime_class.node_selector.keys() & DEPRECATED_NODE_LABELS.keys()):
        yield finding("CC0309", ref, (), label=label, successor=DEPRECATED_NODE_LABELS[label])
