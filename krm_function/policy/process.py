"""The process of a container: arguments and environment, as the kubelet will ask for them.

Rule of this file: text of the user and the tokens that the rules replace by values of the running pod never mix. A token
travels as a marker that no YAML text can contain and becomes `$(name)` only at the very end; a `$(name)` that the user
wrote by hand is refused, since the rules would read it as "anything".

Variables are expanded as the kubelet expands them: in order, `$$` for a dollar, only variables of the pod spec. That is
closer to the host's request than genpolicy (genpolicy.md 4.3), whose policy denies the pod wherever the two differ.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from krm_function.findings import Finding, Path, dotted, finding
from krm_function.model.workload import INITDATA
from krm_function.policy.references import References, Undecodable
from krm_function.policy.subject import Subject, is_bookkeeping

DEFAULT_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# what the rules replace in an environment, by the fieldPath it comes from (genpolicy.md 4.3)
FIELDS = {
    "metadata.name": "sandbox-name",
    "metadata.uid": "pod-uid",
    "status.hostIP": "host-ip",
    "status.podIP": "pod-ip",
    "spec.nodeName": "node-name",
}
TOKENS = (*FIELDS.values(), "sandbox-namespace", "host-name", "resource-field", "todo-annotation")

_HAND_WRITTEN = re.compile(r"\$\((" + "|".join(TOKENS) + r")\)")
_MARKER = re.compile("\0([a-z-]+)\0")
_EXPANSION = re.compile(r"\$(?:\$|\(([^)]*)\))")
_QUOTED_KEY = re.compile(r"metadata\.(annotations|labels)\['([^']+)'\]\Z")


class Process(NamedTuple):
    """Args, Env and Cwd of one container."""

    args: list[str]
    env: list[str]
    cwd: str


class _Problem(NamedTuple):
    path: Path
    code: str
    values: dict[str, str]


def mark(token: str) -> str:
    """The marker of a token."""
    return f"\0{token}\0"


def process(
    container: Mapping[str, Any],
    image: Mapping[str, Any],
    pod: Subject,
    references: References,
    at: Path,
    extra: Mapping[str, Any],
) -> tuple[Process, list[Finding]]:
    """The process of a workload container. `at`: its path from the pod spec; `extra`: the settings' Process."""
    problems: list[_Problem] = []
    known: dict[str, str] = {}  # what the kubelet would expand, by name
    from_sets = [
        pair
        for index, source in enumerate(container.get("envFrom") or ())
        for pair in _set(source or {}, pod, references, (*at, "envFrom", index), problems)
    ]
    known.update((name, value) for name, value, _ in from_sets)
    pairs: list[tuple[str, str, Path]] = []
    for index, entry in enumerate(container.get("env") or ()):
        here = (*at, "env", index)
        name = entry["name"]
        if not name or "=" in name or "\0" in name:
            problems.append(_Problem(here, "CC0604", {"problem": "has no valid name", "remedy": "correct the name"}))
            continue
        value = _value(entry, known, pod, references, here, problems)
        if value is not None:
            known[name] = value
            pairs.append((name, value, here))

    env = _unique(image.get("Env") if image.get("Env") is not None else [DEFAULT_PATH])
    _no_tokens(env, (*at, "image"), problems)
    if container.get("tty"):
        env.setdefault("TERM=xterm")
    env.setdefault("HOSTNAME=" + mark("host-name"))
    for name, value, here in pairs + from_sets:
        _sendable(name, value, here, problems)
        env.setdefault(f"{name}={value}")
    for text in extra.get("Env", ()):
        env.setdefault(text)

    args = _arguments(container, image, known, at, problems)
    args += [text for text in extra.get("Args", ()) if text not in args]
    if not args:
        values = {"problem": "has neither Entrypoint nor Cmd", "remedy": "set command"}
        problems.append(_Problem((*at, "image"), "CC0604", values))
    cwd = container.get("workingDir") or image.get("WorkingDir") or "/"
    findings = [
        finding(problem.code, pod.ref, pod.spec_path + problem.path, **{"field": dotted(problem.path), **problem.values})
        for problem in problems
    ]
    return Process([_final(arg) for arg in args], [_final(entry) for entry in env], cwd), findings


