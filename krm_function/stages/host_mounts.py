"""Host mounts: refuse files of the host at places that decide which program runs, or where the secrets are.

Rule of this file: of every mount whose content is the host's it asks one question, whether the mount decides about a
guarded place (model/guarded_places.py) or about a program that the pod or its image names. No policy holds the content
of such a mount: docs/facts/contrast-node.md#requests, docs/explanation/threat-model.md.

    what is mounted                             whose content
    the file of terminationMessagePath          the host's
    configMap, secret, projected, downwardAPI   the host's, which copies them into the VM
    ephemeral, any other file system            the host's
    emptyDir                                    the pod's: it is made in the VM; the host's where the settings of the
                                                policy say so, and it is not in memory
    hostPath of /dev or /sys                    the guest's
"""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from posixpath import basename, isabs, join
from typing import Any

from krm_function.api.records import EMPTY, ImageFacts
from krm_function.findings import Finding, Path, finding
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.mount_points import covers, deciding, mount_point, plain_point
from krm_function.model.pods import claim_names, volume_sources
from krm_function.model.workload import PodContainer, Workload
from krm_function.record import NamedTuple

Argv = tuple[str, ...]

IN_THE_VM = frozenset(("emptyDir",))
ENCRYPTED = "block-encrypted"  # the default of emptydir_type: docs/facts/kata.md#default-settings
GUEST = ("/dev", "/sys")  # of a hostPath, as policy/volumes.py has them
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
    mounts = list(_mounts(workload, each, shared=shared))
    if not mounts:
        return
    from krm_function.model.guarded_places import guarded_place

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


def _mounts(workload: Workload, each: PodContainer, *, shared: bool) -> Iterator[HostMount]:
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
            yield from (Program(file, names[argv[0]]) for file in _found(argv[0], where, path))
            if _is_one_of(argv[0], INTERPRETERS):
                for script in _operands(argv)[:1] or _of_text(argv):
                    name = names.get(script, script if script in "\n".join(texts) else "of a variable")
                    yield from (Program(file, name, script=True) for file in _found(script, where, ""))
            argv = _operands(argv) if _is_one_of(argv[0], STARTERS) else ()


def _search_path(container: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Return the PATH of a container: the pod's own, else the image's, else the runtime's."""
    own = [entry.get("value") for entry in maps(container.get("env")) if entry.get("name") == "PATH"]
    of_image = [text.removeprefix("PATH=") for text in _texts(config.get("Env")) if text.startswith("PATH=")]
    found = [text for text in (*of_image, *own) if isinstance(text, str)]
    return found[-1] if found else DEFAULT_PATH


def _found(program: str, where: str, path: str) -> tuple[str, ...]:
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
    from krm_function.policy.variable_expansion import expand

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
