"""The files that `init` writes: those that a directory lacks, and the orchestrator's own with the function in it."""

import os
import re
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from krm_function.cli.existing_files import (
    files_of_kind,
    has_coordinator,
    listed_file,
    plain_resources,
    resource_files,
    yaml_files,
)
from krm_function.cli.next_steps import State
from krm_function.config.document import CONFIG_KINDS, ConfigKind
from krm_function.config.edit import with_platform, with_reference_values, with_required_workloads
from krm_function.config.json_schema import DIRECTORY, schema_file, schema_text
from krm_function.config.wiring import (
    KPTFILE,
    KUSTOMIZATIONS,
    NEW_FILES,
    Files,
    Function,
    HostName,
    Wired,
    function_of,
    listed,
    new_file,
    wire_kptfile,
    wire_kustomization,
    with_function,
)
from krm_function.findings import NOTHING, Finding, finding
from krm_function.hosts.files import CHART, FileProblem, has_content, read_file
from krm_function.hosts.write_files import NewFile, write_files
from krm_function.record import NamedTuple
from krm_function.text.errors import decode, encode
from krm_function.text.parse import parse
from krm_function.text.split import split_stream

# --- Values of the manifest that only an operator can give, from the options of `init`
#
# Rule: any text that is not exactly such a value is a finding. There is no guess and no default, because a lower number
# accepts more machines. The four versions of SEV-SNP firmware, by the manifest's own names:
#
#     BootloaderVersion=9,TEEVersion=0,SNPVersion=21,MicrocodeVersion=72


VERSIONS = ("BootloaderVersion", "TEEVersion", "SNPVersion", "MicrocodeVersion")
LARGEST = 255


def operator_values(minimum_tcb: str, mr_seam: str) -> tuple[Mapping[str, Any], list[Finding]]:
    """Return, by kind of hardware (snp, tdx), the content of spec.manifest.referenceValues. Either text may be ""."""
    values: dict[str, Any] = {}
    findings: list[Finding] = []
    if minimum_tcb:
        versions = _parse_versions(minimum_tcb)
        values |= {"snp": {"MinimumTCB": versions}} if versions else {}
        findings += [] if versions else [finding("CC0909.tcb", option="--minimum-tcb")]
    if mr_seam:
        good = re.fullmatch("[0-9a-fA-F]{96}", mr_seam)
        values |= {"tdx": {"MrSeam": mr_seam.lower()}} if good else {}
        findings += [] if good else [finding("CC0909.mr-seam", option="--mr-seam")]
    return values, findings


def _parse_versions(text: str) -> dict[str, int] | None:
    pairs = re.findall(r"(\w+)=([0-9]{1,3})(?:,|\Z)", text)
    versions = {name: int(number) for name, number in pairs}
    whole = ",".join(f"{name}={number}" for name, number in pairs) == text
    if not whole or len(pairs) != len(VERSIONS) or versions.keys() != set(VERSIONS) or max(versions.values()) > LARGEST:
        return None
    return {name: versions[name] for name in VERSIONS}


# --- Copies of the JSON Schemas beside configuration files, for editors
#
# Rule: a copy is the output of `contrast-krm schema KIND`. Users do not edit copies, so an outdated copy is replaced.


def missing_schemas(directory: str, kinds: Iterable[str]) -> dict[str, bytes]:
    """Return the copies that a directory lacks: path -> bytes. Raises FileProblem for a link to another directory."""
    if os.path.islink(os.path.join(directory, DIRECTORY)):
        raise FileProblem(os.path.join(directory, DIRECTORY), "it is a link", writing=True)
    copies: dict[str, bytes] = {}
    for kind in kinds:
        path, text = os.path.join(directory, schema_file(kind)), schema_text(kind).encode()
        if not has_content(path, text):
            copies[path] = text
    return copies


def write_all(files: Mapping[str, bytes], new: str = "", old: Mapping[str, bytes] = NOTHING) -> None:
    """Write all files, in this order. new: a directory to make; the directories of the copies are always made.

    old: the bytes that files must still have. Raises FileProblem, and leaves nothing.
    """
    directories = sorted({os.path.dirname(path) for path in files} - {""}, key=len)
    missing = [
        name for name in directories if (os.path.basename(name) == DIRECTORY or name == new) and not os.path.isdir(name)
    ]
    created: list[str] = []
    try:
        for directory in missing:
            _make_directory(directory)
            created.append(directory)
        write_files(NewFile(path, data, old=old.get(path)) for path, data in files.items())
    except BaseException:
        for directory in reversed(created):
            with suppress(OSError):  # it has files, or was not made
                os.rmdir(directory)
        raise


