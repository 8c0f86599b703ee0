"""Build the archives of both Helm plugins: `python -m tools.helm_plugins [--sign COMMAND] DIRECTORY`.

| for | archive | holds |
|---|---|---|
| Helm 4 | `contrast-krm-VERSION.tgz` | a folder `contrast-krm` |
| Helm 3 | `helm3-contrast-VERSION.tar.gz` | the files, without a folder, as its installer from URLs wants them |

Helm 4 finds the folder by the name of the archive, and the archive by the name of the plugin, so the three are one
name. It verifies FILE.prov, a text with an OpenPGP signature inside that names the digest of FILE. Helm 3 verifies
nothing; its archive gets such a text for `gpg` or for Helm 4's `helm plugin verify`. Source:
docs/facts/helm.md#plugin-archives.

Rule of this file: an archive depends on the plugin's files alone and is byte-equal each time (`tools/archive.py`). Keys
stay outside: COMMAND reads the text from standard input and writes it with its signature, as `gpg --clearsign` does.
"""

import argparse
import hashlib
import os
import shlex
import subprocess
import sys
from typing import NamedTuple

import yaml

from tools.archive import tar_gz

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HELM_3 = "plugin.yaml"
HELM_4 = "helm_plugin/plugin.yaml"


class Archive(NamedTuple):
    """One archive: its file name, its bytes, and the manifest inside."""

    name: str
    data: bytes
    manifest: str


def archives() -> tuple[Archive, Archive]:
    """Make Helm 4's archive and Helm 3's. Raises OSError."""
    helm_4, helm_3 = _text(HELM_4), _text(HELM_3)
    plugin = yaml.safe_load(helm_4)
    name, version = plugin["name"], plugin["version"]
    return (
        Archive(f"{name}-{version}.tgz", tar_gz(_members(f"{name}/", HELM_4)), helm_4),
        Archive(f"helm3-contrast-{version}.tar.gz", tar_gz(_members("", HELM_3)), helm_3),
    )


def provenance(archive: Archive) -> bytes:
    """Return what is to be signed: the manifest, a line `...`, and the digest of the archive under its name."""
    digest = hashlib.sha256(archive.data).hexdigest()
    return f"{archive.manifest}\n...\nfiles:\n  {archive.name}: sha256:{digest}\n".encode()


def main() -> int:
    """Write both archives and, with a command that signs, FILE.prov for each; 1 if that command fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.helm_plugins", description="Build both Helm plugins.")
    parser.add_argument("directory")
    parser.add_argument("--sign", metavar="COMMAND", default="", help="reads a text, writes it with its signature")
    options = parser.parse_args()
    os.makedirs(options.directory, exist_ok=True)
    for archive in archives():
        path = os.path.join(options.directory, archive.name)
        _write(path, archive.data)
        if options.sign:
            command = shlex.split(options.sign)
            signed = subprocess.run(command, input=provenance(archive), stdout=subprocess.PIPE, check=False)
            if signed.returncode != 0:
                sys.stderr.write(f"helm_plugins: error: exit code {signed.returncode} of {options.sign}\n")
                return 1
            _write(f"{path}.prov", signed.stdout)
    return 0


def _members(prefix: str, manifest: str) -> dict[str, str]:
    files = {"plugin.yaml": manifest, "LICENSE": "LICENSE"}
    return {prefix + name: os.path.join(ROOT, path) for name, path in files.items()}


def _text(path: str) -> str:
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
    print(path)


if __name__ == "__main__":
    sys.exit(main())
