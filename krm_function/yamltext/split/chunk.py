"""Slices of a text.

Rule of this file: a slice has its offsets and what a reader needs to recognise the object in it, nothing more.
"""

from krm_function.record import NamedTuple


class Chunk(NamedTuple):
    """A slice of a text that holds one document, one list item or one value.

    `api_version`, `kind` and `name` (of `metadata.name`) are the scalars as written; "" means absent. `certain`: they
    identify the object; False if that needs `parse`, because of an alias, a tag, a merge key or a complex key at the
    top or in the metadata, or because the object has `items`. `empty`: no content, or null.
    """

    start: int
    end: int
    line: int  # of `start`, from 1
    api_version: str = ""
    kind: str = ""
    name: str = ""
    is_map: bool = False
    empty: bool = False
    certain: bool = True

    def of(self, text: str) -> str:
        """Return the text of the slice."""
        return text[self.start : self.end]

    def replaced(self, text: str, new: str) -> str:
        """Return the text with `new` in place of the slice."""
        return text[: self.start] + new + text[self.end :]
