"""A resource as a host hands it over: exact text and where it came from.

Rule of this file: text is authoritative. A resource that no stage touches leaves as the same text it came in.
"""

from krm_function.record import NamedTuple


class Resource(NamedTuple):
    """One document of a stream, or one item of a ResourceList.

    text: exactly the characters of the document, with its separator line and comments.
    line: line of the text's first character in `file`, from 1. file: "" for standard input.
    api_version, kind, name: as the document says them, "" where it does not.
    certain: whether these can be told without parsing; False: the header is not plain, or there are `items` on top.
    """

    text: str
    line: int = 1
    file: str = ""
    api_version: str = ""
    kind: str = ""
    name: str = ""
    certain: bool = True
