"""Rule of this file: a tool written in Rust is built from `tools/<name>/Cargo.toml` and `Cargo.lock`, never without.

The program is a few lines around the crate that the pin is for, or the text of the crate's own example, at the place
that CRATE names; two tools may hold two versions of one crate and share the lines. No package carries a Rust toolchain
that could be pinned (CONTRIBUTING.md#build), so cargo must be on PATH. One of rustup looks for its toolchains in the
caller's home; where that has none, they are beside the proxy.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from typing import NamedTuple

from tools.cache import HERE, ToolError, run

SOURCES = ("Cargo.toml", "Cargo.lock", "src/main.rs")  # of every tool, in its directory
FLAGS = ("--release", "--locked", "--quiet")
CRATE = "CONTRAST_KRM_CRATE"  # where cargo has unpacked the crate, for sources that take a file of it


class Tool(NamedTuple):
    """One pinned tool, named like its directory and its program. shared: sources elsewhere, from its directory."""

    name: str
    crate: str
    shared: tuple[str, ...] = ()


class Pin(NamedTuple):
    """What `tools/<name>/Cargo.lock` says."""

    version: str  # "v1.2.3"
    rust: str  # the oldest Rust that can build it: "1.87"
    digest: str  # of everything that decides the build, the toolchain excepted


class Toolchain(NamedTuple):
    """A Rust toolchain: `rust1.95.0`, where its cargo is, and rustup's home if that has to be set."""

    name: str
    program: str
    rustup_home: str = ""


def pin(tool: Tool) -> Pin:
    """Read a tool's pin."""
    try:
        contents = []
        for name in (*SOURCES, *tool.shared):
            with open(os.path.join(HERE, tool.name, name), "rb") as file:
                contents.append(file.read())
    except OSError as error:
        raise ToolError(f"{tool.name}: no pin: {error}") from error
    version = re.search(rf'^name = "{tool.crate}"\nversion = "(.+)"$', contents[1].decode(), re.MULTILINE)
    rust = re.search(r'^rust-version = "(.+)"$', contents[0].decode(), re.MULTILINE)
    if version is None or rust is None:
        raise ToolError(f"{tool.name}: no version of {tool.crate} in Cargo.lock, or no rust-version in Cargo.toml")
    digest = hashlib.sha256(b"".join(contents) + repr((tool, FLAGS)).encode()).hexdigest()[:16]
    return Pin(f"v{version[1]}", rust[1], digest)


def toolchain(need: str) -> Toolchain:
    """Return the cargo on PATH with its version."""
    found = shutil.which("cargo")
    for home in ("", _beside(found)) if found else ():  # a proxy of rustup knows no toolchain in a new home
        told = run([str(found), "--version"], "", _environment(home)).stdout
        version = re.match(r"cargo ([\d.]+)", told)
        if version is None:
            continue
        if _numbers(version[1]) < _numbers(need):
            raise ToolError(f"regorus: cargo {version[1]} on PATH is too old; {_install(need)}")
        return Toolchain(f"rust{version[1]}", str(found), home)
    raise ToolError(f"regorus: no cargo on PATH to build it with; {_install(need)}")


def _install(need: str) -> str:
    return f"install Rust {need} or newer (Debian 12: cargo-web)"


def _beside(cargo: str) -> str:
    """Return rustup's home beside its proxy: `.cargo/bin/cargo` and `.rustup`."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(cargo)))), ".rustup")


def build(tool: Tool, wanted: Pin, rust: Toolchain, out: str) -> None:
    """Build one tool into the file `out`; what cargo leaves behind vanishes."""
    with tempfile.TemporaryDirectory(prefix="contrast-krm-") as target:
        environment = _environment(rust.rustup_home)
        with open(os.path.join(HERE, tool.name, SOURCES[-1]), encoding="utf-8") as file:
            if CRATE in file.read():
                environment[CRATE] = _crate(tool, rust, environment)
        done = run([rust.program, "build", *FLAGS, "--target-dir", target], tool.name, environment)
        if done.returncode != 0:
            sys.stderr.write(done.stderr)
            raise ToolError(f"{tool.name}: {wanted.version} does not build: {_reason(done.stderr)}")
        shutil.move(os.path.join(target, "release", tool.name), out)


def _crate(tool: Tool, rust: Toolchain, environment: dict[str, str]) -> str:
    """Return the directory of the tool's crate, of the bytes that Cargo.lock names."""
    done = run([rust.program, "metadata", "--locked", "--format-version", "1"], tool.name, environment)
    if done.returncode != 0:
        raise ToolError(f"{tool.name}: cargo does not say where {tool.crate} is: {_reason(done.stderr)}")
    manifests = {one["name"]: str(one["manifest_path"]) for one in json.loads(done.stdout)["packages"]}
    return os.path.dirname(manifests[tool.crate])


def _environment(rustup_home: str) -> dict[str, str]:
    """Return the environment without what would change the build. rustup_home: "" for what rustup itself finds."""
    changing = {"RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "CARGO_ENCODED_RUSTFLAGS"}
    kept = {key: value for key, value in os.environ.items() if key not in changing}
    return kept | {"RUSTUP_HOME": rustup_home} if rustup_home else kept


def _numbers(version: str) -> tuple[int, ...]:
    """`1.87` -> (1, 87)."""
    return tuple(int(part) for part in version.split("."))


def _reason(text: str) -> str:
    """Return the first line that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error")), lines[0] if lines else "no message")
