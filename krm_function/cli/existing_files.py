"""Find what a deployment has for `init`: files by kind, resources, the coordinator, plain workloads."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.config.document import ConfigKind, is_config
from krm_function.config.release_files import is_coordinator
from krm_function.config.wiring import KUSTOMIZATIONS, HostName, listed
from krm_function.contrast.platforms import FIELD, is_contrast_name
from krm_function.hosts.files import SUFFIXES, FileProblem, FoundFile, PlaceProblem, read_file
from krm_function.kubernetes.address import address_of
from krm_function.kubernetes.objects import mapping, objects, reference
from krm_function.kubernetes.workload import POD_ROLE, workloads_of
from krm_function.text.chunks import Chunk
from krm_function.text.errors import YamlError, decode
from krm_function.text.parse import parse
from krm_function.text.split import split_stream

# --- Find files by kind, resources, and the coordinator
#
# Rule: a file that cannot be read is skipped, because the render reports it.


def files_of_kind(directory: str, kind: ConfigKind, value: object, host: HostName) -> list[str]:
    """Return the files that hold a kind, of those that a kustomization lists, otherwise of the directory."""
    names = (*listed(value, "resources"), *listed(value, "transformers")) if host == "kustomize" else ()
    wired = [name for name in names if _has_kind(directory, name, kind)]
    return wired or [name for name in yaml_files(directory) if _has_kind(directory, name, kind)]


def yaml_files(directory: str) -> list[str]:
    """List the YAML files in a directory by name, without its kustomization. The directory need not exist."""
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    return [name for name in names if name.endswith(SUFFIXES) and name not in KUSTOMIZATIONS]


def plain_resources(directory: str) -> Iterator[str]:
    """Yield the files of a directory that hold objects but no configuration of this program."""
    for name in yaml_files(directory):
        chunks = _read_chunks(directory, name)
        if chunks and all(chunk.kind and not is_config(chunk.api_version) for chunk in chunks):
            yield name


def _has_kind(directory: str, name: str, kind: str) -> bool:
    return any(chunk.kind == kind and is_config(chunk.api_version) for chunk in _read_chunks(directory, name))


def _read_chunks(directory: str, name: str) -> list[Chunk]:
    """Cut a file into documents; a file that cannot be read has none. Raises PlaceProblem."""
    try:
        text = decode(data_of(FoundFile(os.path.join(directory, name), directory))).text
        return [chunk for chunk in split_stream(text) if not chunk.empty]
    except YamlError:
        return []


def resource_files(directory: str, host: HostName, chart: str, text: str) -> list[FoundFile]:
    """Return the paths of a deployment's resources, as far as its host's file or its directory names them.

    text: of the kustomization. chart: the directory of Helm's chart, or of plain files. Raises YamlError.
    """
    if host == "files":
        walked = [os.path.join(where, name) for where, _, names in os.walk(chart) for name in names]
        return [FoundFile(path, chart) for path in sorted(walked) if path.endswith(SUFFIXES)]
    if host == "helm":
        templates = os.path.join(chart, "templates")
        names = sorted(os.listdir(templates)) if os.path.isdir(templates) else []
        return [FoundFile(os.path.join(templates, name), chart) for name in names]
    if host == "kpt":
        return [FoundFile(os.path.join(directory, name), directory) for name in yaml_files(directory)]
    return list(_listed_files(directory, listed(parse(text).value, "resources"), set()))


def _listed_files(directory: str, names: Iterable[str], seen: set[str]) -> Iterator[FoundFile]:
    for name in names:
        path = os.path.join(directory, name)
        if not os.path.isdir(path):
            yield listed_file(directory, name)
        elif os.path.realpath(path) not in seen:
            seen.add(os.path.realpath(path))
            yield from _listed_files(path, _read_resource_paths(path), seen)


def listed_file(directory: str, name: str) -> FoundFile:
    """Return a file that a kustomization lists. A file outside of the directory belongs to its own directory."""
    path = os.path.join(directory, name)
    inside = not os.path.relpath(path, directory).startswith(os.pardir)
    return FoundFile(path, directory if inside else os.path.dirname(path))


def _read_resource_paths(directory: str) -> tuple[str, ...]:
    """Return the entries of a directory's kustomization; none if it cannot be read, which kustomize reports."""
    for name in KUSTOMIZATIONS:
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            try:
                return listed(parse(decode(data_of(FoundFile(path, directory))).text).value, "resources")
            except YamlError:
                return ()
    return ()


def has_coordinator(file: FoundFile) -> bool:
    """Tell whether a file holds the coordinator; False for a directory or a URL, which are not read.

    A Helm template, which is not YAML yet, is searched as text.
    """
    data = data_of(file)
    if any(is_coordinator(value) for value in values_of(data)):
        return True
    text = data.decode("utf-8", "replace")
    return "{{" in text and f"{POD_ROLE}: coordinator" in text


def data_of(file: FoundFile) -> bytes:
    """Read a file; b"" if it cannot be read. Raises PlaceProblem for a file that leads elsewhere."""
    if os.path.isdir(file.path):
        return b""
    try:
        return read_file(file.path, file.root)
    except PlaceProblem:
        raise
    except FileProblem:
        return b""


def text_of(file: FoundFile) -> str:
    """Read a file as text, whatever it holds; "" if it cannot be read."""
    return data_of(file).decode("utf-8", "replace")


def values_of(data: bytes) -> list[dict[str, Any]]:
    """Parse the objects of a file; none if it is not YAML."""
    try:
        text = decode(data).text
        documents = [parse(chunk.of(text)).value for chunk in split_stream(text)]
    except YamlError:
        return []
    return [mapping(value) for document in documents for _, value in objects(document)]


# --- Tell whether the files of a deployment make any workload confidential, and name the plain ones
#
# Rule: the coordinator does not count: it belongs to the Contrast release and alone protects nothing. Chart templates
# are not YAML yet, so a template that names a runtime class counts.


def plain_workloads(resources: Sequence[FoundFile]) -> list[str] | None:
    """Return the addresses of the workloads without a Contrast class; None if any workload has such a class.

    An empty list means that no workload can be read, as in a chart.
    """
    names: list[str] = []
    for file in resources:
        data = data_of(file)
        if b"{{" in data and FIELD.encode() in data:
            return None
        workloads = (workload for value in values_of(data) for workload in workloads_of(value, (), reference(value)))
        for workload in workloads:
            if workload.is_coordinator:
                continue
            if is_contrast_name(str(workload.runtime_class)):
                return None
            names.append(address_of(workload.ref))
    return list(dict.fromkeys(names))
