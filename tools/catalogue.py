"""`python -m tools.catalogue DIRECTORY`: the entries for catalogues, of the image and the bundles in DIRECTORY.

    file                                       for
    contrast-krm-VERSION.krm-function.yaml     kustomize: a KRMFunctionDefinition, config.kubernetes.io/v1alpha1
    contrast-krm-VERSION.kpt-function.yaml     kpt: the fields of a metadata.yaml of its catalogue
    contrast-krm-VERSION.schemastore.json      SchemaStore: what its catalog.json says of the three schemas
    contrast-krm-VERSION.krew.yaml             krew: plugins/contrast-krm.yaml of its index
    contrast-krm-VERSION.homebrew.rb           Homebrew: Formula/contrast-krm.rb of a tap; for Linux, as the bundles are
    contrast-krm-VERSION.artifacthub-repo.yml  Artifact Hub: artifacthub-repo.yml of the repository that it indexes

Sources: kyaml's `framework.SchemaFromFunctionDefinition`, with which tests read a functionConfig by the first; the
metadata schema of kubernetes-sigs/krm-functions-registry, whose required fields it has; the catalogue of
kptdev/krm-functions-catalog; SchemaStore's schema-catalog.json and CONTRIBUTING.md. Its entries have no `fileMatch`,
since names such as release.yaml are not ours alone: an editor finds the schema by the first line of a file. Krew's
https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest; Artifact Hub's
https://artifacthub.io/docs/topics/repositories: its entry gets a `repositoryID` by hand, once it is registered.

Rule of this file: the schema of the functionConfig is the published one of ContrastGenerate, in the words that
openAPIV3Schema has: references are written out, a constant is a choice of one.
"""

import hashlib
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
from tools.machines import MACHINES
from tools.release import PROJECT, contacts

ROOT = os.path.dirname(HERE)
IMAGE = PROJECT.replace("https://github.com/", "ghcr.io/")
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


def bundles(directory: str) -> dict[str, tuple[str, str]]:
    """Return URL and digest of the bundle for each kind of machine, as Go names it. Raises OSError."""
    built = {}
    for name, machine in MACHINES.items():
        file = f"contrast-krm-{__version__}-linux-{name}.tar.gz"
        with open(os.path.join(directory, file), "rb") as archive:
            digest = hashlib.file_digest(archive, "sha256").hexdigest()
        built[machine.go] = (f"{PROJECT}/releases/download/v{__version__}/{file}", digest)
    return built


def krew(archives: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Return the manifest of a plugin of kubectl: `kubectl contrast-krm`."""
    return {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "contrast-krm"},
        "spec": {
            "version": f"v{__version__}",
            "homepage": PROJECT,
            "shortDescription": "Turns pods into confidential pods for Contrast",
            "description": _description(),
            "platforms": [
                {
                    "selector": {"matchLabels": {"os": "linux", "arch": arch}},
                    "uri": url,
                    "sha256": digest,
                    "bin": f"{os.path.basename(url).removesuffix('.tar.gz')}/contrast-krm",
                }
                for arch, (url, digest) in archives.items()
            ],
        },
    }


def formula(archives: Mapping[str, tuple[str, str]]) -> str:
    """Return Homebrew's formula. It unpacks the one directory of an archive by itself."""
    (intel, intel_digest), (arm, arm_digest) = archives["amd64"], archives["arm64"]
    return f"""class ContrastKrm < Formula
  desc "Turns pods into confidential pods for Contrast"
  homepage "{PROJECT}"
  version "{__version__}"
  license "Apache-2.0"

  depends_on :linux

  on_intel do
    url "{intel}"
    sha256 "{intel_digest}"
  end

  on_arm do
    url "{arm}"
    sha256 "{arm_digest}"
  end

  def install
    libexec.install Dir["*"]
    bin.install_symlink libexec/"contrast-krm"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/contrast-krm --version")
  end
end
"""


def artifact_hub() -> dict[str, Any]:
    """Return the owners of the repository. Raises ToolError without an address in SECURITY.md."""
    with open(os.path.join(ROOT, "SECURITY.md"), encoding="utf-8") as file:
        mail = contacts(file.read()).get("mail address")
    if not mail:
        raise ToolError("SECURITY.md has no mail address")
    return {"owners": [{"name": PROJECT.rsplit("/", 2)[1], "email": mail}]}


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
    archives = bundles(directory)
    entries = {
        "krm-function.yaml": definition(digest),
        "kpt-function.yaml": metadata(),
        "krew.yaml": krew(archives),
        "artifacthub-repo.yml": artifact_hub(),
    }
    texts = {ending: yaml.safe_dump(entry, sort_keys=False, width=120) for ending, entry in entries.items()}
    texts |= {"schemastore.json": f"{json.dumps(schema_store(), indent=2)}\n", "homebrew.rb": formula(archives)}
    for ending, text in texts.items():
        with open(os.path.join(directory, f"{name}.{ending}"), "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (ToolError, OSError, tarfile.TarError) as error:
        say(f"catalogue: error: {error}")
        sys.exit(1)
