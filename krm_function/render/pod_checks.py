"""Check pods: fields that Contrast and Kubernetes would refuse, and files that the host must not choose."""

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
from krm_function.contrast.annotations import asks_for_mesh, read_mesh, refusal
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
from krm_function.contrast.platforms import Platform
from krm_function.contrast.vm_size import sandbox_vcpus, vcpus
from krm_function.findings import Finding, Path, finding
from krm_function.kubernetes.image import is_contrast_image, parse_image, printable_reference
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.pod_names import longest_name
from krm_function.kubernetes.workload import (
    POD_ROLE,
    PodContainer,
    Workload,
    claim_names,
    claim_templates,
    covers,
    deciding,
    indexes_named,
    mount_point,
    plain_point,
    touches,
    volume_sources,
)
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY

# --- Check pods: the checks of Contrast before and after it changes pods, and those that it leaves to the cluster
#
# Source: docs/facts/contrast.md#checks.
#
# Rule: the checks report and never edit. Init containers count as containers everywhere: the host controls their mounts
# and programs just as much. The checks before the injection are about the pod as the user wrote it, those after it
# about the pod with its injected containers.


# Volume sources that stay inside the VM or are checked there; all others are a file system of the host's.
INSIDE = ("configMap", "downwardAPI", "emptyDir", "ephemeral", "projected", "secret")
COORDINATOR = "coordinator"
OF_RUNNING = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def check_before_injection(workload: Workload, release_images: Mapping[str, str]) -> tuple[Finding, ...]:
    """Check a workload as the user wrote it. release_images: images that the render replaces, and thereby pins."""
    shape = type_findings(workload)
    if shape:
        return shape  # the readers below trust the types
    return (
        *_check_containers(workload),
        *_check_name(workload),
        *_find_repeats(workload),
        *_check_init_containers(workload),
        *_check_annotations(workload),
        *_check_runtime_annotations(workload),
        *_check_opt_out(workload),
        *_check_mesh(workload),
        *_check_images(workload, release_images),
        *_check_processors(workload),
        *_check_local_profiles(workload),
    )


def check_after_injection(workload: Workload, release_version: str) -> tuple[Finding, ...]:
    """Check a workload, whose types were checked before injection, with its injected containers.

    release_version: the tag that Contrast's own images must have.
    """
    return (
        *_check_images(workload, {}),
        *_check_versions(workload, release_version),
        *_check_mounts(workload),
        *_check_claims(workload),
    )


def check_rendered(workload: Workload) -> tuple[Finding, ...]:
    """Check a rendered pod, from any tool, for violations of the rules of Kubernetes or Contrast."""
    shape = type_findings(workload)
    if shape:
        return shape
    return (
        *_check_containers(workload),
        *_check_name(workload),
        *_check_runtime_annotations(workload),
        *_check_images(workload, {}),
        *_check_mounts(workload),
        *_check_claims(workload),
        *_check_processors(workload),
    )


# --- before


def _check_containers(workload: Workload) -> Iterator[Finding]:
    """Check that there is a container, and that names are unique, as Kubernetes requires."""
    if not workload.containers:
        yield finding("CC0206", workload.ref, (*workload.spec_path, "containers"))
    containers = Counter(container.name for container in workload.all_containers)
    volumes = Counter(str(volume["name"]) for volume in maps(workload.pod_spec.get("volumes")))
    for noun, names in (("container", containers), ("volume", volumes)):
        for name, count in names.items():
            if count > 1:
                yield finding("CC0208", workload.ref, workload.spec_path, what=noun, name=name)


