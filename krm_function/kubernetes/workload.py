"""A workload: one pod template of an object, with its containers and volumes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from krm_function.findings import Finding, Path, Ref, has_errors
from krm_function.kubernetes.objects import dig, mapping, maps, read_hook
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds, PodTemplate, applies
from krm_function.kubernetes.resource import Edit, Resource
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.record import NamedTuple
from krm_function.text.changes import ABSENT, Op, apply

# --- A workload: one pod template of an object, which is a document or a member of a list
#
# Rule: a workload is a view on plain data (the object as parsed, after the edits so far); nothing here
# changes it, so the parts that all stages need are looked up once. Its kinds are in `kinds`. An object with several
# templates is several workloads, each with its own edits.


PREFIX = "contrast.edgeless.systems/"
POD_ROLE = PREFIX + "pod-role"
COORDINATOR = "coordinator"  # its one value
INITDATA = "io.katacontainers.config.hypervisor.cc_init_data"
ID_BLOCKS = tuple(  # beginnings of keys; the name of a product follows
    f"io.katacontainers.config.hypervisor.snp_{name}" for name in ("id_block", "id_auth", "guest_policy")
)
ORIGINAL = "contrast-krm.dev/original"  # inverse changes of a render, on the object's own metadata
LOCAL_CONFIG = "config.kubernetes.io/local-config"  # hosts keep these out of the cluster
RESOURCE_POLICY = "helm.sh/resource-policy"  # `keep`: Helm never deletes it (docs/facts/helm.md#objects)
EMITTED = "contrast-krm.dev/emitted"  # on objects that a render adds and uninject removes


def is_not_applied(value: Any) -> bool:
    """Tell whether an object is local to the package, or was added by a render, which the next one makes again."""
    annotations = mapping(dig(value, ("metadata", "annotations")))
    return annotations.get(LOCAL_CONFIG) == "true" or EMITTED in annotations


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
    def key(self) -> tuple[str, str]:
        """Its field and name, which are the same in each form of a pod."""
        return self.field, self.name

    @property
    def is_init(self) -> bool:
        """Whether it is an init container or a native sidecar."""
        return self.field == "initContainers"

    @property
    def mounts(self) -> list[dict[str, Any]]:
        """Its volumeMounts, positions kept."""
        return maps(self.container.get("volumeMounts"))


class OpenVariable(NamedTuple):
    """A variable that a policy leaves open. container: its name. source: such as `Secret db, key password`."""

    container: str
    name: str
    source: str


class PodMemory(NamedTuple):
    """The memory that a VM gets and needs, in bytes; contrast/vm_size.py has the sums.

    unlimited: containers of the user without a limit, if the pod as a whole has none; asked_by_user: whether another
    has one. own_set: by an annotation. images_least: the least that the images take. exact: whether nothing of
    `images` is estimated. unknown: images whose sizes are not known, so that nothing is compared; stored: whether
    images are on a disk of their own. least: the VM's need for a GPU, 0 without one.
    """

    of_vm: int
    limits: int
    asked: int
    images: int = 0
    images_least: int = 0
    exact: bool = True
    unknown: tuple[str, ...] = ()
    estimated: tuple[str, ...] = ()
    unlimited: tuple[str, ...] = ()
    asked_by_user: bool = False
    own_set: bool = False
    stored: bool = False
    least: int = 0

    @property
    def gets(self) -> int:
        """The memory of the VM."""
        return self.of_vm + self.limits

    @property
    def needs(self) -> int | None:
        """The memory that images and limits of containers take in it; None if it is not known."""
        return None if self.unknown else max(self.images + self.asked, self.least)

    @property
    def limited(self) -> bool:
        """Whether anything but the class decides how large the VM is."""
        return self.own_set or not self.unlimited


class Workload(NamedTuple):
    """One pod template on its way through a render: its place, its data, and the additions of each stage.

    From `select`. object: the plain data of its object, after the edits so far. root: path from its document to the
    object: () or, in a `kind: List`, ("items", 3). template: path from the object to the pod template. All other paths
    start at the document; the data do not, so that editing one member of a list does not copy the list. resource: its
    document, if any. made_by: the entry of a custom resource's kind, None for the kinds of Kubernetes. skipped: why
    the render leaves it alone, "" if it does not; the object is {} then if it has no pod template that a render can
    read. owned: a controller made the skipped object.

    From the stages. edits, findings: so far, findings with their lines and paths in the input. placeholder: its
    runtimeClassName in the input, or the configuration's. platform: its name, "" if none is known. vcpus: 0 if
    they cannot be known. written: the workload before anything is injected. is_chosen: as the coordinator
    (render/roles.py). identity: sentences about its role and secrets in the manifest. scheduled: the RuntimeClass that
    it was checked against. memory: of its VM. digest: of its initdata in hex, "" if none. open: see OpenVariable.
    notes: all sentences for a reader of the plan other than findings, `identity` first.
    """

    object: dict[str, Any]
    root: Path
    ref: Ref
    template: Path
    resource: Resource | None = None
    made_by: PodTemplate | None = None
    skipped: str = ""
    owned: bool = False
    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()
    placeholder: str = ""
    platform: str = ""
    vcpus: int = 0
    written: "Workload | None" = None
    is_chosen: bool = False
    identity: tuple[str, ...] = ()
    scheduled: RuntimeClass | None = None
    memory: PodMemory | None = None
    digest: str = ""
    open: tuple[OpenVariable, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether a stage found an error: then nothing is written."""
        return has_errors(self.findings)

    @property
    def is_plain(self) -> bool:
        """Whether it is a pod of the user that runs outside of a VM."""
        return bool(self.skipped) and not self.owned

    @property
    def role(self) -> str:
        """Its role in the manifest: the pod's label contrast.edgeless.systems/pod-role, "" if absent."""
        return str(self.labels.get(POD_ROLE) or "")

    def at(self, path: Path) -> Any:
        """Return the value at a path that starts at the document and leads into the object, or None."""
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
        return (*self.root, *self.template, "metadata")

    @cached_property
    def spec_path(self) -> Path:
        """Path from the document to the pod spec."""
        return (*self.root, *self.template, "spec")

    @cached_property
    def pod_metadata(self) -> dict[str, Any]:
        """The pod template's metadata."""
        return mapping(dig(self.object, (*self.template, "metadata")))

    @cached_property
    def pod_spec(self) -> dict[str, Any]:
        """The pod spec."""
        return mapping(dig(self.object, (*self.template, "spec")))

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
        """Init containers, then regular ones, as they start."""
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
    def node_selector(self) -> Mapping[str, str]:
        """The labels of nodes that its RuntimeClass asks for; empty for an unknown class."""
        return self.scheduled.node_selector if self.scheduled else {}

    @property
    def is_coordinator(self) -> bool:
        """Whether it is the coordinator: chosen, or a StatefulSet with the label (docs/facts/contrast.md#selection)."""
        is_stateful_set = self.ref.kind == "StatefulSet" and self.made_by is None
        return self.is_chosen or (is_stateful_set and self.labels.get(POD_ROLE) == COORDINATOR)

    def after(self, edits: "tuple[Edit, ...]") -> "Workload":
        """Return the workload after `edits`, with these among its own."""
        if not edits:
            return self
        changed = apply(self.object, [edit.change_in(self.root) for edit in edits])
        return self._replace(object=changed, edits=self.edits + edits)

    def placed(self, problem: Finding) -> Finding:
        """Return a finding about this workload with its path, line and column in the input."""
        return problem if self.resource is None else self.resource.placed(self._with_input_path(problem))

    def _with_input_path(self, problem: Finding) -> Finding:
        """Return a finding with the init container's index in the input: injected ones come before the user's.

        A finding about a container that the input does not have is about its pod spec.
        """
        path = (*self.spec_path, "initContainers")
        size = len(path)
        if problem.path[:size] != path or len(problem.path) == size:
            return problem
        document = self.resource.document if self.resource else None
        names = [entry.get("name") for entry in maps(dig(document.value if document else None, path))]
        if names == [entry.get("name") for entry in self.init_containers]:
            return problem
        name = self.at((*path, problem.path[size], "name"))
        if name not in names:
            return problem._replace(path=self.spec_path)
        return problem._replace(path=(*path, names.index(name), *problem.path[size + 1 :]))

    def annotate(self, values: Iterable[tuple[str, str, str]], code: str) -> "tuple[Edit, ...]":
        """Make the edits that set annotations of the pod template; none for present ones with the same value.

        values: key, value and reason of each.
        """
        present = self.annotations
        missing = [value for value in values if present.get(value[0], ABSENT) != value[1]]
        if not missing:
            return ()
        edits: list[Edit] = []
        path: Path = (*self.metadata_path, "annotations")
        metadata = self.at(self.metadata_path)
        if not isinstance(metadata, dict) or not isinstance(metadata.get("annotations"), dict):
            key, value, reason = missing.pop(0)
            edits.append(self._first_annotation(metadata, {key: value}, code, reason))
        for key, value, reason in missing:
            edits.append(Edit("set", (*path, key), present.get(key, ABSENT), value, code, reason))
        return tuple(edits)

    def _first_annotation(self, metadata: Any, annotations: dict[str, str], code: str, reason: str) -> "Edit":
        """Create the annotations, and the metadata if absent."""
        if not isinstance(metadata, dict):
            old = metadata if "metadata" in mapping(self.at(self.template_path)) else ABSENT
            return Edit("set", self.metadata_path, old, {"annotations": annotations}, code, reason)
        path = (*self.metadata_path, "annotations")
        return Edit("set", path, metadata.get("annotations", ABSENT), annotations, code, reason)


