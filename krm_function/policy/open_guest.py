"""Openings of a guest: what its initdata leave open to the host on purpose, and no profile does.

Sources: docs/facts/contrast-node.md#in-the-vm, docs/facts/kata.md#policy-data.

Rule: the sealed document alone decides, so that a render and a check of anybody's output find the same.

    the initdata have                                                              opening
    rules of no profile of this version                                            rules
    the file contrast.insecure-debug                                               shell
    agent.toml with debug_console other than false, or that is not TOML            console
    ExecProcessRequest.regex with an entry; a list of commands is closed           exec
    WriteStreamRequest true                                                        stdin
    allow_env_regex with an entry of no profile that does not begin with ^NAME=,
    or that has an alternative                                                     variables
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.contrast.profiles import CONTRAST_VARIABLES, KATA_VARIABLES
from krm_function.findings import Finding, finding
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.workload import Workload

OPEN_GUEST = "CC0654"
_KNOWN = frozenset((*CONTRAST_VARIABLES, *KATA_VARIABLES))  # STRICT allows a part of them
_ONE_VARIABLE = re.compile(r"\^[A-Za-z_][A-Za-z0-9_]*=[^|]*")


def opening_findings(
    workload: Workload, data: Mapping[str, Any], files: Mapping[str, str], *, own_rules: bool
) -> tuple[Finding, ...]:
    """Return a warning for each opening. data: policy data of any shape. files: those of the initdata, by name.

    own_rules: of no profile.
    """
    codes = (*(("CC0654.rules",) if own_rules else ()), *_find_open_files(files), *_find_open_requests(data))
    return tuple(finding(code, workload.ref, workload.spec_path) for code in codes)


def _find_open_files(files: Mapping[str, str]) -> Iterator[str]:
    if "contrast.insecure-debug" in files:
        yield "CC0654.shell"
    if "agent.toml" in files and _has_console(files["agent.toml"]):
        yield "CC0654.console"


def _has_console(text: str) -> bool:
    import tomllib

    try:
        return tomllib.loads(text).get("debug_console", False) is not False
    except (ValueError, RecursionError):
        return True


def _find_open_requests(data: Mapping[str, Any]) -> Iterator[str]:
    if dig(data, ("request_defaults", "ExecProcessRequest", "regex")):
        yield "CC0654.exec"
    if dig(data, ("request_defaults", "WriteStreamRequest")):
        yield "CC0654.stdin"
    patterns = dig(data, ("request_defaults", "CreateContainerRequest", "allow_env_regex")) or []
    if not isinstance(patterns, list) or any(
        pattern not in _KNOWN and not _ONE_VARIABLE.fullmatch(pattern) for pattern in map(str, patterns)
    ):
        yield "CC0654.variables"
