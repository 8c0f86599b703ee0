"""The executable of an installed copy: a script for one Python, with the copy's libraries before everything else.

Rule of this file: it trusts nothing of its environment. `-I` and `-S` keep PYTHON* variables, the user's packages and
those of the Python itself out.
"""

import sys

LONGEST = 120  # characters of an interpreter line that every kernel takes
HEADER = "# Written by `contrast-krm install`; run that again to update it."
SCRIPT = """{shebang}
{header}
import os
import sys

if sys.version_info[:2] != {wanted} or sys.implementation.name != "{implementation}":
    sys.stderr.write(
        "contrast-krm: this copy is for {implementation} {version}, and {{}} is another\\n"
        "  hint: run `contrast-krm install` with the Python that is here\\n".format(sys.executable or "this Python")
    )
    sys.exit(3)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "lib", "{library}"))
from krm_function.cli import main

sys.exit(main())
"""


def launcher(python: str, library: str) -> str:
    """Write the script. python: an absolute path, or a name to look up on PATH. library: the directory below `lib`."""
    version = sys.version_info[:2]
    return SCRIPT.format(
        shebang=_shebang(python),
        header=HEADER,
        wanted=version,
        version=".".join(map(str, version)),
        implementation=sys.implementation.name,
        library=library,
    )


def _shebang(python: str) -> str:
    if "/" not in python:
        return f"#!/usr/bin/env -S {python} -IS"
    if len(python) <= LONGEST and not any(character.isspace() for character in python):
        return f"#!{python} -IS"
    quoted = "'" + python.replace("'", "'\"'\"'") + "'"  # the shell runs the next line, Python reads it as a string
    return f"#!/bin/sh\n'''exec' {quoted} -IS \"$0\" \"$@\"\n' '''"
