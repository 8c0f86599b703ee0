"""Check pods: what Contrast and Kubernetes would refuse, and what the host must not choose."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from posixpath import basename, isabs, join
from typing import Any, Literal

from krm_function.config.generate import Generate
from krm_function.config.image_lock import ImageFacts
from krm_function.contrast import annotations
from krm_function.contrast.annotations import refusal
from krm_function.contrast.gpus import USUAL, asked_gpus, gpu_count, gpu_problems, wants_gpu
from krm_function.contrast.injected import (
    INITIALIZER,
    INITIALIZER_IMAGE,
    MESH_DISABLED,
    PVC_HOLDER,
    SERVICE_MESH,
    SERVICE_MESH_IMAGE,
    SKIP_INITIALIZER,
    asks_for_initializer,
)
from krm_function.contrast.measurement import MAX_VCPUS, vcpus_text
from krm_function.contrast.mesh_annotations import asks_for_mesh, read_mesh
from krm_function.contrast.platforms import Platform
from krm_function.contrast.vm_size import sandbox_vcpus, vcpus
from krm_function.findings import Finding, Path, finding
from krm_function.kubernetes.image import is_contrast_image, parse_image, printable_reference
from krm_function.kubernetes.lookup import dig, mapping, maps
from krm_function.kubernetes.mount_points import covers, deciding, mount_point, plain_point, touches
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.pod_names import longest_name
from krm_function.kubernetes.workload import (
    POD_ROLE,
    PodContainer,
    Workload,
    claim_names,
    claim_templates,
    indexes_named,
    volume_sources,
)
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY

# --- Check pods: what Contrast checks before and after it changes pods, and what it leaves to the cluster
#
# Source: docs/facts/contrast.md#checks.
#
# Rule: it reports and never edits. Init containers count as containers everywhere: the host controls what
# they mount and run just as much. `before` checks what the user wrote, `after` the pod with its injected containers.


# Volume sources that stay inside the VM or are checked there; all others are a file system of the host's.
INSIDE = ("configMap", "downwardAPI", "emptyDir", "ephemeral", "projected", "secret")
COORDINATOR = "coordinator"
OF_RUNNING = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def check_before_injection(workload: Workload, release_images: Mapping[str, str]) -> tuple[Finding, ...]:
    """Check a workload as the user wrote it. release_images: what the render will replace, and thereby pin."""
    shape = type_findings(workload)
    if shape:
        return shape  # the readers below trust the types
    return (
        *_containers(workload),
        *_name(workload),
        *_twice(workload),
        *_init_containers(workload),
        *_annotations(workload),
        *_of_the_runtime(workload),
        *_opt_out(workload),
        *_mesh(workload),
        *_images(workload, release_images),
        *_processors(workload),
    )


def check_after_injection(workload: Workload, release_version: str) -> tuple[Finding, ...]:
    """Check a workload, whose types were checked before injection, with what was injected.

    release_version: the tag that Contrast's own images must have.
    """
    return (*_images(workload, {}), *_versions(workload, release_version), *_mounts(workload), *_claims(workload))


def check_rendered(workload: Workload) -> tuple[Finding, ...]:
    """Check a pod as it will be applied for what Kubernetes or Contrast would refuse; any tool may have rendered it."""
    shape = type_findings(workload)
    if shape:
        return shape
    return (
        *_containers(workload),
        *_name(workload),
        *_of_the_runtime(workload),
        *_images(workload, {}),
        *_mounts(workload),
        *_claims(workload),
        *_processors(workload),
    )


# --- before


def _containers(workload: Workload) -> Iterator[Finding]:
    """Check that there is a container, and that names are unique, as Kubernetes requires."""
    if not workload.containers:
        yield finding("CC0206", workload.ref, (*workload.spec_path, "containers"))
    containers = Counter(each.name for each in workload.all_containers)
    volumes = Counter(str(volume["name"]) for volume in maps(workload.pod_spec.get("volumes")))
    for what, names in (("container", containers), ("volume", volumes)):
        for name, count in names.items():
            if count > 1:
                yield finding("CC0208", workload.ref, workload.spec_path, what=what, name=name)


def _name(workload: Workload) -> Iterator[Finding]:
    """Check that the name leaves room for what a controller appends to it, or uses it for."""
    job_spec = mapping(dig(workload.object, workload.template[:-1]))
    completions = job_spec.get("completions") if job_spec.get("completionMode") == "Indexed" else 0
    limit, reason = longest_name(workload.ref.kind, completions if isinstance(completions, int) else 0)
    if workload.made_by:
        limit, reason = workload.made_by.longest_name, "its controller makes no pods of longer ones"
    name = dig(workload.object, ("metadata", "name"))
    length = len(name) if isinstance(name, str) else 0
    if 0 < limit < length:
        at = (*workload.root, "metadata", "name")
        kind = workload.ref.kind
        yield finding("CC0222", workload.ref, at, length=length, kind=kind, limit=limit, reason=reason)


def _twice(workload: Workload) -> Iterator[Finding]:
    """Find two mounts of a container at one path, which Kubernetes refuses, and variables that are set twice."""
    for each in workload.all_containers:
        places: set[str] = set()
        for index, mount in enumerate(each.mounts):
            place = str(mount.get("mountPath") or "")
            if place in places:
                path = (*each.path, "volumeMounts", index, "mountPath")
                yield finding("CC0261", workload.ref, path, container=each.name, place=place)
            places.add(place)
        names: set[str] = set()
        for index, variable in enumerate(maps(each.container.get("env"))):
            name = str(variable.get("name") or "")
            if name in names:
                yield finding("CC0262", workload.ref, (*each.path, "env", index), container=each.name, name=name)
            names.add(name)


def _init_containers(workload: Workload) -> Iterator[Finding]:
    """Find hooks and probes of an init container that is no sidecar: it has to end, so Kubernetes refuses them."""
    for each in workload.all_containers:
        if each.is_init and each.container.get("restartPolicy") != "Always":
            for field in OF_RUNNING:
                if each.container.get(field) is not None:
                    yield finding("CC0221", workload.ref, (*each.path, field), field=field, container=each.name)


def _annotations(workload: Workload) -> Iterator[Finding]:
    """Find keys of Contrast's domain that have no effect: misspelt ones, and ones in the wrong place."""
    for metadata, what, key in _keys(workload, workload.metadata_path):
        read = annotations.is_known(key, "pod annotation" if what == "annotation" else "pod label")
        old_role = key == POD_ROLE and what == "annotation" and workload.labels.get(key) != workload.annotations[key]
        if old_role or not read:
            place = f"the {what}s of the pod template"
            yield annotations.unread(workload.ref, (*metadata, f"{what}s", key), what, key, place)
    movable = annotations.misplaced(workload)
    for metadata, where in annotations.outer_metadata(workload):
        place = f"{where}, only on its pod template"
        for path, what, key in _keys(workload, metadata):
            # kustomize's commonAnnotations and labels write to the object and to its template alike: no harm done
            own = workload.annotations if what == "annotation" else workload.labels
            if key not in own or own[key] != workload.at((*path, f"{what}s", key)):
                by_rule = what == "annotation" and key in movable
                yield annotations.unread(workload.ref, (*path, f"{what}s", key), what, key, place, by_rule=by_rule)


