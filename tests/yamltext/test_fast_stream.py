"""The fast path for streams gives the chunks that the event parser gives, or none."""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from benchmarks.inputs import mixed, ordinary, stream
from krm_function.text.chunks import Chunk
from krm_function.text.errors import LIMITS, Limits, YamlError
from krm_function.text.split import (
    _BRACKETS,
    _COLUMNS,
    _OPENING,
    Header,
    may_be_too_deep,
    split_stream_by_events,
    without_literals,
)
from krm_function.text.split import cut_stream as cut
from tests.hosts.test_pass_through import ODD, STREAMS

ROOT = Path(__file__).parents[2]
HEAD = "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
LITERAL = f"{HEAD}data:\n  script: |\n    first\n    # second [[[\n\n      third: \"'\n  mode: fast\n"


def cut_fast(text: str, limits: Limits = LIMITS) -> tuple[Chunk, ...] | None:
    """The answer of the fast path, after it was compared with the parser's."""
    by_parser: list[str] = []

    def by_events(document: str) -> tuple[Chunk, ...]:
        by_parser.append(document)
        return split_stream_by_events(document, limits)

    found = cut(text, limits, by_events)
    try:
        wanted = split_stream_by_events(text, limits)
    except YamlError:
        assert found is None, text
        return None
    assert found is None or found == wanted, text
    if found is not None:
        assert "".join(chunk.of(text) for chunk in found) == text
    return None if by_parser else found


@pytest.mark.parametrize("text", [stream(ordinary(30_000)), stream(mixed(30_000, 0.2)), LITERAL, HEAD * 3], ids=len)
def test_what_charts_are_made_of_needs_no_exact_look(text: str) -> None:
    assert cut_fast(text) is not None
    assert cut_fast(text.removeprefix("---\n")) is not None
    assert cut_fast(f"# made by a chart\n\n{text}") is not None


@pytest.mark.parametrize("text", [stream(ordinary(30_000)), stream(mixed(30_000, 0.2)), LITERAL, HEAD * 3], ids=len)
def test_carriage_returns_before_line_feeds_change_nothing_but_offsets(text: str) -> None:
    found = cut_fast(text.replace("\n", "\r\n"))
    assert found is not None
    assert [chunk._replace(start=0, end=0) for chunk in found] == [
        chunk._replace(start=0, end=0) for chunk in cut_fast(text) or ()
    ]
    assert cut_fast(text.replace("\n", "\r\n", 5)) is None  # line ends of two kinds
    assert cut_fast(text.replace("\n", "\r\n").replace(":", ":\r", 1)) is None


@pytest.mark.parametrize("text", [*ODD.values(), *(data.decode() for data in STREAMS.values())], ids=len)
def test_odd_and_recorded_streams(text: str) -> None:
    cut_fast(text)
    cut_fast(text.replace("\n", "\r\n"))


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("examples/**/*.yaml")), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_every_file_of_the_examples(path: Path) -> None:
    cut_fast(path.read_text())
    cut_fast(path.read_text().replace("\n", "\r\n"))


@pytest.mark.parametrize(
    "text",
    [
        f'{HEAD}data:\n  a: "\n---\nkind: Pod\n"\n',  # a document hidden in a string
        f"{HEAD}data:\n  a: [b,\n---\nkind: Pod\n]\n",
        f"{HEAD}kind: Pod\n",  # a second header
        f'{HEAD}"kind": Pod\n',
        f"{HEAD}? kind\n: Pod\n",
        f"{HEAD}  name: b\n",
        f"{HEAD}  'name': b\n",
        f"{HEAD}  labels: {{a: b}}\n  ? name\n  : b\n",
        f"{HEAD}  <<: *i\n",  # a merge key
        f"{HEAD}  annotations: &i {{a: b}}\n  <<: *i\n",
        f"{HEAD}    b\n",  # the name goes on
        f"{HEAD}\n    b\n",
        f"{HEAD}data:\n  a: 'x\n  k: |\n    l1\n    l2' junk\n   rest'\n",  # literals that are none
        f'{HEAD}data:\n  a: "x\n  k: |\n    l1\n    l2" junk\n   rest"\n',
        f"{HEAD}data:\n  a: [x,\n  k: |\n    l1\n    l2] junk\n   rest]\n",
        f"{HEAD}data:\n  a: x\n   k: |\n    l1\n    l2\n",
        f"{HEAD}data:\n  k: |\n    l1\n   l2\n",
        f"{HEAD}data:\n  k: |\n    l1\n  \tl2\n",
        f"{HEAD}data:\n  k: |\n      \n    l1\n",
        f"{HEAD}data:\n  k: |\n    \x01\n    l2\n",
        f"{HEAD}data:\n  k: |\n    l1\n    \x7f\n",
        f"{HEAD}data:\n  k: |\n    l1\n    \x01é\n",
        f"{HEAD}data:\n  k: |\n    l1\n    l2",
        f"{HEAD}data:\n  a: >\n    k: |\n      l1\n      l2\n    m\n",
        f"{HEAD}data: {'[' * 101}{']' * 101}\n",
        f"{HEAD}data: {'[a: ' * 60}{']' * 60}\n",
        f"{HEAD}data:\n  {'- ' * 101}a\n",
        f"{HEAD}data:\n  {'? ' * 101}a\n",
        f"{HEAD}data:\n" + "".join(f"{' ' * column}- b:\n" for column in range(120)),
        f"{HEAD}data:\n  a: &a x\n  b: [{'*a, ' * 10}]\n" * 2,
        f"{HEAD}...\nkind: Pod\n",
        f"{HEAD}%YAML 1.1\n---\nkind: Pod\n",
        f"{HEAD}----\n",
        f"{HEAD}---a\n",
        f"# a\n---a\n---\n{HEAD}",
        f"--- |\n---a\n---\n{HEAD}",
        f"---\n{HEAD}--- # c\n--- x\n---\n",
        f"{HEAD}---",
        f"{HEAD}data:\n  a: x\u2028---\u2028kind: Pod\n",
        f"{HEAD}data:\r\n  a: x\r\n---\r\nkind: Pod\r\n",
        "\ufeff" + HEAD,
        "kind: [\n",
        f"{HEAD}---\nkind: [\n",
        f"{HEAD}data:\n  a: \ud800\n",
    ],
)
def test_what_could_fool_it(text: str) -> None:
    cut_fast(text)
    cut_fast(text.replace("\n", "\r\n"))


