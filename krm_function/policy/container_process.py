"""The process of a container: arguments, environment, directory, capabilities."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from krm_function.config.references import References, Undecodable
from krm_function.findings import Cause, Finding, Path, has_errors
from krm_function.kubernetes.workload import INITDATA
from krm_function.policy.expansion import (
    EXTERNAL,
    FIELDS,
    INDEX,
    LISTS,
    PATTERN,
    Room,
    controlled_text,
    escaped_argument,
    expand,
    expanded,
    fits,
    has_no_tokens,
    matchable_argument,
    matchable_variable,
    token_marker,
    without_markers,
    without_own_tokens,
)
from krm_function.policy.pod_metadata import QUOTED_KEY, PodMetadata, is_bookkeeping, problem
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY

# --- Compute the environment variables that a container's pod spec sets
#
# Source: docs/facts/kata.md#environment.
#
# Rule: a value comes from the documents of the render, or it is a token of which policy/expansion.py knows
# the form. What is `optional` and missing is omitted, and an annotation that is missing is empty, as the kubelet has
# it. A variable is open, with a token for any value, only where policy/open_variables.py says so. No finding ever holds
# a value.


WRITTEN = "writtenByController"  # in place of a source: a text with markers, by policy/controllers.py
ANY = token_marker(EXTERNAL)  # the value of an open variable


class Environment(NamedTuple):
    """pairs: NAME=VALUE, env before envFrom; values: of `$(NAME)` in arguments."""

    pairs: list[str]
    values: dict[str, str]


class _Context(NamedTuple):
    pod: PodMetadata
    references: References
    findings: list[Finding]
    room: Room
    container: Mapping[str, Any]
    image: Mapping[str, Any]

    @cached_property
    def named_only(self) -> bool:
        """Whether only a variable that the configuration names may be open."""
        from krm_function.policy.chosen_programs import reads_code_from_variables

        return reads_code_from_variables(self.container, self.image)

    def report(self, at: Path, code: str, *, of: str = "", **values: Any) -> None:
        """Append a finding, made as by `problem`."""
        self.findings.append(problem(self.pod, at, code, of=of, **values))


def environment(
    container: Mapping[str, Any],
    image: Mapping[str, Any],
    pod: PodMetadata,
    references: References,
    at: Path,
    findings: list[Finding],
    room: Room,
) -> Environment:
    """Read env and envFrom; the last entry of a name counts. `at`: the container's path from the pod spec."""
    context = _Context(pod, references, findings, room, container, image)
    sets: list[tuple[str, str]] = []
    for index, source in enumerate(container.get("envFrom") or ()):
        sets += _all_pairs(context, source, (*at, "envFrom", index))
    values = dict(sets)
    pod_values: dict[str, str] = {}
    for index, entry in enumerate(container.get("env") or ()):
        entry_path = (*at, "env", index)
        name = entry["name"]
        if not name or "=" in name or "\0" in name:
            context.report((*entry_path, "name"), "CC0604.variable")
            continue
        value = _entry_value(context, entry, values, entry_path)
        if value is not None:
            values[name] = value
            if value == ANY:
                pod_values[name] = value
                _check_name(context, name, entry["valueFrom"], (*entry_path, "name"))
            else:
                if "\0" in value:
                    _check_value(context, name, value, entry_path)
                pod_values[name] = matchable_variable(name, value, pod, entry_path, findings)
    pod_values |= {name: value for name, value in dict(sets).items() if name not in pod_values}
    pairs = [f"{name}={token_marker(PATTERN) + ANY if value == ANY else value}" for name, value in pod_values.items()]
    return Environment(pairs, values)


def _entry_value(context: _Context, entry: Mapping[str, Any], variables: Mapping[str, str], at: Path) -> str | None:
    """Return None if the kubelet omits the variable or there is a finding."""
    literal = entry.get("value")
    if literal:
        return expanded(literal, variables, context.pod, (*at, "value"), context.findings, context.room)
    source = entry.get("valueFrom")
    if source is None:
        return ""
    at = (*at, "valueFrom")
    for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        selector = source.get(key)
        if selector is not None:
            return _value_of_key(context, selector, kind, entry["name"], (*at, key))
    selector = source.get("fieldRef")
    if selector is not None:
        return _value_of_field(context, selector["fieldPath"], (*at, "fieldRef", "fieldPath"))
    if WRITTEN in source:  # no pod spec has this field, so no user can write it
        return str(source[WRITTEN])
    if source.get("resourceFieldRef") is not None:
        return token_marker("resource-field")
    context.report(at, "CC0604.source")
    return None


