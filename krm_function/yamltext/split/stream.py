"""Cut a stream of documents into exact slices.

Rule of this file: boundaries come from the parser, never from a search for `---`. A search can be fooled from inside a
quoted scalar and would then hide a pod. The slices concatenate to the text; a `---` belongs to the document it opens.
"""

from krm_function.libyaml import DocumentStartEvent, StreamEndEvent, YAMLError
from krm_function.yamltext.errors import LIMITS, Limits, YamlError, of_template
from krm_function.yamltext.events import check_separators, located, open_events
from krm_function.yamltext.split.chunk import Chunk
from krm_function.yamltext.split.header import NodeReader, ObjectHeader

LARGE = 50_000  # characters: below, compiling the patterns of the fast path takes longer than reading all events
_NOTHING = ObjectHeader("", "", "", is_map=False, empty=True)


def split_stream(text: str, limits: Limits = LIMITS) -> tuple[Chunk, ...]:
    """Cut `text` into its documents; no text gives no chunks.

    The depth and the aliases of each document and the number of documents are bounded before anything is built. Aliases
    are not resolved here, so one without an anchor passes. Raises YamlError for any text that is not valid YAML
    throughout, or that Go's readers would cut elsewhere.
    """
    check_separators(text)
    chunks = None
    if len(text) > LARGE:
        from krm_function.yamltext.fast.stream import cut

        chunks = cut(text, limits, lambda document: split_stream_by_events(document, limits))
    return split_stream_by_events(text, limits) if chunks is None else chunks


def split_stream_by_events(text: str, limits: Limits = LIMITS) -> tuple[Chunk, ...]:
    """Do as `split_stream`, by one pass over all events."""
    starts: list[tuple[int, int]] = []  # offset, line
    headers: list[ObjectHeader] = []
    try:
        _read(text, limits, starts, headers)
    except YAMLError as error:
        raise of_template(located(error, text, 1), text, 1) from None
    except YamlError as problem:
        raise of_template(problem, text, 1) from None
    if not headers:
        starts, headers = ([(0, 1)], [_NOTHING]) if text else ([], [])
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return tuple(
        Chunk(start, end, line, *head) for (start, line), end, head in zip(starts, ends, headers, strict=False)
    )


def _read(text: str, limits: Limits, starts: list[tuple[int, int]], headers: list[ObjectHeader]) -> None:
    """Collect where each document starts, and its header."""
    pull = open_events(text, limits)
    reader = NodeReader(pull, limits, 1)
    while (kind := type(event := pull())) is not StreamEndEvent:
        if kind is not DocumentStartEvent:
            continue
        mark = event.start_mark
        if len(headers) == limits.documents:
            raise YamlError(f"more than {limits.documents} documents", mark.line + 1, 1, "size")
        starts.append((mark.index, mark.line + 1) if headers else (0, 1))
        reader.aliases = 0
        headers.append(reader.header(pull(), 0))
