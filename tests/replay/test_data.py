"""The logs in data/ are what the requests of a Contrast node make; the page data/README.md names each."""

import os

import pytest

from tests.replay.logs import DATA, FILES


@pytest.mark.parametrize("name", FILES)
def test_a_log_is_made_of_the_recorded_requests(name: str) -> None:
    text = FILES[name]()
    if os.environ.get("WRITE_GOLDEN"):
        (DATA / name).write_text(text, encoding="utf-8")
    assert (DATA / name).read_text(encoding="utf-8") == text


def test_every_log_is_described() -> None:
    described = (DATA / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in DATA.iterdir()} - {"README.md"} == set(FILES)
    assert [name for name in FILES if f"`{name}`" not in described] == []