def _check_name(context: _Context, name: str, source: Mapping[str, Any], at: Path) -> None:
    """Append CC0670 if an open variable would steer a program. source: a valueFrom, or an entry of envFrom."""
    from krm_function.policy.chosen_programs import steered_by

    program = steered_by(name)
    if program:
        kind = "Secret" if source.get("secretKeyRef") or source.get("secretRef") else "ConfigMap"
        context.report(at, "CC0670", variable=name, kind=kind, what=program)


def _check_value(context: _Context, name: str, value: str, at: Path) -> None:
    from krm_function.policy.chosen_programs import steering_problem

    problem_found = steering_problem(name, value, context.pod, at)
    if problem_found:
        context.findings.append(problem_found)


def _value_of_key(context: _Context, selector: Mapping[str, Any], kind: str, variable: str, at: Path) -> str | None:
    """Return ANY for a key that is open, None for a missing one."""
    name, key = selector["name"], selector["key"]
    opened = _find_opened_keys(context, kind, name, key, variable)
    if isinstance(opened, Cause):
        _report_uncovered(context, opened, kind, selector, at, variable)
        return None
    if opened:
        return ANY
    pairs = _find_pairs(context, selector, kind, at, variable)
    if pairs is None:
        return None
    value = pairs.get(key)
    if value is not None:
        has_no_tokens((value,), context.pod, at, context.findings)
    elif not selector.get("optional"):
        context.report(at, "CC0603", kind=kind, name=name, key=key)
    return value


def _all_pairs(context: _Context, source: Mapping[str, Any], at: Path) -> list[tuple[str, str]]:
    out = []
    prefix = source.get("prefix") or ""
    for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
        selector = source.get(key)
        if selector is not None:
            opened = _find_opened_keys(context, kind, selector["name"], "", prefix)
            if isinstance(opened, Cause):
                _report_uncovered(context, opened, kind, selector, (*at, key))
                continue
            if opened:
                has_no_tokens((prefix,), context.pod, (*at, "prefix"), context.findings)
                for name in opened:
                    _check_name(context, prefix + name, source, (*at, key))
                out += [(prefix + name, ANY) for name in opened]
                continue
            source_pairs = _find_pairs(context, selector, kind, (*at, key)) or {}
            has_no_tokens((prefix, *source_pairs, *source_pairs.values()), context.pod, (*at, key), context.findings)
            out += [(prefix + name, value) for name, value in source_pairs.items()]
    return out


def _find_opened_keys(
    context: _Context, kind: str, name: str, key: str, variable: str
) -> tuple[str, ...] | Cause | None:
    """Load the module of `opened_keys` only if the configuration opens anything."""
    if not context.references.external:
        return None
    from krm_function.policy.open_variables import opened_keys

    references, namespace = context.references, context.pod.namespace
    return opened_keys(references, namespace, kind, name, key, variable, named_only=context.named_only)


def _report_uncovered(
    context: _Context, cause: Cause, kind: str, selector: Mapping[str, Any], at: Path, variable: str = ""
) -> None:
    """Append CC0672, except for an optional reference to one key, which the kubelet omits."""
    if not selector.get("optional") or cause.code == "CC0672.keys":
        cause = must_not_open(variable, context.container) or cause
        context.report(at, cause.code, kind=kind, name=selector["name"], **cause.values)


