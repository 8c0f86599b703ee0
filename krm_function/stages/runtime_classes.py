"""Runtime classes: write the configured scheduling into the RuntimeClass objects of the input, and emit missing ones.

Rule of this file: Kubernetes merges the scheduling of a RuntimeClass into every pod that names it, so the configured
scheduling is written there, and else only into DaemonSets. A contradiction between object, release and configuration is
an error. A class belongs to the whole cluster, so an emitted one tells Helm to keep it on uninstall.
Sources: docs/facts/kubernetes.md#runtimeclass-admission, docs/facts/helm.md#objects.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from krm_function.api.records import Config, Generate, PlatformRelease, Release, Scheduling
from krm_function.findings import Finding, Path, Ref, dotted, finding, has_errors
from krm_function.model.edits import Edit, ObjectEdits
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.objects import objects, reference
from krm_function.model.platforms import Platform
from krm_function.model.quantity import equal
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_admission import covers
from krm_function.model.runtime_class_objects import (
    API_VERSION,
    DEPRECATED_NODE_LABELS,
    KIND,
    RuntimeClass,
    parse_runtime_class_object,
)
from krm_function.model.workload import EMITTED, RESOURCE_POLICY
from krm_function.record import NamedTuple
from krm_function.yamltext import apply
from krm_function.yamltext.comparison import ABSENT

NO_CLASSES: Mapping[str, RuntimeClass] = MappingProxyType({})


class RuntimeClassObject(NamedTuple):
    """A RuntimeClass of the input. resource: where it stands; root: path from the document to the object."""

    resource: Resource
    root: Path
    ref: Ref
    value: Any


class RuntimeClasses(NamedTuple):
    """The classes that pods are checked against, by name; the edits of their objects; the objects to add.

    edits: each with the position of its resource.
    """

    classes: Mapping[str, RuntimeClass] = NO_CLASSES
    edits: Sequence[tuple[int, ObjectEdits]] = ()
    added: tuple[dict[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()


def runtime_class_objects(resources: Iterable[Resource], release: Release) -> list[RuntimeClassObject]:
    """Find the RuntimeClass objects of the input that belong to the release; without those that a render added."""
    handlers = {platform.handler for platform in release.platforms.values()}
    return [
        RuntimeClassObject(resource, root, reference(value), value)
        for resource in resources
        if resource.document is not None and resource.state != "added"
        for root, value in objects(resource.document.value)
        if isinstance(value, dict)
        and value.get("kind") == KIND
        and reference(value).name in handlers
        and dig(value, ("metadata", "annotations", EMITTED)) is None  # in a List; this render makes it again
    ]


def runtime_classes(
    options: Generate, release: Release, used: Iterable[Platform], present: Sequence[RuntimeClassObject]
) -> RuntimeClasses:
    """Fill the RuntimeClass objects of the release, and make those that the used platforms lack.

    present: objects of the input; one whose name is no handler of the release is not edited. A class without an object
    is derived from configuration and release; with runtimeClasses emit, the object is added.
    """
    if options.runtime_classes == "off":
        return RuntimeClasses()
    classes: dict[str, RuntimeClass] = {}
    filled: list[tuple[int, ObjectEdits]] = []
    added: list[dict[str, Any]] = []
    findings: list[Finding] = []
    platforms = {facts.handler: name for name, facts in release.platforms.items()}
    for one in present:
        if one.ref.name not in platforms:
            continue
        platform = platforms[one.ref.name]
        facts, wanted = release.platforms[platform], options.scheduling.get(platform, Scheduling())
        edits, wrong = _fill(one, platform, wanted)
        after = apply(mapping(one.value), [edit.change for edit in edits])
        read = parse_runtime_class_object(after)
        wrong += [*_problems(one.ref, one.root, after), *_release_conflicts(one, facts), *_deprecated(one.ref, read[0])]
        findings += wrong
        classes.setdefault(one.ref.name, read.runtime_class)
        if edits and not has_errors(wrong):
            moved = tuple(edit._replace(path=one.root + edit.path) for edit in edits)
            filled.append((one.resource.position, ObjectEdits(one.root, one.ref, moved)))
    for platform in sorted({platform.name for platform in used} & release.platforms.keys()):
        facts = release.platforms[platform]
        if facts.handler in classes:
            continue
        value = make_runtime_class(facts, options.scheduling.get(platform, Scheduling()))
        ref = Ref(API_VERSION, KIND, "", facts.handler)
        read = parse_runtime_class_object(value)
        findings += [*_problems(ref, (), value), *_deprecated(ref, read.runtime_class)]
        classes[facts.handler] = read.runtime_class
        if options.runtime_classes == "emit":
            value["metadata"]["annotations"] = {EMITTED: "true", RESOURCE_POLICY: "keep"}
            added.append(value)
            findings.append(finding("CC0307", ref, name=facts.handler))
    return RuntimeClasses(classes, filled, tuple(added), tuple(findings))


def known_classes(values: Iterable[Any], config: Config | None) -> dict[str, RuntimeClass]:
    """Return the classes by name as a render made them, or would: those of some objects, and those of the release."""
    classes: dict[str, RuntimeClass] = {}
    if config is not None and config.generate.runtime_classes != "off":
        for platform, facts in config.release.platforms.items():
            made = make_runtime_class(facts, config.generate.scheduling.get(platform, Scheduling()))
            classes[facts.handler] = parse_runtime_class_object(made).runtime_class
    objects = [(reference(value), value) for value in values]
    return classes | {
        ref.name: parse_runtime_class_object(value).runtime_class
        for ref, value in objects
        if (ref.api_version, ref.kind) == (API_VERSION, KIND)
    }


def make_runtime_class(facts: PlatformRelease, scheduling: Scheduling) -> dict[str, Any]:
    """Make the RuntimeClass that the release and the configuration describe (docs/facts/contrast.md#runtime-file)."""
    value: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": facts.handler},
        "handler": facts.handler,
    }
    if facts.overhead:
        value["overhead"] = {"podFixed": dict(facts.overhead)}
    if wanted := _scheduling(scheduling):
        value["scheduling"] = wanted
    return value


