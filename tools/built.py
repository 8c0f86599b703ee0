"""`python -m tools.built DIRECTORY TAG COMMIT`: is everything of a release there, and is it what the tag says?

    file                                                      must hold
    contrast_krm-VERSION-py3-none-any.whl, .tar.gz            version, commit, address of the documentation at the tag
    contrast-krm-VERSION-linux-MACHINE.tar.gz                 a program that says version, commit and its kind of build
    the same for the other kind of machine                    version, commit, address of the documentation at the tag
    contrast-krm-VERSION-image.tar                            images that say version, commit, digest of their base
    contrast-krm-VERSION.tgz, helm3-contrast-VERSION.tar.gz   a plugin.yaml of the version
    each of these two with .prov                              a signed text with the digest of the archive
    contrast-krm-VERSION.cdx.json                             the version
    contrast-krm-VERSION.krm-function.yaml                    version and digest of the image
    contrast-krm-VERSION.kpt-function.yaml                    the version
    contrast-krm-VERSION.schemastore.json                     the version in each address
    contrast-krm-VERSION.krew.yaml, .homebrew.rb              version and digest of each bundle
    contrast-krm-VERSION.artifacthub-repo.yml                 anything
    release-key.gpg                                           anything
    SHA256SUMS                                                every other file with its digest

Rule of this file: one file too many or too few is an error, since all that is there is attested and published.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tools.cache import ToolError, say
from tools.catalogue import IMAGE, image_digest
from tools.machines import MACHINES, OTHERS

SUMS = "SHA256SUMS"
MACHINE = platform.machine()


def problems(directory: str, tag: str, commit: str) -> Iterator[str]:
    """Yield a line for each thing that is not as it must be."""
    version = tag.removeprefix("v")
    checks = _checks(version)
    there = set(os.listdir(directory))
    yield from (f"{name} is missing" for name in sorted(checks.keys() - there))
    yield from (f"{name} does not belong to a release" for name in sorted(there - checks.keys()))
    for name in sorted(there & checks.keys()):
        try:
            wrong = checks[name](os.path.join(directory, name), version, commit)
        except (OSError, KeyError, ValueError, tarfile.TarError, zipfile.BadZipFile) as error:
            wrong = f"cannot be read: {error}"
        if wrong:
            yield f"{name}: {wrong}"


Check = Callable[[str, str, str], str]  # path, version, commit -> what is wrong, or ""


def _checks(version: str) -> dict[str, Check]:
    prefix = f"contrast-krm-{version}"
    plugins = (f"{prefix}.tgz", f"helm3-contrast-{version}.tar.gz")
    return {
        f"contrast_krm-{version}-py3-none-any.whl": _wheel,
        f"contrast_krm-{version}.tar.gz": _sdist,
        f"{prefix}-linux-{MACHINE}.tar.gz": _bundle,
        f"{prefix}-linux-{OTHERS[MACHINE].name}.tar.gz": _other_bundle,
        f"{prefix}-image.tar": _images,
        f"{prefix}.cdx.json": _sbom,
        f"{prefix}.krm-function.yaml": _definition,
        f"{prefix}.kpt-function.yaml": _metadata,
        f"{prefix}.schemastore.json": _schemas,
        f"{prefix}.krew.yaml": _packages,
        f"{prefix}.homebrew.rb": _packages,
        f"{prefix}.artifacthub-repo.yml": _present,
        **dict.fromkeys(plugins, _plugin),
        **{f"{name}.prov": _signature for name in plugins},
        "release-key.gpg": _present,
        SUMS: _sums,
    }


def _stamped(text: Callable[[str], str], version: str, commit: str) -> str:
    """Return what is wrong with the two places that tools/stamp.py writes. text: the content of a file by name."""
    package, documentation = text("krm_function/__init__.py"), text("krm_function/findings/__init__.py")
    if f'__version__ = "{version}"' not in package:
        return f"is not of version {version}"
    if f'__commit__ = "{commit}"' not in package:
        return f"is not of commit {commit}"
    return (
        ""
        if re.search(rf'^DOCUMENTATION = "https://.*/v{version}/docs"', documentation, re.MULTILINE)
        else ("does not say where its documentation is")
    )


def _wheel(path: str, version: str, commit: str) -> str:
    with zipfile.ZipFile(path) as archive:
        return _stamped(lambda name: archive.read(name).decode(), version, commit)


def _sdist(path: str, version: str, commit: str) -> str:
    with tarfile.open(path) as archive:
        return _stamped(lambda name: _member(archive, f"contrast_krm-{version}/{name}"), version, commit)


def _plugin(path: str, version: str, _commit: str) -> str:
    with tarfile.open(path) as archive:
        (name,) = [name for name in archive.getnames() if os.path.basename(name) == "plugin.yaml"]
        text = _member(archive, name)
    return "" if re.search(rf"^version: {re.escape(version)}$", text, re.MULTILINE) else f"is not of version {version}"


def _member(archive: tarfile.TarFile, name: str) -> str:
    file = archive.extractfile(name)
    if file is None:
        raise KeyError(name)
    return file.read().decode()


def _bundle(path: str, version: str, commit: str) -> str:
    with tempfile.TemporaryDirectory() as directory:
        with tarfile.open(path) as archive:
            archive.extractall(directory, filter="data")
        (folder,) = os.listdir(directory)
        command = [os.path.join(directory, folder, "contrast-krm"), "version", "--json"]
        done = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"does not run: {done.stderr.strip()}"
    said = json.loads(done.stdout)
    wanted = {"version": version, "commit": commit, "build": "bundle"}
    wrong = [f"{name} {said.get(name)}" for name, value in wanted.items() if said.get(name) != value]
    return f"says {', '.join(wrong)}" if wrong else ""


def _other_bundle(path: str, version: str, commit: str) -> str:
    folder = os.path.basename(path).removesuffix(".tar.gz")
    with tarfile.open(path) as archive:
        return _stamped(lambda name: _member(archive, f"{folder}/lib/{name}"), version, commit)


def _images(path: str, version: str, commit: str) -> str:
    with tarfile.open(path) as archive:
        (index,) = json.loads(_member(archive, "index.json"))["manifests"]
        configs = [_blob(archive, _blob(archive, one)["config"]) for one in _blob(archive, index)["manifests"]]
    wrong = [said for one in configs if (said := _image(one, version, commit))]
    return "; ".join(wrong) if configs else "holds no image"


def _image(config: Mapping[str, Any], version: str, commit: str) -> str:
    """Return what is wrong with an image, by its configuration."""
    labels = config["config"]["Labels"]
    named = {name: labels.get(f"org.opencontainers.image.{name}") for name in ("version", "revision")}
    wrong = [
        f"{name} {named[name]}"
        for name, wanted in (("version", version), ("revision", commit))
        if named[name] != wanted
    ]
    if not re.search(r"@sha256:[0-9a-f]{64}$", labels.get("contrast-krm.dev/base", "")):
        wrong.append("a base without a digest")
    return f"{config['architecture']} says {', '.join(wrong)}" if wrong else ""


def _blob(archive: tarfile.TarFile, descriptor: Mapping[str, str]) -> Any:
    return json.loads(_member(archive, "blobs/" + descriptor["digest"].replace(":", "/")))


def _sbom(path: str, version: str, _commit: str) -> str:
    with open(path, encoding="utf-8") as file:
        said = json.load(file)["metadata"]["component"]["version"]
    return "" if said == version else f"is about version {said}"


def _definition(path: str, version: str, _commit: str) -> str:
    text = _read(path)
    if f"image: {IMAGE}:{version}\n" not in text:
        return f"is not of version {version}"
    try:
        digest = image_digest(path.replace(".krm-function.yaml", "-image.tar"))
    except ToolError:
        return ""  # it is said of the image
    return "" if f"sha256: {digest}\n" in text else "has the digest of another image"


def _metadata(path: str, version: str, _commit: str) -> str:
    return "" if f"/v{version}\n" in _read(path) else f"is not of version {version}"


def _schemas(path: str, version: str, _commit: str) -> str:
    addresses = [one["url"] for one in json.loads(_read(path))]
    return "" if all(f"/v{version}/" in one for one in addresses) else f"is not of version {version}"


def _packages(path: str, version: str, _commit: str) -> str:
    text = _read(path)
    for machine in MACHINES:
        name = f"contrast-krm-{version}-linux-{machine}.tar.gz"
        with open(os.path.join(os.path.dirname(path), name), "rb") as bundle:
            digest = hashlib.file_digest(bundle, "sha256").hexdigest()
        if f"/v{version}/{name}" not in text or digest not in text:
            return f"does not name {name} and its digest"
    return ""


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _signature(path: str, _version: str, _commit: str) -> str:
    with open(path, "rb") as file:
        text = file.read().decode()
    with open(path.removesuffix(".prov"), "rb") as signed:
        digest = hashlib.file_digest(signed, "sha256").hexdigest()
    if not text.startswith("-----BEGIN PGP SIGNED MESSAGE-----"):
        return "is not signed"
    return "" if f"sha256:{digest}" in text else "has the digest of another archive"


def _present(path: str, _version: str, _commit: str) -> str:
    return "" if os.path.getsize(path) else "is empty"


def _sums(path: str, _version: str, _commit: str) -> str:
    directory = os.path.dirname(path)
    with open(path, encoding="utf-8") as file:
        listed = dict(line.rstrip("\n").split("  ", 1)[::-1] for line in file)
    there = {}
    for name in os.listdir(directory):
        if name != SUMS:
            with open(os.path.join(directory, name), "rb") as content:
                there[name] = hashlib.file_digest(content, "sha256").hexdigest()
    wrong = sorted(name for name in there.keys() | listed.keys() if there.get(name) != listed.get(name))
    return f"is wrong about {', '.join(wrong)}" if wrong else ""


def main(arguments: list[str]) -> int:
    """0, or 1 with a line for each problem."""
    if len(arguments) != 3:
        print("usage: python -m tools.built DIRECTORY TAG COMMIT", file=sys.stderr)
        return 2
    try:
        found = list(problems(*arguments))
    except (ToolError, OSError) as error:
        found = [str(error)]
    for problem in found:
        say(f"error: {problem}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
