"""The page's table of what an undo record may change has the rows of the table that the code goes by."""

import re

from krm_function.contrast.owned import OWNED
from tests.hosts.running import ROOT

PAGE = (ROOT / "docs/explanation/determinism-and-uninject.md").read_text()
TABLE = PAGE.partition("| of | field | entries |")[2].partition("\n\n")[0].splitlines()[2:]


def test_the_page_has_the_table_of_the_code() -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE]
    stated = [(owner, field.strip("`"), tuple(re.findall("`([^`]+)`", names))) for owner, field, names, _ in rows[:-1]]
    assert sorted(stated) == sorted(OWNED)
    assert rows[-1][0].startswith("anything else")
    assert rows[-1][3] == "nothing"
