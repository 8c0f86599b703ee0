"""What is left to do after `contrast-krm init`, as commands to copy.

Rule of this file: a step is named only while it is not done, judged by what the files hold.
"""

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.hosts.files import FileProblem, read_file
from krm_function.model.objects import objects
from krm_function.model.workload import dig, mapping
from krm_function.record import NamedTuple
from krm_function.release.coordinator import is_coordinator
from krm_function.wiring import Files
from krm_function.wiring.new_files import HostName
from krm_function.yamltext import YamlError, decode, parse, split_stream


class State(NamedTuple):
    """A wired deployment. files: names below the directory; resources: paths of files that a host reads."""

    directory: str
    host: HostName
    files: Files
    generate: bytes
    release: bytes
    lock: bytes
    resources: Sequence[str]


def steps(state: State) -> list[str]:
    """`next:` and one line a step."""
    return ["next:", *(f"  {number}. {line}" for number, line in enumerate(_steps(state), 1))]


def _steps(state: State) -> Iterator[str]:
    generate, release, lock = (os.path.join(state.directory, name) for name in state.files)
    where = shlex.quote(state.directory)
    if not any(dig(value, ("spec", "platforms")) for value in _values(state.release)):
        sources = "runtime-*.yml coordinator.yml image-replacements.txt manifest.json"
        yield f"contrast-krm release import {sources} -o {shlex.quote(release)}"
    if not any(dig(value, ("spec", "platform")) for value in _values(state.generate)):
        yield f"set spec.platform in {generate}: what the bare placeholder contrast-cc stands for"
    if not any(dig(value, ("spec", "manifest", "workloadOwnerKeys")) for value in _values(state.generate)):
        yield f"contrast-krm keys new --workload-owner --add-to {shlex.quote(generate)}"
    if not any(map(has_coordinator, state.resources)):
        where_to = f"copy the release's coordinator.yml into {state.directory}"
        yield where_to + (", and list it under resources" if state.host == "kustomize" else "")
    if not any(dig(value, ("spec", "images")) for value in _values(state.lock)):
        yield f"fill in {lock}, see docs/how-to/release-and-lock.md"
    if state.host == "kustomize":
        yield f"kustomize build --enable-alpha-plugins --enable-exec {where} | contrast-krm check"
    else:
        yield f"kpt fn render --allow-exec {where} && contrast-krm check {where}"


def has_coordinator(path: str) -> bool:
    """Whether a file holds the coordinator; a directory or an URL is not read, hence False."""
    try:
        return any(is_coordinator(value) for value in _values(read_file(path)))
    except FileProblem:
        return False


def _values(data: bytes) -> list[dict[str, Any]]:
    """The objects of a file, none of one that is not YAML."""
    try:
        text = decode(data).text
        documents = [parse(chunk.of(text)).value for chunk in split_stream(text)]
    except YamlError:
        return []
    return [mapping(value) for document in documents for _, value in objects(document)]
