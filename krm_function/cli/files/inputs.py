"""Read files or standard input for the commands that work on documents.

Rule of this file: a ResourceList is understood wherever a stream is; and an empty input is never a success,
because `kustomize build (which fails) | contrast-krm check` must not be green.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from krm_function.cli.streams import read_in
from krm_function.findings import Finding, finding
from krm_function.hosts.files import EmptyProblem, blank, find_files, read_file
from krm_function.hosts.stream import Stream, cut_stream
from krm_function.krm.errors import NotAResourceListError
from krm_function.model.finding_position import stream_finding, yaml_finding
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.yamltext import Source, YamlError, decode

if TYPE_CHECKING:
    from krm_function.hosts.resource_list import DecodedList

LIST = "ResourceList"  # a text without it is none, and needs nothing that reads one


class InputFile(NamedTuple):
    """One file or standard input (""), decoded; resources are positions start..end of the whole input."""

    file: str
    data: bytes
    decoded: "Stream | DecodedList"
    start: int
    end: int


class Inputs(NamedTuple):
    """Everything that was read."""

    sources: tuple[InputFile, ...]
    resources: tuple[Resource, ...]
    findings: tuple[Finding, ...] = ()


def read_inputs(paths: Sequence[str]) -> Inputs:
    """Read files and directories, or standard input for none or `-`. Raises FileProblem.

    Raises EmptyProblem for an empty standard input, and where all files are empty; one among others may be.
    """
    named = [path for path in paths if path != "-"]
    raw = [(one.path, read_file(one.path, one.root)) for one in find_files(named)] if named else []
    if not named or "-" in paths:
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
            decoded = _decoded(decode(data), file)
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
    return Inputs(tuple(sources), tuple(resources), tuple(findings))


def _decoded(text: Source, file: str) -> "Stream | DecodedList":
    """Cut a ResourceList into its items, any other text into documents."""
    if LIST in text.text:
        from krm_function.hosts.resource_list import cut_list
        from krm_function.krm.resource_list import is_resource_list

        if is_resource_list(text.text):
            return cut_list(text)
    return cut_stream(text, file)