def _make_directory(directory: str) -> None:
    try:
        os.mkdir(directory)
    except OSError as problem:
        raise FileProblem(directory, problem.strerror or "not writable", writing=True) from problem


# --- The files that `init` writes: those that a directory lacks, and the orchestrator's own with the function in it
#
# Rule: nothing is written here, and the orchestrator's file comes last: without it the deployment renders as before.


RUNS = {
    "exec": "the program that kustomize runs",
    "container": "the image that kustomize runs",
    "legacy": "a legacy plugin, which needs no annotation",
}


class TargetFile(NamedTuple):
    """The orchestrator's file: its present or future place. Helm and plain files have none.

    chart: directory of the chart, or of the plain files.
    """

    host: HostName
    name: str
    data: bytes = b""
    chart: str = ""


class OperatorChoices(NamedTuple):
    """The values to fill in. platform: "" for none. values: by kind of hardware, those that only an operator can give.

    require_all: every pod must be confidential, or named as plain with a reason, as in a new file. function: the
    program that kustomize runs; None: the one that it runs already, else a program.
    """

    platform: str = ""
    values: Mapping[str, Any] = NOTHING
    require_all: bool = False
    function: Function | None = None


def find_target(directory: str, options: Namespace) -> tuple[TargetFile | None, list[Finding]]:
    """Find the orchestrator's file, from the directory and the flags. Raises FileProblem."""
    if options.helm:
        if not os.path.isfile(os.path.join(options.helm, CHART)):
            return None, [finding("CC1310.no-chart", directory=options.helm)]
        return TargetFile("helm", "", chart=options.helm), []
    if options.files is not None:
        resources = options.files or directory
        if options.files and not os.path.isdir(resources):
            raise FileProblem(resources, "not a directory" if os.path.exists(resources) else "no such directory")
        return TargetFile("files", "", chart=resources), []
    kustomizations = [name for name in KUSTOMIZATIONS if os.path.lexists(os.path.join(directory, name))]
    package = os.path.lexists(os.path.join(directory, KPTFILE))
    if len(kustomizations) > 1 and not options.kpt:
        return None, [finding("CC1313", kind="Kustomization", files=", ".join(kustomizations))]
    if not options.kpt and not options.kustomize and bool(kustomizations) == package:
        if not os.path.isdir(directory):
            raise FileProblem(directory, "no such directory")
        chart = os.path.isfile(os.path.join(directory, CHART))
        problem = "CC1310.both" if package else "CC1310.chart" if chart else "CC1310.neither"
        return None, [finding(problem, directory=directory)]
    host: HostName = "kpt" if options.kpt or (package and not options.kustomize) else "kustomize"
    name = KPTFILE if host == "kpt" else (*kustomizations, KUSTOMIZATIONS[0])[0]
    path = os.path.join(directory, name)
    return TargetFile(host, name, read_file(path, directory) if os.path.lexists(path) else b""), []


class Wiring(NamedTuple):
    """files: path -> bytes, to be written in this order. old: as they were. changes: one line each, for people."""

    files: Mapping[str, bytes]
    old: Mapping[str, bytes]
    changes: Sequence[str]
    state: State
    findings: Sequence[Finding]


