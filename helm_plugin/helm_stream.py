"""Decode and encode the stream of documents that Helm 3 and Helm 4 send to a post-renderer.

Sources: docs/facts/helm.md#helm-3-stream, docs/facts/helm.md#helm-4-stream.

Rule of this file: what Helm uses to find its documents again is kept. Helm 3 writes a `# Source:` line above each, Helm
4 an annotation; new objects get the same, as templates of the chart. Helm 4 can leave aliases whose anchor is in
another document: they are written out, since Helm itself cannot read them back.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.hosts.emitted import annotated
from krm_function.hosts.stream import Stream, cut_stream, stream_pieces
from krm_function.kubernetes.resource import FILENAME, HELM_SOURCE
from krm_function.text.anchors import resolve_foreign_aliases
from krm_function.text.errors import Source


def decode_helm(source: Source) -> Stream:
    """Split Helm's stream. Raises YamlError."""
    return cut_stream(source._replace(text=resolve_foreign_aliases(source.text)))


def encode_helm(stream: Stream, texts: Sequence[str | None], added: Iterable[Any]) -> Iterator[bytes]:
    """Yield the stream with new texts. Added objects name a template of the chart, as this version of Helm does."""
    added = tuple(added)
    chart = _find_chart_of_helm_4(stream) if added else ""
    if chart:
        place = f"{chart}/templates"
        objects = [annotated(value, FILENAME, f"{place}/{value['metadata']['name']}.yaml") for value in added]
        return stream_pieces(stream, texts, objects)
    chart = _find_chart_of_helm_3(stream) if added else ""
    return stream_pieces(stream, texts, added, source=f"{chart}/templates" if chart else "")


def _find_chart_of_helm_4(stream: Stream) -> str:
    """Return the chart's name in the first file name annotation, "" if there is none."""
    for resource in stream.resources:
        _, noted, rest = resource.text.partition(f"{FILENAME}: ")
        if noted:
            return rest.strip().strip("'\"").partition("/")[0]
    return ""


def _find_chart_of_helm_3(stream: Stream) -> str:
    """Return the chart's name in the first `# Source:` line, which stands above its document; "" if there is none."""
    for resource in stream.resources:
        for line in resource.text.splitlines():
            if line.startswith(HELM_SOURCE):
                return line.removeprefix(HELM_SOURCE).strip().partition("/")[0]
            if line and not line.startswith(("---", "#")):
                break
    return ""
