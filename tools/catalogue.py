"""`python -m tools.catalogue DIRECTORY`: the entries for catalogues of KRM functions, of the image in DIRECTORY.

    file                                       for
    contrast-krm-VERSION.krm-function.yaml     kustomize: a KRMFunctionDefinition, config.kubernetes.io/v1alpha1
    contrast-krm-VERSION.kpt-function.yaml     kpt: the fields of a metadata.yaml of its catalogue
    contrast-krm-VERSION.schemastore.json      SchemaStore: what its catalog.json says of the three schemas

Sources: kyaml's `framework.SchemaFromFunctionDefinition`, with which tests read a functionConfig by the first; the
metadata schema of kubernetes-sigs/krm-functions-registry, whose required fields it has; the catalogue of
kptdev/krm-functions-catalog; SchemaStore's schema-catalog.json and CONTRIBUTING.md. Its entries have no `fileMatch`,
since names such as release.yaml are not ours alone: an editor finds the schema by the first line of a file.

Rule of this file: the schema of the functionConfig is the published one of ContrastGenerate, in the words that
openAPIV3Schema has: references are written out, a constant is a choice of one.
"""

import json
import os
import sys
import tarfile
import tomllib
from collections.abc import Mapping
from typing import Any

import yaml

from krm_function import __version__
from krm_function.config.json_schema import KINDS, TITLES
from tools.cache import HERE, ToolError, say

ROOT = os.path.dirname(HERE)
PROJECT = "https://github.com/contrast-krm/contrast-krm"
IMAGE = "ghcr.io/contrast-krm/contrast-krm"
TAGS = ("mutator", "validator", "confidential-computing", "security")
EXAMPLES = ("quickstart", "kustomize", "kpt")
LICENSE = "Apache 2.0"  # the registry's way of writing it
WITHOUT = ("$schema", "$id", "definitions", "examples", "propertyNames")  # what openAPIV3Schema has no words for


def definition(digest: str) -> dict[str, Any]:
    """Return the KRMFunctionDefinition of the image with this digest (sha256 in hexadecimal)."""
    with open(os.path.join(ROOT, "krm_function/api/schemas/ContrastGenerate.json"), encoding="utf-8") as file:
        schema = json.load(file)
    (kind,) = schema["properties"]["kind"]["enum"]
    group, _, version = schema["properties"]["apiVersion"]["enum"][0].partition("/")
    page = f"{PROJECT}/blob/v{__version__}"
    return {
        "apiVersion": "config.kubernetes.io/v1alpha1",
        "kind": "KRMFunctionDefinition",
        "metadata": {"name": "contrast-krm"},
        "spec": {
            "group": group,
            "names": {"kind": kind},
            "description": _description(),
            "publisher": "contrast-krm",
            "home": PROJECT,
            "maintainers": [f"{page}/.github/CODEOWNERS"],
            "tags": list(TAGS),
            "versions": [
                {
                    "name": version,
                    "schema": {"openAPIV3Schema": _written_out(schema, schema.get("definitions", {}))},
                    "idempotent": True,
                    "usage": f"{page}/docs/how-to/container-image.md",
                    "examples": [f"{page}/examples/{name}/README.md" for name in EXAMPLES],
                    "license": LICENSE,
                    "runtime": {
                        "container": {
                            "image": f"{IMAGE}:{__version__}",
                            "sha256": digest,
                            "requireNetwork": False,
                            "requireStorageMount": False,
                        }
                    },
                }
            ],
        },
    }


def metadata() -> dict[str, Any]:
    """Return the fields of kpt's catalogue."""
    page = f"{PROJECT}/tree/v{__version__}"
    return {
        "image": IMAGE,
        "description": _description(),
        "tags": list(TAGS),
        "sourceURL": page,
        "examplePackageURLs": [f"{page}/examples/kpt"],
        "license": "Apache-2.0",
    }


def schema_store() -> list[dict[str, str]]:
    """Return an entry of SchemaStore's catalogue for each kind."""
    schemas = f"{PROJECT}/raw/v{__version__}/krm_function/api/schemas"
    return [
        {"name": f"contrast-krm {kind}", "description": TITLES[kind], "url": f"{schemas}/{kind}.json"} for kind in KINDS
    ]


def image_digest(archive: str) -> str:
    """Return the digest of what an OCI archive holds, an image or an index, in hexadecimal. Raises ToolError."""
    with tarfile.open(archive) as files:
        index = files.extractfile("index.json")
        manifests = json.load(index)["manifests"] if index else []
    if len(manifests) != 1:
        raise ToolError(f"{archive} holds {len(manifests)} images")
    return str(manifests[0]["digest"].removeprefix("sha256:"))


def _description() -> str:
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        return str(tomllib.load(file)["project"]["description"])


def _written_out(value: Any, parts: Mapping[str, Any]) -> Any:
    """Return a part of a JSON Schema as openAPIV3Schema. parts: what `$ref` names."""
    match value:
        case {"$ref": str(reference)}:
            return _written_out(parts[reference.removeprefix("#/definitions/")], parts)
        case {"const": only}:
            return {"enum": [only], **_written_out({key: value[key] for key in value if key != "const"}, parts)}
        case {"properties": dict(properties)}:
            rest = _written_out({key: value[key] for key in value if key != "properties"}, parts)
            return {**rest, "properties": {name: _written_out(one, parts) for name, one in properties.items()}}
        case dict():
            return {key: _written_out(one, parts) for key, one in value.items() if key not in WITHOUT}
        case list():
            return [_written_out(one, parts) for one in value]
        case _:
            return value


def main(arguments: list[str]) -> int:
    """Write the files."""
    if len(arguments) != 1:
        print("usage: python -m tools.catalogue DIRECTORY", file=sys.stderr)
        return 2
    (directory,) = arguments
    name = f"contrast-krm-{__version__}"
    digest = image_digest(os.path.join(directory, f"{name}-image.tar"))
    for ending, entry in (("krm", definition(digest)), ("kpt", metadata())):
        with open(os.path.join(directory, f"{name}.{ending}-function.yaml"), "w", encoding="utf-8") as file:
            yaml.safe_dump(entry, file, sort_keys=False, width=120)
    with open(os.path.join(directory, f"{name}.schemastore.json"), "w", encoding="utf-8") as file:
        file.write(f"{json.dumps(schema_store(), indent=2)}\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (ToolError, OSError, tarfile.TarError) as error:
        say(f"catalogue: error: {error}")
        sys.exit(1)
