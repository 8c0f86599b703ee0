"""The commands of the pages: blocks of code that begin with a program.

Rule of this file: a block is a run of lines indented by four spaces or more, or in a fence of sh, and ends at an empty
line; it is a command if its first word is one of PROGRAMS.
"""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/how-to/*.md", "docs/tutorial/*.md", "examples/*/README.md")
ELSEWHERE = {
    "docs/how-to/change-workloads.md": "tests/hosts/test_changed_workloads.py",
    "docs/how-to/node-pool-or-firmware.md": "tests/docs/test_node_pool_page.py",
    "docs/how-to/provenance.md": "tests/docs/test_provenance_page.py",
    "docs/how-to/upgrade-images.md": "tests/hosts/test_upgraded_images.py",
    "docs/how-to/write-a-function.md": "tests/krm/test_page.py",
    "docs/tutorial/ten-minutes.md": "tests/docs/test_tutorial.py",
    "examples/": "tests/hosts/test_examples.py",
}  # pages whose commands other tests run
PROGRAMS = (
    *("contrast-krm", "contrast", "kustomize", "helm", "kpt", "kubectl", "git", "flux", "pip", "make", "docker"),
    *("skopeo", "set", "export", "cat", "cd", "cp", "sed", "mkdir", "rm", "chmod", ".", "curl", "gpg"),
    *("pipx", "uv", "uvx", "sha256sum", "cosign", "gh", "jq"),
    "podman",
)


class Block(NamedTuple):
    """A command as a page has it."""

    page: str
    text: str


def command_blocks() -> list[Block]:
    """Those of all pages that no other test runs, page by page, in order."""
    found = []
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            page = str(path.relative_to(ROOT))
            if not page.startswith(tuple(ELSEWHERE)):
                found += [Block(page, text) for text in blocks(path.read_text(encoding="utf-8")) if _is_command(text)]
    return found


def blocks(text: str) -> Iterator[str]:
    """The indented blocks of a page and its fences of sh, without their indentation; an empty line ends one."""
    lines: list[str] = []
    fence = ""
    for line in [*text.splitlines(), ""]:
        opening = re.match(r" *```(\w*)", line)
        if opening:
            fence = "" if fence else opening[1] or "text"
        if not opening and (fence == "sh" or (not fence and line.startswith("    "))) and line.strip():
            lines.append(line)
        elif lines:
            yield textwrap.dedent("\n".join(lines))
            lines = []


def _is_command(text: str) -> bool:
    return text.split(maxsplit=1)[0] in PROGRAMS
