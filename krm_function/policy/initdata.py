"""Initdata: a TOML document of a few files, with the policy, its annotation form and its digest."""

import functools
import json
import re
import zlib
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring
from marshal import dumps as marshal
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.kubernetes.objects import dig, mapping
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.record import NamedTuple

# --- Serialise JSON for the Rego engines of Kata agents: indented by two spaces, one array element per line
#
# Rule: stock engines refuse long lines (docs/facts/kata-rules.md#engine-limits), so never a one-line
# document. Characters are not escaped unless JSON requires it, because rego-cpp compares strings without decoding \u
# escapes. The exceptions: three apostrophes in a row, which would end a TOML literal string
# (docs/facts/kata.md#initdata), and DEL, which is not allowed in one. The standard library's indenting encoder is pure
# Python too and three times slower.


_INDENTS = ["\n" + "  " * depth for depth in range(32)]
_SHARED = (4, 5)  # depths: Process, Mounts, Linux of a container's OCI, and their members
_OWN = "Annotations"  # except this member, which differs between containers
_KNOWN_LIMIT = 1000  # texts: the parts of some containers, a few MB
_known: dict[tuple[int, bytes], str] = {}
string = lru_cache(_KNOWN_LIMIT)(encode_basestring)  # most occur many times, also ID blocks of some KB


def pretty(value: Any, depth: int = 0) -> str:
    """Serialise `value` as JSON at `depth` levels of indentation; the caller indents the first line."""
    text = _serialise(value, depth)
    if "'" in text:  # faster to find than three of them; neither can occur outside of a string
        text = text.replace("'''", "''\\u0027")
    return text.replace("\x7f", "\\u007f") if "\x7f" in text else text


def _serialise(value: Any, depth: int) -> str:
    kind = type(value)
    if kind is str:
        return string(value)
    if kind is dict or kind is list or kind is tuple:
        if not value:
            return "{}" if kind is dict else "[]"
        if depth in _SHARED:
            return _serialise_shared(value, depth)
        return _serialise_collection(value, depth)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    raise TypeError(f"{kind.__name__} has no place in policy data")


def _serialise_member(key: str, value: Any, depth: int) -> str:
    return (
        _serialise_collection(value, depth)
        if key == _OWN and type(value) is dict and value
        else _serialise(value, depth)
    )


def _serialise_shared(value: Any, depth: int) -> str:
    """Serialise a part that other containers may have, too; cached.

    Equal parts have equal marshalled bytes, which take a tenth of the time.
    """
    key = (depth, marshal(value, 2))  # version 2 has no references
    text = _known.get(key)
    if text is None:
        if len(_known) >= _KNOWN_LIMIT:
            _known.clear()
        _known[key] = text = _serialise_collection(value, depth)
    return text


def _serialise_collection(value: Any, depth: int) -> str:
    deeper = depth + 1
    inner = _INDENTS[deeper]
    if type(value) is dict:
        entries = [
            f"{string(key)}: {string(entry) if type(entry) is str else _serialise_member(key, entry, deeper)}"
            for key, entry in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(entries)}{_INDENTS[depth]}}}"
    entries = [string(entry) if type(entry) is str else _serialise(entry, deeper) for entry in value]
    return f"[{inner}{f',{inner}'.join(entries)}{_INDENTS[depth]}]"


# --- Write and read a policy document: the rules, then policy_data (docs/facts/kata.md#policy-data)
#
# Rule: `read_policy_data` returns exactly what was written.


HEAD = "policy_data := "
CONTAINER_NAME = "io.kubernetes.cri.container-name"  # an annotation


def rego_text(rules: str, containers: list[dict[str, Any]], shared_text: str) -> str:
    """Join the rules, the containers and the serialised settings, which all pods of a render share."""
    return f'{rules}\n{HEAD}{{\n  "containers": {pretty(containers, 1)},\n{shared_text}\n}}'


def read_policy_data(rego: str) -> dict[str, Any]:
    """Parse the policy_data of a policy document, of any generator. Raises ValueError without one."""
    return _locate_policy_data(rego)[0]


def container_name(entry: Any) -> str:
    """Return the name of a container of policy data, of any shape; "" for the sandbox."""
    return str(mapping(dig(entry, ("OCI", "Annotations"))).get(CONTAINER_NAME) or "")


