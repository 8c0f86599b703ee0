"""Write the generated parts of docs/reference: the command line and the findings, out of the code itself.

python -m tools.make_docs           write them
python -m tools.make_docs --check   write nothing; exit 1 and name every file that is not as it would be written
"""

import contextlib
import io
import os
import sys

from krm_function.cli.arguments import parse
from krm_function.cli.exits import Exit
from krm_function.findings import KINDS

REFERENCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "reference")
VERBS = ("", "fn", "post-render", "generate", "plan", "check", "uninject", "lock", "manifest", "schema")


def help_of(verb: str) -> str:
    """The text that `contrast-krm VERB --help` prints, 80 columns wide."""
    os.environ["COLUMNS"] = "80"
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(Exit):
        parse([verb, "--help"] if verb else ["--help"])
    return said.getvalue().rstrip()


def command_line() -> str:
    """Every verb with its help."""
    return "\n\n".join(f"## {f'contrast-krm {verb}'.strip()}\n\n```text\n{help_of(verb)}\n```" for verb in VERBS)


def findings() -> str:
    """Every code with its severity, sentence and remedy; the heading is its anchor."""
    parts = []
    for code, kind in sorted(KINDS.items()):
        sentence = " ".join(kind.sentence.split())
        remedy = f"\n\nRemedy: {kind.hint}" if kind.hint else ""
        parts.append(f"### {code}\n\n{kind.severity}: {_code(sentence)}{_code(remedy)}")
    return "\n\n".join(parts)


def _code(text: str) -> str:
    """Placeholders as they look in the table, safe in Markdown."""
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def generated(text: str, name: str, content: str) -> str:
    """`text` with the block called `name` replaced."""
    start, end = f"<!-- generated: {name} -->", f"<!-- end of generated: {name} -->"
    head, _, rest = text.partition(start)
    _, _, tail = rest.partition(end)
    return f"{head}{start}\n\n{content}\n\n{end}{tail}"


def main() -> int:
    """Write or check both files."""
    stale = []
    for name, content in (("cli", command_line()), ("findings", findings())):
        path = os.path.join(REFERENCE, f"{name}.md")
        with open(path, encoding="utf-8") as file:
            before = file.read()
        after = generated(before, name, content)
        if before.split() == after.split():  # Python versions break the lines of a help text at different columns
            continue
        stale.append(path)
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(after)
    for path in stale:
        print(f"{'stale' if '--check' in sys.argv else 'wrote'}: {os.path.basename(path)}", file=sys.stderr)
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
