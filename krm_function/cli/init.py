"""`contrast-krm init [DIR]`: the function in kustomization.yaml or Kptfile, and files to fill in.

Rule of this file: everything is known before anything is written, and the host's file is written last: until then the
deployment renders as before.
"""

import os
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence

from krm_function.api import CONFIG_KINDS, is_config
from krm_function.api.document import ConfigKind
from krm_function.api.modeline import SUFFIX, schema_file
from krm_function.cli.init_steps import State, has_coordinator, steps
from krm_function.cli.say import complain
from krm_function.cli.schema_copies import missing_schemas, write_all
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import SUFFIXES, FileProblem, read_file
from krm_function.hosts.leftovers import sweep
from krm_function.model.located import yaml_finding
from krm_function.model.nearest import nearest
from krm_function.model.platforms import PLATFORMS, find_platform
from krm_function.record import NamedTuple
from krm_function.report.order import escape
from krm_function.wiring import (
    KPTFILE,
    KUSTOMIZATIONS,
    NEW_FILES,
    Files,
    Wired,
    listed,
    new_file,
    wire_kptfile,
    wire_kustomization,
    with_function,
    with_platform,
)
from krm_function.wiring.new_files import HostName
from krm_function.yamltext import Chunk, YamlError, decode, encode, parse, split_stream


class Target(NamedTuple):
    """The host's file: where it is or will be."""

    host: HostName
    name: str
    data: bytes = b""


def run_init(options: Namespace) -> int:
    """Wire a directory. Raises FileProblem."""
    directory = options.directory
    if not os.path.isdir(directory):
        raise FileProblem(directory, "no such directory")
    platform = find_platform(options.platform)
    findings = _wrong_platform(options.platform) if options.platform and platform is None else []
    target, problems = _target(directory, options)
    findings += problems
    if target is None or has_errors(findings):
        return complain(findings, options.format, options.report)
    try:
        plan = _plan(directory, target, platform.name if platform else "")
    except YamlError as problem:
        findings.append(yaml_finding(problem, os.path.join(directory, target.name)))
        return complain(findings, options.format, options.report)
    findings += plan.findings
    if has_errors(findings):
        return complain(findings, options.format, options.report)
    if options.dry_run:
        write_out("".join(_diff(plan.files)).encode())
    else:
        sweep(os.path.join(directory, name) for name in (*os.listdir(directory), *map(schema_file, CONFIG_KINDS)))
        write_all(plan.files)
    said = [f"{'would be ' if options.dry_run else ''}{line}" for line in plan.said] or ["nothing to do"]
    text = "".join(f"{escape(line)}\n" for line in [*said, *steps(plan.state)])
    return complain(findings, options.format, options.report, text)


class Plan(NamedTuple):
    """What to write, in this order, and what to say."""

    files: Mapping[str, bytes]
    said: Sequence[str]
    state: State
    findings: Sequence[Finding]


def _plan(directory: str, target: Target, platform: str) -> Plan:
    files: dict[str, bytes] = {}
    said: list[str] = []
    findings: list[Finding] = []
    text = decode(target.data).text
    value = parse(text).value if text.strip() else {}
    names: dict[ConfigKind, str] = {}
    for kind in CONFIG_KINDS:
        there = _of_kind(directory, kind, value, target.host)
        names[kind] = there[0] if there else NEW_FILES[kind]
        path = os.path.join(directory, names[kind])
        if len(there) > 1 and kind != "ImageLock":
            findings.append(finding("CC1313", kind=kind, files=", ".join(there)))
        elif not there and os.path.lexists(path):
            findings.append(finding("CC1311.taken", file=path, kind=kind))
        elif not there:
            files[path] = new_file(kind, target.host, platform).encode()
            said.append(f"made {path}")
    made = Files(names["ContrastGenerate"], names["ContrastRelease"], names["ImageLock"])
    generate = os.path.join(directory, made.generate)
    if generate not in files and os.path.isfile(generate):
        try:
            changed, told = _completed(read_file(generate), target.host, platform)
        except ValueError as problem:
            findings.append(finding("CC1311.content", file=generate, error=str(problem)))
        else:
            files |= {generate: changed} if told else {}
            said += [f"changed {generate}: {one}" for one in told]
    wired = _wire(directory, target, text, made)
    path = os.path.join(directory, target.name)
    findings += [one._replace(file=path) for one in wired.findings]
    files |= missing_schemas(directory, CONFIG_KINDS)
    if wired.text != text:
        files[path] = encode(wired.text, decode(target.data).bom)
        said.append(f"{'changed' if target.data else 'made'} {path}: {'; '.join(wired.said)}")
    generate_text, release_text, lock_text = (
        files.get(path) or read_file(path) for path in (os.path.join(directory, name) for name in made)
    )
    resources = _resources(directory, target, wired)
    state = State(directory, target.host, made, generate_text, release_text, lock_text, resources)
    return Plan(files, said, state, findings)


