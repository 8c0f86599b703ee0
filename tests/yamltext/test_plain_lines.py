"""Plain lines are read as the parser reads them, or not at all."""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.inputs import mixed, plain
from krm_function.yamltext import YamlError, parse
from krm_function.yamltext.fast.plain_lines import UNREAD, read_lines
from krm_function.yamltext.fast.values import by_events
from tests.for_each import for_each

ROOT = Path(__file__).parents[2]


def plainly(text: str) -> bool:
    """Whether the text was read, after its value was compared with the parser's."""
    found = read_lines(text)
    if "\r" not in text and "\n" in text:
        returns = text.replace("\n", "\r\n")
        assert plainly(returns) or found is UNREAD, text
    if found is UNREAD:
        return False
    assert repr(found) == repr(parse(text).value), text
    return True


@for_each("document", [*mixed(20_000, 0.3), *plain(2)])
def test_rendered_resources_are_plain_but_for_literals(document: str) -> None:
    assert plainly(document) or ": |" in document
    assert plainly(f"---\n{document}") or ": |" in document
    assert by_events(document) == parse(document).value


@for_each("path", sorted(ROOT.glob("examples/**/*.yaml")))
def test_every_document_of_the_examples(path: Path) -> None:
    for part in path.read_text().split("\n---\n"):
        plainly(part)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: b", {"a": "b"}),
        ("- a: b\n  c:\n  - d\n  - 5\n", {"a": "b", "c": ["d", 5]}),
        ("- a\n- b # c\n", ["a", "b"]),
        ("a:\nb:\n  - c: {d: yes, e: '8'}\n", None),
        ('a: {b: yes, c: "8", d: 0755}\n', {"a": {"b": True, "c": "8", "d": 493}}),
        ("e: [f, --g=h, i:8080]\n", {"e": ["f", "--g=h", "i:8080"]}),
        ("a: b#c\nd: e # f\ng: h:i j, k\nl: 'm # n'\n", {"a": "b#c", "d": "e", "g": "h:i j, k", "l": "m # n"}),
        ("# a\n\na: # b\n    c: ~\n  # d\n    e: null\n", {"a": {"c": None, "e": None}}),
        ("a: ''\nb: \"\"\nc: {}\nd: []\n", {"a": "", "b": "", "c": {}, "d": []}),
    ],
)  # fmt: skip
def test_what_it_reads(text: str, value: object) -> None:
    assert plainly(text) == (value is not None)
    if value is not None:
        assert read_lines(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "\n",
            "# a",
            "---\n",
            "a",
            "'a'",
            "a: b\n c",
            "a: b\n  c: d",
            "a:\n  b\n",
            "a: b\na: c",
            "yes: a",
            "1: a",
        ),
        *("a: b: c", "a: b :c", "a:b", "a: 'b''c'", 'a: "b\\n"', "a: &b c", "a: *b", "a: !!str b", "a: |\n  b", "? a"),
        *("- - a", "-\n  a: b", "-  a: b", "- a\n b", "a: b\n - c", "- a: b\n c: d", "a: b\n...\n", "a: b\n---\nc: d"),
        *(
            "a: {b: c, b: d}",
            "a: {y: b}",
            "a: {b}",
            "a: [b",
            "a: b\tc",
            "\ta: b",
            "a: b\rc\n",
            "a: é",
            "a: b\x00",
            "a: @b",
        ),
        *("<<: {a: b}", "a: %b", "a: `b", "a: ,b", "{a: b}", "[a]", "%YAML 1.1\n---\na: b", "a" * 1100 + ": b"),
        "".join(f"{' ' * column}a:\n" for column in range(60)),
    ],
    ids=repr,
)
def test_what_it_leaves_to_the_parser(text: str) -> None:
    assert not plainly(text)


LINES = st.sampled_from(
    [
        *(
            "a:\n",
            "b: c\n",
            "d: 'e'\n",
            "- f\n",
            "- g: h\n",
            "  i:\n",
            "  j: 1\n",
            "  - k\n",
            "  - l: m\n",
            "    n: o\n",
        ),
        *(
            "    - p\n",
            "   q: r\n",
            "      s:\n",
            "# t\n",
            "  # u\n",
            "\n",
            "   \n",
            "v: {w: x}\n",
            "y: [z]\n",
            "---\n",
        ),
        *(
            "  a: b # c\n",
            "  d: #e\n",
            "f: g#h\n",
            "i: j:k\n",
            "l: m n\n",
            "- o:\n",
            "  p: -q\n",
            "r: - s\n",
            "t: 'u' v\n",
        ),
    ]
)


@settings(max_examples=4000)
@given(st.lists(LINES, max_size=10))
def test_random_lines(lines: list[str]) -> None:
    compare("".join(lines))


@settings(max_examples=3000)
@given(
    st.text(alphabet="ab1~-:#,[]{}'\"= .", max_size=14),
    st.sampled_from(["a: %s", "- %s", "a: {b: %s}", "a: [%s]", "%s: a"]),
)
def test_random_values(text: str, frame: str) -> None:
    compare(frame % text)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32))
def test_random_documents(write: Callable[..., str], seed: int) -> None:
    compare(write(seed))


def compare(text: str) -> None:
    """What is not YAML must not be read."""
    try:
        parse(text)
    except YamlError:
        assert read_lines(text) is UNREAD, text
    else:
        plainly(text)


@pytest.mark.parametrize("end", ["é", "#é", "]é", "'", '"', ":", "\t"])
@pytest.mark.parametrize("unit", [" ", "a", "a ", "a:", "] #", "]", "--", "'", '"', "- ", "a, ", "{a: b}, ", "\n", "#"])
@pytest.mark.parametrize("start", ["", "a: ", "a: [", "a: {", "a: '", "- ", "#"])
def test_a_long_line_takes_no_time_to_refuse(start: str, unit: str, end: str) -> None:
    before = process_time()
    read_lines(start + unit * 20_000 + end)
    assert process_time() - before < 1, "quadratic, or worse"
