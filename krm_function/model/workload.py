"""A workload: one object with a pod template, wherever it stands.

Rule of this file: a workload is a view on plain data (the object as parsed, after the edits so far); nothing here
changes it. Its kinds are in `kinds`.
"""

from typing import Any

from krm_function.findings import Path, Ref
from krm_function.model.edits import ABSENT, Edit
from krm_function.model.kinds import KINDS
from krm_function.record import NamedTuple
from krm_function.yamltext import apply

PREFIX = "contrast.edgeless.systems/"
POD_ROLE = PREFIX + "pod-role"
INITDATA = "io.katacontainers.config.hypervisor.cc_init_data"
ORIGINAL = "contrast-krm.dev/original"  # inverse changes of a render, on the object's own metadata
EMITTED = "contrast-krm.dev/emitted"  # marks objects that a render adds and uninject takes away


def dig(value: Any, path: Path) -> Any:
    """The value at `path`, or None when any step is missing or of another type."""
    for part in path:
        if isinstance(part, str) and isinstance(value, dict):
            value = value.get(part)
        elif isinstance(part, int) and isinstance(value, list) and 0 <= part < len(value):
            value = value[part]
        else:
            return None
    return value


def mapping(value: Any) -> dict[str, Any]:
    """`value` if it is a map, else an empty one: for reading documents of which no shape is promised."""
    return value if isinstance(value, dict) else {}


def maps(value: Any) -> list[dict[str, Any]]:
    """The maps of a list, [] for anything else. Positions are kept: an entry that is no map reads as {}."""
    return [mapping(entry) for entry in value] if isinstance(value, list) else []


class Workload(NamedTuple):
    """One object with a pod template that asks for a Contrast runtime class.

    document: the plain data of the whole document the object stands in (a `kind: List` holds several objects).
    root: path from the document to the object: () or ("items", 3).
    """

    document: Any
    root: Path
    ref: Ref

    @property
    def object(self) -> dict[str, Any]:
        """The object itself."""
        return mapping(dig(self.document, self.root))

    @property
    def template_path(self) -> Path:
        """Path from the document to the pod template (for a Pod: to the object)."""
        return self.root + KINDS[self.ref.kind][1]

    @property
    def metadata_path(self) -> Path:
        """Path from the document to the pod template's metadata."""
        return (*self.template_path, "metadata")

    @property
    def spec_path(self) -> Path:
        """Path from the document to the pod spec."""
        return (*self.template_path, "spec")

    @property
    def pod_metadata(self) -> dict[str, Any]:
        """The pod template's metadata."""
        return mapping(dig(self.document, self.metadata_path))

    @property
    def pod_spec(self) -> dict[str, Any]:
        """The pod spec."""
        return mapping(dig(self.document, self.spec_path))

    @property
    def annotations(self) -> dict[str, Any]:
        """The pod template's annotations: the only ones that Contrast reads (contrast.md 5.1)."""
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
        """A StatefulSet whose pod template label says so (contrast.md 3)."""
        return self.ref.kind == "StatefulSet" and self.labels.get(POD_ROLE) == "coordinator"

    def after(self, edits: "tuple[Edit, ...]") -> "Workload":
        """The workload as it is once `edits` are made."""
        return self._replace(document=apply(self.document, [edit.change for edit in edits])) if edits else self

    def annotate(self, key: str, value: str, code: str, reason: str) -> "tuple[Edit, ...]":
        """Edits that set one annotation of the pod template; none if it stands there already."""
        metadata = dig(self.document, self.metadata_path)
        before = self.annotations.get(key, ABSENT)
        if before == value:
            return ()
        path: Path
        after: dict[str, Any]
        if not isinstance(metadata, dict):
            path, after = self.metadata_path, {"annotations": {key: value}}
            old = metadata if "metadata" in mapping(dig(self.document, self.template_path)) else ABSENT
        elif not isinstance(metadata.get("annotations"), dict):
            path, after = (*self.metadata_path, "annotations"), {key: value}
            old = metadata.get("annotations", ABSENT)
        else:
            return (Edit("set", (*self.metadata_path, "annotations", key), before, value, code, reason),)
        return (Edit("set", path, old, after, code, reason),)