def _wire(directory: str, target: Target, text: str, files: Files) -> Wired:
    if target.host == "kpt":
        name = os.path.basename(os.path.realpath(directory)).lower().replace("_", "-")
        return wire_kptfile(text, files, name)
    listed_now = listed(parse(text).value if text.strip() else {}, "resources")
    if not target.data:
        others = tuple(_plain_resources(directory))
    elif any(has_coordinator(os.path.join(directory, name)) for name in listed_now):
        others = ()
    else:
        others = tuple(name for name in _yaml_files(directory) if has_coordinator(os.path.join(directory, name)))
    return wire_kustomization(text, files, others)


def _target(directory: str, options: Namespace) -> tuple[Target | None, list[Finding]]:
    """The host's file, by what is there and by the flags."""
    there = [name for name in KUSTOMIZATIONS if os.path.lexists(os.path.join(directory, name))]
    package = os.path.lexists(os.path.join(directory, KPTFILE))
    if len(there) > 1 and not options.kpt:
        return None, [finding("CC1313", kind="Kustomization", files=", ".join(there))]
    if not options.kpt and not options.kustomize and bool(there) == package:
        return None, [finding("CC1310.both" if package else "CC1310.neither", directory=directory)]
    host: HostName = "kpt" if options.kpt or (package and not options.kustomize) else "kustomize"
    name = KPTFILE if host == "kpt" else (*there, KUSTOMIZATIONS[0])[0]
    path = os.path.join(directory, name)
    return Target(host, name, read_file(path) if os.path.lexists(path) else b""), []


def _wrong_platform(name: str) -> list[Finding]:
    known = nearest(name, PLATFORMS) or ", ".join(PLATFORMS)
    return [finding("CC0909.platform", option="--platform", platform=name, known=known)]


def _of_kind(directory: str, kind: ConfigKind, value: object, host: HostName) -> list[str]:
    """The files that hold a kind: those that a kustomization lists, else those of the directory."""
    named = (*listed(value, "resources"), *listed(value, "transformers")) if host == "kustomize" else ()
    wired = [name for name in named if _has(os.path.join(directory, name), kind)]
    return wired or [name for name in _yaml_files(directory) if _has(os.path.join(directory, name), kind)]


def _yaml_files(directory: str) -> list[str]:
    return [name for name in sorted(os.listdir(directory)) if name.endswith(SUFFIXES) and name not in KUSTOMIZATIONS]


def _plain_resources(directory: str) -> Iterator[str]:
    """Files of a directory with objects that are not configuration of ours."""
    for name in _yaml_files(directory):
        chunks = _chunks(os.path.join(directory, name))
        if chunks and all(chunk.kind and not is_config(chunk.api_version) for chunk in chunks):
            yield name


def _has(path: str, kind: str) -> bool:
    return any(chunk.kind == kind and is_config(chunk.api_version) for chunk in _chunks(path))


def _chunks(path: str) -> list[Chunk]:
    """The documents of a file; none for anything that cannot be read: the render will say what is wrong with it."""
    if not os.path.isfile(path):
        return []
    try:
        return [chunk for chunk in split_stream(decode(read_file(path)).text) if not chunk.empty]
    except (YamlError, FileProblem):
        return []


def _completed(data: bytes, host: HostName, platform: str) -> tuple[bytes, list[str]]:
    """A file with its ContrastGenerate completed, and what was added. Raises ValueError."""
    source, said = decode(data), []
    for chunk in split_stream(source.text):
        if chunk.kind == "ContrastGenerate":
            text = chunk.of(source.text)
            after = with_function(text) if host == "kustomize" else text
            said += ["the program that kustomize runs"] if after != text else []
            last = with_platform(after, platform) if platform else after
            said += [f"platform {platform}"] if last != after else []
            return encode(chunk.replaced(source.text, last), source.bom), said
    return data, []


def _resources(directory: str, target: Target, wired: Wired) -> list[str]:
    """The paths of a deployment's resources as far as its host's file or its directory tells them."""
    if target.host == "kpt":
        return [os.path.join(directory, name) for name in _yaml_files(directory)]
    return [os.path.join(directory, name) for name in listed(parse(wired.text).value, "resources")]


def _diff(files: Mapping[str, bytes]) -> Iterator[str]:
    """What would change, as `diff -u` shows it."""
    from difflib import unified_diff

    for path, data in files.items():
        there = os.path.exists(path)
        before = read_file(path).decode("utf-8", "replace").splitlines(keepends=True) if there else []
        after = data.decode("utf-8", "replace").splitlines(keepends=True)
        if not path.endswith(SUFFIX):
            for line in unified_diff(before, after, path if there else os.devnull, path):
                yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
