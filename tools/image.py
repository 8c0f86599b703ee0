"""`python -m tools.image [BASE]`: build the image and write it to dist/, as an archive that podman and docker load.

BASE: an image with Python, from a registry. Without: one of Debian packages alone, made here, so that no registry is
needed. The libraries come from requirements/run.txt by their hashes; they are fetched here and handed into the build,
which needs no network then and learns nothing of this machine's index.

Rule of this file: the same commit and the same base give the same image, bit for bit.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from typing import NamedTuple

from packaging.markers import Marker

from krm_function import __commit__, __version__
from tools.archive import files_below, source_date, tar
from tools.cache import ToolError
from tools.engine import HERE, engine, environment

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IMAGE = f"localhost/contrast-krm:{__version__}"
SUITE = "bookworm"  # Debian 12: Python 3.11
PACKAGES = ("python3", "python3-venv", "ca-certificates")
BASE = f"localhost/base:{SUITE}"
WHEELS = os.path.join(HERE, "wheels")
ARCHIVE = os.path.join(ROOT, "dist", f"contrast-krm-{__version__}-image-linux-{platform.machine()}.tar")


class Built(NamedTuple):
    """An image: its identity (the digest of its configuration), and bytes as they are in containers."""

    identity: str
    unpacked: int


def make_base() -> str:
    """Make an image of Debian packages with Python, once, and return its name with its digest."""
    if BASE not in engine("podman", "images", "--format", "{{.Repository}}:{{.Tag}}").split():
        archive = os.path.join(HERE, "base.tar")
        _say(f"making a base of {SUITE}'s packages")
        engine("mmdebstrap", "--quiet", "--variant=apt", f"--include={','.join(PACKAGES)}", SUITE, archive)
        engine("podman", "import", "--quiet", archive, BASE)
        os.remove(archive)
    digest = engine("podman", "image", "inspect", "--format={{.Digest}}", BASE).strip()
    return f"{BASE.partition(':')[0]}@{digest}"


def python_version(base: str) -> str:
    """Return the version of Python in an image."""
    ask = "import platform; print(platform.python_version())"
    return engine("podman", "run", "--rm", "--network=none", "--entrypoint=python3", base, "-c", ask).strip()


def fetch_wheels(base: str) -> None:
    """Fetch the locked libraries for the Python of the base, below out/image. Raises ToolError."""
    version = python_version(base)
    locked = os.path.join(HERE, "run.txt")
    with open(os.path.join(ROOT, "requirements", "run.txt"), encoding="utf-8") as file:
        text = for_python(file.read(), version)
    with open(locked, "w", encoding="utf-8") as file:
        file.write(text)
    _say(f"fetching the libraries for Python {version}")
    shutil.rmtree(WHEELS, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    choice = ["--only-binary=:all:", "--no-deps", "--require-hashes", "--python-version", version]
    if subprocess.run([*pip, *choice, "--requirement", locked, "--dest", WHEELS], check=False).returncode:
        raise ToolError("pip download failed")


def for_python(lock: str, version: str) -> str:
    """Return the lines of a lock file whose markers hold for another Python, which pip would ask of its own."""
    values = {"python_full_version": version, "python_version": version.rpartition(".")[0]}
    lines = lock.replace("\\\n", "").splitlines()
    kept = []
    for line in lines:
        name, _, hashes = line.partition(" --hash")
        package, _, marker = name.partition(";")
        if not line.startswith("#") and (not marker or Marker(marker).evaluate(values)):
            kept.append(re.sub(r"\s+", " ", f"{package} --hash{hashes}"))
    return "\n".join(kept) + "\n"


def build(base: str, context: str, commit: str, name: str = IMAGE, *more: str) -> Built:
    """Build the Dockerfile of a source tree; more: options of buildah. Raises ToolError."""
    created = datetime.fromtimestamp(source_date(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    arguments = [f"BASE={base}", f"REVISION={commit}", f"CREATED={created}", "PIP_NO_INDEX=1"]
    arguments += [f"SOURCE_DATE_EPOCH={source_date()}"]
    engine(
        *("buildah", "build", "--no-cache", f"--timestamp={source_date()}"),
        *(f"--build-arg={argument}" for argument in arguments),
        *(f"--build-context=wheels={WHEELS}", f"--tag={name}", *more, context),
    )
    (image,) = json.loads(engine("podman", "image", "inspect", name))
    return Built(image["Id"], image["Size"])


def revision() -> str:
    """Return the commit: as a release wrote it into the package, else of this tree, `-dirty` if it is changed."""
    if __commit__:
        return __commit__
    git = ["git", "-C", ROOT, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def save(name: str, archive: str) -> str:
    """Write the image as an OCI archive; the digest of its manifest, which a registry that gets the archive keeps."""
    os.makedirs(os.path.dirname(archive), exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        layout = os.path.join(scratch, "layout")
        engine("podman", "save", "--quiet", "--format=oci-dir", f"--output={layout}", name)
        members = files_below(layout, ".")
        del members["."]
        with open(archive, "wb") as file:
            file.write(tar(members))
        with open(os.path.join(layout, "index.json"), "rb") as file:
            digest: str = json.load(file)["manifests"][0]["digest"]
    return digest


def main(arguments: list[str]) -> None:
    """Make base, libraries, image, archive."""
    environment()
    base = arguments[0] if arguments else make_base()
    fetch_wheels(base)
    _say(f"building {IMAGE}")
    built = build(base, ROOT, revision())
    digest = save(IMAGE, ARCHIVE)
    engine("podman", "image", "prune", "--force")  # those that had the name before
    size = os.path.getsize(ARCHIVE)
    _say(f"{IMAGE} {built.identity[:12]}, {built.unpacked / 1e6:.0f} MB unpacked")
    _say(f"{os.path.relpath(ARCHIVE)}: {size / 1e6:.0f} MB, manifest {digest}")


def _say(line: str) -> None:
    print(f"image: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ToolError, OSError) as error:
        sys.exit(f"image: error: {error}")