def wiring(directory: str, target: TargetFile, choices: OperatorChoices) -> Wiring:
    """Return everything that a directory lacks. Raises YamlError."""
    files: dict[str, bytes] = {}
    old = {os.path.join(directory, target.name): target.data} if target.data else {}
    changes: list[str] = []
    findings: list[Finding] = []
    text = decode(target.data).text
    value = parse(text).value if text.strip() else {}
    names: dict[ConfigKind, str] = {}
    for kind in CONFIG_KINDS:
        present = files_of_kind(directory, kind, value, target.host)
        names[kind] = present[0] if present else NEW_FILES[kind]
        path = os.path.join(directory, names[kind])
        if len(present) > 1 and kind != "ImageLock":
            findings.append(finding("CC1313", kind=kind, files=", ".join(present)))
        elif not present and os.path.lexists(path):
            findings.append(finding("CC1311.taken", file=path, kind=kind))
        elif not present:
            files[path] = new_file(kind, target.host, choices.platform, choices.function).encode()
            changes.append(f"created {path}")
    config_files = Files(names["ContrastGenerate"], names["ContrastRelease"], names["ImageLock"])
    generate = os.path.join(directory, config_files.generate)
    new = files.get(generate)
    if new is not None or os.path.isfile(generate):
        try:
            wired_as = _choose_function(target.host, choices, config_files.generate in listed(value, "transformers"))
            original = read_file(generate, directory) if new is None else new
            old |= {generate: original} if new is None else {}
            data, added = _complete_generate(original, wired_as, choices)
        except ValueError as problem:
            findings.append(finding("CC1311.content", file=generate, error=str(problem)))
        else:
            files |= {generate: data} if added else {}
            changes += [f"changed {generate}: {addition}" for addition in added]
    wired = _wire(directory, target, text, config_files)
    path = os.path.join(directory, target.name)
    findings += [problem._replace(file=path) for problem in wired.findings]
    schemas = missing_schemas(directory, CONFIG_KINDS)
    files |= schemas
    if schemas:
        where = os.path.join(directory, DIRECTORY)
        changes.append(f"created {where}: JSON Schemas for editors; nothing else reads them")
    if wired.text != text:
        files[path] = encode(wired.text, decode(target.data).bom)
        changes.append(f"{'changed' if target.data else 'created'} {path}: {'; '.join(wired.added)}")
    paths = [os.path.join(directory, name) for name in config_files]
    generate_data, release_data, lock_data = (files.get(path) or read_file(path, directory) for path in paths)
    resources = resource_files(directory, target.host, target.chart, wired.text)
    state = State(directory, target.host, config_files, generate_data, release_data, lock_data, resources, target.chart)
    return Wiring(files, old, changes, state, findings)


def _wire(directory: str, target: TargetFile, text: str, files: Files) -> Wired:
    if target.host in {"helm", "files"}:
        return Wired(text)
    if target.host == "kpt":
        name = os.path.basename(os.path.realpath(directory)).lower().replace("_", "-")
        return wire_kptfile(text, files, name)
    listed_now = listed(parse(text).value if text.strip() else {}, "resources")
    if not target.data:
        with_coordinator = tuple(plain_resources(directory))
    elif any(has_coordinator(listed_file(directory, name)) for name in listed_now):
        with_coordinator = ()
    else:
        with_coordinator = tuple(
            name for name in yaml_files(directory) if has_coordinator(listed_file(directory, name))
        )
    return wire_kustomization(text, files, with_coordinator)


def _choose_function(host: HostName, choices: OperatorChoices, listed_already: bool) -> Function | None:
    """Return what kustomize has to run; None keeps a list entry without annotation, which is a legacy plugin."""
    if host != "kustomize" or choices.function:
        return choices.function
    return None if listed_already else Function("exec")


def _complete_generate(data: bytes, function: Function | None, choices: OperatorChoices) -> tuple[bytes, list[str]]:
    """Complete the ContrastGenerate in a file, and return the file and the additions. Raises ValueError.

    function: what kustomize has to run, None to keep it.
    """
    source, added = decode(data), []
    for chunk in split_stream(source.text):
        if chunk.kind == "ContrastGenerate":
            text = chunk.of(source.text)
            stays = function is None or (not choices.function and function_of(parse(text).value).form != "legacy")
            wired = text if function is None or stays else with_function(text, function)
            added += [RUNS[function.form]] if function and wired != text else []
            last = with_platform(wired, choices.platform) if choices.platform else wired
            added += [f"platform {choices.platform}"] if last != wired else []
            if choices.require_all:
                previous, last = last, with_required_workloads(last)
                added += ["workloads: required"] if last != previous else []
            for tee, values in choices.values.items():
                previous, last = last, with_reference_values(last, tee, values)
                added += [f"reference values for {tee.upper()}"] if last != previous else []
            return encode(chunk.replaced(source.text, last), source.bom), added
    return data, []
