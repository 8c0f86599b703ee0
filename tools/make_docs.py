"""Write what is generated out of the code itself: parts of docs, JSON Schemas, the table of findings.

python -m tools.make_docs           write them
python -m tools.make_docs --check   write nothing; exit 1 and name every file that is not as it would be written
"""

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable, Mapping

from krm_function.cli.command_line import parse_arguments
from krm_function.cli.commands import GROUPS, SUMMARIES
from krm_function.cli.exits import Exit
from krm_function.config.json_schema import KINDS as CONFIG_KINDS
from krm_function.config.json_schema import schema_text
from krm_function.findings import TABLE
from krm_function.kubernetes.pod_fields import TYPES
from krm_function.policy.pod_metadata import use_of
from krm_function.schema.values import Field, Only
from tools.findings_page import compiled, findings_page, table_text
from tools.mistakes_page import mistakes_page, more_mistakes_page

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCS = os.path.join(ROOT, "docs")
SCHEMAS = os.path.join(ROOT, "krm_function", "api", "schemas")
COMMANDS = ("", *(name for name in SUMMARIES if name not in GROUPS))


def help_of(command: str) -> str:
    """Return the text that `contrast-krm COMMAND --help` prints, 80 columns wide."""
    os.environ["COLUMNS"] = "80"
    output = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(output), contextlib.suppress(Exit):
        parse_arguments([*command.split(), "--help"])
    output.seek(0)
    return output.read().rstrip()


def command_line() -> str:
    """Every command with its help."""
    return "\n\n".join(
        f"## {f'contrast-krm {command}'.strip()}\n\n```text\n{help_of(command)}\n```" for command in COMMANDS
    )


def pod_fields() -> str:
    """Every type a pod spec is made of: its fields by what the policy does with them."""
    parts = []
    for name_of_type, known in reversed(TYPES.items()):
        lines = [f"### {name_of_type}"]
        for use, title in (("policy", "In the policy"), ("inert", "Cannot change it"), ("refused", "Refused")):
            names = [f"`{name}`{_but(field)}" for name, field in known.fields.items() if use_of(field) == use]
            if names:
                lines.append(f"{title}: {', '.join(names)}.")
        parts.append("\n\n".join(lines))
    return "\n\n".join(parts)


def _but(field: Field) -> str:
    """Return the values of a refused field that are not refused."""
    harmless = field.spec.values if isinstance(field.spec, Only) else ()
    return f" (but {', '.join(map(json.dumps, harmless))})" if harmless else ""


def with_blocks(pages: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Return the pages with their generated blocks replaced, by path. pages: path below docs/, name, content."""
    texts: dict[str, str] = {}
    for page, name, content in pages:
        path = os.path.normpath(os.path.join(DOCS, page))
        start, end = f"<!-- generated: {name} -->", f"<!-- end of generated: {name} -->"
        head, _, rest = (texts.get(path) or read(path)).partition(start)
        texts[path] = f"{head}{start}\n\n{content}\n\n{end}{rest.partition(end)[2]}"
    return texts


def read(path: str) -> str:
    """Return the text of a file, "" if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def write_stale(texts: Mapping[str, str]) -> int:
    """Write the files that have another text; with --check only name them, and return 1."""
    check = "--check" in sys.argv
    # Python versions break the lines of a help text at different columns
    stale = [
        path
        for path, text in texts.items()
        if read(path) != text and (not path.endswith(".md") or read(path).split() != text.split())
    ]
    for path in stale:
        print(f"{'stale' if check else 'wrote'}: {os.path.basename(path)}", file=sys.stderr)
        if not check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(texts[path])
    return 1 if stale and check else 0


def main() -> int:
    """Write or check all files."""
    table = table_text(compiled())
    pages = (
        ("reference/cli.md", "cli", command_line()),
        ("reference/findings.md", "findings", findings_page()),
        ("reference/pod-fields.md", "pod-fields", pod_fields()),
        ("how-to/common-mistakes.md", "mistakes", mistakes_page()),
        ("how-to/common-mistakes.md", "more mistakes", more_mistakes_page()),
    )
    return write_stale(
        {
            **with_blocks(pages),
            **{os.path.join(SCHEMAS, f"{kind}.json"): schema_text(kind) for kind in CONFIG_KINDS},
            TABLE: table,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
