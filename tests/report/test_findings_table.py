"""The table of findings and the code that raises them: neither has a row too many, and all rows have one tone."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest

from krm_function import findings
from krm_function.findings import Ref, Row, Severity, every_row, finding, is_code, row
from krm_function.text.parse import read_value
from tools.findings_page import FILES, fields, sources

ROOT = Path(findings.__file__).parents[1]
CODE = [
    path
    for path in [*ROOT.rglob("*.py"), *(ROOT.parent / "helm_plugin").rglob("*.py")]
    if path != Path(findings.__file__)
]
RAISED = {name for path in CODE for name in re.findall(r'"(CC\d{4}(?:\.[a-z0-9-]+)?)"', path.read_text())}
ROWS = every_row()
SOURCES = sources()
VARIANTS = {f"{code}.{name}": (code, name) for code, kind in ROWS.items() for name in kind.variants}
CAPITALS = {
    "APEIP",
    "ConfigMap",
    "Helm",
    "Kubernetes",
    "LimitRange",
    "PersistentVolumeClaim",
    "ReferenceValues",
    "ResourceQuota",
    "RTMR0",
    "RuntimeClass",
    "SNP",
    "TLS",
}

# Rows and variants that pass on the words of others, in `{problem}`, `{error}`, `{remedy}` or `{why}`: `words-of` in
# the source names the author. A new one needs a reason: a sentence of this program belongs into the table.
PASSED_ON = {
    name
    for code, source in SOURCES.items()
    for name, part in {
        code: source,
        **{f"{code}.{name}": part for name, part in source.get("variants", {}).items()},
    }.items()
    if "words-of" in part
}
KEYS = {"severity", "sentence", "hint", "words-of", "meaning", "variants", "example"}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def texts(kind: Row, variant: str = "") -> tuple[str, ...]:
    """The sentence, the hint and, of a variant, the text in the place of `{problem}`."""
    if not variant:
        return kind.sentence, kind.hint
    problem, hint = kind.variants[variant]
    return kind.sentence, hint or kind.hint, problem


def needed(kind: Row, variant: str = "") -> set[str]:
    """The values that a call has to give."""
    names = set().union(*map(placeholders, texts(kind, variant)))
    return names - {"problem"} if variant else names


def test_every_code_that_is_raised_has_a_row_and_every_variant_is_one_of_its_row() -> None:
    assert RAISED - ROWS.keys() - VARIANTS.keys() == set()


def test_every_row_is_raised_somewhere() -> None:
    assert ROWS.keys() - {name.partition(".")[0] for name in RAISED} == set()


def test_every_variant_is_raised_somewhere() -> None:
    assert VARIANTS.keys() - RAISED == set()


def test_the_table_is_made_of_the_sources() -> None:
    made = {code: fields(source) for code, source in sorted(SOURCES.items())}
    assert made == {code: [*kind[1:6]] for code, kind in ROWS.items()}, "run make docs"
    assert list(made) == list(ROWS)


def test_a_file_has_the_codes_of_its_area_in_their_order() -> None:
    for path in FILES:
        codes = list(read_value(path.read_text()))
        assert {code[:4] for code in codes} == {path.name[:4].upper()}
        assert codes == sorted(codes)
        assert len([name for name in FILES if name.name[:4] == path.name[:4]]) == 1


def test_a_source_has_no_key_that_nobody_reads() -> None:
    for code in SOURCES:
        source = SOURCES[code]
        assert source["severity"] in get_args(Severity)
        assert source.keys() <= KEYS
        assert source.get("example", {}).keys() <= {"variant", "place", "values"}
        for variant in source.get("variants", {}).values():
            assert isinstance(variant, str) or variant.keys() <= {"problem", "hint", "words-of"}


def test_what_is_no_code_is_known_as_none() -> None:
    assert is_code("CC0101")
    assert [text for text in ("", "CC", "CC01", "CC9901", "CC0199", "CC0604.missing", "x") if is_code(text)] == []


def tone(text: str) -> None:
    first = re.split(r"[\s.]", text, maxsplit=1)[0]
    assert first[0] in "{`" or first[0].islower() or first in CAPITALS or text.startswith("a "), text
    assert not text.endswith(".") or text.endswith(".."), text
    assert text == " ".join(text.split())


def test_a_sentence_is_lower_case_and_has_no_full_stop() -> None:
    for code in ROWS:
        for variant in ("", *ROWS[code].variants):
            for text in filter(None, texts(ROWS[code], variant)):
                tone(text)


def test_what_needs_a_reader_says_what_to_do() -> None:
    for code in [code for code, kind in ROWS.items() if kind.severity != "info"]:
        kind = ROWS[code]
        assert kind.hint or (kind.variants and all(variant.hint for variant in kind.variants.values()))


def test_what_only_tells_asks_for_nothing() -> None:
    for code in [code for code, kind in ROWS.items() if kind.severity == "info"]:
        assert not ROWS[code].hint
        assert not any(variant.hint for variant in ROWS[code].variants.values())


def test_a_variant_fills_its_row() -> None:
    for code, variant in VARIANTS.values():
        kind = ROWS[code]
        assert bool(kind.variants[variant].problem) == ("{problem}" in kind.sentence)


def test_placeholders_have_names_that_a_call_can_give() -> None:
    for name in [*ROWS, *VARIANTS]:
        code, variant = VARIANTS.get(name, (name, ""))
        names = needed(ROWS[code], variant)
        assert "" not in names
        assert names.isdisjoint({"code", "ref", "path", "line", "column", "file"}), (
            "these are arguments of `finding` itself"
        )
        values: dict[str, Any] = dict.fromkeys(names, "value")
        found = finding(name, Ref("v1", "Pod", "", "a"), **values)
        assert (found.code, found.severity) == (code, ROWS[code].severity)
        assert "{" not in found.message + found.hint


def test_a_value_that_is_missing_is_a_bug_that_tests_find() -> None:
    for name in [*ROWS, *VARIANTS]:
        code, variant = VARIANTS.get(name, (name, ""))
        if needed(ROWS[code], variant):
            with pytest.raises(KeyError):
                finding(name)


def test_a_variant_that_there_is_not_is_a_bug_that_tests_find() -> None:
    with pytest.raises(KeyError):
        finding("CC0604.nothing", field="x")
    with pytest.raises(KeyError):
        finding("CC0604", field="x")


def test_words_of_others_are_passed_on_where_this_list_says_so_and_nowhere_else() -> None:
    foreign = {"problem", "error", "remedy", "why"}
    rows = {code for code, kind in ROWS.items() if foreign & needed(kind) and not kind.variants}
    variants = {name for name, (code, variant) in VARIANTS.items() if foreign & needed(ROWS[code], variant)}
    both = {code for code in PASSED_ON if code in ROWS and ROWS[code].variants}  # raised without a variant as well
    assert rows | variants | both == PASSED_ON


def calls(path: Path) -> Iterator[tuple[str, set[str | None]]]:
    """The code and the names of the arguments of each call of one file that names a code."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            code = node.args[0].value
            if isinstance(code, str) and re.fullmatch(r"CC\d{4}(\..*)?", code):
                yield code, {word.arg for word in node.keywords}


@pytest.mark.slow
def test_no_code_writes_a_sentence_that_its_row_does_not_pass_on() -> None:
    found = {
        f"{path.relative_to(ROOT.parent)}: {code}"
        for path in CODE
        for code, words in calls(path)
        if words & {"problem", "remedy"} and code not in PASSED_ON
    }
    assert found == set()


def test_a_very_long_value_is_cut() -> None:
    found = finding("CC0401", name="x" * 100_000, known="")
    assert len(found.message) < 2000
    assert found.message.endswith("…")


def test_a_very_long_variant_is_cut() -> None:
    found = finding("CC0604.missing", field="a", key="x" * 100_000)
    assert found.hint == f"add {'x' * 1000}…"
    assert finding("CC0204.string", key="a", grammar="b").hint == "write b", "the hint of the row"
    assert row("CC0204").variants["string"].problem == "must be a string"


def test_an_object_without_a_name_is_called_by_its_kind() -> None:
    assert str(Ref("apps/v1", "Deployment", "shop", "")) == "shop/(unnamed Deployment)"
    assert str(Ref("v1", "Pod", "", "web")) == "web"
