"""The short cuts: what exists only for speed, and how a process runs without it.

Rule of this file: a patch is Python that runs in a module right after the module itself, before anybody has imported a
name from it. The bytes that come out must not change. A short cut is listed here for as long as it exists.
"""

from collections.abc import Mapping
from typing import NamedTuple


class ShortCut(NamedTuple):
    """One short cut. patches: module -> what runs behind it; instead: module -> what runs in its place."""

    name: str
    what: str
    patches: Mapping[str, str] = {}
    instead: Mapping[str, str] = {}


_NAMES = (
    "AliasEvent, DocumentEndEvent, DocumentStartEvent, MappingEndEvent, MappingStartEvent, ScalarEvent,"
    " SequenceEndEvent, SequenceStartEvent, StreamEndEvent"
)
_PYYAML = f"""
import yaml
from yaml import MarkedYAMLError, YAMLError
from yaml._yaml import CParser
from yaml.events import {_NAMES}
from yaml.reader import ReaderError
"""
# typing.NamedTuple allows no cached_property; a class that has one gets a base of its own
_TYPING = """
import typing
from functools import cached_property

class Meta(type):
    def __new__(cls, name, bases, body):
        if name == "NamedTuple":
            return super().__new__(cls, name, bases, body)
        if not any(isinstance(value, cached_property) for value in body.values()):
            return typing.NamedTupleMeta(name, (typing._NamedTuple,), body)
        annotated = body.get("__annotations__", {})
        fields = {key: body[key] for key in ("__module__", "__annotations__", *annotated) if key in body}
        rest = {key: value for key, value in body.items() if key not in fields or key == "__module__"}
        return type(name, (typing.NamedTupleMeta(name, (typing._NamedTuple,), fields),), rest)

class NamedTuple(metaclass=Meta):
    pass
"""
_COLLECTIONS = """
from collections import namedtuple
from functools import cached_property

class Meta(type):
    def __new__(cls, name, bases, body):
        if name == "NamedTuple":
            return super().__new__(cls, name, bases, body)
        fields = tuple(body.get("__annotations__", ()))
        defaults = [body.pop(field) for field in fields if field in body]
        if not any(isinstance(value, cached_property) for value in body.values()):
            body["__slots__"] = ()
        return type(name, (namedtuple(name, fields, defaults=defaults),), dict(body))

class NamedTuple(metaclass=Meta):
    pass
"""


def _uncached(*names: str) -> str:
    return "".join(f"{name} = {name}.__wrapped__\n" for name in names)


_POLICY_CACHES = {
    "krm_function.policy.pretty": "string = encode_basestring\n_shared = _collection\n",
    "krm_function.policy.passwd": _uncached("users", "memberships"),
    "krm_function.policy.identity": _uncached("_read"),
    "krm_function.policy.rules": _uncached("load_rules"),
    "krm_function.policy.seal": _uncached("_know_patterns", "_literal"),
}
_WRITER_CACHES = {
    "krm_function.yamltext.writer": "def _item(value, column, style): return ' ' + block(value, column + 2, style)\n"
    + _uncached("_key_token"),
}
_MODEL_CACHES = {
    "krm_function.model.image": _uncached("parse"),
    "krm_function.model.mesh": _uncached("_read"),
}

SHORT_CUTS = (
    ShortCut("libyaml.py", "`import yaml` in its place", instead={"krm_function.libyaml": _PYYAML}),
    ShortCut("record.py", "typing.NamedTuple in its place", instead={"krm_function.record": _TYPING}),
    ShortCut("record.py, collections", "collections.namedtuple", instead={"krm_function.record": _COLLECTIONS}),
    ShortCut(
        "fast/values.py",
        "values without positions",
        {"krm_function.yamltext.fast.values": "def read_value(text): return parse(text).value\n"},
    ),
    ShortCut(
        "fast/stream.py",
        "streams cut up without events",
        {"krm_function.yamltext.fast.stream": "def cut(*_): return None\n"},
    ),
    ShortCut(
        "fast/items.py",
        "lists cut up without events",
        {"krm_function.yamltext.fast.items": "def cut(*_): return None\n"},
    ),
    ShortCut(
        "marks",
        "packing shared beginnings of initdata",
        {"krm_function.policy.seal": "def _marks(toml, start): return []\n"},
    ),
    ShortCut(
        "take_apart",
        "items are held once",
        {
            "krm_function.yamltext.split.list_parts": "def take_apart(text, items, texts): return Apart(text, items)\n",
        },
    ),
    ShortCut("gc", "", {"krm_function.cli.main": "import gc\ngc.disable = gc.freeze = lambda: None\n"}),
    ShortCut("pretty, both", "", {"krm_function.policy.pretty": "string = encode_basestring\n_shared = _collection\n"}),
    ShortCut("pretty._shared", "", {"krm_function.policy.pretty": "_shared = _collection\n"}),
    ShortCut("pretty.string", "", {"krm_function.policy.pretty": "string = encode_basestring\n"}),
    ShortCut(
        "caches passwd, identity",
        "",
        {
            "krm_function.policy.passwd": _uncached("users", "memberships"),
            "krm_function.policy.identity": _uncached("_read"),
        },
    ),
    ShortCut("cache rules", "", {"krm_function.policy.rules": _uncached("load_rules")}),
    ShortCut("caches seal", "", {"krm_function.policy.seal": _uncached("_know_patterns", "_literal")}),
    ShortCut(
        "id blocks",
        "",
        {
            "krm_function.subject": "cache = lambda f: f\n",
            "krm_function.measurement.launch_digest": _uncached("_page_info_rest"),
        },
    ),
    ShortCut("caches, writer", "", _WRITER_CACHES),
    ShortCut("caches, model", "", _MODEL_CACHES),
    ShortCut(
        "sealing.py",
        "what makes policies is imported where they are made",
        {"krm_function.pipeline": "import krm_function.sealing\n"},
    ),
    ShortCut(
        "lazy OpenSSL",
        "",
        {"krm_function.pipeline": "import cryptography.hazmat.primitives.asymmetric.ec\n"},
    ),
    ShortCut(
        "own parser",
        "the argument parser of the called command only",
        {
            "krm_function.cli.arguments": "import sys\nclass _All(list):\n  def __bool__(self): return False\n"
            "_made = make_parser\ndef make_parser(names): return _made(VERBS)\n"
        },
    ),
    ShortCut(
        "read without positions",
        "stages/read._by_value",
        {"krm_function.stages.read": "def _by_value(resource): return None\n"},
    ),
    ShortCut(
        "pass_through",
        "",
        {
            "krm_function.hosts.pass_through": "def passes_through(data): return False\n",
            "krm_function.cli.post_render": "import krm_function.pipeline\n",
        },
    ),
    ShortCut(
        "candidates together",
        "",
        {
            **_WRITER_CACHES,
            **_MODEL_CACHES,
            "krm_function.policy.passwd": _uncached("users", "memberships"),
            "krm_function.policy.identity": _uncached("_read"),
            "krm_function.policy.seal": _uncached("_know_patterns", "_literal"),
            "krm_function.policy.rules": _uncached("load_rules"),
            "krm_function.measurement.launch_digest": _uncached("_page_info_rest"),
        },
    ),
)
