"""Complete what belongs to a cluster: the RuntimeClasses of a release, and the node installers of its platforms.

Rule of this file: both get the scheduling of their platform, so that no node has a handler which it cannot run. Nothing
that stands there is changed; a contradiction is an error. There is no undo record: the objects are no render's.
Source: docs/facts/contrast.md#runtime-file.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.config.collect import Config
from krm_function.contrast.platforms import PLATFORMS
from krm_function.findings import Finding, finding, has_errors
from krm_function.kubernetes.lookup import dig, mapping
from krm_function.kubernetes.resource import ObjectEdits, Resource
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.workload import POD_ROLE, Workload
from krm_function.record import NamedTuple
from krm_function.render.classes import runtime_class_objects, runtime_classes, schedule, schedule_daemon_set
from krm_function.text.splice import splice

TEMPLATE = ("spec", "template")
INSTALLER_ROLE = "contrast-node-installer"
SUFFIX = "-nodeinstaller"  # behind the name of the handler
MADE = ("CC0301", "CC0306", "CC0307", "CC0320")  # what is said of each edit of a render


class ClusterObjects(NamedTuple):
    """The texts of the given documents, and the classes that none of them has."""

    texts: tuple[str, ...] = ()
    added: tuple[dict[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()


def cluster_objects(resources: Sequence[Resource], config: Config) -> ClusterObjects:
    """Complete the RuntimeClasses and node installers among the resources, and make the classes that are missing.

    Raises YamlError for a document that cannot be read.
    """
    read = [one.given()._replace(position=position) for position, one in enumerate(resources)]
    options = config.generate._replace(runtime_classes="emit")
    used = [PLATFORMS[name] for name in config.release.platforms]
    classes = runtime_classes(options, config.release, used, runtime_class_objects(read, config.release))
    edits = [*classes.edits]
    findings = list(classes.findings)
    for workload in _installers(read):
        runtime_class = _class_of(workload, classes.classes)
        if runtime_class is None:
            findings.append(workload.placed(finding("CC0324", workload.ref, (*workload.root, "metadata", "name"))))
            continue
        found = map(workload.placed, schedule(workload, runtime_class).findings)
        findings += [one for one in found if one.severity == "error"]
        position, root = workload.place
        edits.append((position, ObjectEdits(root, workload.ref, schedule_daemon_set(workload, runtime_class).edits)))
    left = tuple(one for one in findings if one.code not in MADE)
    if has_errors(left):
        return ClusterObjects(findings=left)
    return ClusterObjects(tuple(_texts(read, edits)), classes.added, left)


def _installers(resources: Sequence[Resource]) -> Iterator[Workload]:
    """Yield the node installers of Contrast's: by the name, or by what the pod template says of itself."""
    for resource in resources:
        for _, root, ref, value in resource.objects:
            role = mapping(dig(value, (*TEMPLATE, "metadata", "annotations"))).get(POD_ROLE)
            if ref.kind == "DaemonSet" and (role == INSTALLER_ROLE or ref.name.endswith(SUFFIX)):
                yield Workload(value, root, ref, TEMPLATE, resource)


def _class_of(workload: Workload, classes: Mapping[str, RuntimeClass]) -> RuntimeClass | None:
    return classes.get(workload.ref.name.removesuffix(SUFFIX))


def _texts(resources: Sequence[Resource], edits: Sequence[tuple[int, ObjectEdits]]) -> Iterator[str]:
    """Yield the text of each resource after its edits."""
    for resource in resources:
        changes = [edit.change for position, one in edits if position == resource.position for edit in one.edits]
        if changes and resource.document is not None:
            yield splice(resource.document, changes).text
        else:
            yield resource.text
