"""Read a statement about a render out of an attestation, and compare it with files."""

import binascii
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, get_args

from krm_function.config.document import load_object
from krm_function.findings import Cause, Finding, finding
from krm_function.provenance.statement import (
    BUILD_TYPE,
    PREDICATE,
    PROGRAM,
    STATEMENT,
    STREAM,
    Artefact,
    Command,
    Material,
    Option,
    Role,
)
from krm_function.record import NamedTuple

# --- Take the statement out of what it is wrapped in
#
#     member that tells the form    form                      the statement
#     _type                         a bare statement          itself
#     payload                       a DSSE envelope           its payload in base64
#     dsseEnvelope                  a sigstore bundle         the payload of its envelope
#     none of them, or several      none                      CC1330
#
# Rule: the statement that is compared here is the one that was verified elsewhere, or the file is refused.
# The program that verifies the signature may read names of members in any letter case, or with underscores, and take
# the last one; so an object with a name that only looks like a known one is refused. No signature is looked at.
# Sources: docs/facts/attestations.md#envelope, docs/facts/attestations.md#bundle.


LONGEST = 32 * 1024 * 1024  # bytes of an attestation: a hundred thousand files, signed
PAYLOAD_TYPE = "application/vnd.in-toto+json"
BUNDLE = "application/vnd.dev.sigstore.bundle"
OF_STATEMENT = ("_type", "subject", "predicateType", "predicate")
OF_ENVELOPE = ("payloadType", "payload", "signatures")
OF_SIGNATURE = ("sig", "keyid")
OF_BUNDLE = ("mediaType", "verificationMaterial", "dsseEnvelope", "messageSignature")


class AttestationProblem(ValueError):
    """A file is not an attestation of a render; `cause` has the reason."""

    def __init__(self, code: str, **values: Any) -> None:
        """Take CC1330 with its variant, and the values of its placeholders."""
        super().__init__(code)
        self.cause = Cause(code, values)


def unwrap(data: bytes) -> tuple[Mapping[str, Any], bool]:
    """Return the statement in an attestation, and whether it has a signature, which is not verified here.

    Raises AttestationProblem.
    """
    if len(data) > LONGEST:
        raise AttestationProblem("CC1330.size", limit=LONGEST)
    value = _object(data)
    exact(value, {*OF_STATEMENT, *OF_ENVELOPE, *OF_BUNDLE})
    match [name for name in ("_type", "payload", "dsseEnvelope") if name in value]:
        case ["_type"]:
            return value, False
        case ["payload"]:
            return _payload(value), True
        case ["dsseEnvelope"]:
            return _payload(_envelope(value)), True
        case []:
            raise AttestationProblem("CC1330.signature" if "messageSignature" in value else "CC1330.form")
        case _:
            raise AttestationProblem("CC1330.forms")


def exact(value: Mapping[str, Any], names: Collection[str]) -> None:
    """Refuse an object with a name that another reader may take for a known one."""
    alike = {_fold(name): name for name in names}
    for name in value:
        if name not in names and _fold(name) in alike:
            raise AttestationProblem("CC1330.name", name=name, known=alike[_fold(name)])


def _fold(name: str) -> str:
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
    data = _decode_base64(envelope.get("payload"))
    if data is None:
        raise AttestationProblem("CC1330.field", field="payload", wanted="base64")
    statement = _object(data)
    exact(statement, OF_STATEMENT)
    return statement


def _is_signature(value: Any) -> bool:
    # The key id of a signature is optional
    if not isinstance(value, dict):
        return False
    exact(value, OF_SIGNATURE)
    return isinstance(value.get("keyid"), str | None) and bool(_decode_base64(value.get("sig")))


def _decode_base64(text: Any) -> bytes | None:
    if not isinstance(text, str) or not text.isascii():
        return None
    try:
        return b64decode(text.translate(_URL_SAFE), validate=True)
    except binascii.Error:
        return None


_URL_SAFE = str.maketrans("-_", "+/")  # DSSE allows both alphabets


# --- Read a statement about a render out of an attestation
#
# Rule: unknown members are refused, not skipped: a parameter, or a role of a file, that this version does
# not know may have changed the meaning of the render.


STATEMENTS = (STATEMENT, "https://in-toto.io/Statement/v0.1")  # cosign puts a predicate that it is given into the older
DEFINITION = ("buildType", "externalParameters", "internalParameters", "resolvedDependencies")
PARAMETERS = ("command", "paths", "config", "options")
OPTIONS: tuple[Option, ...] = get_args(Option)
ROLES: tuple[Role, ...] = get_args(Role)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,100}")  # it is printed
_LONGEST_NAME = 4096


class Statement(NamedTuple):
    """The render that an attestation describes. signed: whether it has a signature, which is not verified here."""

    outputs: tuple[Artefact, ...]
    materials: tuple[Material, ...]
    version: str
    signed: bool