def workloads_of(
    value: Any, root: Path, ref: Ref, resource: Resource | None = None, kinds: Kinds = SHIPPED
) -> list[Workload]:
    """Return the workload of each pod template of an object, whatever class it names. Parameters as of Workload.

    kinds: the known ones, if `resource` is None.
    """
    return [
        Workload(value, root, ref._replace(part=place.part) if place.part else ref, place.path, resource, place.made_by)
        for place in (resource.kinds if resource else kinds).templates(ref, value)
    ]


# --- Look up containers and volumes of a pod by name, with their positions
#
# Rule: it only reads. What a StatefulSet's claim templates add to a pod counts as its volumes.


USER_FIELDS = ("runAsUser", "runAsGroup", "runAsNonRoot")  # the user of a process: of a container, else of the pod


def indexes_named(entries: Any, name: str) -> list[int]:
    """Return the indexes of the entries with this name."""
    return [index for index, entry in enumerate(maps(entries)) if entry.get("name") == name]


class MountOf(NamedTuple):
    """A mount of a volume: the container, and its position among the container's mounts."""

    container: PodContainer
    position: int
    mount: dict[str, Any]


def mounts_of(workload: Workload, volume: str) -> list[MountOf]:
    """Return the mounts of one volume, in the order of the containers' starts."""
    return [
        MountOf(container, index, mount)
        for container in workload.all_containers
        for index, mount in enumerate(container.mounts)
        if mount.get("name") == volume
    ]