def pause_process(image: Mapping[str, Any], extra: Mapping[str, Any]) -> Process:
    """The process of the pause container: the image's own."""
    args = [*(image.get("Entrypoint") or ()), *(image.get("Cmd") or ())]
    args += [text for text in extra.get("Args", ()) if text not in args]
    env = list(image.get("Env") if image.get("Env") is not None else [DEFAULT_PATH])
    return Process(args, env + [text for text in extra.get("Env", ()) if text not in env], image.get("WorkingDir") or "/")


def expand(text: str, known: Mapping[str, str]) -> str:
    """`text` with `$(NAME)` replaced as the kubelet replaces it: unknown names stay, `$$` is a dollar.

    >>> expand("$(A) $(B) $$(A) $A", {"A": "x"})
    'x $(B) $(A) $A'
    """
    if "$" not in text:
        return text
    return _EXPANSION.sub(lambda found: "$" if found[1] is None else known.get(found[1], found[0]), text)


def _arguments(
    container: Mapping[str, Any], image: Mapping[str, Any], known: Mapping[str, str], at: Path, problems: list[_Problem]
) -> list[str]:
    """Command and args. An empty list means "not given": the API server does not keep it."""
    command, given = container.get("command") or (), container.get("args") or ()
    out = []
    if not command:
        out += image.get("Entrypoint") or ()
        if not given:
            out += image.get("Cmd") or ()
        _no_tokens(out, (*at, "image"), problems)
    out = [_escaped(text) for text in out]
    for key, texts in (("command", command), ("args", given)):
        for index, text in enumerate(texts):
            here = (*at, key, index)
            arg = _expanded(text, known, here, problems)
            _matchable_argument(arg, here, problems)
            out.append(_escaped(arg))
    return out


def _matchable_argument(arg: str, at: Path, problems: list[_Problem]) -> None:
    """Report what the rules of kata 4.1 could never match in an argument, or would match too widely."""
    for token in dict.fromkeys(_MARKER.findall(arg)):
        if token == "sandbox-namespace":
            values = {"problem": "needs the pod's namespace, which is not given", "remedy": "set metadata.namespace"}
            problems.append(_Problem(at, "CC0604", values))
        elif token != "sandbox-name" and arg != mark("node-name"):
            problems.append(_Problem(at, "CC0601", {"field": f"{dotted(at)} with $({token})"}))


def _escaped(text: str) -> str:
    """An argument as the rules read it: they make one dollar of two."""
    return text.replace("$", "$$") if "$$" in text or "$\0" in text else text


def _value(
    entry: Mapping[str, Any],
    known: Mapping[str, str],
    pod: Subject,
    references: References,
    at: Path,
    problems: list[_Problem],
) -> str | None:
    """The value of one env entry, None if the kubelet leaves the variable out or there was a problem."""
    literal = entry.get("value")
    if literal:
        return _expanded(literal, known, (*at, "value"), problems)
    source = entry.get("valueFrom")
    if not source:
        return ""
    at = (*at, "valueFrom")
    for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        selector = source.get(key)
        if selector is not None:
            return _key(selector, kind, pod, references, (*at, key), problems)
    selector = source.get("fieldRef")
    if selector is not None:
        return _field(selector["fieldPath"], pod, (*at, "fieldRef", "fieldPath"), problems)
    if source.get("resourceFieldRef") is not None:
        return mark("resource-field")
    problems.append(_Problem(at, "CC0604", {"problem": "names no source", "remedy": "name one"}))
    return None


def _key(
    selector: Mapping[str, Any], kind: str, pod: Subject, references: References, at: Path, problems: list[_Problem]
) -> str | None:
    """One key of a ConfigMap or Secret."""
    pairs = _pairs(selector, kind, pod, references, at, problems)
    if pairs is None:
        return None
    value = pairs.get(selector["key"])
    if value is not None:
        _no_tokens((value,), at, problems)
    elif not selector.get("optional"):
        problems.append(_Problem(at, "CC0603", {"kind": kind, "name": selector["name"], "key": selector["key"]}))
    return value


