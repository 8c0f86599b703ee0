"""A render as an in-toto statement with a SLSA provenance predicate."""

import json
import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Literal

from krm_function.record import NamedTuple

# --- The parts of a statement: the files of a call with their digests, its options, and the program
#
# Rule: records only. A name is the one that the caller gave, `-` for a standard stream; a digest is the
# SHA-256 of the bytes that were read or written, 64 lower-case hexadecimal digits.


Command = Literal["generate", "post-render"]
Role = Literal[
    "input",
    "config",
    "policy",
    "settings",
    "image-replacements",
    "add-workload-owner-key",
    "add-seedshare-owner-key",
    "manifest",
]
Option = Literal[
    "add-seedshare-owner-key",
    "add-workload-owner-key",
    "disable-updates",
    "image-replacements",
    "in-place",
    "inject-image-store",
    "manifest",
    "namespace",
    "policy",
    "reference-values",
    "settings",
    "skip-initializer",
    "skip-service-mesh",
]

STREAM = "-"  # the name of standard input and of standard output


class Artefact(NamedTuple):
    """A file, or the bytes of a standard stream."""

    name: str
    sha256: str


class Material(NamedTuple):
    """A file that was read. role: the option that named it; `input` for what is rendered."""

    role: Role
    name: str
    sha256: str


class Call(NamedTuple):
    """One call of a command.

    paths, config: as named on the command line. options: those that were given. release, profile: of the configuration,
    or "". engine: makes the policies.
    """

    command: Command
    paths: tuple[str, ...]
    config: tuple[str, ...]
    options: Mapping[Option, bool | str | list[str]]
    release: str
    profile: str
    engine: Literal["native", "none", ""]


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal digits."""
    return sha256(data).hexdigest()


def unicode_name(name: str) -> str:
    r"""Write a file name as Unicode: each byte that is not UTF-8 becomes \xNN."""
    return os.fsencode(name or STREAM).decode("utf-8", "backslashreplace")


# --- Write a render as an in-toto statement with a SLSA provenance predicate
#
# Rule: the bytes follow from the render alone. There is no time, no host, no user, no working directory
# and no Python in them, and names stand as they were given. Sources: docs/facts/attestations.md#statement,
# docs/facts/attestations.md#slsa-provenance; the meaning of the fields: docs/reference/render-provenance.md.


STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
PROJECT = "https://github.com/contrast-krm/contrast-krm"
BUILD_TYPE = f"{PROJECT}/blob/main/docs/reference/render-provenance.md#v1"
PROGRAM = "contrast-krm"  # the key of the version


def make_statement(
    call: Call, materials: Iterable[Material], outputs: Iterable[Artefact], program: Mapping[str, str]
) -> bytes:
    """Make the statement, as JSON in ASCII with a line end.

    outputs: at least one. program: its version under PROGRAM, and `commit` and `build`; "" for what is not known.
    """
    statement = {
        "_type": STATEMENT,
        "subject": [_descriptor(output.name, output.sha256) for output in outputs],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": _external_parameters(call),
                "internalParameters": _drop_unknown(
                    {"release": call.release, "profile": call.profile, "engine": call.engine}
                ),
                "resolvedDependencies": [
                    {**_descriptor(material.name, material.sha256), "annotations": {"role": material.role}}
                    for material in materials
                ],
            },
            "runDetails": {"builder": {"id": PROJECT, "version": _drop_unknown(program)}},
        },
    }
    return (json.dumps(statement, indent=2) + "\n").encode("ascii")


def _descriptor(name: str, digest: str) -> dict[str, Any]:
    return {"name": unicode_name(name), "digest": {"sha256": digest}}


def _external_parameters(call: Call) -> dict[str, Any]:
    return {
        "command": call.command,
        "paths": [unicode_name(path) for path in call.paths],
        "config": [unicode_name(path) for path in call.config],
        "options": {name: _unicode_value(value) for name, value in sorted(call.options.items())},
    }


def _unicode_value(value: bool | str | list[str]) -> bool | str | list[str]:
    if isinstance(value, str):
        return unicode_name(value)
    return value if isinstance(value, bool) else [unicode_name(word) for word in value]


def _drop_unknown(facts: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in facts.items() if value}
