"""A workload: one pod template of an object, which is a document or a member of a list.

Rule of this file: a workload is a view on plain data (the object as parsed, after the edits so far); nothing here
changes it, so what all stages need of it is looked up once. Its kinds are in `kinds`. An object with several templates
is several workloads, each with its own edits.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from krm_function.findings import Finding, Path, Ref
from krm_function.model.edits import Edit
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.pod_kind import PodTemplate
from krm_function.model.pod_kinds import SHIPPED, Kinds
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.yamltext import apply
from krm_function.yamltext.comparison import ABSENT

PREFIX = "contrast.edgeless.systems/"
POD_ROLE = PREFIX + "pod-role"
INITDATA = "io.katacontainers.config.hypervisor.cc_init_data"
ID_BLOCKS = tuple(  # beginnings of keys; the name of a product follows
    f"io.katacontainers.config.hypervisor.snp_{name}" for name in ("id_block", "id_auth", "guest_policy")
)
ORIGINAL = "contrast-krm.dev/original"  # inverse changes of a render, on the object's own metadata
LOCAL_CONFIG = "config.kubernetes.io/local-config"  # what hosts keep out of the cluster
RESOURCE_POLICY = "helm.sh/resource-policy"  # `keep`: Helm never deletes it (docs/facts/helm.md#objects)
EMITTED = "contrast-krm.dev/emitted"  # on objects that a render adds and uninject removes


class PodContainer(NamedTuple):
    """A container and its position: `field` is initContainers or containers, `path` starts at the document."""

    field: str
    path: Path
    container: dict[str, Any]

    @property
    def name(self) -> str:
        """The container's name, "" when it has none."""
        name = self.container.get("name")
        return name if isinstance(name, str) else ""

    @property
    def is_init(self) -> bool:
        """Whether it is an init container or a native sidecar."""
        return self.field == "initContainers"

    @property
    def mounts(self) -> list[dict[str, Any]]:
        """Its volumeMounts, positions kept."""
        return maps(self.container.get("volumeMounts"))


