"""The short cuts: what exists only for speed, and how a process runs without it.

Rule of this file: a patch is Python that runs in a module right after the module itself, before anything has imported a
name from it. Without a short cut the same bytes come out. A row is here for as long as its short cut exists.
"""

from collections.abc import Mapping
from typing import NamedTuple

NONE: Mapping[str, str] = {}


class ShortCut(NamedTuple):
    """One short cut. patches: module -> what runs after it; instead: module -> what runs in its place."""

    name: str
    what: str
    patches: Mapping[str, str] = NONE
    instead: Mapping[str, str] = NONE


_PYYAML = """
import yaml
from yaml import MarkedYAMLError, YAMLError
from yaml._yaml import CParser
from yaml.events import *
from yaml.reader import ReaderError
"""
# typing.NamedTuple allows no cached_property: a class that has one is derived from a tuple with its fields
_TYPING = """
import typing
from functools import cached_property

class Declared:
    def __init__(self, kind, *said):
        self.kind, self.said = kind, said

    def __class_getitem__(cls, parts):
        return cls(*parts)

Annotated = Declared

class Meta(type):
    def __new__(cls, name, bases, body):
        if name == "NamedTuple":
            return super().__new__(cls, name, bases, body)
        if not any(isinstance(value, cached_property) for value in body.values()):
            return typing.NamedTupleMeta(name, (typing._NamedTuple,), body)
        annotated = body.get("__annotations__", {})
        fields = {key: body[key] for key in ("__module__", "__annotations__", *annotated) if key in body}
        kept = ("__module__", "__annotations__")
        rest = {key: value for key, value in body.items() if key not in fields or key in kept}
        return type(name, (typing.NamedTupleMeta(name, (typing._NamedTuple,), fields),), rest)

class NamedTuple(metaclass=Meta):
    pass
"""
_LIBRARIES = ("cryptography.hazmat.primitives.asymmetric.ec", "jinja2", "jsonpatch", "shtab", "tqdm", "urllib3")


def _uncached(*names: str) -> str:
    return "".join(f"{name} = {name}.__wrapped__\n" for name in names)


SHORT_CUTS = (
    ShortCut(
        "`libyaml.py`", "PyYAML's C parser without the rest of PyYAML", NONE, {"krm_function.text.libyaml": _PYYAML}
    ),
    ShortCut("`record.py`", "records without compiled constructors", NONE, {"krm_function.record": _TYPING}),
    ShortCut(
        "late imports of libraries",
        "a library is imported where it is used",
        {"krm_function.cli.main": "".join(f"import {name}\n" for name in _LIBRARIES)},
    ),
    ShortCut(
        "garbage collector",
        "off during a render, no collection at the end",
        {"krm_function.cli.main": "import gc\ngc.disable = gc.freeze = lambda: None\n"},
    ),
    ShortCut(
        "`hosts/pass_through.py`",
        "an input without Contrast's leaves before the pipeline is imported",
        {
            "krm_function.hosts.pass_through": (
                "def passes_through(data): return False\ndef is_unrelated(text, **_): return False\n"
            )
        },
    ),
    ShortCut(
        "`cut_stream` in `text/split.py`",
        "streams are cut without events",
        {"krm_function.text.split": "def cut_stream(*_): return None\n"},
    ),
    ShortCut(
        "`cut_items` in `text/split.py`",
        "lists are cut without events",
        {"krm_function.text.split": "def cut_items(*_): return None\n"},
    ),
    ShortCut(
        "`read_value` in `text/parse.py`",
        "values without positions: objects without findings, and to verify splices",
        {"krm_function.text.parse": "def read_value(text): return parse(text).value\n"},
    ),
    ShortCut(
        "`_parse_without_positions` in `render/read.py`",
        "pods without a runtime class are read without positions, in half of the memory",
        {"krm_function.render.read": "def _parse_without_positions(resource): return None\n"},
    ),
    ShortCut(
        "`_pack_prefix` in `policy/initdata.py`",
        "what policies begin with is packed and hashed once",
        {"krm_function.policy.initdata": _uncached("_pack_prefix")},
    ),
    ShortCut(
        "memories of equal parts",
        "`lru_cache` on readers and writers, `_known` in `policy/initdata.py` and `text/writer.py`",
        {
            "krm_function.policy.initdata": "string = encode_basestring\n_serialise_shared = _serialise_collection\n",
            "krm_function.policy.users": _uncached("users", "memberships", "_read"),
            "krm_function.policy.seal": _uncached("_fits_literal"),
            "krm_function.kubernetes.image": _uncached("parse_image"),
            "krm_function.contrast.annotations": _uncached("_read_texts"),
            "krm_function.text.writer": _uncached("_key_token")
            + "def _write_item(value, column, style): return ' ' + block(value, column + 2, style)\n",
        },
    ),
)
