"""Write a render as an in-toto statement with a SLSA provenance predicate.

Rule of this file: the bytes follow from the render alone. There is no time, no host, no user, no working directory and
no Python in them, and names stand as they were given. Sources: docs/facts/attestations.md#statement,
docs/facts/attestations.md#slsa-provenance; the meaning of the fields: docs/reference/render-provenance.md.
"""

import json
from collections.abc import Iterable
from typing import Any

from krm_function.provenance.statement_parts import Artefact, Call, Material, Tool, unicode_name

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
PROJECT = "https://github.com/contrast-krm/contrast-krm"
BUILD_TYPE = f"{PROJECT}/blob/main/docs/reference/render-provenance.md#v1"
PROGRAM = "contrast-krm"  # the key of the version


def make_statement(call: Call, materials: Iterable[Material], outputs: Iterable[Artefact], tool: Tool) -> bytes:
    """Make the statement, as JSON in ASCII with a line end. outputs: at least one."""
    statement = {
        "_type": STATEMENT,
        "subject": [_descriptor(one.name, one.sha256) for one in outputs],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": _external(call),
                "internalParameters": _internal(call),
                "resolvedDependencies": [
                    {**_descriptor(one.name, one.sha256), "annotations": {"role": one.role}} for one in materials
                ],
            },
            "runDetails": {"builder": {"id": PROJECT, "version": _version(tool)}},
        },
    }
    return (json.dumps(statement, indent=2) + "\n").encode("ascii")


def _descriptor(name: str, digest: str) -> dict[str, Any]:
    return {"name": unicode_name(name), "digest": {"sha256": digest}}


def _external(call: Call) -> dict[str, Any]:
    return {
        "command": call.command,
        "paths": [unicode_name(path) for path in call.paths],
        "config": [unicode_name(path) for path in call.config],
        "options": {name: _value(value) for name, value in sorted(call.options.items())},
    }


def _value(value: bool | str | list[str]) -> bool | str | list[str]:
    if isinstance(value, str):
        return unicode_name(value)
    return value if isinstance(value, bool) else [unicode_name(one) for one in value]


def _internal(call: Call) -> dict[str, str]:
    facts = {"release": call.release, "profile": call.profile, "engine": call.engine}
    return {name: value for name, value in facts.items() if value}


def _version(tool: Tool) -> dict[str, str]:
    facts = {PROGRAM: tool.version, "commit": tool.commit, "build": tool.build}
    return {name: value for name, value in facts.items() if value}
