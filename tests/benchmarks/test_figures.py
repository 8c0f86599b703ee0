"""What a run records is what the pages show, and each figure says which run it is of."""

import json
from pathlib import Path

import pytest

from benchmarks import figures
from benchmarks.figures import record, recorded
from benchmarks.left_out import SHORT_CUTS
from benchmarks.pages import parts_page, promises_page, short_cuts_page
from benchmarks.parts import IMPORT
from benchmarks.promises import promises
from benchmarks.short_cuts import NAMES


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "figures.json")


def test_a_record_has_its_command_date_python_cores_and_commit(file: str) -> None:
    record("parts", "python -m benchmarks --quick", {"libyaml": 0.25}, file)
    run, found = recorded("parts", file)
    assert found == {"libyaml": 0.25}
    assert run.command == "python -m benchmarks --quick"
    assert len(run.date.split("-")) == 3
    assert run.cores > 0
    assert f"`{run.command}`, {run.cores} cores, {run.python}, {run.date}, commit {run.commit}." == run.shown()


def test_a_section_is_replaced_as_a_whole_and_the_others_stay(file: str) -> None:
    record("parts", "first", {"a": 1, "b": 2}, file)
    record("promises", "first", {}, file)
    record("parts", "second", {"b": 3}, file)
    assert (recorded("parts", file).run.command, recorded("parts", file).figures) == ("second", {"b": 3})
    assert recorded("promises", file).run.command == "first"


def test_a_commit_with_changes_of_the_program_is_marked(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "_git", lambda *words: "0123456789ab" if words[0] == "rev-parse" else " M render.py")
    record("parts", "bench", {}, file)
    assert recorded("parts", file).run.commit == "0123456789ab changed"


def test_what_no_run_has_recorded_is_an_error(file: str) -> None:
    with pytest.raises(KeyError):
        recorded("parts", file)


def test_the_number_of_modules_is_counted_when_the_page_is_made(file: str) -> None:
    record("parts", "bench", {"the interpreter itself": 1.0, IMPORT: 3.712}, file)
    page = parts_page(file, lambda: 42)
    assert "| the interpreter itself | 1.0 |" in page
    assert f"| {IMPORT}, 42 of them | 3.7 |" in page
    assert page.endswith(recorded("parts", file).run.shown())


def test_a_promise_shows_its_limit_and_whether_the_run_has_held_it(file: str) -> None:
    held, missed, *others = promises("", quick=True)
    assert held.limit is not None
    assert missed.limit is not None
    record("promises", "bench", {held.name: [held.limit, 1.0], missed.name: [missed.limit + 1, None]}, file)
    rows = promises_page(file).splitlines()
    assert rows[2].endswith(f"| <= {held.limit:g} | {held.limit:.3g} | 1 | held |")
    assert rows[3].endswith(f"| {missed.limit + 1:.3g} |  | missed |")
    assert all(row.endswith("|  |  | not measured |") for row in rows[4 : 4 + len(others)])


def test_a_short_cut_without_a_figure_has_an_empty_cell(file: str) -> None:
    record("short cuts", "bench", {NAMES[1]: {SHORT_CUTS[0].name: 1.125}}, file)
    rows = short_cuts_page(file).splitlines()
    assert len(rows[0].split("|")) == len(NAMES) + 4
    assert rows[2].startswith(f"| {SHORT_CUTS[0].name} | {SHORT_CUTS[0].what} |  | 1.12 |  |")
    assert set(rows[3].split("|")[3:]) <= {" ", "  ", ""}


def test_the_committed_record_names_rows_that_the_code_still_has() -> None:
    """A promise or short cut that was renamed would lose its figure without a word."""
    data = json.loads(Path(figures.FILE).read_text(encoding="utf-8"))
    known = {each.name for each in promises("", quick=False)}
    assert data["promises"]["figures"].keys() <= known
    shown = {name for column in data["short cuts"]["figures"].values() for name in column}
    assert shown <= {each.name for each in SHORT_CUTS}
    assert data["short cuts"]["figures"].keys() <= set(NAMES)