def _scheduling(scheduling: Scheduling) -> dict[str, Any]:
    """Return the configured scheduling as plain data, without empty parts."""
    parts = {
        "nodeSelector": dict(scheduling.node_selector),
        "tolerations": [dict(toleration) for toleration in scheduling.tolerations],
    }
    return {key: value for key, value in parts.items() if value}


def _fill(one: RuntimeClassObject, platform: str, wanted: Scheduling) -> tuple[tuple[Edit, ...], list[Finding]]:
    """Make the edits that add the configured scheduling which an object lacks, and report contradictions.

    Paths of edits start at the object.

    Truth table, per part:      the object has none    the same or more    another value
    a nodeSelector key          it is added            no edit             CC0308
    a toleration                it is added            no edit             it is added
    """
    reason = f"the configuration schedules {platform} so"
    present = dig(one.value, ("scheduling",))
    missing = _scheduling(wanted)

    def edit(path: Path, before: Any, after: Any) -> Edit:
        return Edit("set" if isinstance(path[-1], str) else "insert", path, before, after, "CC0306", reason)

    if not missing or (present is not None and not isinstance(present, dict)):
        return (), []  # of another type: CC0303 reports it
    if present is None:
        return (edit(("scheduling",), None if "scheduling" in mapping(one.value) else ABSENT, missing),), []
    edits: list[Edit] = []
    findings: list[Finding] = []
    for part, kind in (("nodeSelector", dict), ("tolerations", list)):
        old = present.get(part)
        if old is None and part in missing:
            edits.append(edit(("scheduling", part), present.get(part, ABSENT), missing[part]))
        if not isinstance(old, kind):  # all of it is added, or CC0303 reports what is wrong
            missing.pop(part, None)
    for key, value in missing.get("nodeSelector", {}).items():
        path: Path = ("scheduling", "nodeSelector", key)
        old = dig(one.value, path)
        if key not in present["nodeSelector"]:
            edits.append(edit(path, ABSENT, value))
        elif old != value:
            findings.append(_differs(one, path, old, value))
    tolerations = maps(present.get("tolerations"))
    lacking = [new for new in missing.get("tolerations", ()) if not any(covers(old, new) for old in tolerations)]
    edits += [edit(("scheduling", "tolerations", len(tolerations) + at), ABSENT, new) for at, new in enumerate(lacking)]
    return tuple(edits), findings


def _differs(one: RuntimeClassObject, path: Path, found: Any, wanted: Any) -> Finding:
    shown = "nothing" if found is None else found
    at = one.root + path
    return finding("CC0308", one.ref, at, name=one.ref.name, field=dotted(path), found=shown, wanted=wanted)


def _release_conflicts(one: RuntimeClassObject, facts: PlatformRelease) -> Iterator[Finding]:
    """Find where the object contradicts the release: another handler, or another overhead by value."""
    handler = mapping(one.value).get("handler")
    if handler != facts.handler:
        yield _differs(one, ("handler",), handler, facts.handler)
    overhead = mapping(dig(one.value, ("overhead", "podFixed")))
    for resource in [*facts.overhead, *(key for key in overhead if key not in facts.overhead)]:
        if facts.overhead and not equal(overhead.get(resource), facts.overhead.get(resource)):
            wanted = facts.overhead.get(resource, "nothing")
            yield _differs(one, ("overhead", "podFixed", resource), overhead.get(resource), wanted)


def _problems(ref: Ref, root: Path, value: Any) -> Iterator[Finding]:
    """Find what the API server would refuse in a RuntimeClass."""
    if ref.api_version != API_VERSION:
        yield finding("CC0303.api-version", ref, (*root, "apiVersion"), name=ref.name, version=API_VERSION)
    for path, problem in parse_runtime_class_object(value).problems:
        yield finding("CC0303.field", ref, root + path, name=ref.name, field=dotted(path), error=problem)


def _deprecated(ref: Ref, runtime_class: RuntimeClass) -> Iterator[Finding]:
    for label in sorted(runtime_class.node_selector.keys() & DEPRECATED_NODE_LABELS.keys()):
        yield finding("CC0309", ref, (), label=label, successor=DEPRECATED_NODE_LABELS[label])
