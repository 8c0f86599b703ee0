"""From a problem of the text to a finding with a code and a place.

Rule of this file: the parser's vocabulary ends here; a YamlError never reaches a report as it is.
"""

from krm_function.findings import Finding, Path, Ref, finding
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
}


def yaml_finding(problem: YamlError, file: str, ref: Ref | None = None, path: Path = ()) -> Finding:
    """The finding of one YamlError in one file."""
    code = CODES[problem.code]
    return finding(code, ref, path, line=problem.line, column=problem.column, file=file, problem=problem.message)
