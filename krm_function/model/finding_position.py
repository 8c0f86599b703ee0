"""Turn a problem into a finding with a code and a position in the text.

Rule of this file: every YamlError becomes a finding here; a report never shows one as it is.
"""

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.origin import origin_of, origin_of_line
from krm_function.model.resource import Resource
from krm_function.model.workload import Workload, dig, maps
from krm_function.yamltext import Document, YamlError, locate

CODES = {
    "syntax": "CC0101",
    "encoding": "CC0102",
    "size": "CC0103",
    "depth": "CC0104",
    "alias": "CC0105",
    "duplicate": "CC0106",
    "tag": "CC0107",
    "shape": "CC0108",
    "splice": "CC0110",
    "separator": "CC0112",
    "template": "CC0119",
}


def yaml_finding(problem: YamlError, source: str | Resource, ref: Ref | None = None, path: Path = ()) -> Finding:
    """Make the finding for one YamlError. source: the resource that has it, or the name of a file, "" for a stream."""
    file, origin = (source, None) if isinstance(source, str) else (source.file, origin_of(source))
    found = finding(CODES[problem.code], ref, path, problem=problem.message)
    return found._replace(line=problem.line, column=problem.column, file=file, origin=origin)


def stream_finding(problem: YamlError, text: str) -> Finding:
    """Make the finding for a YamlError of a stream that cannot be cut into documents."""
    return yaml_finding(problem, "")._replace(origin=origin_of_line(text, problem.line))


def with_position(found: Finding, resource: Resource, document: Document, workload: Workload | None = None) -> Finding:
    """Return the finding with its path in the input, the line and column of that path, and the origin of the resource.

    workload: the workload that the finding is about, if it was edited since it was read.
    """
    if workload is not None:
        found = _as_written(found, workload, document)
    if found.line or found.severity == "info":
        return found
    line, column = locate(document, found.path)
    origin = origin_of(resource, document.value)
    return found._replace(file=resource.file, line=line, column=column, origin=origin)


def _as_written(found: Finding, workload: Workload, document: Document) -> Finding:
    """Return the finding with the init container's index in the input: injected ones come before the user's.

    A finding about a container that the input does not have is about its pod spec.
    """
    path = (*workload.spec_path, "initContainers")
    size = len(path)
    if found.path[:size] != path or len(found.path) == size:
        return found
    name = workload.at((*path, found.path[size], "name"))
    names = [entry.get("name") for entry in maps(dig(document.value, path))]
    if names == [entry.get("name") for entry in workload.init_containers]:
        return found
    if name not in names:
        return found._replace(path=workload.spec_path)
    return found._replace(path=(*path, names.index(name), *found.path[size + 1 :]))