def _of_the_runtime(workload: Workload) -> Iterator[Finding]:
    """Find annotations by which the runtime of the node would start another VM."""
    for key in workload.annotations:
        code = refusal(str(key))
        if code:
            yield finding(code, workload.ref, (*workload.metadata_path, "annotations", key), key=key)


def _keys(workload: Workload, metadata: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the keys of Contrast's domain in one metadata: its path, annotation or label, the key."""
    for what in ("annotation", "label"):
        for key in mapping(workload.at((*metadata, f"{what}s"))):
            if annotations.is_contrast_key(str(key)):
                yield metadata, what, str(key)


def _opt_out(workload: Workload) -> Iterator[Finding]:
    """Find a skip-initializer that skips nothing; false says in words what is done."""
    if workload.annotations.get(SKIP_INITIALIZER, "true") not in {"true", "false"}:
        path = (*workload.metadata_path, "annotations", SKIP_INITIALIZER)
        yield finding("CC0204.skip", workload.ref, path, key=SKIP_INITIALIZER, grammar="")


def _mesh(workload: Workload) -> Iterator[Finding]:
    """Check the grammar of the service mesh annotations."""
    for key, cause in read_mesh(workload.annotations).problems:
        path = (*workload.metadata_path, "annotations", key)
        yield finding(cause.code, workload.ref, path, key=key, grammar=annotations.KNOWN[key].value, **cause.values)


def _processors(workload: Workload) -> Iterator[Finding]:
    """Check that the VM's vCPUs are in range and not fewer than its GPUs."""
    count = vcpus(workload)
    gpus = gpu_count(workload.pod_spec)
    path = workload.spec_path
    for at, cause in gpu_problems(workload.pod_spec):
        yield finding(cause.code, workload.ref, path + at, key=str(at[-1]), **cause.values)
    if isinstance(count, Finding):
        yield count
    elif not 1 <= count <= MAX_VCPUS:
        yield finding("CC0407", workload.ref, path, vcpus=vcpus_text(count))
    else:
        if count < gpus:
            yield finding("CC0406", workload.ref, path, gpus=gpus, vcpus=vcpus_text(count), cpus=gpus - 1)
        sandbox = sandbox_vcpus(workload)
        if sandbox != count:
            cpus = max(count, sandbox) - 1
            yield finding("CC0410", workload.ref, path, vcpus=count, sandbox=sandbox, cpus=cpus)


# --- before and after


def _images(workload: Workload, replaced: Mapping[str, str]) -> Iterator[Finding]:
    """Check that every image is present, valid and pinned; those in `replaced` will be pinned by the release."""
    for each in workload.all_containers:
        image: str = each.container.get("image") or ""
        path = (*each.path, "image")
        if not image:
            yield finding("CC0501", workload.ref, each.path, container=each.name)
            continue
        if is_contrast_image(image) and image in replaced:
            continue
        parsed = parse_image(image)
        if isinstance(parsed, str):
            yield finding("CC0503", workload.ref, path, image=printable_reference(image), problem=parsed)
        elif not parsed.pinned:
            yield finding("CC0502.tag", workload.ref, path, image=image)


# --- after


def _versions(workload: Workload, release: str) -> Iterator[Finding]:
    """Check that Contrast's own containers are of this release; a development release may mix."""
    if "dev" in release or "pre" in release:
        return
    names = {INITIALIZER, SERVICE_MESH} | ({COORDINATOR} if workload.is_coordinator else set())
    for each in workload.all_containers:
        image = each.container.get("image")
        parsed = parse_image(image) if isinstance(image, str) and each.name in names else ""
        if not isinstance(parsed, str) and parsed.tag and parsed.tag != release:
            path = (*each.path, "image")
            yield finding("CC0507", workload.ref, path, image=image, tag=parsed.tag, release=release)


def _mounts(workload: Workload) -> Iterator[Finding]:
    """Check that no container mounts a file system that the host controls; block devices are no mounts."""
    volumes = maps(workload.pod_spec.get("volumes"))
    claimed = claim_names(workload)
    for each in workload.all_containers:
        for index, mount in enumerate(each.mounts):
            name = mount["name"]
            path = (*each.path, "volumeMounts", index)
            values: dict[str, Any] = {"container": each.name, "volume": name}
            if name in claimed:  # takes the place of a volume of this name
                yield finding("CC0807", workload.ref, path, **values, source="volumeClaimTemplate")
                continue
            found = indexes_named(volumes, name)
            if not found:
                yield finding("CC0810", workload.ref, path, **values)
            for at in found:
                yield from _source(workload, each.name, path, volumes[at])


def _source(workload: Workload, container: str, path: Path, volume: Mapping[str, Any]) -> Iterator[Finding]:
    """Check the source of a mounted volume."""
    for source in volume_sources(volume):
        if source not in INSIDE:
            yield finding("CC0807", workload.ref, path, container=container, volume=volume["name"], source=source)


def _claims(workload: Workload) -> Iterator[Finding]:
    """Check that a StatefulSet's claims are block devices."""
    for index, claim in enumerate(claim_templates(workload)):
        if mapping(claim.get("spec")).get("volumeMode") != "Block":
            path = (*workload.root, "spec", "volumeClaimTemplates", index)
            name = mapping(claim.get("metadata")).get("name")
            yield finding("CC0808", workload.ref, path, name=name)


# --- Check GPUs: that the nodes of the pod's platform offer what it asks for, and that the pod uses what it gets
#
# Truth table, of a container's limit (contrast/gpus.py has the names):
#
#     it is                               platform with GPUs            platform without
#     a GPU that the policy passes        nothing to say                CC0409: an error, once for the pod
#     another GPU, or a part of one       CC0411: an error, with the    CC0409
#                                         name to write
#     a share of a GPU                    CC0414: a warning, it is not counted
#
# Rule: the pod as it is after the rules of the configuration. A render asks, and `check` of its output.


CDI = "cdi.k8s.io/"


def gpu_checks(
    workload: Workload, platform: Platform | None, passed: tuple[str, ...], *, explicit: bool
) -> Iterator[Finding]:
    """Yield what is wrong with the GPUs of a pod.

    platform: None if it is not known. passed: names that the policy passes. explicit: whether the class names the
    platform; under the bare placeholder, a pod without GPU may well be where the cluster has no other nodes.
    """
    name = passed[0] if passed else USUAL
    for each in workload.all_containers:
        for one in asked_gpus(each.container, passed):
            at = (*each.path, "resources", "limits", one.name)
            if one.what == "share":
                yield finding("CC0414", workload.ref, at, container=each.name, resource=one.name)
            elif one.what != "passed" and platform is not None and platform.gpu:
                code = ("CC0411.part" if one.what == "part" else "CC0411.other") if passed else "CC0411.none"
                values: dict[str, Any] = {"container": each.name, "resource": one.name, "name": name}
                yield finding(code, workload.ref, at, platform=platform.name, **values)
    wanted = wants_gpu(workload.pod_spec)
    if wanted and platform is not None and not platform.gpu:
        at = (*workload.spec_path, "runtimeClassName")
        yield finding("CC0409", workload.ref, at, platform=platform.name)
    if explicit and platform is not None and platform.gpu and not wanted:
        at = (*workload.spec_path, "runtimeClassName")
        plain = platform.name.removesuffix("-gpu")
        yield finding("CC0415", workload.ref, at, platform=platform.name, plain=plain, name=name)
    for key in workload.annotations:
        if str(key).startswith(CDI) and not (wanted and platform is not None and platform.gpu):
            yield finding("CC0416", workload.ref, (*workload.metadata_path, "annotations", key), key=key, name=name)


# --- The places of a container's file system that a host must not choose, since what stands there decides what runs
#
# Rule: a row has its public reason. What a container's own command names is not in it; the stage
# `host_mounts` finds that. Parts of a path may be patterns. A tree is guarded with all that is below it.


Extent = Literal["file", "tree"]


class Place(NamedTuple):
    """A guarded place. code: of the finding that says what stands there."""

    path: str
    extent: Extent
    code: str


SECRETS = "/contrast"
_LOADER, _SHELL, _PYTHON = "CC0820.loader", "CC0820.shell", "CC0820.python"

PLACES = (
    Place(SECRETS, "tree", "CC0820.secrets"),  # docs/facts/contrast.md#initializer
    # ld.so(8), ldconfig(8); musl: "Dynamic linker" of its manual. The loader itself, and the C library of every program
    *(
        Place(path, "file", _LOADER)
        for path in (
            *("/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/ld.so.cache", "/etc/ld-musl-*.path"),
            *("/lib/ld-*", "/lib32/ld-*", "/lib64/ld-*", "/lib/x86_64-linux-gnu/ld-*"),
            *("/lib/libc.*", "/lib64/libc.*", "/lib/x86_64-linux-gnu/libc.*"),
        )
    ),
    Place("/etc/ld.so.conf.d", "tree", _LOADER),
    # bash(1) "FILES", dash(1), zsh(1) "FILES"
    *(
        Place(path, "file", _SHELL)
        for path in (
            *("/etc/profile", "/etc/bash.bashrc", "/etc/bashrc", "/etc/zshenv", "/etc/zsh/zshenv"),
            *("/root/.profile", "/root/.bash_profile", "/root/.bash_login", "/root/.bashrc", "/root/.zshenv"),
        )
    ),
    Place("/etc/profile.d", "tree", _SHELL),
    # https://docs.python.org/3/library/site.html
    *(
        Place(f"{base}/{name}customize.*", "file", _PYTHON)
        for base in ("/usr/lib/python3*", "/usr/local/lib/python3*", "/usr/local/lib/python3*/site-packages")
        for name in ("site", "user")
    ),
)


@lru_cache(maxsize=1024)
def guarded_place(mount: str) -> Place | None:
    """Return the first guarded place about which a mount decides, None if there is none."""
    for place in PLACES:
        if touches(mount, place.path) if place.extent == "tree" else covers(mount, place.path):
            return place
    return None


# --- Host mounts: refuse files of the host at places that decide which program runs, or where the secrets are
#
# Rule: of every mount whose content is the host's it asks one question, whether the mount decides about a
# guarded place (render/pod_checks.py) or about a program that the pod or its image names. No policy holds the
# content of such a mount: docs/facts/contrast-node.md#requests, docs/explanation/threat-model.md.
#
#     what is mounted                             whose content
#     the file of terminationMessagePath          the host's
#     configMap, secret, projected, downwardAPI   the host's, which copies them into the VM
#     ephemeral, any other file system            the host's
#     emptyDir                                    the pod's: it is made in the VM; the host's where the settings of the
#                                                 policy say so, and it is not in memory
#     hostPath of /dev or /sys                    the guest's


Argv = tuple[str, ...]

IN_THE_VM = frozenset(("emptyDir",))
ENCRYPTED = "block-encrypted"  # the default of emptydir_type: docs/facts/kata.md#default-settings
GUEST = ("/dev", "/sys")  # of a hostPath, as policy/mounts.py has them
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS = ("postStart", "preStop")
# Programs that read their first argument without a dash as a program, unless an option says that it is a text.
SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh")
INTERPRETERS = (*SHELLS, "python*", "perl", "ruby", "node", "php", "lua", "java")
INLINE = frozenset(("-c", "-e", "-m", "-r"))
STARTERS = ("env", "exec", "tini", "dumb-init", "nohup", "setsid")  # these start the first argument without a dash
# the first word of a command of a shell, if it is a path, behind what starts another program or reads a file
_STARTED = (
    r"(?:^|[;&|\n({`])[ \t]*+(?:(?:exec|source|\.|sh|bash|then|do|if|!)[ \t]++)*+"
    r"[\"']?([\w.-]*+/[^\s;&|(){}<>`\"']+)"
)
LONGEST = 4096  # bytes of a path, with its end (limits.h(0p), PATH_MAX on Linux); so much is read of a PATH, too
DEEPEST = 8  # programs that start one another


class HostMount(NamedTuple):
    """A mount whose content is the host's. at: its path in the document. what: in words of a sentence."""

    point: str
    at: Path
    what: str


class Program(NamedTuple):
    """A file that a container may start. name: as the pod or image has it, without the value of a variable.

    script: an interpreter is told to run it.
    """

    path: str
    name: str
    script: bool = False


def host_mounts(
    workload: Workload, images: Mapping[str, ImageFacts] = EMPTY, settings: Mapping[str, Any] | None = None
) -> tuple[Finding, ...]:
    """Return CC0820 and CC0821 for each such mount that decides too much.

    images: what is known of images, by the reference exactly as the pod names it; without it only the programs that the
    pod names itself are looked for. settings: of the policy, if they are not those of the profile.
    """
    kind = dig(settings, ("cluster_config", "emptydir_type")) if isinstance(settings, dict) else None
    shared = kind not in (None, ENCRYPTED)
    return tuple(
        found for each in workload.all_containers for found in _of_container(workload, each, images, shared=shared)
    )


def _of_container(
    workload: Workload, each: PodContainer, images: Mapping[str, ImageFacts], *, shared: bool
) -> Iterator[Finding]:
    mounts = list(_container_mounts(workload, each, shared=shared))
    if not mounts:
        return

    decided = _decided(each, images)
    for mount in mounts:
        values: dict[str, Any] = {"container": each.name, "what": mount.what}
        place = guarded_place(mount.point)
        if place is not None:
            yield finding(place.code, workload.ref, mount.at, **values, place=place.path)
            continue
        if (program := decided.get(plain_point(mount.point))) is not None:
            code = "CC0821" if program.script else "CC0820.program"
            yield finding(code, workload.ref, mount.at, **values, program=program.name)


def _container_mounts(workload: Workload, each: PodContainer, *, shared: bool) -> Iterator[HostMount]:
    message = each.container.get("terminationMessagePath")
    if isinstance(message, str) and message:
        yield HostMount(mount_point(message), (*each.path, "terminationMessagePath"), "its termination message")
    volumes = {str(volume.get("name")): volume for volume in maps(workload.pod_spec.get("volumes"))}
    claims = claim_names(workload)
    for index, mount in enumerate(each.mounts):
        name, path = str(mount.get("name")), mount.get("mountPath")
        volume = volumes.get(name)
        if not isinstance(path, str) or (
            name not in claims and (volume is None or _is_of_the_vm(volume, shared=shared))
        ):
            continue
        at = (*each.path, "volumeMounts", index, "mountPath")
        yield HostMount(mount_point(path), at, f"volume {name}")


def _is_of_the_vm(volume: Mapping[str, Any], *, shared: bool) -> bool:
    """Tell whether a volume is made in the VM. shared: emptyDirs that are not in memory are not."""
    sources = volume_sources(volume)
    if sources == ("hostPath",):
        host_path = mapping(volume.get("hostPath")).get("path")
        return isinstance(host_path, str) and any(covers(top, host_path) for top in GUEST)
    if shared and sources == ("emptyDir",):
        return mapping(volume.get("emptyDir")).get("medium") == "Memory"
    return IN_THE_VM.issuperset(sources)


def _decided(each: PodContainer, images: Mapping[str, ImageFacts]) -> Mapping[str, Program]:
    """Return by mount point the first program about which a mount there decides."""
    decided: dict[str, Program] = {}
    for program in _programs(each, images):
        for point in deciding(program.path):
            decided.setdefault(point, program)
    return decided


def _programs(each: PodContainer, images: Mapping[str, ImageFacts]) -> Iterator[Program]:
    """Yield what a container starts: its own process, then its probes and hooks."""
    container = each.container
    facts = images.get(str(container.get("image")))
    config = mapping(dict(facts.config)) if facts else {}
    where = str(container.get("workingDir") or config.get("WorkingDir") or "/")
    path = _search_path(container, config)
    command, args = _texts(container.get("command")), _texts(container.get("args"))
    own = (*command, *args)
    if not command:
        own = (*_texts(config.get("Entrypoint")), *(args or _texts(config.get("Cmd"))))
    steps: list[Path] = [(probe, "exec", "command") for probe in PROBES]
    steps += [("lifecycle", hook, "exec", "command") for hook in HOOKS]
    for texts in (own, *(_texts(dig(container, step)) for step in steps)):
        names = {_expanded(text, container): text for text in texts}
        argv = tuple(_expanded(text, container) for text in texts)
        for _ in range(DEEPEST):
            if not argv:
                break
            yield from (Program(file, names[argv[0]]) for file in _places_of(argv[0], where, path))
            if _is_one_of(argv[0], INTERPRETERS):
                for script in _operands(argv)[:1] or _of_text(argv):
                    name = names.get(script, script if script in "\n".join(texts) else "of a variable")
                    yield from (Program(file, name, script=True) for file in _places_of(script, where, ""))
            argv = _operands(argv) if _is_one_of(argv[0], STARTERS) else ()


def _search_path(container: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Return the PATH of a container: the pod's own, else the image's, else the runtime's."""
    own = [entry.get("value") for entry in maps(container.get("env")) if entry.get("name") == "PATH"]
    of_image = [text.removeprefix("PATH=") for text in _texts(config.get("Env")) if text.startswith("PATH=")]
    found = [text for text in (*of_image, *own) if isinstance(text, str)]
    return found[-1] if found else DEFAULT_PATH


def _places_of(program: str, where: str, path: str) -> tuple[str, ...]:
    """Return where a program may be found: one place if it is named by a path, else one in each directory of PATH.

    A text that is too long for a path names no file.
    """
    if len(where) + len(program) > LONGEST:
        return ()
    if isabs(program):
        return (program,)
    if "/" in program or not path:
        return (mount_point(join(where, program)),)
    return tuple(join(where, directory, program) for directory in path[:LONGEST].split(":"))


def _expanded(text: str, container: Mapping[str, Any]) -> str:
    """Expand the variables of the pod spec in a text that may be a path, once: what is longer is none."""
    if "$(" not in text or len(text) > LONGEST:
        return text
    from krm_function.policy.expansion import expand

    values = {str(entry.get("name")): str(entry.get("value") or "") for entry in maps(container.get("env"))}
    return expand(text, {name: value for name, value in values.items() if len(value) <= LONGEST})


def _is_one_of(program: str, names: Argv) -> bool:
    return any(fnmatchcase(basename(program), name) for name in names)


def _operands(argv: Argv) -> Argv:
    """Return the arguments from the first one on that is neither an option nor an assignment; () if it is no file."""
    for index, text in enumerate(argv[1:], 1):
        if _is_inline(argv[0], text):
            return ()
        if not text.startswith("-") and "=" not in text:
            return argv[index:]
    return ()


def _is_inline(program: str, option: str) -> bool:
    """Tell whether a text of the program stands behind an option. A shell takes several letters in one: `-ec`."""
    if _is_one_of(program, SHELLS):
        return option.startswith("-") and not option.startswith("--") and "c" in option
    return option in INLINE


def _of_text(argv: Argv) -> list[str]:
    """Return the programs named by a path that a text for a shell starts, as far as a look at its words tells."""
    if not _is_one_of(argv[0], SHELLS):
        return []
    behind = [argv[index + 1] for index, one in enumerate(argv[:-1]) if index and _is_inline(argv[0], one)]
    return re.findall(_STARTED, behind[0]) if behind else []


def _texts(value: Any) -> Argv:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, (list, tuple)) else ()


# --- Find pods whose network stays closed, or whose service mesh never gets a certificate
#
# Sources: docs/facts/contrast.md#initializer, docs/facts/contrast.md#service-mesh.
#
# Rule: the firewall of a Contrast VM denies what comes in until the service mesh proxy sets its own rules,
# or an initializer with CONTRAST_SERVICE_MESH_DISABLED takes that rule away. The pod is judged as it will run, so a
# container written by hand counts like an injected one; it is known by its image, or by the name that Contrast gives
# it.
#
#     init containers of the pod                   answer
#     a proxy, and an initializer                  nothing
#     a proxy alone                                CC0286: the proxy waits for a certificate that nobody fetches
#     an initializer with the variable             nothing
#     an initializer without it                    CC0287
#     neither                                      CC0287
#
# The coordinator has neither and needs neither.


def closed_networks(workload: Workload, options: Generate) -> Iterator[Finding]:
    """Yield CC0286 or CC0287 for a workload whose containers are injected, by the truth table above."""
    if workload.is_coordinator:
        return
    proxy = _init_container(workload, SERVICE_MESH, SERVICE_MESH_IMAGE)
    initializer = _init_container(workload, INITIALIZER, INITIALIZER_IMAGE)
    skipped = not asks_for_initializer(workload.annotations)
    if initializer is None:
        annotation = (*workload.metadata_path, "annotations", SKIP_INITIALIZER)
        path = annotation if skipped else workload.spec_path
        if proxy is not None:
            yield finding("CC0286.skipped" if skipped else "CC0286.configured", workload.ref, path)
        else:
            yield finding("CC0287.skipped" if skipped else "CC0287.configured", workload.ref, path)
    elif proxy is None and not _opens(initializer.container):
        left_out = asks_for_mesh(workload.annotations) and not options.service_mesh
        code = "CC0287.mesh" if left_out else "CC0287.variable"
        yield finding(code, workload.ref, initializer.path, container=initializer.name)


def _init_container(workload: Workload, name: str, image: str) -> PodContainer | None:
    """Return the init container of this name, or one whose image is this one of Contrast's, in any registry."""
    ending = image.partition(":")[0].split("/", 1)[1].removeprefix("edgelesssys/")
    for each in workload.all_containers:
        if not each.is_init or each.name == PVC_HOLDER:  # which has the initializer's image, and is none
            continue
        parsed = parse_image(str(each.container.get("image") or ""))
        if each.name == name or (not isinstance(parsed, str) and parsed.name.endswith(f"/{ending}")):
            return each
    return None


def _opens(container: dict[str, Any]) -> bool:
    """Whether an initializer is told that no mesh will open the firewall; a value that only the cluster knows may."""
    found = [one for one in maps(container.get("env")) if one.get("name") == MESH_DISABLED]
    return bool(found) and ("valueFrom" in found[-1] or found[-1].get("value") == "true")