def _check_name(workload: Workload) -> Iterator[Finding]:
    """Check that the name is short enough for the names that a controller derives from it."""
    job_spec = mapping(dig(workload.object, workload.template[:-1]))
    completions = job_spec.get("completions") if job_spec.get("completionMode") == "Indexed" else 0
    limit, reason = longest_name(workload.ref.kind, completions if isinstance(completions, int) else 0)
    if workload.made_by:
        limit, reason = workload.made_by.longest_name, "its controller creates no pods for longer names"
    name = dig(workload.object, ("metadata", "name"))
    length = len(name) if isinstance(name, str) else 0
    if 0 < limit < length:
        at = (*workload.root, "metadata", "name")
        kind = workload.ref.kind
        yield finding("CC0222", workload.ref, at, length=length, kind=kind, limit=limit, reason=reason)


def _find_repeats(workload: Workload) -> Iterator[Finding]:
    """Find two mounts of a container at one path, which Kubernetes refuses, and variables that are set twice."""
    for container in workload.all_containers:
        places: set[str] = set()
        for index, mount in enumerate(container.mounts):
            place = str(mount.get("mountPath") or "")
            if place in places:
                path = (*container.path, "volumeMounts", index, "mountPath")
                yield finding("CC0261", workload.ref, path, container=container.name, place=place)
            places.add(place)
        names: set[str] = set()
        for index, variable in enumerate(maps(container.container.get("env"))):
            name = str(variable.get("name") or "")
            if name in names:
                path = (*container.path, "env", index)
                yield finding("CC0262", workload.ref, path, container=container.name, name=name)
            names.add(name)


def _check_init_containers(workload: Workload) -> Iterator[Finding]:
    """Find hooks and probes of an init container other than a sidecar; Kubernetes refuses them, as it has to end."""
    for container in workload.all_containers:
        if container.is_init and container.container.get("restartPolicy") != "Always":
            for field in (field for field in OF_RUNNING if container.container.get(field) is not None):
                path = (*container.path, field)
                yield finding("CC0221", workload.ref, path, field=field, container=container.name)


def _check_annotations(workload: Workload) -> Iterator[Finding]:
    """Find keys of Contrast's domain that have no effect: misspelt or in the wrong place."""
    movable = annotations.misplaced(workload)
    for metadata, noun, key in _list_contrast_keys(workload, workload.metadata_path):
        is_read = annotations.is_known(key, "pod annotation" if noun == "annotation" else "pod label")
        old_role = key == POD_ROLE and noun == "annotation" and workload.labels.get(key) != workload.annotations[key]
        if old_role or not is_read:
            place = f"the {noun}s of the pod template"
            by_rule = old_role and key in movable
            yield annotations.unread(workload.ref, (*metadata, f"{noun}s", key), noun, key, place, by_rule=by_rule)
    for metadata, where in annotations.outer_metadata(workload):
        place = f"{where}, only on its pod template"
        for path, noun, key in _list_contrast_keys(workload, metadata):
            # kustomize's commonAnnotations and labels write to the object and to its template alike: no harm done
            pod_keys = workload.annotations if noun == "annotation" else workload.labels
            if key not in pod_keys or pod_keys[key] != workload.at((*path, f"{noun}s", key)):
                by_rule = noun == "annotation" and key in movable
                yield annotations.unread(workload.ref, (*path, f"{noun}s", key), noun, key, place, by_rule=by_rule)


def _check_runtime_annotations(workload: Workload) -> Iterator[Finding]:
    """Find annotations that would make the runtime of the node start another VM."""
    for key in workload.annotations:
        code = refusal(str(key))
        if code:
            yield finding(code, workload.ref, (*workload.metadata_path, "annotations", key), key=key)


