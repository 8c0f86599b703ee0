"""Build the archives of both Helm plugins: `python -m tools.helm_plugins [--sign COMMAND] DIRECTORY`.

| for | archive | holds |
|---|---|---|
| Helm 4 | `contrast-krm-VERSION.tgz` | a folder `contrast-krm` |
| Helm 3 | `helm3-contrast-VERSION.tar.gz` | the files, without a folder, as its installer from URLs wants them |

Helm 4 finds the folder by the name of the archive, and the archive by the name of the plugin, so the three are one name
(docs/facts/helm.md#plugins). It verifies a `.prov` beside the archive: text with an OpenPGP signature inside.

Rule of this file: the archives depend on the files alone and are byte-equal each time (`tools/archive.py`). It holds no
key: COMMAND reads that text from standard input and writes it signed, as `gpg --clearsign` does.
"""

import argparse
import hashlib
import os
import shlex
import subprocess
import sys

import yaml

from tools.archive import tar_gz

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MANIFEST_3, MANIFEST_4 = (os.path.join(ROOT, *path) for path in (["plugin.yaml"], ["helm_plugin", "plugin.yaml"]))
LICENSE = os.path.join(ROOT, "LICENSE")


def archives() -> dict[str, bytes]:
    """Name -> bytes of the archives, Helm 4's first."""
    with open(MANIFEST_4, encoding="utf-8") as file:
        plugin = yaml.safe_load(file)
    name, version = plugin["name"], plugin["version"]
    folder = {f"{name}/plugin.yaml": MANIFEST_4, f"{name}/LICENSE": LICENSE}
    files = {"plugin.yaml": MANIFEST_3, "LICENSE": LICENSE}
    return {f"{name}-{version}.tgz": tar_gz(folder), f"helm3-contrast-{version}.tar.gz": tar_gz(files)}


def provenance(name: str, archive: bytes) -> str:
    """What is signed for Helm 4: the manifest, a line `...`, and the digest of the archive under its name."""
    with open(MANIFEST_4, encoding="utf-8") as file:
        manifest = file.read()
    return f"{manifest}\n...\nfiles:\n  {name}: sha256:{hashlib.sha256(archive).hexdigest()}\n"


def main() -> int:
    """Write both archives and, with a command that signs, `.prov`; 1 if the command fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.helm_plugins", description="Build both Helm plugins.")
    parser.add_argument("directory")
    parser.add_argument("--sign", metavar="COMMAND", default="", help="reads a text, writes it with its signature")
    options = parser.parse_args()
    made = archives()
    os.makedirs(options.directory, exist_ok=True)
    for name, data in made.items():
        _write(os.path.join(options.directory, name), data)
    if options.sign:
        name, data = next(iter(made.items()))
        done = subprocess.run(shlex.split(options.sign), input=provenance(name, data).encode(), stdout=subprocess.PIPE)
        if done.returncode != 0:
            sys.stderr.write(f"helm_plugins: error: {options.sign}: exit code {done.returncode}\n")
            return 1
        _write(os.path.join(options.directory, f"{name}.prov"), done.stdout)
    return 0


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
    print(path)


if __name__ == "__main__":
    sys.exit(main())
