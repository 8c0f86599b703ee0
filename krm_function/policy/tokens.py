"""`$(NAME)`: what the kubelet expands, and what the rules replace by a value of the running pod.

Rule of this file: text of the user and tokens of the rules never mix. A token travels as a marker that no YAML text and
no process can contain and becomes `$(name)` only at the very end; a `$(name)` that the user wrote by hand is refused,
since the rules would read it as "anything".
"""

import re
from collections.abc import Iterable, Mapping

from krm_function.findings import Finding, Path
from krm_function.policy.problems import problem, uncovered
from krm_function.policy.subject import Subject

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


def mark(token: str) -> str:
    """The marker of a token."""
    return f"\0{token}\0"


def unmark(text: str) -> str:
    """`text` as it stands in policy_data."""
    return _MARKER.sub(r"$(\1)", text) if "\0" in text else text


def expand(text: str, known: Mapping[str, str]) -> str:
    """`text` with `$(NAME)` replaced as the kubelet replaces it: unknown names stay, `$$` is a dollar.

    >>> expand("$(A) $(B) $$(A) $A", {"A": "x"})
    'x $(B) $(A) $A'
    """
    if "$" not in text:
        return text
    return _EXPANSION.sub(lambda found: "$" if found[1] is None else known.get(found[1], found[0]), text)


def expanded(text: str, known: Mapping[str, str], pod: Subject, at: Path, findings: list[Finding]) -> str:
    """`text` of the pod spec after expansion; reports what is hand-written in it before or after, and then gives ""."""
    if not plain((text,), pod, at, findings):
        return ""
    out = expand(text, known)
    if out is not text:
        plain((_MARKER.sub("?", out),), pod, at, findings)
    return out


def plain(texts: Iterable[str], pod: Subject, at: Path, findings: list[Finding]) -> bool:
    """Whether no text holds a hand-written token or a NUL, which no process can have; reports the first that does."""
    for text in texts:
        found = _HAND_WRITTEN.search(text) if "$(" in text else None
        if found or "\0" in text:
            what = f"$({found[1]}), which a policy reads as any value" if found else "a NUL byte"
            findings.append(problem(pod, at, f"holds {what}", "use another name" if found else "remove it"))
            return False
    return True


def check_variable(name: str, value: str, pod: Subject, at: Path, findings: list[Finding]) -> None:
    """Report what the rules of kata 4.1 could never match in a variable, or would match too widely (6.9)."""
    findings += [
        uncovered(pod, at, f": {name} with $({found}) inside a longer value")
        for found in _tokens(value)
        if found != "sandbox-namespace" and value != mark(found)
    ]


def check_argument(arg: str, pod: Subject, at: Path, findings: list[Finding]) -> None:
    """Report the same of an argument."""
    for found in _tokens(arg):
        if found == "sandbox-namespace":
            what = "needs the pod's namespace, which the document does not give"
            findings.append(problem(pod, at, what, "set metadata.namespace"))
        elif found != "sandbox-name" and arg != mark("node-name"):
            findings.append(uncovered(pod, at, f" with $({found})"))


def _tokens(text: str) -> list[str]:
    """The tokens in a text, each once."""
    return list(dict.fromkeys(_MARKER.findall(text))) if "\0" in text else []


def escaped_argument(text: str) -> str:
    """An argument as the rules read it: they make one dollar of two."""
    return text.replace("$", "$$") if "$$" in text or "$\0" in text else text