def test_its_bound_of_depth_fits_the_limit() -> None:
    for column in range(_COLUMNS + 3):
        lines = "".join(f"{' ' * at}- b:\n{' ' * at}  c:\n" for at in range(0, column, 2))
        for brackets in range(0, _BRACKETS + 2, 5):
            cut_fast(f"{HEAD}data:\n{lines}{' ' * column}  - d: {'[e: ' * brackets}{']' * brackets}\n")
    assert cut_fast(HEAD, LIMITS._replace(depth=50)) is None


def deepest(text: str) -> int:
    """How many collections of a text are open at once."""
    depth = most = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        most = max(most, depth)
    return most


STEPS = st.tuples(st.integers(1, 4), st.sampled_from(["a:", "- b:", "-", "? c", "a: [d, {e: [f: g]}]"]))


@given(st.lists(STEPS, max_size=40))
@example([(1, "- b:")] * 40)
@example([(2, "-")] * 40)
@example([(4, "a:")] * 24)
@example([(4, "- b:")] * 12)
def test_what_is_not_too_deep_is_within_the_limit(steps: list[tuple[int, str]]) -> None:
    column, lines = 0, []
    for wider, words in steps:
        lines.append(f"{' ' * column}{words}\n")
        column += wider
    text = "".join(lines)
    try:
        depth = deepest(text)
    except yaml.YAMLError:
        return
    if not may_be_too_deep(text):
        assert depth <= 2 * (_COLUMNS + _BRACKETS)


def test_a_deep_indentation_of_few_columns_is_not_too_deep() -> None:
    """As of a pod template in a list of templates of Jobs."""
    few, many = ("".join(f"{' ' * at}a:\n" for at in range(0, 60, step)) for step in (4, 2))
    assert not may_be_too_deep(few)
    assert may_be_too_deep(many)


@pytest.mark.parametrize(
    "limits", [LIMITS._replace(documents=2), LIMITS._replace(bytes=90), LIMITS._replace(aliases=3)]
)
def test_limits_are_kept(limits: Limits) -> None:
    cut_fast(HEAD, limits)
    cut_fast(HEAD * 3, limits)
    cut_fast(f"{HEAD}data:\n  a: &a x\n  b:\n" + "  - *a\n" * 4, limits)


@pytest.mark.parametrize(
    "unit", ["\n", "# a\n", "  \n", "   # a\n", "   a: b\n", "  a: b\n", "    \n", "  a:\n    b\n", " ", "a: |\n"]
)
@pytest.mark.parametrize("start", ["", "---\n", HEAD, HEAD.removesuffix("  name: a\n"), f"{HEAD}data:\n  a: |\n"])
def test_a_long_document_takes_no_time_to_refuse(start: str, unit: str) -> None:
    text = start + unit * 10_000 + "\"'"
    before = process_time()
    Header(_OPENING, "").read(text, text), without_literals(text), may_be_too_deep(text)
    assert process_time() - before < 1, "quadratic, or worse"


LINES = st.sampled_from(
    [
        *("---\n", "---\n", "--- # c\n", "--- |\n", "...\n", "# note\n", "\n", "  # in\n", "%YAML 1.1\n", "----\n"),
        *(HEAD, HEAD, "apiVersion: v1\n", "kind: Pod\n", '"kind": Pod\n', "metadata:\n", "  name: b\n"),
        *(
            "  labels:\n",
            "    name: c\n",
            "  'name': d\n",
            "data:\n",
            "  k: |\n",
            "    k: |-\n",
            "    l1\n",
            "     l2\n",
        ),
        *("      l3: [\n", "   l4\n", "\t\n", "    \n", "  a: '\n", "  b' x\n", '  c: "\n', '  d" y\n', "  e: [a,\n"),
        *("  f]\n", "- g\n", "  - - h\n", "  i: &i j\n", "  l: *i\n", "  m: >-\n", "  <<: *i\n", "? n\n", ": o\n"),
    ]
)


@settings(max_examples=3000)
@given(st.lists(LINES, max_size=16))
def test_random_lines(lines: list[str]) -> None:
    cut_fast("".join(lines))


@settings(max_examples=600)
@given(st.data())
def test_a_stream_with_one_character_changed(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([LITERAL * 2, stream(mixed(3_000, 0.3))]))
    at = data.draw(st.integers(0, len(text) - 1))
    new = data.draw(st.sampled_from([*"\n -:#'[}|\t\x00é\u2028", '"', ""]))
    cut_fast(text[:at] + new + text[at + 1 :])


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_random_documents(write: Callable[..., str], seed: int, documents: int) -> None:
    cut_fast("".join(f"---\n{write(seed + number, anchors=True)}" for number in range(documents)))
