"""Initdata: a TOML document of a few files, its annotation form and its digest (genpolicy.md 2).

Rule of this file: the digest is over the TOML bytes, so one document has one encoding: keys sorted, literal strings
wherever TOML allows them. The gzip around it is outside every digest.

The writer is our own, some 20 lines, because the libraries do not give that form: tomli-w has no literal strings, so
that a policy is one long escaped text; tomlkit has them, but changes a carriage return in one, refuses control
characters instead of escaping them, and costs 50 ms at start. Reading is the standard library's.
"""

import functools
import re
import zlib
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Mapping
from typing import Any

from krm_function.record import NamedTuple

VERSION = "0.1.0"
ALGORITHMS = ("sha256", "sha384", "sha512")
POLICY = "policy.rego"

LIMIT = 16 * 1024 * 1024  # inflated size, bytes; Kubernetes allows 256 KiB of annotations
_LEVEL = 6  # 9 saves one per cent and takes twice the time
_UNKNOWN_SYSTEM = b"\xff"

HOST_DATA = {"snp": 32, "tdx": 48, "cca": 64}  # bytes of the field that binds the digest

_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n") | {0x7F})  # may not stand in a TOML literal string
_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


class Initdata(NamedTuple):
    """The document: data maps file names to file texts."""

    version: str
    algorithm: str
    data: Mapping[str, str]


def encode(document: Initdata, head: str = "") -> bytes:
    """The TOML bytes: always the same for the same document, always valid TOML.

    head: what texts of many documents begin with; it is looked at once.
    Raises UnicodeEncodeError for text that is no Unicode (lone surrogates).
    """
    lines = [f"version = {_basic(document.version)}\nalgorithm = {_basic(document.algorithm)}\n\n[data]\n"]
    lines += [f"{_basic(key)} = {_text(value, head)}\n" for key, value in sorted(document.data.items())]
    return "".join(lines).encode()


def decode_toml(toml: bytes) -> Initdata:
    """Read and check a document. Raises ValueError."""
    import tomllib

    try:
        document = tomllib.loads(toml.decode())
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError):
        raise ValueError("it is no TOML") from None
    version, algorithm, data = (document.get(key) for key in ("version", "algorithm", "data"))
    if version != VERSION:
        raise ValueError(f"its version is not {VERSION}")
    if isinstance(algorithm, str):
        algorithm = algorithm.replace("-", "", 1)  # as Contrast reads it
    if algorithm not in ALGORITHMS:
        raise ValueError(f"its algorithm is none of {', '.join(ALGORITHMS)}")
    if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
        raise ValueError("its data is no table of strings")
    return Initdata(VERSION, algorithm, data)


def annotation(toml: bytes, shared: int = 0) -> str:
    """The annotation value: base64 of gzip. The gzip header holds neither a time nor the system it was made on.

    shared: how many bytes at the start other documents begin with too. They are packed once, the bytes are the same.
    """
    packed, packer = _begun(toml[:shared])
    packer = packer.copy()
    packed += packer.compress(toml[shared:]) + packer.flush()
    return b2a_base64(packed[:9] + _UNKNOWN_SYSTEM + packed[10:], newline=False).decode("ascii")


@functools.lru_cache(maxsize=1)
def _begun(head: bytes) -> tuple[bytes, Any]:
    """What packing `head` has put out so far, and the packer behind it, to be copied."""
    packer = zlib.compressobj(_LEVEL, wbits=31)
    return packer.compress(head), packer


def from_annotation(value: str) -> bytes:
    """The TOML bytes of an annotation value. Raises ValueError, also for more than LIMIT bytes."""
    try:
        packed = a2b_base64(value.encode("ascii"), strict_mode=True)
    except (Error, UnicodeEncodeError):
        raise ValueError("it is no base64") from None
    unpacker = zlib.decompressobj(wbits=31)
    try:
        toml = unpacker.decompress(packed, LIMIT + 1)
    except zlib.error:
        raise ValueError("it is no gzip") from None
    if len(toml) > LIMIT:
        raise ValueError(f"it inflates to more than {LIMIT} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("its gzip is cut off or followed by something else")
    return toml


def digest(toml: bytes, algorithm: str = "sha256", shared: int = 0) -> str:
    """The digest of a document in lower-case hex. shared: as for `annotation`; these bytes are hashed once."""
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm is none of {', '.join(ALGORITHMS)}")
    hashed = _hashed(algorithm, toml[:shared]).copy()
    hashed.update(toml[shared:])
    return str(hashed.hexdigest())


@functools.lru_cache(maxsize=1)
def _hashed(algorithm: str, head: bytes) -> Any:
    """The hash of `head`, to be copied."""
    import hashlib

    return hashlib.new(algorithm, head)


def host_data(hex_digest: str, tee: str) -> bytes:
    """The digest as the TEE reports it: cut off or zero-padded at the end to the width of its field."""
    width = HOST_DATA[tee]
    return bytes.fromhex(hex_digest)[:width].ljust(width, b"\0")


def _text(value: str, head: str) -> str:
    """A file's text: a literal string if it may be one. TOML drops the first newline after the opening quotes."""
    if "'''" in value or value.endswith("'") or _has_controls(value, head):
        return _basic(value)
    return f"'''\n{value}'''"


def _has_controls(value: str, head: str) -> bool:
    """Whether a text has characters that no literal string may have."""
    if head and value.startswith(head):
        return _head_has_controls(head) or _found(value[len(head) :])
    return _found(value)


@functools.lru_cache(maxsize=1)
def _head_has_controls(head: str) -> bool:
    return _found(head)


def _found(text: str) -> bool:
    raw = text.encode()
    return len(raw) != len(raw.translate(None, _CONTROLS))


def _basic(value: str) -> str:
    """A string with escapes, on one line."""
    return f'"{_ESCAPED.sub(_escape, value)}"'


def _escape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04X}"
