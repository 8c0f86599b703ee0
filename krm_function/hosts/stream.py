"""Decode and encode streams of YAML documents, the form of Helm, of the legacy plugin and of every file.

Rule of this file: unchanged texts are written as they were read; a new object is appended as a document of its own. A
RuntimeClass goes first, because kubectl and Helm 3 create objects in the order of the stream, and no pod is created
before its class. If the first document has no separator line it gets one, which the last of these classes records.
Source: docs/facts/helm.md#helm-3-stream.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.hosts.emitted import AFTER_NEWLINE, BEFORE_SEPARATOR, marked
from krm_function.kubernetes.objects import mapping
from krm_function.kubernetes.resource import HELM_SOURCE, Resource
from krm_function.record import NamedTuple
from krm_function.text.errors import Source, decode, encode
from krm_function.text.split import split_stream
from krm_function.text.writer import dump

SEPARATOR = re.compile(r"---(?:[ \t\r\n]|$)")


class Stream(NamedTuple):
    """A decoded stream: its documents in order, and whether it began with a byte order mark."""

    resources: tuple[Resource, ...]
    bom: bool = False


def decode_stream(data: bytes, file: str = "") -> Stream:
    """Split a stream into resources. Raises YamlError with the line in the stream."""
    return cut_stream(decode(data), file)


def cut_stream(source: Source, file: str = "") -> Stream:
    """Split a decoded stream into resources. Raises YamlError with the line in the stream."""
    chunks = split_stream(source.text)
    resources = tuple(
        Resource(chunk.of(source.text), chunk.line, file, chunk.api_version, chunk.kind, chunk.name, chunk.certain)
        for chunk in chunks
    )
    return Stream(resources, source.bom)


def encode_stream(stream: Stream, texts: Sequence[str | None], added: Iterable[Any] = (), source: str = "") -> bytes:
    """Encode the stream with `texts` in place of the resources' own, and the added objects.

    texts: None leaves the resource out. source: Helm 3's template directory, for the `# Source:` line, where
    `helm template --show-only` looks for a document; "" elsewhere.
    """
    return b"".join(stream_pieces(stream, texts, added, source))


def stream_pieces(
    stream: Stream, texts: Sequence[str | None], added: Iterable[Any] = (), source: str = ""
) -> Iterator[bytes]:
    """Do as `encode_stream`, but yield the pieces, so that a large stream is not copied once more."""
    body = [text for text in texts if text]
    newline = _detect_newline(body)
    first: list[Any] = []
    last: list[Any] = []
    may_lead = bool(body) and not body[0].lstrip().startswith(("%", "..."))  # directives belong to the start
    for value in added:
        ahead = mapping(value).get("kind") == "RuntimeClass" and may_lead
        (first if ahead else last).append(value)
    if first and not SEPARATOR.match(body[0]):
        first[-1] = marked(first[-1], BEFORE_SEPARATOR)
        body[0] = f"---{newline}{body[0]}"
    if last and body and not body[-1].endswith("\n"):
        body.append(newline)
        last[0] = marked(last[0], AFTER_NEWLINE)
    above, below = ([_make_document(value, source, newline) for value in part] for part in (first, last))
    yield encode("", stream.bom)
    yield from map(encode, (*above, *body, *below))


def _detect_newline(texts: Iterable[str]) -> str:
    """Look at the first 4096 characters."""
    head = ""
    for text in texts:
        head += text[: 4096 - len(head)]
    return "\r\n" if "\r\n" in head else "\n"


def _make_document(value: Any, source: str, newline: str) -> str:
    comment = f"{HELM_SOURCE}{source}/{value['metadata']['name']}.yaml\n" if source else ""
    return f"---\n{comment}{dump(value)}".replace("\n", newline)
