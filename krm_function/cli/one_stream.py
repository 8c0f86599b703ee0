"""What `generate` prints: all documents in one stream, or the ResourceList that was read.

Rule of this file: configuration objects never get into a stream that is meant for a cluster.
"""

from krm_function.api import is_config
from krm_function.cli.inputs import Inputs
from krm_function.findings import Finding, finding
from krm_function.hosts.resource_list import DecodedList, encode_list
from krm_function.hosts.stream import Stream, encode_stream
from krm_function.pipeline import Rendered
from krm_function.report.krm import krm_results
from krm_function.yamltext import parse
from krm_function.yamltext.errors import LIMITS


def one_stream(inputs: Inputs, rendered: Rendered) -> bytes:
    """Everything in one stream, or in one ResourceList if that is what came in."""
    if len(inputs.sources) == 1 and isinstance(inputs.sources[0].decoded, DecodedList):
        results = krm_results(rendered.findings)
        return encode_list(inputs.sources[0].decoded, rendered.texts, rendered.added, results)
    texts: list[str | None] = []
    for source in inputs.sources:
        mine = [
            None if is_config(inputs.resources[index].api_version) else rendered.texts[index]
            for index in range(source.start, source.end)
        ]
        kept = [text for text in mine if text is not None]
        if kept and texts and not kept[0].startswith("---"):
            kept[0] = "---\n" + kept[0]
        if kept and texts and texts[-1] and not texts[-1].endswith("\n"):
            texts[-1] += "\n"
        texts += kept
    first = inputs.sources[0].decoded if inputs.sources else None
    return encode_stream(Stream((), isinstance(first, Stream) and first.bom), texts, rendered.added)


def too_large(size: int) -> list[Finding]:
    """CC1005 if the stream has more bytes than `check`, `manifest` and `uninject` read; they would say CC0103."""
    return [finding("CC1005", size=size, limit=LIMITS.bytes)] if size > LIMITS.bytes else []


def open_ends(inputs: Inputs, rendered: Rendered) -> list[Finding]:
    """Files whose last string would change if anything followed: a block scalar without a line end has none in it."""
    found: list[Finding] = []
    for number, source in enumerate(inputs.sources, 1):
        followed = rendered.added or number < len(inputs.sources)
        text = rendered.texts[source.end - 1] if source.end > source.start else None
        if not followed or not text or text.endswith("\n") or isinstance(source.decoded, DecodedList):
            continue
        if parse(text).value != parse(text + "\n").value:
            found.append(finding("CC0108.open-end", file=source.file))
    return found
