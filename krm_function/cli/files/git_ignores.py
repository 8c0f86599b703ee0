"""Whether Git leaves a file out: by the .gitignore files of its work tree, and .git/info/exclude.

    pattern            leaves out
    *.pem              every file of such a name below the .gitignore
    /keys/*.pem        those of that directory, seen from the .gitignore
    keys/              everything in a directory of that name
    !public.pem        nothing: takes an earlier pattern back

Rule of this file: no program is started, and only the work tree is read. What a person ignores everywhere is not
seen, so at worst a file is called open that is not.
"""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase

from krm_function.hosts.files import FileProblem, read_file


def work_tree(path: str) -> str:
    """Return the top directory of the work tree of Git that a path is in; "" if it is in none."""
    here = os.path.realpath(path)
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return ""
        here = above
    return here


def is_open_to_git(path: str) -> bool:
    """Tell whether `git add` would take a file: it is in a work tree, and no pattern leaves it out."""
    directory = os.path.realpath(os.path.dirname(path) or ".")
    top = work_tree(directory)
    if not top:
        return False
    real = os.path.join(directory, os.path.basename(path))
    ignored = False
    for place, pattern in _patterns(top, directory):
        name, below = pattern.removeprefix("!"), _below(real, place)
        if any(_matches(name, part, is_file=part == below) for part in _parts(below)):
            ignored = name == pattern
    return not ignored


def _patterns(top: str, directory: str) -> Iterator[tuple[str, str]]:
    """Yield directory and pattern of each line, the one that counts more behind the others."""
    below = _below(directory, top)
    steps = below.split(os.sep) if below != os.curdir else []
    places = [os.path.join(top, *steps[:count]) for count in range(len(steps) + 1)]
    files = [(top, os.path.join(top, ".git", "info", "exclude"))]
    for place, file in files + [(place, os.path.join(place, ".gitignore")) for place in places]:
        try:
            text = read_file(file, top).decode("utf-8", "replace") if os.path.isfile(file) else ""
        except FileProblem:
            continue
        lines = (line.rstrip() for line in text.splitlines())
        yield from ((place, line) for line in lines if line and not line.startswith("#"))


def _below(path: str, place: str) -> str:
    return os.path.relpath(path, place)


def _parts(path: str) -> Iterator[str]:
    """Yield a relative path and its directories."""
    while path:
        yield path
        path = os.path.dirname(path)


def _matches(pattern: str, path: str, *, is_file: bool) -> bool:
    """Tell whether a pattern leaves out a path below its .gitignore."""
    if pattern.endswith("/") and is_file:
        return False
    pattern = pattern.rstrip("/")
    if "/" not in pattern.removeprefix("**/"):
        return fnmatchcase(os.path.basename(path), pattern.removeprefix("**/"))
    return fnmatchcase(path, pattern.removeprefix("/"))
