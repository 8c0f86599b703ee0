"""Slices of a text.

Rule of this file: a slice knows where it stands and what a reader needs to recognise the object in it, nothing more.
"""

from krm_function.record import NamedTuple


class Chunk(NamedTuple):
    """A slice of a text that holds one document, one list item or one value.

    `api_version`, `kind` and `name` (of `metadata.name`) are the scalars as they stand; "" means absent. `certain`:
    they are all that there is to know of the object; False where only `parse` can tell: an alias, a tag, a merge key
    or a complex key stands at the top or in the metadata, or the object has `items`. `empty`: no content, or null.
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
        """The slice itself."""
        return text[self.start : self.end]

    def replaced(self, text: str, new: str) -> str:
        """The text with another slice in the place of this one."""
        return text[: self.start] + new + text[self.end :]
