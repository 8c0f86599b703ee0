"""Read files or standard input for the commands that work on documents.

Rule of this file: a ResourceList is understood wherever a stream is; and an empty input is never a success,
because `kustomize build (which fails) | contrast-krm check` must not be green.
"""

from collections.abc import Sequence

from krm_function.cli.streams import read_in
from krm_function.findings import Finding, finding
from krm_function.hosts.files import EmptyProblem, blank, find_files, read_file
from krm_function.hosts.resource_list import DecodedList, NotAResourceListError, cut_list
from krm_function.hosts.stream import Stream, cut_stream
from krm_function.krm.resource_list import is_resource_list
from krm_function.model.finding_position import stream_finding, yaml_finding
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.yamltext import YamlError, decode


class InputFile(NamedTuple):
    """One file or standard input (""), decoded; resources are positions start..end of the whole input."""

    file: str
    data: bytes
    decoded: Stream | DecodedList
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
            text = decode(data)
            decoded = cut_list(text) if is_resource_list(text.text) else cut_stream(text, file)
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
