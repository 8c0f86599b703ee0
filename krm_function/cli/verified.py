"""`check --verified DIR`: compare the manifest of an output with the files that `contrast verify` wrote.

Rule: the directory is as trustworthy as the call of `contrast verify` that wrote it; nothing is attested again here.
Its newest manifest is the active one. Every other file is compared or named.
"""

import os
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from krm_function.check.output import format_fields
from krm_function.contrast.identity import BaseEntry, base_entries, key_of_derived
from krm_function.contrast.manifest import MAX_BYTES, ManifestError, decode, short
from krm_function.findings import Finding, finding
from krm_function.hosts.files import FileProblem, read_file
from krm_function.kubernetes.objects import listed
from krm_function.policy.initdata import LIMIT, digest
from krm_function.text.changes import differing_paths

MOST_FILES = 1000
MANIFEST = re.compile("manifest[.](0|[1-9][0-9]{0,8})[.]json")


def verified_findings(directory: str, committed: bytes) -> list[Finding]:
    """Return the verdict on the manifest of an output, b"" for none. Raises FileProblem."""
    if not committed:
        return [finding("CC1174.no-manifest", file=directory)]
    names = _list_names(directory)
    if len(names) > MOST_FILES:
        return [finding("CC1174.files", file=directory, limit=MOST_FILES)]
    history = sorted(int(match[1]) for match in map(MANIFEST.fullmatch, names) if match)
    if not history:
        return [finding("CC1174.empty", file=directory)]
    for number in range(min(history[0], 1), history[-1]):
        if number not in history:
            return [finding("CC1174.gap", file=directory, name=_name(number))]
    path = os.path.join(directory, _name(history[-1]))
    data = read_file(path, directory, MAX_BYTES + 1)
    try:
        active = decode(data)
    except ManifestError as problem:
        return [finding("CC0702", field=path, problem=str(problem), file=path)]
    findings = _compare_manifests(directory, history, committed, data, active)
    return findings + _compare_policies(directory, names, path, base_entries(active))


def _name(number: int) -> str:
    return f"manifest.{number}.json"


def _list_names(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entry.name for entry in islice(entries, MOST_FILES + 1))
    except OSError as problem:
        raise FileProblem(directory, problem.strerror or "not readable") from problem


def _compare_manifests(
    directory: str, history: Sequence[int], committed: bytes, data: bytes, active: Mapping[str, Any]
) -> list[Finding]:
    """Return the difference of the committed manifest from the active one, whose bytes are `data`."""
    if data == committed:
        return []
    *earlier, path = [os.path.join(directory, _name(number)) for number in history]
    differences = _describe_differences(decode(committed), active)
    if not differences:
        return [finding("CC1175.bytes", file=path)]
    for file in reversed(earlier):
        if read_file(file, directory, MAX_BYTES + 1) == committed:
            return [finding("CC1174.earlier", file=path, name=os.path.basename(file), differences=differences)]
    return [finding("CC1174.manifest", file=path, differences=differences)]


def _describe_differences(committed: Mapping[str, Any], active: Mapping[str, Any]) -> str:
    ours, theirs = ({entry.digest: _label(entry) for entry in base_entries(side)} for side in (committed, active))
    added = [label for key, label in theirs.items() if key not in ours]
    removed = [label for key, label in ours.items() if key not in theirs]
    paths = differing_paths(committed, active)
    rest = [
        path for path in paths if path[0] != "Policies" or len(path) != 2 or (path[1] in ours) == (path[1] in theirs)
    ]
    differences = (
        f"also accepts {listed(added)}" if added else "",
        f"does not accept {listed(removed)}" if removed else "",
        f"differs in {format_fields(rest)}" if rest else "",
    )
    return "; it ".join(filter(None, differences))


def _label(entry: BaseEntry) -> str:
    """Name a policy: `Deployment/shop/web (987501cd3944d794)`."""
    owner = key_of_derived(entry.secret) or entry.own_name
    return f"{short(owner)} ({short(entry.digest[:16])})" if owner else short(entry.digest[:16])


def _compare_policies(
    directory: str, names: Sequence[str], manifest: str, entries: Sequence[BaseEntry]
) -> list[Finding]:
    """Compare the initdata files with the policies of the active manifest; name all other files."""
    findings: list[Finding] = []
    lacking = []
    not_compared = {name for name in names if not MANIFEST.fullmatch(name)}
    for entry in entries:
        if (name := f"initdata.{entry.digest}.toml") not in not_compared:
            lacking.append(entry)
            continue
        not_compared.remove(name)
        path = os.path.join(directory, name)
        actual = digest(read_file(path, directory, LIMIT + 1))
        findings += [finding("CC1174.digest", file=path, digest=actual)] if actual != entry.digest else []
    for code, has_rego in (("CC1174.missing", False), ("CC1175.rego", True)):
        labels = [_label(entry) for entry in lacking if (f"policy.{entry.digest}.rego" in not_compared) == has_rego]
        findings += [finding(code, file=manifest, names=listed(labels))] if labels else []
    in_order = sorted(not_compared, key=lambda name: (name.startswith(("initdata.", "policy.")), name))
    text = ", ".join(map(short, in_order)) or "none"
    count = len(entries) - len(lacking)
    return [*findings, finding("CC1176", file=manifest, count=count, policies=len(entries), others=text)]
