"""Take the statement out of what it is wrapped in.

    member that tells the form    form                      the statement
    _type                         a bare statement          itself
    payload                       a DSSE envelope           its payload in base64
    dsseEnvelope                  a sigstore bundle         the payload of its envelope
    none of them, or several      none                      CC1330

Rule of this file: the statement that is compared here is the one that was verified elsewhere, or the file is refused.
The program that verifies the signature may read names of members in any letter case, or with underscores, and take the
last one; so an object with a name that only looks like a known one is refused. No signature is looked at. Sources:
docs/facts/attestations.md#envelope, docs/facts/attestations.md#bundle.
"""

import binascii
from base64 import b64decode
from collections.abc import Collection, Mapping
from typing import Any

from krm_function.api.strict_json import load_object
from krm_function.findings import Cause
from krm_function.record import NamedTuple

LONGEST = 32 * 1024 * 1024  # bytes of an attestation: a hundred thousand files, signed
PAYLOAD_TYPE = "application/vnd.in-toto+json"
BUNDLE = "application/vnd.dev.sigstore.bundle"
OF_STATEMENT = ("_type", "subject", "predicateType", "predicate")
OF_ENVELOPE = ("payloadType", "payload", "signatures")
OF_SIGNATURE = ("sig", "keyid")
OF_BUNDLE = ("mediaType", "verificationMaterial", "dsseEnvelope", "messageSignature")


class AttestationProblem(ValueError):
    """Why something is no attestation of a render; `cause` is what to say about it."""

    def __init__(self, code: str, **values: Any) -> None:
        """code: CC1330 with its variant. values: of its placeholders."""
        super().__init__(code)
        self.cause = Cause(code, values)


class Unwrapped(NamedTuple):
    """A statement as plain data. signed: whether it was in an envelope, whose signature nothing here has verified."""

    statement: Mapping[str, Any]
    signed: bool


def unwrap(data: bytes) -> Unwrapped:
    """Return the statement in an attestation. Raises AttestationProblem."""
    if len(data) > LONGEST:
        raise AttestationProblem("CC1330.size", limit=LONGEST)
    value = _object(data)
    exact(value, {*OF_STATEMENT, *OF_ENVELOPE, *OF_BUNDLE})
    match [name for name in ("_type", "payload", "dsseEnvelope") if name in value]:
        case ["_type"]:
            return Unwrapped(value, signed=False)
        case ["payload"]:
            return Unwrapped(_payload(value), signed=True)
        case ["dsseEnvelope"]:
            return Unwrapped(_payload(_envelope(value)), signed=True)
        case []:
            raise AttestationProblem("CC1330.signature" if "messageSignature" in value else "CC1330.form")
        case _:
            raise AttestationProblem("CC1330.forms")


def exact(value: Mapping[str, Any], names: Collection[str]) -> None:
    """Refuse an object with a name that another reader may take for one of the known ones."""
    alike = {_folded(name): name for name in names}
    for name in value:
        if name not in names and _folded(name) in alike:
            raise AttestationProblem("CC1330.name", name=name, known=alike[_folded(name)])


def _folded(name: str) -> str:
    return name.casefold().replace("_", "")


def _object(data: bytes) -> dict[str, Any]:
    try:
        return load_object(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise AttestationProblem("CC1330.encoding") from None
    except RecursionError:
        raise AttestationProblem("CC1330.depth") from None
    except ValueError as problem:
        raise AttestationProblem("CC1330.json", error=str(problem)) from None


def _envelope(bundle: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = bundle.get("mediaType")
    if not isinstance(kind, str) or not kind.startswith(BUNDLE):
        raise AttestationProblem("CC1330.field", field="mediaType", wanted=f"{BUNDLE}…")
    if "messageSignature" in bundle:
        raise AttestationProblem("CC1330.forms")
    envelope = bundle["dsseEnvelope"]
    if not isinstance(envelope, dict):
        raise AttestationProblem("CC1330.field", field="dsseEnvelope", wanted="an object")
    exact(envelope, OF_ENVELOPE)
    return envelope


def _payload(envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    if envelope.get("payloadType") != PAYLOAD_TYPE:
        raise AttestationProblem("CC1330.field", field="payloadType", wanted=PAYLOAD_TYPE)
    signatures = envelope.get("signatures")
    if not isinstance(signatures, list) or not signatures or not all(map(_is_signature, signatures)):
        raise AttestationProblem("CC1330.field", field="signatures", wanted="a list of signatures")
    text = envelope.get("payload")
    if not isinstance(text, str) or not text.isascii():
        raise AttestationProblem("CC1330.field", field="payload", wanted="base64")
    try:
        data = b64decode(text.translate(_URL_SAFE), validate=True)
    except binascii.Error:
        raise AttestationProblem("CC1330.field", field="payload", wanted="base64") from None
    statement = _object(data)
    exact(statement, OF_STATEMENT)
    return statement


def _is_signature(value: Any) -> bool:
    """Tell whether an entry has the form of a signature; a key id is optional."""
    if not isinstance(value, dict):
        return False
    exact(value, OF_SIGNATURE)
    text, key = value.get("sig"), value.get("keyid")
    if not isinstance(text, str) or not text or not text.isascii() or not isinstance(key, str | None):
        return False
    try:
        return bool(b64decode(text.translate(_URL_SAFE), validate=True))
    except binascii.Error:
        return False


_URL_SAFE = str.maketrans("-_", "+/")  # DSSE allows both alphabets
