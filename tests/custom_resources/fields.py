"""The table of fields beside pod templates in docs/facts/controllers.md, and what a render does with each."""

import re
from typing import NamedTuple

from tests.hosts.running import ROOT

PAGE = ROOT / "docs/facts/controllers.md"
ROW = re.compile(r"^\| ([A-Za-z, ]+) \| (`spec\..+`) \| .+ \| (none|read|refused)[^|]* \|$", re.MULTILINE)


class Row(NamedTuple):
    """A field of a kind, `*` for each entry of a list or map. answer: none, read or refused."""

    kind: str
    field: str
    answer: str


ROWS = tuple(
    Row(kind, field, match[3])
    for match in ROW.finditer(PAGE.read_text())
    for kind in match[1].split(", ")
    for field in re.findall(r"`([^`]+)`", match[2])
)
