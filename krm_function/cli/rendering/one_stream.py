"""What `generate` prints: all documents in one stream, or the ResourceList that was read.

Rule of this file: configuration objects never get into a stream that is meant for a cluster. Documents of several files
become one stream that can be applied at the first try: Namespaces and RuntimeClasses stand first, and all other
documents, like those of one file or of standard input, keep their order.
"""

from collections.abc import Iterator

from krm_function.api.document import is_config
from krm_function.cli.files.inputs import Inputs
from krm_function.findings import Finding, finding
from krm_function.hosts.resource_list import DecodedList, encode_list
from krm_function.hosts.stream import Stream, encode_stream
from krm_function.pipeline.result import Rendered
from krm_function.report.krm_results import krm_results
from krm_function.yamltext import parse
from krm_function.yamltext.errors import LIMITS

FIRST = {"Namespace": 0, "RuntimeClass": 1}  # what other objects need to exist, and nothing else needs before it


def one_stream(inputs: Inputs, rendered: Rendered) -> bytes:
    """Put everything into one stream, or into one ResourceList if that is what came in."""
    if len(inputs.sources) == 1 and isinstance(inputs.sources[0].decoded, DecodedList):
        results = krm_results(rendered.findings)
        return encode_list(inputs.sources[0].decoded, rendered.texts, rendered.added, results)
    texts: list[str] = []
    starts = {source.start for source in inputs.sources}
    before = -1
    for index, text in _in_order(inputs, rendered):
        joined = before >= 0 and (index != before + 1 or index in starts)  # they did not stand so in one file
        if joined and not texts[-1].endswith("\n"):
            texts[-1] += "\n"
        texts.append(f"---\n{text}" if joined and not text.startswith("---") else text)
        before = index
    first = inputs.sources[0].decoded if inputs.sources else None
    return encode_stream(Stream((), isinstance(first, Stream) and first.bom), texts, rendered.added)


def too_large(size: int) -> list[Finding]:
    """Return CC1005 if a stream has more bytes than `check`, `manifest` and `uninject` read, which say CC0103."""
    return [finding("CC1005", size=size, limit=LIMITS.bytes)] if size > LIMITS.bytes else []


def open_ends(inputs: Inputs, rendered: Rendered) -> list[Finding]:
    """Report files whose last string would change if anything followed: a block scalar without a line end."""
    findings: list[Finding] = []
    lists = [range(one.start, one.end) for one in inputs.sources if isinstance(one.decoded, DecodedList)]
    ordered = list(_in_order(inputs, rendered))
    for number, (index, text) in enumerate(ordered, 1):
        followed = rendered.added or number < len(ordered)
        if not followed or text.endswith("\n") or any(index in one for one in lists):
            continue
        if parse(text).value != parse(text + "\n").value:
            findings.append(finding("CC0108.open-end", file=inputs.resources[index].file))
    return findings


def _in_order(inputs: Inputs, rendered: Rendered) -> Iterator[tuple[int, str]]:
    """Yield the documents of a stream in the order in which it has them, each with its position in the input."""
    kept = [
        (index, text)
        for index, text in enumerate(rendered.texts)
        if text and not is_config(inputs.resources[index].api_version)
    ]
    if len(inputs.sources) > 1:
        kept.sort(key=lambda pair: FIRST.get(inputs.resources[pair[0]].kind, len(FIRST)))
    yield from kept
