"""The table of findings and the code that raises them: neither has a row too many, and all rows have one tone."""

import re
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from krm_function import findings
from krm_function.findings import KINDS, Ref, finding

ROOT = Path(findings.__file__).parents[1]
RAISED = {
    code
    for path in [*ROOT.rglob("*.py"), *(ROOT.parent / "helm_plugin").rglob("*.py")]
    if path.name != "findings.py"
    for code in re.findall(r'"(CC\d{4})"', path.read_text())
}


def test_every_code_that_is_raised_has_a_row() -> None:
    assert RAISED - KINDS.keys() == set()


def test_every_row_is_raised_somewhere() -> None:
    assert KINDS.keys() - RAISED == set()


def test_rows_stand_in_the_order_of_their_codes_within_a_group() -> None:
    groups = [code[:4] for code in KINDS]
    assert groups == sorted(groups)


@pytest.mark.parametrize("code", KINDS)
def test_a_sentence_is_lower_case_and_has_no_full_stop(code: str) -> None:
    kind = KINDS[code]
    for text in filter(None, (kind.sentence, kind.hint)):
        first = text.split(maxsplit=1)[0]
        assert first[0] == "{" or first[0].islower() or first in {"RuntimeClass", "ConfigMap", "SNP", "Helm"}
        assert not text.endswith(".")
        assert text == " ".join(text.split())


@pytest.mark.parametrize("code", [code for code, kind in KINDS.items() if kind.severity != "info"])
def test_what_needs_a_reader_says_what_to_do(code: str) -> None:
    assert KINDS[code].hint


@pytest.mark.parametrize("code", [code for code, kind in KINDS.items() if kind.severity == "info"])
def test_what_only_tells_asks_for_nothing(code: str) -> None:
    assert not KINDS[code].hint


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("code", KINDS)
def test_placeholders_have_names_that_a_call_can_give(code: str) -> None:
    names = placeholders(KINDS[code].sentence) | placeholders(KINDS[code].hint)
    assert "" not in names
    assert names.isdisjoint({"code", "ref", "path", "line", "column", "file"}), (
        "these are arguments of `finding` itself"
    )
    values: dict[str, Any] = dict.fromkeys(names, "value")
    found = finding(code, Ref("v1", "Pod", "", "a"), **values)
    assert found.severity == KINDS[code].severity
    assert "{" not in found.message + found.hint


@pytest.mark.parametrize("code", KINDS)
def test_a_value_that_is_missing_is_a_bug_that_tests_find(code: str) -> None:
    names = placeholders(KINDS[code].sentence) | placeholders(KINDS[code].hint)
    if names:
        with pytest.raises(KeyError):
            finding(code)


def test_a_very_long_value_is_cut() -> None:
    found = finding("CC0401", name="x" * 100_000, known="", suggestion="")
    assert len(found.message) < 2000
    assert found.message.endswith("…")


def test_an_object_without_a_name_is_called_by_its_kind() -> None:
    assert str(Ref("apps/v1", "Deployment", "shop", "")) == "shop/(unnamed Deployment)"
    assert str(Ref("v1", "Pod", "", "web")) == "web"