def may_have_devices(workload: Workload) -> bool:
    """Tell whether a pod may have a block device; cheap, for any pod."""
    return any(entry.container.get("volumeDevices") for entry in workload.all_containers)


def has_frozen_template(workload: Workload) -> bool:
    """Tell whether it is a Job, no hook, and not of a new name each time (docs/facts/kubernetes.md#frozen-fields)."""
    has_name = bool(dig(workload.object, ("metadata", "name")))
    return workload.ref[:2] == ("batch/v1", "Job") and has_name and not read_hook(workload.object).events


def frozen_notes(workload: Workload) -> tuple[str, ...]:
    """Return a note for the plan if the API server refuses this render for an object that is there."""
    claims = (*workload.root, "spec", "volumeClaimTemplates")
    if has_frozen_template(workload):
        field, options = "spec.template", []
    elif any(edit.path[: len(claims)] == claims for edit in workload.edits):
        field, options = "spec.volumeClaimTemplates", ["--cascade=orphan"]
    else:
        return ()
    delete = delete_command(workload.ref, *options)
    return (f"the API server refuses another {field} for an object that is there: before that, {delete}",)


def delete_command(ref: Ref, *options: str) -> str:
    """Return the shell command that deletes an object."""
    from shlex import join

    namespace = ("--namespace", ref.namespace) if ref.namespace else ()
    return join(("kubectl", "delete", f"{ref.kind.lower()}/{ref.name}", *options, *namespace))