def must_not_open(variable: str, container: Mapping[str, Any]) -> Cause | None:
    """Return why the host must not choose a variable of a container whose object is not in the input."""
    from krm_function.policy.chosen_programs import steered_by

    if variable and (program := steered_by(variable)):
        return Cause("CC0602.steers", {"variable": variable, "what": program})
    texts = [*(container.get("command") or ()), *(container.get("args") or ())]
    texts += [entry.get("value") for entry in container.get("env") or ()]
    for text in texts:
        if isinstance(text, str) and expand(text, {variable: "\0"}) != expand(text, {}):
            return Cause("CC0602.expanded", {"variable": variable})
    return None


def _find_pairs(
    context: _Context, selector: Mapping[str, Any], kind: str, at: Path, variable: str = ""
) -> dict[str, str] | None:
    name = selector["name"]
    try:
        pairs = context.references.find(kind, context.pod.namespace, name, context.pod.hook)
    except Undecodable as error:
        context.report(at, error.code, of=f"{kind} {name}", key=error.key)
        return None
    if context.references.is_late(kind, context.pod.namespace, name, context.pod.hook):
        late = problem(context.pod, at, "CC0685", kind=kind, name=name, moment=context.pod.hook.early)
        if all(reported.message != late.message for reported in context.findings):
            context.findings.append(late)
    if pairs is None and not selector.get("optional"):
        closed = must_not_open(variable, context.container) if context.references.openable else Cause("CC0602.closed")
        cause = closed or Cause("CC0602.open")
        context.report(at, cause.code, kind=kind, name=name, **cause.values)
    return pairs


def _value_of_field(context: _Context, field_path: str, at: Path) -> str | None:
    pod = context.pod
    token = FIELDS.get(field_path) or LISTS.get(field_path)
    if token:
        return token_marker(token)
    quoted_key = re.match(QUOTED_KEY, field_path)
    field, key = quoted_key.groups() if quoted_key else ("", "")
    value: Any = None
    if (field, key) in pod.controlled:
        return pod.controlled[field, key]
    if field_path == "metadata.namespace":
        value = pod.namespace
        if not value:
            return token_marker("sandbox-namespace")
    elif field_path == "spec.serviceAccountName":
        value = pod.service_account
    elif field == "annotations" and key != INITDATA and not is_bookkeeping(key):
        value = pod.annotations.get(key)
        written = controlled_text(pod, INDEX) if key == INDEX else None
        if value is None and written:
            return written
        if value is None:
            # the kubelet's value for it, unless the running pod is annotated
            context.report(at, "CC0682", key=key)
            return ""
    elif field == "labels":
        value = pod.labels.get(key)
        written = controlled_text(pod, key)
        if value is None and written:
            return written
        if not isinstance(value, str):
            context.report(at, "CC0604.label")
            return None
    else:
        context.report(at, "CC0601.field-path", field_path=field_path)
        return None
    has_no_tokens((value,), pod, at, context.findings)
    return str(value)


# --- Compute the capabilities and NoNewPrivileges of a container (docs/facts/kata.md#capabilities)
#
# Rule: what is dropped stays dropped, also if it is added, too, as in containerd; ALL is every
# capability there is. A list that is exactly a default list becomes its token, so that the rules compare with the
# settings.


ALL = "ALL"