def parse_attestation(data: bytes) -> Statement:
    """Read the statement in a bare form, a DSSE envelope or a sigstore bundle. Raises AttestationProblem."""
    value, signed = unwrap(data)
    if value.get("_type") not in STATEMENTS:
        raise AttestationProblem("CC1330.field", field="_type", wanted=STATEMENT)
    if value.get("predicateType") != PREDICATE:
        raise AttestationProblem("CC1330.field", field="predicateType", wanted=PREDICATE)
    predicate = _object_member(value, "predicate", ("buildDefinition", "runDetails"))
    definition = _object_member(predicate, "buildDefinition", DEFINITION)
    if definition.get("buildType") != BUILD_TYPE:
        raise AttestationProblem("CC1330.field", field="buildType", wanted=BUILD_TYPE)
    _refuse_unknown_parameters(_object_member(definition, "externalParameters", PARAMETERS))
    outputs = [_artefact(entry, f"subject[{index}]") for index, entry in enumerate(_list(value, "subject"))]
    if not outputs:
        raise AttestationProblem("CC1330.field", field="subject", wanted="a list of files")
    read = _list(definition, "resolvedDependencies")
    materials = [_material(entry, f"resolvedDependencies[{index}]") for index, entry in enumerate(read)]
    builder = _object_member(_object_member(predicate, "runDetails", ("builder",)), "builder", ("id", "version"))
    version = _object_member(builder, "version", (PROGRAM,)).get(PROGRAM)
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise AttestationProblem("CC1330.field", field=f"builder.version.{PROGRAM}", wanted="a version")
    return Statement(tuple(outputs), tuple(materials), version, signed)


def _refuse_unknown_parameters(parameters: Mapping[str, Any]) -> None:
    for name in (*parameters, *_object_member(parameters, "options", OPTIONS)):
        if name not in PARAMETERS + OPTIONS:
            raise AttestationProblem("CC1330.parameter", name=name)
    if parameters.get("command") not in get_args(Command):
        raise AttestationProblem(
            "CC1330.field", field="externalParameters.command", wanted=" or ".join(get_args(Command))
        )


def _object_member(value: Mapping[str, Any], name: str, names: tuple[str, ...]) -> Mapping[str, Any]:
    """Raise AttestationProblem if the object has a name that only looks like a known one."""
    part = value.get(name)
    if not isinstance(part, dict):
        raise AttestationProblem("CC1330.field", field=name, wanted="an object")
    exact(part, names)
    return part


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    entries = value.get(name)
    if not isinstance(entries, list):
        raise AttestationProblem("CC1330.field", field=name, wanted="a list of files")
    return entries


def _artefact(value: Any, field: str) -> Artefact:
    if not isinstance(value, dict):
        raise AttestationProblem("CC1330.field", field=field, wanted="an object")
    exact(value, ("name", "digest", "annotations"))
    name = value.get("name", "")
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        raise AttestationProblem("CC1330.field", field=f"{field}.name", wanted="a name")
    digest = _object_member(value, "digest", ("sha256",)).get("sha256")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise AttestationProblem("CC1330.field", field=f"{field}.digest.sha256", wanted="64 lower-case hex digits")
    return Artefact(name, digest)


def _material(value: Any, field: str) -> Material:
    name, digest = _artefact(value, field)
    role = _object_member(value, "annotations", ("role",)).get("role")
    if role not in ROLES:
        raise AttestationProblem("CC1330.field", field=f"{field}.annotations.role", wanted=f"one of {', '.join(ROLES)}")
    return Material(role, name, digest)


# --- Compare files with the ones that a statement names
#
#     the statement         the call            finding
#     has its digest        a file              none
#     has no such digest    a file              CC1331 for an output, CC1333 for what was read
#     names a file          none of its digest  CC1332 for an output, CC1334 for what was read
#
# Rule: digests decide and names only explain, because a file may have been moved; a file that the
# statement names more than once must be there as often.


MOST_NAMES = 5  # in one message


def compare_outputs(
    statement: Statement, file: str, outputs: Sequence[Artefact], inside: Iterable[str] = ()
) -> list[Finding]:
    """Return findings about outputs. file: the attestation. inside: digests of the manifests that the outputs hold."""
    digests = {output.sha256 for output in statement.outputs}
    missing = _find_missing(statement.outputs, [*(output.sha256 for output in outputs), *inside])
    findings = [
        _unnamed_output(output, missing or statement.outputs, file)
        for output in outputs
        if output.sha256 not in digests
    ]
    if missing and not findings:
        findings.append(finding("CC1332", file=file, names=_list_names(missing)))
    return findings


def compare_inputs(statement: Statement, file: str, role: Role, read: Sequence[Artefact]) -> list[Finding]:
    """Return findings about all the files of one option."""
    attested = [Artefact(name, sha256) for of, name, sha256 in statement.materials if of == role]
    digests = {file_read.sha256 for file_read in attested}
    missing = _find_missing(attested, [file_read.sha256 for file_read in read])
    findings = [
        finding("CC1333", file=file, name=file_read.name or STREAM, role=role, found=file_read.sha256)
        for file_read in read
        if file_read.sha256 not in digests
    ]
    if missing:
        findings.append(finding("CC1334", file=file, role=role, names=_list_names(missing)))
    return findings


def _find_missing(attested: Sequence[Artefact], digests: Iterable[str]) -> list[Artefact]:
    # A file that is named several times must be there as often
    counts = Counter(digests)
    missing = []
    for artefact in attested:
        counts[artefact.sha256] -= 1
        if counts[artefact.sha256] < 0:
            missing.append(artefact)
    return missing


def _unnamed_output(output: Artefact, missing: Sequence[Artefact], file: str) -> Finding:
    """Make CC1331: an output that the statement does not name. missing: its files that are not there."""
    name = output.name or STREAM
    same = [file_named for file_named in missing if file_named.name == name] or missing
    return finding("CC1331", file=file, name=name, found=output.sha256, names=_list_names(same))


def _list_names(files: Sequence[Artefact]) -> str:
    shown = ", ".join(f"{file.name or STREAM} ({file.sha256})" for file in files[:MOST_NAMES])
    rest = len(files) - MOST_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown
