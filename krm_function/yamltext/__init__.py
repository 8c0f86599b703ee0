"""Text in, positions and splices out: the package that reads and edits YAML and JSON without re-serialising it.

Rule of this package: untouched bytes stay untouched, and no edit leaves it that has not been parsed back and compared
with what `apply` says it means. It knows nothing of Contrast, and of Kubernetes only its scalar typing. Why nothing is
re-serialised: docs/facts/python.md#round-trips.
"""

from krm_function.yamltext.aliases import resolve_foreign_aliases
from krm_function.yamltext.changes import Change, ChangeError, Op, Path, apply, same
from krm_function.yamltext.document import Document, locate, parse
from krm_function.yamltext.edit.restore import MemberUndo, restore, restore_members
from krm_function.yamltext.edit.splice import MemberChanges, Spliced, splice, splice_members
from krm_function.yamltext.edit.undo_read import read_undo
from krm_function.yamltext.encoding import Source, decode, encode
from krm_function.yamltext.errors import LIMITS, Limits, YamlError
from krm_function.yamltext.fast.values import read_value
from krm_function.yamltext.split.chunk import Chunk
from krm_function.yamltext.split.item_list import ItemList
from krm_function.yamltext.split.items import resolve_item_aliases, split_items
from krm_function.yamltext.split.list_parts import OuterList, join_items, replace_items, take_out_items
from krm_function.yamltext.split.stream import split_stream
from krm_function.yamltext.writer import dump, scalar

__all__ = [
    "LIMITS",
    "Change",
    "ChangeError",
    "Chunk",
    "Document",
    "ItemList",
    "Limits",
    "MemberChanges",
    "MemberUndo",
    "Op",
    "OuterList",
    "Path",
    "Source",
    "Spliced",
    "YamlError",
    "apply",
    "decode",
    "dump",
    "encode",
    "join_items",
    "locate",
    "parse",
    "read_undo",
    "read_value",
    "replace_items",
    "resolve_foreign_aliases",
    "resolve_item_aliases",
    "restore",
    "restore_members",
    "same",
    "scalar",
    "splice",
    "splice_members",
    "split_items",
    "split_stream",
    "take_out_items",
]
