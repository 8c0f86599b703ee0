"""Compute the process of a container: arguments, environment and directory, as the kubelet requests them.

Variables are expanded as the kubelet expands them: in order, `$$` for a dollar, only variables of the pod spec. That is
closer to the host's request than genpolicy (docs/facts/kata.md#environment), whose policy denies the pod where the two
differ.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.api.records import EMPTY
from krm_function.findings import Finding, Path
from krm_function.policy.environment import environment
from krm_function.policy.expansion_bounds import Room
from krm_function.policy.pod_metadata import PodMetadata
from krm_function.policy.problems import problem
from krm_function.policy.references import References
from krm_function.policy.variable_expansion import (
    escaped_argument,
    expand,
    expanded,
    fits,
    has_no_tokens,
    matchable_argument,
    token_marker,
    without_markers,
)
from krm_function.record import NamedTuple

DEFAULT_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Process(NamedTuple):
    """Args, Env and Cwd of one container.

    values: what its variables are in the process, by name; with a marker where the value is not known.
    """

    args: list[str]
    env: list[str]
    cwd: str
    values: Mapping[str, str] = EMPTY


def process(
    container: Mapping[str, Any],
    image: Mapping[str, Any],
    pod: PodMetadata,
    references: References,
    at: Path,
    extra: Mapping[str, Any],
    *,
    effective: bool,
) -> tuple[Process, list[Finding]]:
    """Return the process of a workload container, and findings.

    at: its path from the pod spec. extra: the settings' Process. effective: Env has one value per name,
    the one that the kubelet sets, and not every value that a variable could have.
    """
    findings: list[Finding] = []
    room = Room()
    own = environment(container, pod, references, at, findings, room)
    env = _image_env(image)
    has_no_tokens(env, pod, (*at, "image"), findings)
    if container.get("tty"):
        env.append("TERM=xterm")
    env.append("HOSTNAME=" + token_marker("host-name"))
    args = _arguments(container, image, own.known, pod, at, findings, room)
    args += [text for text in extra["Args"] if text not in args]
    if not args:
        findings.append(problem(pod, (*at, "image"), "CC0604.command"))
    cwd = container.get("workingDir") or image.get("WorkingDir") or "/"
    values = {**dict(text.partition("=")[::2] for text in env), **own.known}
    given = dict(text.partition("=")[::2] for text in own.pairs)
    pairs = _effective([*extra["Env"], *env], given) if effective else [*env, *own.pairs, *extra["Env"]]
    return Process(
        [without_markers(text) for text in args],
        [without_markers(text) for text in dict.fromkeys(pairs)],
        cwd,
        values,
    ), findings


def _effective(base: list[str], own: Mapping[str, str]) -> list[str]:
    """Merge variables: the pod's come last and replace others of their name; of the others, the last one counts."""
    rest = {text.partition("=")[0]: text for text in base}
    return [text for name, text in rest.items() if name not in own] + [f"{name}={value}" for name, value in own.items()]


def pause_process(image: Mapping[str, Any], extra: Mapping[str, Any]) -> Process:
    """Return the process of the pause container, which is the image's."""
    args = [*(image.get("Entrypoint") or ()), *(image.get("Cmd") or ())]
    args += [text for text in extra["Args"] if text not in args]
    return Process(args, list(dict.fromkeys([*_image_env(image), *extra["Env"]])), image.get("WorkingDir") or "/")


def _image_env(image: Mapping[str, Any]) -> list[str]:
    """Return the image's variables. Without Env it gets a PATH from the runtime; with an empty one it does not."""
    given = image.get("Env")
    return [DEFAULT_PATH] if given is None else list(given)


def _arguments(
    container: Mapping[str, Any],
    image: Mapping[str, Any],
    known: Mapping[str, str],
    pod: PodMetadata,
    at: Path,
    findings: list[Finding],
    room: Room,
) -> list[str]:
    """Return command and args. An empty list means "not given": the API server does not keep it."""
    command, args = container.get("command") or (), container.get("args") or ()
    out: list[str] = []
    words: list[tuple[str, Path]] = []  # before anything is escaped
    if not command:
        out += image.get("Entrypoint") or ()
        if not args:
            out += image.get("Cmd") or ()
        has_no_tokens(out, pod, (*at, "image"), findings)
        words += [(text, (*at, "image")) for text in out]
        out = [escaped_argument(text) for text in out]
    for key, texts in (("command", command), ("args", args)):
        for index, text in enumerate(texts):
            here = (*at, key, index)
            arg = expanded(text, known, pod, here, findings, room)
            words.append((arg, here))
            out.append(matchable_argument(arg, pod, here, findings) if "$" in arg or "\0" in arg else arg)
    if any("\0" in text for text, _ in words):
        from krm_function.policy.chosen_programs import command_problems

        findings += command_problems(words, pod)
    return out


def exec_commands(container: Mapping[str, Any], pod: PodMetadata, at: Path, findings: list[Finding]) -> list[list[str]]:
    """Return the commands that the kubelet may run in a container: exec probes and hooks.

    In a probe the kubelet expands variables of `env` with a literal value, and replaces one with another source by
    nothing; in a hook it expands nothing (kubelet, ExpandContainerCommandOnlyStatic).
    """
    out = []
    room = Room()
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        command = ((container.get(key) or {}).get("exec") or {}).get("command")
        if command and any("$" in text for text in command):
            known = {entry["name"]: entry.get("value") or "" for entry in container.get("env") or ()}
            here = (*at, key, "exec", "command")
            command = [
                expand(text, known) if fits(text, known, pod, (*here, index), findings, room) else ""
                for index, text in enumerate(command)
            ]
        out.append(command)
    lifecycle = container.get("lifecycle") or {}
    out += [((lifecycle.get(key) or {}).get("exec") or {}).get("command") for key in ("postStart", "preStop")]
    return [list(command) for command in out if command]