class Workload(NamedTuple):
    """One pod template that names a Contrast runtime class, in its object.

    object: its plain data. root: path from its document to the object: () or, in a `kind: List`, ("items", 3).
    template: path from the object to the pod template. All other paths start at the document; the data do not, so that
    editing one member of a list does not copy the list. resource: where it stands, None if it is made up.
    is_chosen: whether the render has chosen it as the coordinator (stages/coordinator.py). made_by: what the controller
    of a custom resource makes of the template, None for the kinds of Kubernetes.
    """

    object: dict[str, Any]
    root: Path
    ref: Ref
    template: Path
    resource: Resource | None = None
    is_chosen: bool = False
    made_by: PodTemplate | None = None

    def at(self, path: Path) -> Any:
        """Return the value at a path that starts at the document and leads into the object; None if there is none."""
        return dig(self.object, path[len(self.root) :])

    @property
    def place(self) -> tuple[int, Path]:
        """Where its object stands: the position of the resource in the input, -1 if unknown, and `root`."""
        return (self.resource.position if self.resource else -1), self.root

    @cached_property
    def template_path(self) -> Path:
        """Path from the document to the pod template (for a Pod: to the object)."""
        return self.root + self.template

    @cached_property
    def metadata_path(self) -> Path:
        """Path from the document to the pod template's metadata."""
        return (*self.template_path, "metadata")

    @cached_property
    def spec_path(self) -> Path:
        """Path from the document to the pod spec."""
        return (*self.template_path, "spec")

    @cached_property
    def pod_metadata(self) -> dict[str, Any]:
        """The pod template's metadata."""
        return mapping(self.at(self.metadata_path))

    @cached_property
    def pod_spec(self) -> dict[str, Any]:
        """The pod spec."""
        return mapping(self.at(self.spec_path))

    @property
    def annotations(self) -> dict[str, Any]:
        """The pod template's annotations, the only ones that Contrast reads (docs/facts/contrast.md#annotations)."""
        return mapping(self.pod_metadata.get("annotations"))

    @property
    def labels(self) -> dict[str, Any]:
        """The pod template's labels."""
        return mapping(self.pod_metadata.get("labels"))

    @property
    def runtime_class(self) -> str:
        """The pod's runtimeClassName, "" when unset."""
        name = self.pod_spec.get("runtimeClassName")
        return name if isinstance(name, str) else ""

    @cached_property
    def all_containers(self) -> tuple[PodContainer, ...]:
        """Init containers, then regular ones: the order in which they start."""
        return tuple(
            PodContainer(field, (*self.spec_path, field, index), container)
            for field in ("initContainers", "containers")
            for index, container in enumerate(maps(self.pod_spec.get(field)))
        )

    @property
    def containers(self) -> list[dict[str, Any]]:
        """Regular containers, positions kept."""
        return maps(self.pod_spec.get("containers"))

    @property
    def init_containers(self) -> list[dict[str, Any]]:
        """Init containers including native sidecars, positions kept."""
        return maps(self.pod_spec.get("initContainers"))

    @property
    def is_coordinator(self) -> bool:
        """Whether it is the coordinator: chosen, or a StatefulSet with the label (docs/facts/contrast.md#selection)."""
        is_stateful_set = self.ref.kind == "StatefulSet" and self.made_by is None
        return self.is_chosen or (is_stateful_set and self.labels.get(POD_ROLE) == "coordinator")

    def after(self, edits: "tuple[Edit, ...]") -> "Workload":
        """Return the workload after `edits`."""
        if not edits:
            return self
        return self._replace(object=apply(self.object, [edit.change_in(self.root) for edit in edits]))

    def placed(self, found: Finding) -> Finding:
        """Return a finding about this workload with its path, line and column in the input."""
        return found if self.resource is None else self.resource.placed(self._as_written(found))

    def _as_written(self, found: Finding) -> Finding:
        """Return a finding with the init container's index in the input: injected ones come before the user's.

        A finding about a container that the input does not have is about its pod spec.
        """
        path = (*self.spec_path, "initContainers")
        size = len(path)
        if found.path[:size] != path or len(found.path) == size:
            return found
        document = self.resource.document if self.resource else None
        names = [entry.get("name") for entry in maps(dig(document.value if document else None, path))]
        if names == [entry.get("name") for entry in self.init_containers]:
            return found
        name = self.at((*path, found.path[size], "name"))
        if name not in names:
            return found._replace(path=self.spec_path)
        return found._replace(path=(*path, names.index(name), *found.path[size + 1 :]))

    def annotate(self, values: Iterable[tuple[str, str, str]], code: str) -> "tuple[Edit, ...]":
        """Make the edits that set annotations of the pod template; none for those that have their value already.

        values: key, value and reason of each.
        """
        present = self.annotations
        wanted = [one for one in values if present.get(one[0], ABSENT) != one[1]]
        if not wanted:
            return ()
        made: list[Edit] = []
        path: Path = (*self.metadata_path, "annotations")
        metadata = self.at(self.metadata_path)
        if not isinstance(metadata, dict) or not isinstance(metadata.get("annotations"), dict):
            key, value, reason = wanted.pop(0)
            made.append(self._first_annotation(metadata, {key: value}, code, reason))
        for key, value, reason in wanted:
            made.append(Edit("set", (*path, key), present.get(key, ABSENT), value, code, reason))
        return tuple(made)

    def _first_annotation(self, metadata: Any, annotations: dict[str, str], code: str, reason: str) -> "Edit":
        """Make the edit that creates the annotations, and the metadata if there are none."""
        if not isinstance(metadata, dict):
            old = metadata if "metadata" in mapping(self.at(self.template_path)) else ABSENT
            return Edit("set", self.metadata_path, old, {"annotations": annotations}, code, reason)
        path = (*self.metadata_path, "annotations")
        return Edit("set", path, metadata.get("annotations", ABSENT), annotations, code, reason)


def workloads_of(
    value: Any, root: Path, ref: Ref, resource: Resource | None = None, kinds: Kinds = SHIPPED
) -> list[Workload]:
    """Return the workload of each pod template of an object, whatever class it names. Parameters as of Workload.

    kinds: those that are known, if there is no resource that says so.
    """
    return [
        Workload(value, root, ref._replace(part=one.part) if one.part else ref, one.path, resource, made_by=one.made_by)
        for one in (resource.kinds if resource else kinds).templates(ref, value)
    ]
