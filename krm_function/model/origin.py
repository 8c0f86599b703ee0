"""Find out which file an object of a stream comes from, as the tool that made the stream has noted it.

    who says it                          where                                               index
    kpt                                  internal.config.kubernetes.io/path, or without      the annotation `index`
                                         `internal.`
    Helm 4                               postrenderer.helm.sh/postrender-filename            not known
    kustomize with originAnnotations     config.kubernetes.io/origin, unless from a repo     not known
    Helm 3, `helm template`              the comment `# Source: PATH` above the object       not known

The first row that has a usable path counts. Sources: docs/facts/krm-functions.md#bookkeeping-annotations,
docs/facts/helm.md#helm-3-stream, docs/facts/helm.md#helm-4-stream.

Rule of this file: an author of the input can write all of these, so a path with anything that could be taken for
something else than a relative path is no path.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.findings.origin import Origin
from krm_function.model.lookup import dig, mapping

LONGEST = 250  # characters of a path
PATHS = ("internal.config.kubernetes.io/", "config.kubernetes.io/")  # + path, + index
FILENAME = "postrenderer.helm.sh/postrender-filename"
KUSTOMIZE = "config.kubernetes.io/origin"
HELM_SOURCE = "# Source: "
LONGEST_INDEX = 6  # digits


def origin_of(text: str, value: Any = None) -> Origin | None:
    """Return the origin of a document of a stream; None where nothing usable is said.

    value: the parsed document, None if it cannot be parsed.
    """
    return origin_of_object(value) or _of_comment(text)


def origin_of_object(value: Any) -> Origin | None:
    """Return the origin that the annotations of an object name."""
    annotations = mapping(dig(value, ("metadata", "annotations")))
    for prefix in PATHS:
        if path := _path(annotations.get(f"{prefix}path")):
            return Origin(path, _index(annotations.get(f"{prefix}index")))
    path = _path(annotations.get(FILENAME)) or _of_kustomize(annotations)
    return Origin(path) if path else None


def origin_of_line(text: str, line: int) -> Origin | None:
    """Return the origin of a line, from 1, of a stream that cannot be cut: the nearest comment above it says it."""
    above = text.split("\n", line - 1)[: line - 1] if line > 0 else []
    comments = (one.rstrip("\r") for one in reversed(above) if one.startswith(HELM_SOURCE))
    path = _path(next(comments, "").removeprefix(HELM_SOURCE).strip())
    return Origin(path) if path else None


def _of_kustomize(annotations: Mapping[Any, Any]) -> str:
    """Return the path in kustomize's annotation, a small YAML text; "" for a file of another repository."""
    said = annotations.get(KUSTOMIZE)
    lines = said[: 4 * LONGEST].splitlines() if isinstance(said, str) else []
    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
    return "" if "repo" in fields else _path(fields.get("path"))


def _of_comment(text: str) -> Origin | None:
    """Return the origin in a comment above the object."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        if line.startswith(HELM_SOURCE):
            path = _path(line.removeprefix(HELM_SOURCE).strip())
            return Origin(path) if path else None
        if end < 0 or (line.strip() and not line.startswith(("---", "#"))):
            break
        start = end + 1
    return None


def _index(said: Any) -> int | None:
    """Return a claimed index if it is a number, else None."""
    if not isinstance(said, str) or not said.isascii() or not said.isdecimal() or len(said) > LONGEST_INDEX:
        return None
    return int(said)


def _path(said: Any) -> str:
    """Return a claimed path if it is a relative path of printable characters, else ""."""
    if not isinstance(said, str) or not 0 < len(said) <= LONGEST or not said.isprintable() or said != said.strip():
        return ""
    if said.startswith("/") or any(character in said for character in ':\\"<>|*?'):
        return ""
    return said
