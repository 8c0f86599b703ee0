"""The table of findings and the code that raises them: neither has a row too many, and all rows have one tone."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from krm_function import findings
from krm_function.findings import Ref, Row, every_row, finding, is_code, row
from tests.for_each import for_each

ROOT = Path(findings.__file__).parents[1]
TABLES = Path(findings.__file__).parent
SOURCES = [
    path
    for path in [*ROOT.rglob("*.py"), *(ROOT.parent / "helm_plugin").rglob("*.py")]
    if not path.is_relative_to(TABLES)
]
RAISED = {name for path in SOURCES for name in re.findall(r'"(CC\d{4}(?:\.[a-z0-9-]+)?)"', path.read_text())}
ROWS = every_row()
VARIANTS = {f"{code}.{name}": (code, name) for code, one in ROWS.items() for name in one.variants}
CAPITALS = {
    "APEIP",
    "ConfigMap",
    "Helm",
    "LimitRange",
    "PersistentVolumeClaim",
    "ReferenceValues",
    "ResourceQuota",
    "RTMR0",
    "RuntimeClass",
    "SNP",
    "TLS",
}

# Whose words a row or a variant passes on, in `{problem}`, `{error}`, `{remedy}` or `{why}`. A new one needs a reason:
# a sentence of this program belongs into the table.
PASSED_ON = {
    # parsers and validators, whose words are used by more than one code or by no finding at all
    "CC0101": "yamltext",
    "CC0102": "yamltext",
    "CC0103": "yamltext",
    "CC0104": "yamltext",
    "CC0105": "yamltext",
    "CC0106": "yamltext",
    "CC0107": "yamltext",
    "CC0108.no-list": "hosts/resource_list and krm",
    "CC0108": "yamltext, hosts and krm; the command line has variants",
    "CC0110": "yamltext",
    "CC0112": "yamltext and separators",
    "CC0119": "yamltext",
    "CC0303.field": "model/runtime_class_objects, for the configuration as well",
    "CC0314.quantity": "model/quantity",
    "CC0408.quantity": "model/quantity",
    "CC0503": "model/image, for the configuration as well",
    "CC0604.value": "schema, of a field of a pod",
    "CC0610.content": "policy/initdata and policy/document",
    "CC0615.content": "policy/initdata and policy/document",
    "CC0702": "krm_function/manifest, which validates as Contrast does",
    "CC0707": "manifest/owner_keys",
    "CC0713.content": "api/strict_json",
    "CC0901": "the schemas of krm_function/api",
    "CC0909.add-to": "wiring/owner_key",
    "CC0909.base": "manifest/decode",
    "CC0909.drop-in": "api/strict_json and policy/dropins",
    "CC0909.key": "manifest/owner_keys",
    "CC0909.log-long": "replay/log_text",
    "CC0909.pins": "wiring/kustomize_images and wiring/helm_values",
    "CC0909.releases": "release/release_text",
    "CC0909.rules": "api/policy_options",
    "CC0909.settings": "api/strict_json",
    "CC1006.load": "the engine's own first sentence, as cli/policy/rego_engine cuts it out",
    "CC1204.field": "the schemas of krm_function/api",
    "CC1204.json": "api/strict_json",
    "CC1304.json": "api/strict_json and manifest/decode",
    "CC1330.json": "api/strict_json",
    "CC1311.content": "wiring/generate_fields and yamltext",
    "CC1320.copy": "cli/install/distributions",
    # put together of several parts
    "CC0604.accounts": "policy/passwd: which file, which line, what containerd does not take",
    "CC0604.unnamed": "policy/identity: up to three settings in one hint",
    "CC1214.unnamed": "policy/identity: up to three settings in one hint",
    "CC0608": "stages/measure: what each product lacks, also in the words of measurement",
    "CC0617": "policy/compare, printed by `diff --policy` as well",
    "CC0619": "policy/compare, printed by `diff --policy` as well",
    "CC0910": "another finding",
    # other programs and systems
    "CC0614.field": "genpolicy",
    "CC0614.pod": "genpolicy",
    "CC0614.settings": "genpolicy",
    "CC0614.start": "the operating system",
    "CC1001": "the operating system, and hosts/files",
    "CC1002.file": "the operating system, and hosts/files",
    "CC1003.kubeconfig": "the Kubernetes client",
    "CC1003.no-answer": "the Kubernetes client",
    "CC1003.text": "api/strict_json",
    "CC1213": "the operating system",
    "CC1250.tls": "OpenSSL",
    "CC1252.system": "the operating system",
    "CC1254.system": "the operating system",
    "CC1320.run": "the operating system, or the copy itself",
}
# Rows that have variants, and pass on words where they are raised without one.
BOTH = {"CC0108", "CC0702", "CC0901"}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def texts(kind: Row, variant: str = "") -> tuple[str, ...]:
    """The sentence, the hint and, of a variant, the text in the place of `{problem}`."""
    if not variant:
        return kind.sentence, kind.hint
    said = kind.variants[variant]
    return (kind.sentence, kind.hint, said) if isinstance(said, str) else (kind.sentence, said[1], said[0])


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


def test_rows_stand_in_the_order_of_their_codes_within_a_group() -> None:
    groups = [code[:4] for code in ROWS]
    assert groups == sorted(groups)


def test_each_area_has_a_file_and_each_code_stands_in_that_of_its_area() -> None:
    for path in sorted(TABLES.glob("*.py")):
        codes = {code[:4] for code in re.findall(r'^    "(CC\d{4})"', path.read_text(), re.MULTILINE)}
        assert len(codes) == (path.stem not in {"__init__", "row", "origin", "documentation", "explanation"}), path.name
    assert [area for area in findings.AREAS if not any(code.startswith(area) for code in ROWS)] == []


def test_what_is_no_code_is_known_as_none() -> None:
    assert is_code("CC0101")
    assert [text for text in ("", "CC", "CC01", "CC9901", "CC0199", "CC0604.missing", "x") if is_code(text)] == []


def tone(text: str) -> None:
    first = re.split(r"[\s.]", text, maxsplit=1)[0]
    assert first[0] in "{`" or first[0].islower() or first in CAPITALS or text.startswith("a "), text
    assert not text.endswith(".") or text.endswith(".."), text
    assert text == " ".join(text.split())


@for_each("code", ROWS)
def test_a_sentence_is_lower_case_and_has_no_full_stop(code: str) -> None:
    for variant in ("", *ROWS[code].variants):
        for text in filter(None, texts(ROWS[code], variant)):
            tone(text)


@for_each("code", [code for code, kind in ROWS.items() if kind.severity != "info"])
def test_what_needs_a_reader_says_what_to_do(code: str) -> None:
    assert ROWS[code].hint


@for_each("code", [code for code, kind in ROWS.items() if kind.severity == "info"])
def test_what_only_tells_asks_for_nothing(code: str) -> None:
    assert not ROWS[code].hint
    assert all(isinstance(said, str) for said in ROWS[code].variants.values())


@for_each("name", VARIANTS)
def test_a_variant_fills_its_row(name: str) -> None:
    code, variant = VARIANTS[name]
    kind = ROWS[code]
    said = kind.variants[variant]
    problem = said if isinstance(said, str) else said[0]
    assert bool(problem) == ("{problem}" in kind.sentence)
    assert "{remedy}" not in kind.hint or not isinstance(said, str), "the row leaves the hint to its variants"


@for_each("name", [*ROWS, *VARIANTS])
def test_placeholders_have_names_that_a_call_can_give(name: str) -> None:
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


@for_each("name", [*ROWS, *VARIANTS])
def test_a_value_that_is_missing_is_a_bug_that_tests_find(name: str) -> None:
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
    assert rows | variants | BOTH == PASSED_ON.keys()
    assert all(ROWS[code].variants for code in BOTH)


def calls(path: Path) -> Iterator[tuple[str, set[str | None]]]:
    """The code and the names of the arguments of each call of one file that names a code."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            code = node.args[0].value
            if isinstance(code, str) and re.fullmatch(r"CC\d{4}(\..*)?", code):
                yield code, {word.arg for word in node.keywords}


def test_no_code_writes_a_sentence_that_its_row_does_not_pass_on() -> None:
    found = {
        f"{path.relative_to(ROOT.parent)}: {code}"
        for path in SOURCES
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
    assert row("CC0204").variants["string"] == "must be a string"


def test_an_object_without_a_name_is_called_by_its_kind() -> None:
    assert str(Ref("apps/v1", "Deployment", "shop", "")) == "shop/(unnamed Deployment)"
    assert str(Ref("v1", "Pod", "", "web")) == "web"
