"""The files that docs/how-to/write-a-function.md shows, by the names that it gives them."""

import re
import shlex
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-function.md"
_BLOCK = re.compile(r"```(\w+)\n(.*?)```\n", re.DOTALL)
_NAME = re.compile(r"`([\w/.-]+\.(?:py|yaml)|Dockerfile)`[^`]*\Z")


def files() -> dict[str, str]:
    """Return name -> content: the block behind the paragraph that ends with the name."""
    text = PAGE.read_text()
    found: dict[str, str] = {}
    for block in _BLOCK.finditer(text):
        named = _NAME.search(text[: block.start()].rstrip().rpartition("\n\n")[2])
        if named and block[1] != "sh":
            found[named[1]] = block[2]
    return found


def commands() -> list[list[str]]:
    """Return the words of each command that the page shows in a block."""
    text = PAGE.read_text()
    return [shlex.split(line) for block in _BLOCK.finditer(text) if block[1] == "sh" for line in block[2].splitlines()]


def write(directory: Path, python: str) -> None:
    """Write the files; python: the interpreter that stands for the `python3` of a user who has the package."""
    for name, content in files().items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content.replace("#!/usr/bin/env python3", f"#!{python}"))
        if content.startswith("#!"):
            path.chmod(0o755)
