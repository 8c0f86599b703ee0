"""Build the archives of the Helm plugins as `make plugins` does, signed with a throwaway OpenPGP key."""

import subprocess
import sys
from pathlib import Path

from tests.hosts.running import ROOT
from tools.helm_plugins import archives
from tools.real import tool

ARCHIVE_4, ARCHIVE_3 = (archive.name for archive in archives())


def build(directory: Path, *options: str, umask: int = 0o022) -> Path:
    """Write both archives into that directory."""
    command = [sys.executable, "-m", "tools.helm_plugins", *options, str(directory)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60, umask=umask)
    return directory


def make_key(directory: Path, name: str) -> Path:
    """A new key: `secret.gpg` and `public.gpg` in a new directory."""
    directory.mkdir()
    subprocess.run([tool("openpgp"), "generate", str(directory), name], check=True, timeout=60)
    return directory


def build_signed(directory: Path, keys: Path) -> Path:
    """Write both archives, each with its `.prov`."""
    return build(directory, "--sign", f"{tool('openpgp')} clearsign {keys / 'secret.gpg'}")
