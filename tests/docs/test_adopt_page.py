"""The session of the page about `adopt` runs as it stands, and prints what the page has; WRITE_GOLDEN=1 writes it."""

import os
import re
import shutil
from pathlib import Path

from krm_function.check.adopt import list_choice_names
from tests.hosts.running import EXAMPLES, ROOT, machine

PAGE = ROOT / "docs/how-to/adopt.md"
SESSION = re.compile(r"(<!-- session -->\n\n```console\n)(.*?)(```\n\n<!-- end of session -->)", re.DOTALL)
COMMANDS = (
    "contrast-krm adopt app.yaml resources --config config --dry-run",
    (
        "contrast-krm adopt app.yaml resources --config config --no-lock "
        "--yes-to externalSources,splitSubPaths,hostPathCaches=/var/cache/models "
        "--plain 'Deployment/landing=public pages'"
    ),
    "contrast-krm generate app.yaml resources --config config -q -o rendered.yaml",
    "contrast-krm adopt app.yaml resources --config config --no-lock",
)


def test_the_session_prints_what_the_page_has(tmp_path: Path) -> None:
    page = PAGE.read_text()
    shutil.copytree(EXAMPLES / "quickstart", tmp_path / "here")
    (application,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "here/app.yaml").write_text(application)
    on = machine(tmp_path)
    said = []
    for command in COMMANDS:
        ran = on.run(["bash", "-c", command], tmp_path / "here")
        said.append(f"$ {command}\n{ran.out.decode()}{ran.err}")
    session = "\n".join(said)
    if os.environ.get("WRITE_GOLDEN"):
        page = SESSION.sub(lambda found: found[1] + session + found[3], page)
        PAGE.write_text(page)
    found = SESSION.search(page)
    assert found is not None
    assert found[2] == session


def test_the_rules_of_the_page_are_all_that_there_are() -> None:
    rows = re.findall(r"(?m)^\| `([^`]+)` \| \[", PAGE.read_text())
    assert rows == list(list_choice_names())