def _set(
    source: Mapping[str, Any], pod: Subject, references: References, at: Path, problems: list[_Problem]
) -> list[tuple[str, str, Path]]:
    """All pairs of a ConfigMap and a Secret, with the prefix."""
    out = []
    prefix = source.get("prefix") or ""
    for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
        selector = source.get(key)
        if selector is not None:
            pairs = _pairs(selector, kind, pod, references, (*at, key), problems)
            found = [(prefix + name, value, (*at, key)) for name, value in (pairs or {}).items()]
            _no_tokens((text for name, value, _ in found for text in (name, value)), (*at, key), problems)
            out += found
    return out


def _pairs(
    selector: Mapping[str, Any], kind: str, pod: Subject, references: References, at: Path, problems: list[_Problem]
) -> dict[str, str] | None:
    name = selector["name"]
    try:
        pairs = references.find(kind, pod.namespace, name)
    except Undecodable as problem:
        values = {"field": f"{kind} {name}", "problem": str(problem), "remedy": "correct the data"}
        problems.append(_Problem(at, "CC0604", values))
        return None
    if pairs is None and not selector.get("optional"):
        problems.append(_Problem(at, "CC0602", {"kind": kind, "name": name}))
    return pairs


def _field(field_path: str, pod: Subject, at: Path, problems: list[_Problem]) -> str | None:
    """What a fieldRef stands for: a literal of the document or a token."""
    token = FIELDS.get(field_path)
    if token:
        return mark(token)
    if field_path == "metadata.namespace":
        return pod.namespace or mark("sandbox-namespace")
    if field_path == "spec.serviceAccountName":
        return pod.service_account
    found = _QUOTED_KEY.match(field_path)
    if found and found[1] == "annotations" and found[2] != INITDATA and not is_bookkeeping(found[2]):
        value = pod.annotations.get(found[2])
        if value is None:
            return mark("todo-annotation")
        _no_tokens((value,), at, problems)
        return value
    if found and found[1] == "labels":
        value = pod.labels.get(found[2])
        if isinstance(value, str):
            _no_tokens((value,), at, problems)
            return value
        remedy = "add the label, or do not refer to it"
        problems.append(_Problem(at, "CC0604", {"problem": "is no label of the pod template", "remedy": remedy}))
        return None
    problems.append(_Problem(at, "CC0601", {"field": f"{dotted(at)} {field_path}"}))
    return None


def _sendable(name: str, value: str, at: Path, problems: list[_Problem]) -> None:
    """Report what the rules of kata 4.1 could never match in a variable, or would match too widely."""
    for token in dict.fromkeys(_MARKER.findall(value)):
        if token != "sandbox-namespace" and value != mark(token):
            longer = f"{dotted(at)}: {name} with $({token}) inside a longer value"
            problems.append(_Problem(at, "CC0601", {"field": longer}))


def _no_tokens(texts: Iterable[str], at: Path, problems: list[_Problem]) -> None:
    """Report a token that the user (or an image) wrote by hand, and a NUL, which no process can be given.

"""
    for text in texts:
        found = _HAND_WRITTEN.search(text) if "$(" in text else None
        if found:
            values = {"problem": f"holds $({found[1]}), which a policy reads as any value", "remedy": "use another name"}
            problems.append(_Problem(at, "CC0604", values))
        elif "\0" in text:
            problems.append(_Problem(at, "CC0604", {"problem": "holds a NUL byte", "remedy": "remove it"}))


def _expanded(text: str, known: Mapping[str, str], at: Path, problems: list[_Problem]) -> str:
    """`text` of the pod spec after expansion, free of hand-written tokens before and after."""
    before = len(problems)
    _no_tokens((text,), at, problems)
    out = expand(text, known)
    if len(problems) == before and out is not text:
        _no_tokens((_MARKER.sub("?", out),), at, problems)
    return out


def _unique(texts: Any) -> dict[str, None]:
    return dict.fromkeys(texts)


def _final(text: str) -> str:
    return _MARKER.sub(r"$(\1)", text) if "\0" in text else text