def capabilities(context: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the five capability sets. context: the container's securityContext; common: the settings' common."""
    privileged = common["privileged_caps"]
    changes = context.get("capabilities") or {}
    added, dropped = ([name.upper() for name in changes.get(key) or ()] for key in ("add", "drop"))
    names = list(privileged if context.get("privileged") or ALL in added else common["default_caps"])
    if ALL in dropped:
        names = []
    for name in added:
        if name != ALL and f"CAP_{name}" not in names:
            names.append(f"CAP_{name}")
    if dropped:
        names = [name for name in names if name.removeprefix("CAP_") not in dropped]
    if names == common["default_caps"]:
        names = ["$(default_caps)"]
    elif names == privileged:
        names = ["$(privileged_caps)"]
    return {"Ambient": [], "Bounding": names, "Effective": names, "Inheritable": [], "Permitted": names}


def unknown_capabilities(context: Mapping[str, Any], common: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Yield the names that are not capabilities, as (add or drop, index, name)."""
    changes = context.get("capabilities") or {}
    for key in ("add", "drop"):
        for index, name in enumerate(changes.get(key) or ()):
            if name.upper() != ALL and f"CAP_{name.upper()}" not in common["privileged_caps"]:
                yield key, index, name


def no_new_privileges(context: Mapping[str, Any]) -> bool:
    """NoNewPrivileges is set by allowPrivilegeEscalation: false."""
    return context.get("allowPrivilegeEscalation") is False


# --- Compute the process of a container: arguments, environment and directory, as the kubelet requests them
#
# Variables are expanded as the kubelet expands them: in order, `$$` for a dollar, only variables of the pod spec. That
# is closer to the host's request than genpolicy (docs/facts/kata.md#environment), whose policy denies the pod where the
# two differ.


DEFAULT_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Process(NamedTuple):
    """Args, Env and Cwd of one container.

    values: its variables by name, with a marker where the value is not known.
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
    pod_env = environment(container, image, pod, references, at, findings, room)
    env = _image_env(image)
    has_no_tokens(env, pod, (*at, "image"), findings)
    if container.get("tty"):
        env.append("TERM=xterm")
    env.append("HOSTNAME=" + token_marker("host-name"))
    args = _expand_arguments(container, image, pod_env.values, pod, at, findings, room)
    if not has_errors(findings):  # at the last, whatever road a text came
        has_no_tokens(map(without_own_tokens, [*args, *env, *pod_env.pairs]), pod, at, findings)
    args += [text for text in extra["Args"] if text not in args]
    if not args:
        findings.append(problem(pod, (*at, "image"), "CC0604.command"))
    cwd = container.get("workingDir") or image.get("WorkingDir") or "/"
    values = {**dict(text.partition("=")[::2] for text in env), **pod_env.values}
    pod_values = dict(text.partition("=")[::2] for text in pod_env.pairs)
    pairs = _merge_variables([*extra["Env"], *env], pod_values) if effective else [*env, *pod_env.pairs, *extra["Env"]]
    return Process(
        [without_markers(text) for text in args],
        [without_markers(text) for text in dict.fromkeys(pairs)],
        cwd,
        values,
    ), findings


def _merge_variables(base: list[str], pod_values: Mapping[str, str]) -> list[str]:
    # The pod's variables come last and replace others of the same name; of those, the last one counts
    rest = {text.partition("=")[0]: text for text in base}
    return [text for name, text in rest.items() if name not in pod_values] + [
        f"{name}={value}" for name, value in pod_values.items()
    ]


def pause_process(image: Mapping[str, Any], extra: Mapping[str, Any]) -> Process:
    """Return the process of the pause container, which is the image's."""
    args = [*(image.get("Entrypoint") or ()), *(image.get("Cmd") or ())]
    args += [text for text in extra["Args"] if text not in args]
    return Process(args, list(dict.fromkeys([*_image_env(image), *extra["Env"]])), image.get("WorkingDir") or "/")


def _image_env(image: Mapping[str, Any]) -> list[str]:
    # An image without Env gets a PATH from the runtime; one with an empty Env does not
    image_variables = image.get("Env")
    return [DEFAULT_PATH] if image_variables is None else list(image_variables)


def _expand_arguments(
    container: Mapping[str, Any],
    image: Mapping[str, Any],
    variables: Mapping[str, str],
    pod: PodMetadata,
    at: Path,
    findings: list[Finding],
    room: Room,
) -> list[str]:
    # An empty list means "not given": the API server does not keep it
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
            word_path = (*at, key, index)
            arg = expanded(text, variables, pod, word_path, findings, room)
            words.append((arg, word_path))
            out.append(matchable_argument(arg, pod, word_path, findings) if "$" in arg or "\0" in arg else arg)
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
            variables = {entry["name"]: entry.get("value") or "" for entry in container.get("env") or ()}
            command_path = (*at, key, "exec", "command")
            command = [
                expand(text, variables) if fits(text, variables, pod, (*command_path, index), findings, room) else ""
                for index, text in enumerate(command)
            ]
        out.append(command)
    lifecycle = container.get("lifecycle") or {}
    out += [((lifecycle.get(key) or {}).get("exec") or {}).get("command") for key in ("postStart", "preStop")]
    return [list(command) for command in out if command]
