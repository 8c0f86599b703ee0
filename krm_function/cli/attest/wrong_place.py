"""Where `--attest` may write: into no output and no input of the call, and not where the next render would read it.

Rule of this file: two paths are compared by the file they lead to, which may also be one that the shell has opened as
standard input or output.
"""

import os
from argparse import Namespace

from krm_function.cli.rendering.in_place import new_objects_file
from krm_function.findings import Finding, finding
from krm_function.hosts.files import SUFFIXES, same_file
from krm_function.provenance.statement_parts import STREAM


def wrong_place(options: Namespace) -> list[Finding]:
    """Return what is wrong with the file of --attest."""
    file = options.attest
    for option, path in _outputs(options).items():
        same = os.path.realpath(path) == os.path.realpath(file) if path else _is_descriptor(file, 1)
        if same and file != os.devnull:
            code = "CC0909.file-of" if path else "CC0909.attest-printed"
            return [finding(code, option="--attest", other=option)]
    for path, suffixes in _inputs(options):
        if _is_descriptor(file, 0) if path == STREAM else same_file(file, [path]):
            return [finding("CC0909.input", option="--attest")]
        if os.path.isdir(path) and file.endswith(suffixes) and _is_below(file, path):
            return [finding("CC0909.attest-read", option="--attest", directory=path)]
    return []


def _outputs(options: Namespace) -> dict[str, str]:
    """Return option -> file; "" for standard output."""
    if getattr(options, "in_place", False):
        first = {"--in-place": new_objects_file(options.paths)}
    else:
        first = {"--output": getattr(options, "output", "")}
    more = {"--manifest": getattr(options, "manifest", ""), "--report": options.report}
    return first | {option: path for option, path in more.items() if path}


def _inputs(options: Namespace) -> list[tuple[str, tuple[str, ...]]]:
    """Return what is read, files and directories, `-` for standard input; and the ends of names that count in one."""
    values = vars(options)
    keys = values.get("add_workload_owner_key", []) + values.get("add_seedshare_owner_key", [])
    single = [values.get(name, "") for name in ("policy", "image_replacements", "genpolicy")]
    read = [*(values.get("paths") or [STREAM]), *options.config, *keys, *filter(None, single)]
    settings = values.get("settings", "")
    return [*((path, SUFFIXES) for path in read), *([(settings, (".json",))] if settings else [])]


def _is_descriptor(file: str, descriptor: int) -> bool:
    """Tell whether a path and a descriptor of this process are the same file, such as one that the shell has opened."""
    try:
        return os.path.samestat(os.stat(file), os.fstat(descriptor))
    except OSError:
        return False


def _is_below(file: str, directory: str) -> bool:
    return os.path.realpath(file).startswith(os.path.join(os.path.realpath(directory), ""))
