"""A resource as a host hands it over: exact text and where it came from.

Rule of this file: text is authoritative. A resource that no stage edits keeps its text.
"""

from collections.abc import Container

from krm_function.record import NamedTuple


class Resource(NamedTuple):
    """One document of a stream, or one item of a ResourceList.

    text: exactly the characters of the document, with its separator line and comments.
    line: line of the text's first character in `file`, from 1. file: "" for standard input.
    api_version, kind, name: as the document has them, "" if absent. certain: they can be trusted (see
    `yamltext.Chunk`).
    """

    text: str
    line: int = 1
    file: str = ""
    api_version: str = ""
    kind: str = ""
    name: str = ""
    certain: bool = True

    def may_be(self, kinds: Container[str]) -> bool:
        """Tell whether the document may contain an object of these kinds: by its kind, or by an uncertain header."""
        return not self.certain or self.kind in kinds