def rules_of(rego: str) -> str:
    """Return the rules of a policy document: its text around policy_data. Raises as `read_policy_data`."""
    _, start, end = _locate_policy_data(rego)
    return rego[:start] + rego[end:].strip()


def _locate_policy_data(rego: str) -> tuple[dict[str, Any], int, int]:
    """Return the policy_data and the offsets of its begin and end."""
    start = rego.find("\n" + HEAD)
    if start < 0:
        raise ValueError("the policy has no policy_data")
    try:
        data, end = json.JSONDecoder(object_pairs_hook=_refuse_duplicate_keys).raw_decode(rego, start + 1 + len(HEAD))
    except (json.JSONDecodeError, RecursionError) as problem:
        raise ValueError(f"policy_data is not JSON: {getattr(problem, 'msg', 'nested too deeply')}") from None
    if not isinstance(data, dict) or not isinstance(data.get("containers"), list):
        raise ValueError("policy_data has no containers")  # noqa: TRY004 - input, not a bug
    return data, start, end


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object. Rego engines could take different values of a duplicate key."""
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("policy_data has a key twice in one object")
    return data


# --- Encode and decode initdata: a TOML document of a few files, its annotation form and its digest
#
# Sources: docs/facts/kata.md#initdata, docs/facts/contrast-manifest.md#initdata.
#
# Rule: the digest is over the TOML bytes, so one document has one encoding: keys sorted, literal strings
# wherever TOML allows them. The gzip around it is outside every digest.
#
# The writer is some 20 lines of this file, because no library writes that form: tomli-w has no literal strings, so a
# policy would be one long escaped text; tomlkit has them, but changes a carriage return in one, refuses control
# characters instead of escaping them, and costs 50 ms at start. The standard library reads it.


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
    """data: file name -> file text."""

    version: str
    algorithm: str
    data: Mapping[str, str]


def encode_toml(document: Initdata, literal: str | None = None) -> bytes:
    """Encode a document to TOML; equal documents have equal bytes.

    literal: name of a file that is known to satisfy `fits_literal`.
    Raises UnicodeEncodeError for lone surrogates.
    """
    lines = [f"version = {_quote(document.version)}\nalgorithm = {_quote(document.algorithm)}\n\n[data]\n"]
    for key, value in sorted(document.data.items()):
        # TOML drops the first newline after the opening quotes
        text = f"'''\n{value}'''" if key == literal or fits_literal(value) else _quote(value)
        lines.append(f"{_quote(key)} = {text}\n")
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
        raise ValueError("it is not TOML") from None
    version, algorithm, data = (document.get(key) for key in ("version", "algorithm", "data"))
    if version != VERSION:
        raise ValueError(f"its version is not {VERSION}")
    if isinstance(algorithm, str):
        algorithm = algorithm.replace("-", "", 1)  # as Contrast reads it
    if algorithm not in ALGORITHMS:
        raise ValueError(f"its algorithm is not one of {', '.join(ALGORITHMS)}")
    if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
        raise ValueError("its data is not a table of strings")
    return Initdata(VERSION, algorithm, data)


def annotation(toml: bytes) -> str:
    """Return the annotation value: base64 of gzip. The gzip header has neither a time nor an operating system."""
    return annotation_and_digest(toml)[0]


def annotation_and_digest(toml: bytes) -> tuple[str, str]:
    """Return the annotation value and the sha256 of a document.

    The shared start of a render's documents is compressed and hashed once and ends at a byte boundary (sync flush), so
    that their annotations begin with the same text, which the gzip of a Helm release finds again
    (docs/facts/helm.md#releases).
    """
    ends = _find_shared_prefix_ends(toml)
    end = ends[-1] if ends else 0
    prefix = _pack_prefix(toml[:end], ends[:-1])
    packer, hashed = prefix.packer.copy(), prefix.hashed.copy()
    flushed = packer.flush(zlib.Z_SYNC_FLUSH) if end else b""
    hashed.update(toml[end:])
    packed = prefix.packed + flushed + packer.compress(toml[end:]) + packer.flush()
    value = b2a_base64(packed[:9] + _UNKNOWN_SYSTEM + packed[10:], newline=False).decode("ascii")
    return value, hashed.hexdigest()


def _find_shared_prefix_ends(toml: bytes) -> tuple[int, ...]:
    """Return the ends of the prefixes that documents of other pods share."""
    ends: list[int] = []
    for text in SHARED_UP_TO:
        start = toml.find(text, ends[-1] if ends else 0)
        if start < 0:
            break
        ends.append(start)
    return tuple(ends)


class _PackedPrefix(NamedTuple):
    """The compressed bytes of a prefix so far, and the states of compressor and hash after it, to be copied."""

    packed: bytes
    packer: Any
    hashed: Any


@functools.lru_cache(maxsize=6)
def _pack_prefix(head: bytes, shared_ends: tuple[int, ...]) -> _PackedPrefix:
    """Continue the prefix that ends at the last of `shared_ends`."""
    if not head:
        import hashlib

        return _PackedPrefix(b"", zlib.compressobj(_LEVEL, wbits=31), hashlib.sha256())
    end = shared_ends[-1] if shared_ends else 0
    shorter = _pack_prefix(head[:end], shared_ends[:-1])
    packer, hashed = shorter.packer.copy(), shorter.hashed.copy()
    hashed.update(head[end:])
    return _PackedPrefix(shorter.packed + packer.compress(head[end:]), packer, hashed)


def from_annotation(value: str) -> bytes:
    """Decode an annotation value to TOML bytes. Raises ValueError, also for more than LIMIT bytes."""
    try:
        packed = a2b_base64(value.encode("ascii"), strict_mode=True)
    except (Error, UnicodeEncodeError):
        raise ValueError("it is not base64") from None
    unpacker = zlib.decompressobj(wbits=31)
    try:
        toml = unpacker.decompress(packed, LIMIT + 1)
    except zlib.error:
        raise ValueError("it is not gzip") from None
    if len(toml) > LIMIT:
        raise ValueError(f"it inflates to more than {LIMIT} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("its gzip is cut off or followed by something else")
    return toml


def digest(toml: bytes, algorithm: str = "sha256") -> str:
    """Return the digest of a document in lower-case hex. Raises ValueError for an unknown algorithm."""
    import hashlib

    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm is not one of {', '.join(ALGORITHMS)}")
    return hashlib.new(algorithm, toml).hexdigest()


def host_data(hex_digest: str, tee: str) -> bytes:
    """Return the digest as the TEE reports it: truncated or zero-padded at the end to the width of its field."""
    width = HOST_DATA[tee]
    return bytes.fromhex(hex_digest)[:width].ljust(width, b"\0")


def _quote(value: str) -> str:
    return f'"{_ESCAPED.sub(_escape, value)}"'


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}"


# --- Build the initdata that a policy is added to, from the pod's annotation and the files of the configuration
#
# Rule: the configuration names every file that a guest is sealed with. The annotation may hold the same
# files, for tools that read them there; a file of it that the configuration does not have, or has with another text, is
# an error.


def base_initdata(workload: Workload, files: Mapping[str, str]) -> tuple[Initdata | None, list[Finding]]:
    """Return the initdata of a pod without its policy, or None and the findings (CC0610, CC0613, CC0621).

    files: file name -> text, from `spec.policy.initdata`.

        annotation   configuration   in the initdata
        text         none            nothing: CC0621, policies included
        none         text            the configuration's
        text         the same        that text
        text         another         nothing: CC0613
    """
    value = workload.annotations.get(INITDATA)
    base = Initdata(VERSION, "sha256", {})
    if value is not None:
        try:
            base = decode_toml(from_annotation(value if isinstance(value, str) else ""))
        except ValueError as error:
            return None, [unreadable(workload, error)]
    path = (*workload.metadata_path, "annotations", INITDATA)
    if base.algorithm != "sha256":  # a manifest names policies by 64 hex digits
        return None, [finding("CC0610.algorithm", workload.ref, path, key=INITDATA, algorithm=base.algorithm)]
    wrong_files = [
        finding("CC0613", workload.ref, path, name=name)
        if name in files
        else finding("CC0621", workload.ref, path, key=INITDATA, name=name)
        for name, text in sorted(base.data.items())
        if files.get(name) != text
    ]
    return (None, wrong_files) if wrong_files else (base._replace(data=dict(files)), [])


def unreadable(workload: Workload, problem: ValueError) -> Finding:
    """Make the finding CC0610: why the initdata annotation of a pod cannot be read."""
    path = (*workload.metadata_path, "annotations", INITDATA)
    return finding("CC0610.content", workload.ref, path, key=INITDATA, error=str(problem))