def claim_names(workload: Workload) -> tuple[str, ...]:
    """Return the names of a StatefulSet's volumeClaimTemplates; a claim replaces a volume of the same name."""
    return tuple(str(mapping(claim.get("metadata")).get("name")) for claim in claim_templates(workload))


def claim_templates(workload: Workload) -> list[dict[str, Any]]:
    """Return a StatefulSet's volumeClaimTemplates, positions kept; or a custom resource's, if its kind has any."""
    if workload.made_by:
        return maps(dig(workload.object, workload.made_by.claims)) if workload.made_by.claims else []
    if workload.ref.kind != "StatefulSet":
        return []
    return maps(mapping(workload.object.get("spec")).get("volumeClaimTemplates"))


def volume_sources(volume: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sources of a volume; Kubernetes allows one.

    A volume without a source, or with null in its place, is an emptyDir: docs/facts/kubernetes.md#volumes.
    """
    return tuple(key for key, value in volume.items() if key != "name" and value is not None) or ("emptyDir",)


def sets_user(context: Mapping[str, Any]) -> bool:
    """Tell whether a pod's securityContext has a user, a group or runAsNonRoot: true, which all its containers get."""
    return any(context.get(key) is not None for key in ("runAsUser", "runAsGroup")) or bool(context.get("runAsNonRoot"))


# --- Collect the edits of one workload, and apply each as it is made
#
# Rule: each edit is made on the result of those before it, so that the list can be applied in order.


class Draft:
    """The edits so far, and the workload after them. All paths start at the document."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.edits: list[Edit] = []

    def edit(self, op: Op, path: Path, new: Any, code: str, reason: str) -> None:
        """Make one edit; the parent of `path` must exist."""
        old = ABSENT
        if op != "insert":
            parent, last = self.workload.at(path[:-1]), path[-1]
            old = parent[last] if isinstance(last, int) or last in parent else ABSENT
        self.add((Edit(op, path, old, new, code, reason),))

    def add(self, edits: tuple[Edit, ...]) -> None:
        """Take edits that were made on the workload as it is now."""
        self.edits += edits
        self.workload = self.workload.after(edits)

    def put(self, path: Path, index: int, entry: Any, code: str, reason: str) -> None:
        """Insert an entry into a list, which is made if it is absent or null."""
        if self.workload.at(path) is None:
            self.edit("set", path, [entry], code, reason)
        else:
            self.edit("insert", (*path, index), entry, code, reason)

    def drop(self, path: Path, name: str, code: str, reason: str) -> None:
        """Remove all entries of this name from a list, the last one first."""
        for index in reversed(indexes_named(self.workload.at(path), name)):
            self.edit("remove", (*path, index), ABSENT, code, reason)


# --- Additions of a custom resource's controller to a pod: its init containers with name, image, limits
#
# Rule: the pod has these although its template does not, so every count of containers includes them.


Json = dict[str, Any]
LIKE = ("image", "imagePullPolicy", "env", "volumeMounts", "securityContext")  # fields copied from the first container


def added_init_containers(workload: Workload) -> list[Json]:
    """Return the init containers after the template's; `like` copies fields of the first container."""
    entries = maps(workload.made_by.adds.get("initContainers")) if workload.made_by else []
    if not entries:
        return []
    first = next(iter(workload.containers), {})
    shared = {key: first[key] for key in LIKE if key in first}
    return [{**shared, **entry} if "like" in entry else entry for entry in that_apply(entries, workload)]


def not_replaced(containers: Iterable[Json], added: Sequence[Json]) -> list[Json]:
    """Return the template's init containers that stay: an added one without `like` replaces one of its name."""
    replaced = {entry.get("name") for entry in added if "like" not in entry}
    return [container for container in containers if container.get("name") not in replaced]


def applied(adds: Mapping[str, Any], workload: Workload) -> dict[str, list[Json]]:
    """Return the lists of additions with the entries whose conditions hold for a workload."""
    return {key: list(that_apply(entries, workload)) for key, entries in adds.items() if isinstance(entries, list)}


def that_apply(entries: object, workload: Workload) -> Iterator[Json]:
    """Yield the entries of a list (adds, refuses, warns) whose conditions hold for a workload."""
    for entry in maps(entries):
        if applies(entry, workload.object, workload.template):
            yield entry


# --- The path that a mount covers, after Kubernetes and the runtime have cleaned it
#
# Rule: every comparison of a mountPath with a guarded place uses this, never the text. A relative path starts at /,
# `.` and empty parts go, `..` removes a part and ends at /. A subPath chooses the source, not the place. Where /usr is
# merged, /bin and /usr/bin are one directory, so they are one here. Other symbolic links of an image are unknown.
# Source: docs/facts/kubernetes.md#mount-points.


MERGED = frozenset(("bin", "sbin", "lib", "lib32", "lib64"))  # directories of / that are links into /usr, or may be

Parts = tuple[str, ...]


def mount_point(path: str) -> str:
    """Return the absolute path that a mount at `path` covers.

    >>> [mount_point(path) for path in ("//contrast/", "/x/../contrast", "contrast/.", "/..")]
    ['/contrast', '/contrast', '/contrast', '/']
    """
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def covers(mount: str, place: str) -> bool:
    """Tell whether a mount decides what is at `place`: it is mounted there or above. Both may be of any form.

    place: its parts may be patterns with `*`.
    """
    above, whole = _plain_parts(mount), _plain_parts(place)
    if above == ("usr",) and MERGED.intersection(whole[:1]):
        return True
    return len(above) <= len(whole) and all(map(_matches_pattern, above, whole))


def deciding(place: str) -> list[str]:
    """Return all mount points that cover a place, as `plain_point` writes them: for many questions about one."""
    parts = _plain_parts(place)
    points = ["/" + "/".join(parts[:count]) for count in range(len(parts) + 1)]
    return [*points, "/usr"] if MERGED.intersection(parts[:1]) else points


def plain_point(mount: str) -> str:
    """Return the path that a mount covers, without the /usr of a directory that is merged into it."""
    return "/" + "/".join(_plain_parts(mount))


def touches(mount: str, tree: str) -> bool:
    """Tell whether a mount covers anything in a directory: it covers the directory, or is mounted below."""
    return covers(mount, tree) or covers(tree, mount)


def _matches_pattern(part: str, pattern: str) -> bool:
    return part == pattern or fnmatchcase(part, pattern)


def _plain_parts(path: str) -> Parts:
    parts = tuple(part for part in mount_point(path).split("/") if part)
    return parts[1:] if parts[:1] == ("usr",) and parts[1:2] and parts[1] in MERGED else parts
