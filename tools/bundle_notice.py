"""NOTICE of a bundle: what it consists of, in which version, and under which license.

    name <tab> version <tab> license, as SPDX names it <tab> where its text is

Rule of this file: versions are those that the bundle's own Python answers; a library that says none has "-". Libraries
in C are linked into that Python: `sys.builtin_module_names` says which are there.
"""

import json
import subprocess

from tools.cache import ToolError

ASK = """
import json, sys
from importlib.metadata import distributions
said = {"python": sys.version.split()[0], "linked": {}, "libraries": []}
linked = {
    "_ssl": lambda m: m.OPENSSL_VERSION.split()[1],
    "zlib": lambda m: m.ZLIB_RUNTIME_VERSION,
    "pyexpat": lambda m: m.EXPAT_VERSION.removeprefix("expat_"),
    "_sqlite3": lambda m: m.sqlite_version,
    "_decimal": lambda m: m.__libmpdec_version__,
    "_zstd": lambda m: m.zstd_version,
    "_curses": lambda m: ".".join(map(str, m.ncurses_version[:2])),
    **dict.fromkeys(("_bz2", "_lzma", "_ctypes", "readline", "_uuid"), lambda m: "-"),
}
for name, version in linked.items():
    if name in sys.builtin_module_names:
        said["linked"][name] = version(__import__(name))
for one in distributions(path=[LIBRARY]):
    files = sorted(str(file) for file in one.files or () if "/licenses/" in str(file))
    meta = one.metadata
    classified = [line.rpartition(" :: ")[2] for line in meta.get_all("Classifier") or () if "License ::" in line]
    known = meta.get("License-Expression") or meta.get("License") or "".join(classified[:1])
    said["libraries"].append([one.name, one.version, known.splitlines()[0] if known else "-", files])
print(json.dumps(said))
"""
LINKED = {  # module of Python: library in C, and its license
    "_ssl": ("OpenSSL", "Apache-2.0"),
    "zlib": ("zlib", "Zlib"),
    "pyexpat": ("Expat", "MIT"),
    "_sqlite3": ("SQLite", "blessing"),
    "_decimal": ("libmpdec", "BSD-2-Clause"),
    "_zstd": ("Zstandard", "BSD-3-Clause"),
    "_curses": ("ncurses", "X11"),
    "_bz2": ("bzip2", "bzip2-1.0.6"),
    "_lzma": ("XZ Utils, liblzma", "0BSD"),
    "_ctypes": ("libffi", "MIT"),
    "readline": ("libedit", "BSD-3-Clause"),
    "_uuid": ("util-linux, libuuid", "BSD-3-Clause"),
}


def notice(python: str, library: str, version: str) -> str:
    """Write the text. python: the program; library: the folder of the code; version: as its folder is named."""
    command = [python, "-B", "-I", "-S", "-c", f"LIBRARY = {library!r}\n{ASK}"]
    done = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolError(f"the bundle's Python does not say what it consists of: {done.stderr.strip()}")
    said = json.loads(done.stdout)
    rows = [("CPython", said["python"], "PSF-2.0", f"python/lib/python{version}/LICENSE.txt")]
    rows += [
        (*LINKED[name][:1], said["linked"][name], LINKED[name][1], "-") for name in LINKED if name in said["linked"]
    ]
    for name, number, terms, files in sorted(said["libraries"]):
        texts = ["LICENSE"] if name == "contrast-krm" else [f"lib/{file}" for file in files]
        rows.append((name, number, terms, ", ".join(texts) or "-"))
    rows.append(("Go, runtime of the launcher", "-", "BSD-3-Clause", "-"))
    return "".join("\t".join(row) + "\n" for row in rows)
