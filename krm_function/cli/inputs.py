"""Read files or standard input for the commands that work on documents, including rendered output."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from krm_function.cli.streams import read_in
from krm_function.contrast.manifest_merge import last_of
from krm_function.findings import Finding, Ref, finding
from krm_function.hosts.files import CHART, EmptyProblem, FoundFile, blank, find_files, read_file
from krm_function.hosts.stream import Stream, cut_stream
from krm_function.krm.result import NotAResourceListError
from krm_function.kubernetes.objects import dig, listed, maps, objects, reference
from krm_function.kubernetes.resource import Resource, stream_finding, yaml_finding
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple
from krm_function.render.make_manifest import read_emitted_manifest
from krm_function.render.select import select
from krm_function.text.errors import Source, YamlError, decode
from krm_function.text.parse import parse

if TYPE_CHECKING:
    from krm_function.hosts.functions import DecodedList
    from krm_function.provenance.statement import Role


# --- Read the files that a command's options name: plainly, or with a record of their digests (cli/attest.py)
#
# Rule: each file is read once, through the reader of the call, so that a digest is the digest of the data that was
# used.


class ReadFile(Protocol):
    """Read one file, as `hosts.files.read_file` does. root: the directory that has to hold it, "" for any."""

    def __call__(self, path: str, root: str = "", /) -> bytes:
        """Return its content. Raises FileProblem."""


class Read(Protocol):
    """Like ReadFile, with the option that names the file."""

    def __call__(self, role: "Role", path: str, root: str = "", /) -> bytes:
        """Return its content. Raises FileProblem."""


def read_plainly(_role: "Role", path: str, root: str = "") -> bytes:
    """Read a file. Raises FileProblem."""
    return read_file(path, root)


# --- Read files or standard input for the commands that work on documents
#
# Rule: a ResourceList is accepted wherever a stream is. An empty input is never a success, because
# `kustomize build (which fails) | contrast-krm check` must not be green.


LIST = "ResourceList"  # text without this word is not one, and needs no parser for it


class InputFile(NamedTuple):
    """One file or standard input (""), decoded; resources are positions start..end of the whole input."""

    file: str
    data: bytes
    decoded: "Stream | DecodedList"
    start: int
    end: int


class Inputs(NamedTuple):
    """All input of a call."""

    sources: tuple[InputFile, ...]
    resources: tuple[Resource, ...]
    findings: tuple[Finding, ...] = ()


def read_inputs(paths: Sequence[str]) -> Inputs:
    """Read files and directories, or standard input for no path or `-`. Raises FileProblem.

    Raises EmptyProblem if standard input is empty, or if all files are empty; one empty file among others is fine.
    """
    files = [path for path in paths if path != "-"]
    yaml_files = find_files(files) if files else []
    if charts := _find_charts(yaml_files):
        return Inputs((), (), (finding("CC0121.helm", names=listed(charts), first=charts[0]),))
    raw = [(file.path, read_file(file.path, file.root)) for file in yaml_files]
    if not files or "-" in paths:
        raw.append(("", read_in()))
        if blank(raw[-1][1]):
            raise EmptyProblem("")
    elif all(blank(data) for _, data in raw):
        raise EmptyProblem(raw[0][0])
    sources: list[InputFile] = []
    resources: list[Resource] = []
    findings: list[Finding] = []
    for file, data in raw:
        try:
            decoded = _decode(decode(data), file)
        except NotAResourceListError as problem:
            findings.append(finding("CC0108", file=file, problem=str(problem)))
            continue
        except YamlError as problem:
            findings.append(
                yaml_finding(problem, file) if file else stream_finding(problem, data.decode(errors="replace"))
            )
            continue
        start = len(resources)
        resources += [resource._replace(file=file) for resource in decoded.resources]
        sources.append(InputFile(file, data, decoded, start, len(resources)))
    findings += _report_unbuilt(resources)
    if packages := _find_packages(yaml_files):
        findings.append(finding("CC0122.kpt", names=listed(packages), first=packages[0]))
    return Inputs(tuple(sources), tuple(resources), tuple(findings))


# --- Files that kustomize, Helm or kpt has to build
#
#     in the files                        with pods beside it    answer
#     Chart.yaml beside templates/        either                 CC0121: the templates are no YAML yet
#     a kustomization                     no                     CC0121: only the kustomization itself would be read
#     a kustomization                     yes                    CC0122: a warning; the pods of the files are rendered
#     a Kptfile with other functions      either                 CC0122
#     no object at all, such as values    no                     CC0121


def _find_charts(files: Iterable[FoundFile]) -> list[str]:
    directories = [os.path.dirname(file.path) or "." for file in files if os.path.basename(file.path) == CHART]
    return [directory for directory in directories if os.path.isdir(os.path.join(directory, "templates"))]


def _report_unbuilt(resources: Sequence[Resource]) -> Iterator[Finding]:
    directories: dict[str, None] = {}
    with_pods = False
    for resource in resources:
        if resource.file and _is_kustomization(resource):
            directories[os.path.dirname(resource.file) or "."] = None
        else:
            with_pods = with_pods or resource.may_have_pods
    if names := list(directories):
        code = "CC0122.kustomize" if with_pods else "CC0121.kustomize"
        yield finding(code, names=listed(names), first=names[0])
    elif _are_values(resources):
        yield finding("CC0121.values", names=listed(list(dict.fromkeys(resource.file for resource in resources))))


def _are_values(resources: Sequence[Resource]) -> bool:
    """Tell whether the files have maps, and no Kubernetes object."""
    if not all(resource.file for resource in resources) or any(map(_may_be_object, resources)):
        return False
    return any(":" in resource.text for resource in resources)


def _may_be_object(resource: Resource) -> bool:
    """Tell whether a document may be a Kubernetes object, or is blank; the values of a chart are neither."""
    lines = (line.strip() for line in resource.text.splitlines())
    blank_text = all(not line or line.startswith(("#", "---")) for line in lines)
    return bool(resource.kind or resource.api_version) or not resource.certain or blank_text


def _find_packages(files: Iterable[FoundFile]) -> list[str]:
    """Return the directories whose Kptfile changes objects by another function than this one."""
    directories = dict.fromkeys((os.path.dirname(file.path) or ".", file.root) for file in files if file.root)
    return [directory for directory, root in directories if _has_functions(os.path.join(directory, "Kptfile"), root)]


def _has_functions(file: str, root: str) -> bool:
    if not os.path.isfile(file):
        return False
    try:
        mutators = maps(dig(parse(decode(read_file(file, root)).text).value, ("pipeline", "mutators")))
    except YamlError:
        return False
    return any("contrast-krm" not in f"{function.get('exec')} {function.get('image')}" for function in mutators)


def _is_kustomization(resource: Resource) -> bool:
    if resource.api_version:
        return resource.api_version.startswith("kustomize.config.k8s.io/")
    return resource.kind in ("", "Kustomization") and os.path.basename(resource.file).startswith("kustomization.")


def _decode(text: Source, file: str) -> "Stream | DecodedList":
    if LIST in text.text:
        from krm_function.hosts.functions import cut_list
        from krm_function.krm.resource_list import is_resource_list

        if is_resource_list(text.text):
            return cut_list(text)
    return cut_stream(text, file)


# --- Rendered output as plain data: documents, objects, workloads
#
# Rule: nothing is restored or rendered; the output is read as it will be applied.


READ_KINDS = frozenset(("List", "ConfigMap", "Secret"))  # in addition to kinds with pods


class RenderedOutput(NamedTuple):
    """The objects and Contrast workloads of some documents. outside: workloads without a Contrast runtime class."""

    values: tuple[Any, ...] = ()
    workloads: tuple[Workload, ...] = ()
    outside: tuple[Ref, ...] = ()
    findings: tuple[Finding, ...] = ()


def read_rendered_output(paths: Sequence[str]) -> RenderedOutput:
    """Read rendered output from files or standard input. Raises FileProblem."""
    return output_of(read_inputs(paths))


def output_of(inputs: Inputs) -> RenderedOutput:
    """Return the rendered output in inputs that were read already."""
    findings = list(inputs.findings)
    documents = []
    for resource in inputs.resources:
        if resource.may_have_pods or resource.may_be(READ_KINDS):
            try:
                documents.append(parse(resource.text, line=resource.line).value)
            except YamlError as problem:
                findings.append(yaml_finding(problem, resource))
    return of_documents(documents, findings)


def of_documents(documents: Iterable[Any], findings: Iterable[Finding] = ()) -> RenderedOutput:
    """Return the rendered output in parsed documents."""
    documents = list(documents)
    chosen = [select(document) for document in documents]
    return RenderedOutput(
        tuple(value for document in documents for _, value in objects(document)),
        tuple(workload for selection in chosen for workload in selection.workloads),
        tuple(skipped.ref for selection in chosen for skipped in selection.skipped),
        (*findings, *(problem for selection in chosen for problem in selection.findings)),
    )


def manifest_among(output: RenderedOutput) -> tuple[str, tuple[Finding, ...]]:
    """Return the manifest of rendered outputs. Of several consecutive objects with one name, the last counts.

    "" with a finding if there is no manifest, or if it is unclear which one counts.
    """
    manifests = {
        reference(value): text for value in output.values if (text := read_emitted_manifest(value)) is not None
    }
    if not manifests:
        return "", (finding("CC1106.not-emitted"),)
    last = last_of([text.encode("utf-8") for text in manifests.values()])
    if last is None:
        return "", (finding("CC0108.manifests", count=len(manifests)),)
    return last.decode("utf-8"), ()
