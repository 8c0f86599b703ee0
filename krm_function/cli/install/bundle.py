"""A bundle: this program, all it needs and a Python of its own, in one folder that is found by its launcher.

    ROOT/contrast-krm         the launcher, a program that needs nothing but the C library (tools/launcher)
    ROOT/start.py             what the launcher gives to the Python
    ROOT/python/              CPython; its program is bin/python3
    ROOT/lib/                 the code and its libraries, as `contrast-krm install` copies them
    ROOT/share/               manual page and completions
    ROOT/LICENSE, ROOT/NOTICE the license of this program; the parts, with their versions and licenses
    ROOT/SHA256SUMS           the digest of every other file, as `sha256sum --check` reads it

Rule of this file: the program runs as a bundle if its code and the Python that runs it stand in one folder under these
names; no variable and no file says so. tools/bundle.py makes the folder.
"""

import os
import sys

import krm_function
from krm_function.cli.install.distributions import Member

LAUNCHER = "contrast-krm"
PYTHON = "python"
LIBRARY = "lib"
SUMS = "SHA256SUMS"


def bundle_root() -> str:
    """Return the folder of the bundle that runs, "" if the program is not a bundle."""
    root, library = os.path.split(os.path.dirname(os.path.dirname(os.path.realpath(krm_function.__file__))))
    inside = library == LIBRARY and os.path.realpath(sys.prefix) == os.path.join(root, PYTHON)
    return root if inside and os.path.isfile(os.path.join(root, SUMS)) else ""


def bundle_files(root: str) -> list[Member]:
    """Return every file of a bundle, and nothing else that somebody keeps in that folder. Raises OSError."""
    with open(os.path.join(root, SUMS), encoding="utf-8") as sums:
        names = [SUMS, *(line.rstrip("\n").partition("  ")[2] for line in sums)]
    return [Member(name, os.path.join(root, name)) for name in sorted(names)]
