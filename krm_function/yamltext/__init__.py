"""Text in, positions and splices out: the package that reads and edits YAML and JSON without re-serialising it.

Rule of this package: untouched bytes stay untouched, and no edit leaves it that has not been parsed back and compared
with what `apply` says it means. It knows nothing of Contrast, and of Kubernetes only its scalar typing. Why nothing is
re-serialised: docs/facts/python.md#round-trips.
"""

from krm_function.yamltext.changes import Change, ChangeError, Op, Path, apply, same
from krm_function.yamltext.document import Document, locate, parse
from krm_function.yamltext.encoding import Source, decode, encode
from krm_function.yamltext.errors import LIMITS, Limits, YamlError
from krm_function.yamltext.fast.values import read_value
from krm_function.yamltext.split.chunk import Chunk
from krm_function.yamltext.split.item_list import ItemList
from krm_function.yamltext.split.stream import split_stream

__all__ = [
    "LIMITS",
    "Change",
    "ChangeError",
    "Chunk",
    "Document",
    "ItemList",
    "Limits",
    "Op",
    "Path",
    "Source",
    "YamlError",
    "apply",
    "decode",
    "encode",
    "locate",
    "parse",
    "read_value",
    "same",
    "split_stream",
]
