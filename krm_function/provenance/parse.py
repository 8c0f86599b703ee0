"""Read a statement about a render out of an attestation.

Rule of this file: what is not known is refused, not skipped: a parameter, or a role of a file, that this version does
not know may have changed what the render means.
"""

import re
from collections.abc import Mapping
from typing import Any, get_args

from krm_function.provenance.statement import BUILD_TYPE, PREDICATE, PROGRAM, STATEMENT
from krm_function.provenance.statement_parts import Artefact, Command, Material, Option, Role
from krm_function.provenance.unwrap import AttestationProblem, exact, unwrap
from krm_function.record import NamedTuple

STATEMENTS = (STATEMENT, "https://in-toto.io/Statement/v0.1")  # cosign puts a predicate that it is given into the older
PARAMETERS = ("command", "paths", "config", "options")
OPTIONS: tuple[Option, ...] = get_args(Option)
ROLES: tuple[Role, ...] = get_args(Role)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,100}")  # it is printed
_LONGEST_NAME = 4096


class Statement(NamedTuple):
    """What an attestation says of a render. signed: whether there is a signature, which nothing here has verified."""

    outputs: tuple[Artefact, ...]
    materials: tuple[Material, ...]
    version: str
    signed: bool

    def of_role(self, role: Role) -> tuple[Artefact, ...]:
        """Return the files that one option named."""
        return tuple(Artefact(one.name, one.sha256) for one in self.materials if one.role == role)


def parse_attestation(data: bytes) -> Statement:
    """Read the statement in a bare form, a DSSE envelope or a sigstore bundle. Raises AttestationProblem."""
    value, signed = unwrap(data)
    if value.get("_type") not in STATEMENTS:
        raise AttestationProblem("CC1330.field", field="_type", wanted=STATEMENT)
    if value.get("predicateType") != PREDICATE:
        raise AttestationProblem("CC1330.field", field="predicateType", wanted=PREDICATE)
    predicate = _part(value, "predicate", ("buildDefinition", "runDetails"))
    definition = _part(
        predicate,
        "buildDefinition",
        ("buildType", "externalParameters", "internalParameters", "resolvedDependencies"),
    )
    if definition.get("buildType") != BUILD_TYPE:
        raise AttestationProblem("CC1330.field", field="buildType", wanted=BUILD_TYPE)
    _known_parameters(_part(definition, "externalParameters", PARAMETERS))
    outputs = [_artefact(one, f"subject[{index}]") for index, one in enumerate(_list(value, "subject"))]
    if not outputs:
        raise AttestationProblem("CC1330.field", field="subject", wanted="a list of files")
    read = _list(definition, "resolvedDependencies")
    materials = [_material(one, f"resolvedDependencies[{index}]") for index, one in enumerate(read)]
    builder = _part(_part(predicate, "runDetails", ("builder",)), "builder", ("id", "version"))
    version = _part(builder, "version", (PROGRAM,)).get(PROGRAM)
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise AttestationProblem("CC1330.field", field=f"builder.version.{PROGRAM}", wanted="a version")
    return Statement(tuple(outputs), tuple(materials), version, signed)


def _known_parameters(parameters: Mapping[str, Any]) -> None:
    for name in (*parameters, *_part(parameters, "options", OPTIONS)):
        if name not in PARAMETERS + OPTIONS:
            raise AttestationProblem("CC1330.parameter", name=name)
    if parameters.get("command") not in get_args(Command):
        raise AttestationProblem(
            "CC1330.field", field="externalParameters.command", wanted=" or ".join(get_args(Command))
        )


def _part(value: Mapping[str, Any], name: str, names: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the object of that name. Raises AttestationProblem if it has a name that only looks like a known one."""
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
    digest = _part(value, "digest", ("sha256",)).get("sha256")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise AttestationProblem("CC1330.field", field=f"{field}.digest.sha256", wanted="64 lower-case hex digits")
    return Artefact(name, digest)


def _material(value: Any, field: str) -> Material:
    name, digest = _artefact(value, field)
    role = _part(value, "annotations", ("role",)).get("role")
    if role not in ROLES:
        raise AttestationProblem("CC1330.field", field=f"{field}.annotations.role", wanted=f"one of {', '.join(ROLES)}")
    return Material(role, name, digest)
