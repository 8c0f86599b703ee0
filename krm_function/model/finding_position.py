"""Turn a problem of a text into a finding with a code and a position.

Rule of this file: every YamlError becomes a finding here; a report never shows one as it is.
"""

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.origin import origin_of, origin_of_line
from krm_function.model.resource import Resource
from krm_function.yamltext import YamlError

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
    file = source if isinstance(source, str) else source.file
    origin = None if isinstance(source, str) or file else origin_of(source.text)
    found = finding(CODES[problem.code], ref, path, problem=problem.message)
    return found._replace(line=problem.line, column=problem.column, file=file, origin=origin)


def stream_finding(problem: YamlError, text: str) -> Finding:
    """Make the finding for a YamlError of a stream that cannot be cut into documents."""
    return yaml_finding(problem, "")._replace(origin=origin_of_line(text, problem.line))