def _list_contrast_keys(workload: Workload, metadata: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the keys of Contrast's domain in one metadata: its path, annotation or label, the key."""
    for noun in ("annotation", "label"):
        for key in mapping(workload.at((*metadata, f"{noun}s"))):
            if annotations.is_contrast_key(str(key)):
                yield metadata, noun, str(key)


def _check_opt_out(workload: Workload) -> Iterator[Finding]:
    """Find a skip-initializer that skips nothing; false states the default."""
    if workload.annotations.get(SKIP_INITIALIZER, "true") not in {"true", "false"}:
        path = (*workload.metadata_path, "annotations", SKIP_INITIALIZER)
        yield finding("CC0204.skip", workload.ref, path, key=SKIP_INITIALIZER, grammar="")


def _check_mesh(workload: Workload) -> Iterator[Finding]:
    for key, cause in read_mesh(workload.annotations)[1]:
        path = (*workload.metadata_path, "annotations", key)
        yield finding(cause.code, workload.ref, path, key=key, grammar=annotations.KNOWN[key].value, **cause.values)


def _check_processors(workload: Workload) -> Iterator[Finding]:
    """Check that the VM's vCPUs are in range and at least as many as its GPUs."""
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


def _check_local_profiles(workload: Workload) -> Iterator[Finding]:
    places = (
        (workload.pod_spec, workload.spec_path),
        *((entry.container, entry.path) for entry in workload.all_containers),
    )
    for holder, path in places:
        for field in ("appArmorProfile", "seccompProfile"):
            at = ("securityContext", field)
            if dig(holder, (*at, "type")) == "Localhost":
                yield finding("CC0845", workload.ref, (*path, *at), field=field)


# --- before and after


def _check_images(workload: Workload, replaced: Mapping[str, str]) -> Iterator[Finding]:
    """Check that every image is present, valid and pinned; those in `replaced` will be pinned by the release."""
    for container in workload.all_containers:
        image: str = container.container.get("image") or ""
        path = (*container.path, "image")
        if not image:
            yield finding("CC0501", workload.ref, container.path, container=container.name)
            continue
        if is_contrast_image(image) and image in replaced:
            continue
        parsed = parse_image(image)
        if isinstance(parsed, str):
            yield finding("CC0503", workload.ref, path, image=printable_reference(image), problem=parsed)
        elif not parsed.pinned:
            yield finding("CC0502.tag", workload.ref, path, image=image)


# --- after


def _check_versions(workload: Workload, release: str) -> Iterator[Finding]:
    """Check that Contrast's own containers belong to this release; a development release may mix."""
    if "dev" in release or "pre" in release:
        return
    names = {INITIALIZER, SERVICE_MESH} | ({COORDINATOR} if workload.is_coordinator else set())
    for container in workload.all_containers:
        image = container.container.get("image")
        parsed = parse_image(image) if isinstance(image, str) and container.name in names else ""
        if not isinstance(parsed, str) and parsed.tag and parsed.tag != release:
            path = (*container.path, "image")
            yield finding("CC0507", workload.ref, path, image=image, tag=parsed.tag, release=release)


def _check_mounts(workload: Workload) -> Iterator[Finding]:
    """Check that no container mounts a file system that the host controls; block devices are not mounts."""
    volumes = maps(workload.pod_spec.get("volumes"))
    claimed = claim_names(workload)
    for container in workload.all_containers:
        for index, mount in enumerate(container.mounts):
            name = mount["name"]
            path = (*container.path, "volumeMounts", index)
            values: dict[str, Any] = {"container": container.name, "volume": name}
            if name in claimed:  # takes the place of a volume of this name
                yield finding("CC0807.volume", workload.ref, path, **values, source="volumeClaimTemplate")
                continue
            sources = [source for at in indexes_named(volumes, name) for source in volume_sources(volumes[at])]
            if not sources:
                yield finding("CC0810", workload.ref, path, **values)
            for source in (source for source in sources if source not in INSIDE):
                code = "CC0807.image" if source == "image" else "CC0807.volume"
                yield finding(code, workload.ref, path, **values, source=source)


def _check_claims(workload: Workload) -> Iterator[Finding]:
    for index, claim in enumerate(claim_templates(workload)):
        if mapping(claim.get("spec")).get("volumeMode") != "Block":
            path = (*workload.root, "spec", "volumeClaimTemplates", index)
            name = mapping(claim.get("metadata")).get("name")
            yield finding("CC0808", workload.ref, path, name=name)


# --- Check GPUs: that the nodes of the pod's platform offer the GPUs it asks for, and that the pod uses those it gets
#
# Truth table, of a container's limit (contrast/gpus.py has the names):
#
#     it is                               platform with GPUs            platform without
#     a GPU that the policy passes        no finding                    CC0409: an error, once for the pod
#     another GPU, or a part of one       CC0411: an error, with the    CC0409
#                                         name to write
#     a share of a GPU                    CC0414: a warning, it is not counted
#
# Rule: the check is about the pod after the rules of the configuration; a render and `check` call it.


CDI = "cdi.k8s.io/"


def check_gpus(
    workload: Workload, platform: Platform | None, passed: tuple[str, ...], *, explicit: bool
) -> Iterator[Finding]:
    """Yield the problems of the GPUs of a pod.

    platform: None if unknown. passed: names that the policy passes. explicit: whether the class names the platform;
    with the bare placeholder, a pod without GPU may well be where the cluster has no other nodes.
    """
    name = passed[0] if passed else USUAL
    for container in workload.all_containers:
        for gpu in asked_gpus(container.container, passed):
            at = (*container.path, "resources", "limits", gpu.name)
            if gpu.kind == "share":
                yield finding("CC0414", workload.ref, at, container=container.name, resource=gpu.name)
            elif gpu.kind != "passed" and platform is not None and platform.gpu:
                code = ("CC0411.part" if gpu.kind == "part" else "CC0411.other") if passed else "CC0411.none"
                values: dict[str, Any] = {"container": container.name, "resource": gpu.name, "name": name}
                yield finding(code, workload.ref, at, platform=platform.name, **values)
    has_gpu = wants_gpu(workload.pod_spec)
    if has_gpu and platform is not None and not platform.gpu:
        at = (*workload.spec_path, "runtimeClassName")
        yield finding("CC0409", workload.ref, at, platform=platform.name)
    if explicit and platform is not None and platform.gpu and not has_gpu:
        at = (*workload.spec_path, "runtimeClassName")
        plain = platform.name.removesuffix("-gpu")
        yield finding("CC0415", workload.ref, at, platform=platform.name, plain=plain, name=name)
    for key in workload.annotations:
        if str(key).startswith(CDI) and not (has_gpu and platform is not None and platform.gpu):
            yield finding("CC0416", workload.ref, (*workload.metadata_path, "annotations", key), key=key, name=name)


# --- The places of a container's file system that a host must not fill, since a file there decides what runs
#
# Rule: a row has its public reason. Files that a container's own command names have no row; the stage
# `check_host_mounts` finds these. Parts of a path may be patterns. A tree is guarded with everything below it.


Extent = Literal["file", "tree"]


class Place(NamedTuple):
    """A guarded place. code: of the finding about it."""

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
def find_guarded_place(mount: str) -> Place | None:
    """Return the first guarded place that a mount would decide, None without one."""
    for place in PLACES:
        if touches(mount, place.path) if place.extent == "tree" else covers(mount, place.path):
            return place
    return None


# --- Host mounts: refuse files of the host at places that decide which program runs, or where the secrets are
#
# Rule: a mount whose content is the host's must not decide the content of a guarded place (above) or of a program that
# the pod or its image names. No policy covers the content of such a mount: docs/facts/contrast-node.md#requests,
# docs/explanation/threat-model.md.
#
#     the mount                                   whose content
#     the file of terminationMessagePath          the host's
#     configMap, secret, projected, downwardAPI   the host's, which copies them into the VM
#     ephemeral, any other file system            the host's
#     emptyDir                                    the pod's: it is made in the VM; the host's where the settings of the
#                                                 policy demand that, and it is not in memory
#     hostPath of /dev or /sys                    the guest's


Argv = tuple[str, ...]

IN_THE_VM = frozenset(("emptyDir",))
ENCRYPTED = "block-encrypted"  # the default of emptydir_type: docs/facts/kata.md#default-settings
GUEST = ("/dev", "/sys")  # of a hostPath, as policy/mounts.py has them
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS = ("postStart", "preStop")
# Programs that read their first argument without a dash as a program, unless an option makes it a text.
SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh")
INTERPRETERS = (*SHELLS, "python*", "perl", "ruby", "node", "php", "lua", "java")
INLINE = frozenset(("-c", "-e", "-m", "-r"))
STARTERS = ("env", "exec", "tini", "dumb-init", "nohup", "setsid")  # these start the first argument without a dash
# the first word of a command of a shell, if it is a path, behind what starts another program or reads a file
_STARTED = (
    r"(?:^|[;&|\n({`])[ \t]*+(?:(?:exec|source|\.|sh|bash|then|do|if|!)[ \t]++)*+"
    r"[\"']?([\w.-]*+/[^\s;&|(){}<>`\"']+)"
)
LONGEST = 4096  # bytes of a path, with its end (limits.h(0p), PATH_MAX on Linux); the limit for a PATH, too
DEEPEST = 8  # programs that start one another


class HostMount(NamedTuple):
    """A mount whose content is the host's. at: its path in the document. what: a description for a sentence."""

    point: str
    at: Path
    source: str


class Program(NamedTuple):
    """A file that a container may start. name: as the pod or image has it, without the value of a variable.

    script: an interpreter is told to run it.
    """

    path: str
    name: str
    script: bool = False


def check_host_mounts(
    workload: Workload, images: Mapping[str, ImageFacts] = EMPTY, settings: Mapping[str, Any] | None = None
) -> tuple[Finding, ...]:
    """Return CC0820 and CC0821 for each such mount that decides too much.

    images: facts by the reference exactly as the pod names it; without them, only the programs that the pod names
    itself count. settings: of the policy, if they differ from the profile's.
    """
    kind = dig(settings, ("cluster_config", "emptydir_type")) if isinstance(settings, dict) else None
    shared = kind not in (None, ENCRYPTED)
    return tuple(
        problem
        for container in workload.all_containers
        for problem in _check_container(workload, container, images, shared=shared)
    )


def _check_container(
    workload: Workload, container: PodContainer, images: Mapping[str, ImageFacts], *, shared: bool
) -> Iterator[Finding]:
    mounts = list(_list_host_mounts(workload, container, shared=shared))
    if not mounts:
        return

    by_point = _index_programs(container, images)
    for mount in mounts:
        values: dict[str, Any] = {"container": container.name, "what": mount.source}
        place = find_guarded_place(mount.point)
        if place is not None:
            yield finding(place.code, workload.ref, mount.at, **values, place=place.path)
            continue
        if (program := by_point.get(plain_point(mount.point))) is not None:
            code = "CC0821" if program.script else "CC0820.program"
            yield finding(code, workload.ref, mount.at, **values, program=program.name)


def _list_host_mounts(workload: Workload, container: PodContainer, *, shared: bool) -> Iterator[HostMount]:
    message = container.container.get("terminationMessagePath")
    if isinstance(message, str) and message:
        yield HostMount(mount_point(message), (*container.path, "terminationMessagePath"), "its termination message")
    volumes = {str(volume.get("name")): volume for volume in maps(workload.pod_spec.get("volumes"))}
    claims = claim_names(workload)
    for index, mount in enumerate(container.mounts):
        name, path = str(mount.get("name")), mount.get("mountPath")
        volume = volumes.get(name)
        if not isinstance(path, str) or (name not in claims and (volume is None or _is_in_vm(volume, shared=shared))):
            continue
        at = (*container.path, "volumeMounts", index, "mountPath")
        yield HostMount(mount_point(path), at, f"volume {name}")


def _is_in_vm(volume: Mapping[str, Any], *, shared: bool) -> bool:
    """Tell whether a volume is made in the VM. shared: emptyDirs that are not in memory are not."""
    sources = volume_sources(volume)
    if sources == ("hostPath",):
        host_path = mapping(volume.get("hostPath")).get("path")
        return isinstance(host_path, str) and any(covers(top, host_path) for top in GUEST)
    if shared and sources == ("emptyDir",):
        return mapping(volume.get("emptyDir")).get("medium") == "Memory"
    return IN_THE_VM.issuperset(sources)


def _index_programs(container: PodContainer, images: Mapping[str, ImageFacts]) -> Mapping[str, Program]:
    """Map each mount point to the first program that a mount there would decide."""
    by_point: dict[str, Program] = {}
    for program in _list_programs(container, images):
        for point in deciding(program.path):
            by_point.setdefault(point, program)
    return by_point


def _list_programs(container: PodContainer, images: Mapping[str, ImageFacts]) -> Iterator[Program]:
    spec = container.container
    facts = images.get(str(spec.get("image")))
    config = mapping(dict(facts.config)) if facts else {}
    directory = str(spec.get("workingDir") or config.get("WorkingDir") or "/")
    path = _find_search_path(spec, config)
    command, args = _texts(spec.get("command")), _texts(spec.get("args"))
    process = (*command, *args)
    if not command:
        process = (*_texts(config.get("Entrypoint")), *(args or _texts(config.get("Cmd"))))
    steps: list[Path] = [(probe, "exec", "command") for probe in PROBES]
    steps += [("lifecycle", hook, "exec", "command") for hook in HOOKS]
    for texts in (process, *(_texts(dig(spec, step)) for step in steps)):
        names = {_expand(text, spec): text for text in texts}
        argv = tuple(_expand(text, spec) for text in texts)
        for _ in range(DEEPEST):
            if not argv:
                break
            yield from (Program(file, names[argv[0]]) for file in _list_places(argv[0], directory, path))
            if _is_one_of(argv[0], INTERPRETERS):
                for script in _drop_options(argv)[:1] or _find_inline_programs(argv):
                    name = names.get(script, script if script in "\n".join(texts) else "of a variable")
                    yield from (Program(file, name, script=True) for file in _list_places(script, directory, ""))
            argv = _drop_options(argv) if _is_one_of(argv[0], STARTERS) else ()


def _find_search_path(container: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Return the PATH of a container: from the pod, else from the image, else from the runtime."""
    pod_values = [entry.get("value") for entry in maps(container.get("env")) if entry.get("name") == "PATH"]
    of_image = [text.removeprefix("PATH=") for text in _texts(config.get("Env")) if text.startswith("PATH=")]
    values = [text for text in (*of_image, *pod_values) if isinstance(text, str)]
    return values[-1] if values else DEFAULT_PATH


def _list_places(program: str, working_directory: str, path: str) -> tuple[str, ...]:
    """Return the paths where a program may be: one if it is named by a path, else one in each directory of PATH.

    A text that is too long for a path cannot name a file.
    """
    if len(working_directory) + len(program) > LONGEST:
        return ()
    if isabs(program):
        return (program,)
    if "/" in program or not path:
        return (mount_point(join(working_directory, program)),)
    return tuple(join(working_directory, directory, program) for directory in path[:LONGEST].split(":"))


def _expand(text: str, container: Mapping[str, Any]) -> str:
    """Expand the variables of the pod spec once in a text that may be a path; a longer text is not a path."""
    if "$(" not in text or len(text) > LONGEST:
        return text
    from krm_function.policy.expansion import expand

    values = {str(entry.get("name")): str(entry.get("value") or "") for entry in maps(container.get("env"))}
    return expand(text, {name: value for name, value in values.items() if len(value) <= LONGEST})


def _is_one_of(program: str, names: Argv) -> bool:
    return any(fnmatchcase(basename(program), name) for name in names)


def _drop_options(argv: Argv) -> Argv:
    """Return the arguments from the first one that is neither an option nor an assignment; () if it is not a file."""
    for index, text in enumerate(argv[1:], 1):
        if _is_inline(argv[0], text):
            return ()
        if not text.startswith("-") and "=" not in text:
            return argv[index:]
    return ()


def _is_inline(program: str, option: str) -> bool:
    """Tell whether an option takes a text of the program. A shell takes several letters in one option: `-ec`."""
    if _is_one_of(program, SHELLS):
        return option.startswith("-") and not option.startswith("--") and "c" in option
    return option in INLINE


def _find_inline_programs(argv: Argv) -> list[str]:
    """Return the programs, named by a path, that a shell's inline text starts, as far as its words show."""
    if not _is_one_of(argv[0], SHELLS):
        return []
    scripts = [argv[index + 1] for index, option in enumerate(argv[:-1]) if index and _is_inline(argv[0], option)]
    return re.findall(_STARTED, scripts[0]) if scripts else []


def _texts(value: Any) -> Argv:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, (list, tuple)) else ()


# --- Find pods whose network stays closed, or whose service mesh never gets a certificate
#
# Sources: docs/facts/contrast.md#initializer, docs/facts/contrast.md#service-mesh.
#
# Rule: the firewall of a Contrast VM denies incoming traffic until the service mesh proxy sets its own rules, or an
# initializer with CONTRAST_SERVICE_MESH_DISABLED removes that rule. The check is about the pod as it will run, so a
# container written by hand counts like an injected one, by its image or by the name that Contrast gives it.
#
#     init containers of the pod                   answer
#     a proxy, and an initializer                  nothing
#     a proxy alone                                CC0286: the proxy waits for a certificate in vain
#     an initializer with the variable             nothing
#     an initializer without it                    CC0287
#     neither                                      CC0287
#
# The coordinator has neither and needs neither.


def check_networks(workload: Workload, options: Generate) -> Iterator[Finding]:
    """Yield CC0286 or CC0287 for a workload whose containers are injected, by the truth table above."""
    if workload.is_coordinator:
        return
    proxy = _find_init_container(workload, SERVICE_MESH, SERVICE_MESH_IMAGE)
    initializer = _find_init_container(workload, INITIALIZER, INITIALIZER_IMAGE)
    skipped = not asks_for_initializer(workload.annotations)
    if initializer is None:
        annotation = (*workload.metadata_path, "annotations", SKIP_INITIALIZER)
        path = annotation if skipped else workload.spec_path
        if proxy is not None:
            yield finding("CC0286.skipped" if skipped else "CC0286.configured", workload.ref, path)
        else:
            yield finding("CC0287.skipped" if skipped else "CC0287.configured", workload.ref, path)
    elif proxy is None and not _opens_firewall(initializer.container):
        left_out = asks_for_mesh(workload.annotations) and not options.service_mesh
        code = "CC0287.mesh" if left_out else "CC0287.variable"
        yield finding(code, workload.ref, initializer.path, container=initializer.name)


def _find_init_container(workload: Workload, name: str, image: str) -> PodContainer | None:
    """Return the init container of this name, or one that runs this image of Contrast's from any registry."""
    ending = image.partition(":")[0].split("/", 1)[1].removeprefix("edgelesssys/")
    for container in workload.all_containers:
        if not container.is_init or container.name == PVC_HOLDER:  # has the initializer's image, but is not one
            continue
        parsed = parse_image(str(container.container.get("image") or ""))
        if container.name == name or (not isinstance(parsed, str) and parsed.name.endswith(f"/{ending}")):
            return container
    return None


def _opens_firewall(container: dict[str, Any]) -> bool:
    """Tell whether an initializer opens the firewall because no mesh will; a value from the cluster may decide it."""
    values = [variable for variable in maps(container.get("env")) if variable.get("name") == MESH_DISABLED]
    return bool(values) and ("valueFrom" in values[-1] or values[-1].get("value") == "true")
