"""Encode and decode initdata: a TOML document of a few files, its annotation form and its digest.

Sources: docs/facts/kata.md#initdata, docs/facts/contrast-manifest.md#initdata.

Rule of this file: the digest is over the TOML bytes, so one document has one encoding: keys sorted, literal strings
wherever TOML allows them. The gzip around it is outside every digest.

The writer is some 20 lines of this file, because no library writes that form: tomli-w has no literal strings, so a
policy would be one long escaped text; tomlkit has them, but changes a carriage return in one, refuses control
characters instead of escaping them, and costs 50 ms at start. The standard library reads it.
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
# ends of prefixes that documents share: all of a render, those of equal pause containers, those of equal annotations
SHARED_UP_TO = (b"\npolicy_data := ", b'"Annotations": {', b'"io.kubernetes.cri.sandbox-name": "')
_LEVEL = 6  # 9 saves one per cent and takes twice the time
_UNKNOWN_SYSTEM = b"\xff"

HOST_DATA = {"snp": 32, "tdx": 48, "cca": 64}  # bytes of the field that binds the digest

_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n") | {0x7F})  # not allowed in a TOML literal string
_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


class Initdata(NamedTuple):
    """The document: data maps file names to file texts."""

    version: str
    algorithm: str
    data: Mapping[str, str]


def encode_toml(document: Initdata, literal: str | None = None) -> bytes:
    """Encode a document to TOML; equal documents have equal bytes.

    literal: name of a file that is known to satisfy `fits_literal`.
    Raises UnicodeEncodeError for lone surrogates.
    """
    lines = [f"version = {_basic(document.version)}\nalgorithm = {_basic(document.algorithm)}\n\n[data]\n"]
    for key, value in sorted(document.data.items()):
        # TOML drops the first newline after the opening quotes
        text = f"'''\n{value}'''" if key == literal or fits_literal(value) else _basic(value)
        lines.append(f"{_basic(key)} = {text}\n")
    return "".join(lines).encode()


def fits_literal(text: str) -> bool:
    """Tell whether a text may be a TOML literal string."""
    raw = text.encode()
    return "'''" not in text and not text.endswith("'") and len(raw) == len(raw.translate(None, _CONTROLS))


def decode_toml(toml: bytes) -> Initdata:
    """Parse and check a document. Raises ValueError with the reason."""
    import tomllib

    try:
        document = tomllib.loads(toml.decode())
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except (ValueError, RecursionError):  # also for an integer of thousands of digits
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


def annotation(toml: bytes) -> str:
    """Return the annotation value: base64 of gzip. The gzip header has neither a time nor an operating system."""
    return annotation_and_digest(toml)[0]


def annotation_and_digest(toml: bytes) -> tuple[str, str]:
    """Return the annotation value and the sha256 of a document.

    What documents of one render share is compressed and hashed once, and ends at a byte of its own (a sync flush), so
    that their annotations begin with the same text: the gzip with which Helm stores a release finds it again
    (docs/facts/helm.md#releases).
    """
    ends = _shared_prefix_ends(toml)
    end = ends[-1] if ends else 0
    prefix = _packed_prefix(toml[:end], ends[:-1])
    packer, hashed = prefix.packer.copy(), prefix.hashed.copy()
    flushed = packer.flush(zlib.Z_SYNC_FLUSH) if end else b""
    hashed.update(toml[end:])
    packed = prefix.packed + flushed + packer.compress(toml[end:]) + packer.flush()
    value = b2a_base64(packed[:9] + _UNKNOWN_SYSTEM + packed[10:], newline=False).decode("ascii")
    return value, hashed.hexdigest()


def _shared_prefix_ends(toml: bytes) -> tuple[int, ...]:
    """Return the ends of the prefixes that documents of other pods have, too."""
    found: list[int] = []
    for text in SHARED_UP_TO:
        start = toml.find(text, found[-1] if found else 0)
        if start < 0:
            break
        found.append(start)
    return tuple(found)


class _PackedPrefix(NamedTuple):
    """The compressed bytes of a prefix so far, and the states of compressor and hash after it, to be copied."""

    packed: bytes
    packer: Any
    hashed: Any


@functools.lru_cache(maxsize=6)
def _packed_prefix(head: bytes, shared_ends: tuple[int, ...]) -> _PackedPrefix:
    """Compress and hash a prefix of documents, continuing the one that ends at the last of `shared_ends`."""
    if not head:
        import hashlib

        return _PackedPrefix(b"", zlib.compressobj(_LEVEL, wbits=31), hashlib.sha256())
    end = shared_ends[-1] if shared_ends else 0
    before = _packed_prefix(head[:end], shared_ends[:-1])
    packer, hashed = before.packer.copy(), before.hashed.copy()
    hashed.update(head[end:])
    return _PackedPrefix(before.packed + packer.compress(head[end:]), packer, hashed)


def from_annotation(value: str) -> bytes:
    """Decode an annotation value to TOML bytes. Raises ValueError, also for more than LIMIT bytes."""
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


def digest(toml: bytes, algorithm: str = "sha256") -> str:
    """Return the digest of a document in lower-case hex. Raises ValueError for an unknown algorithm."""
    import hashlib

    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm is none of {', '.join(ALGORITHMS)}")
    return hashlib.new(algorithm, toml).hexdigest()


def host_data(hex_digest: str, tee: str) -> bytes:
    """Return the digest as the TEE reports it: truncated or zero-padded at the end to the width of its field."""
    width = HOST_DATA[tee]
    return bytes.fromhex(hex_digest)[:width].ljust(width, b"\0")


def _basic(value: str) -> str:
    """Write a TOML basic string: on one line, with escapes."""
    return f'"{_ESCAPED.sub(_escape, value)}"'


def _escape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04X}"
