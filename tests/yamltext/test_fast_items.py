"""The fast path for lists gives the items that the event parser gives, or none."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.inputs import mixed, options, ordinary, resource_list
from krm_function.text.chunks import ItemList
from krm_function.text.errors import LIMITS, YamlError
from krm_function.text.split import cut_items as cut
from krm_function.text.split import split_items_by_events
from tests.hosts.test_pass_through import LISTS

ROOT = Path(__file__).parents[2]
HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
OPEN = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n"
ITEM = f"{OPEN}    annotations:\n      a/b: 'c'\n    name: d\n  data:\n    e: f\n"
LITERAL = f"{OPEN}    name: d\n  data:\n    e: |\n      f\n      - g: [\n\n      h\n"
TAIL = "functionConfig:\n  kind: X\n  list:\n  - a\nresults:\n- message: b\n- message: c\n"


def cut_fast(text: str, most: int = 1) -> ItemList | None:
    """The answer of the fast path, compared with the parser's; None also after more calls of the parser than `most`."""
    by_parser: list[str] = []

    def by_events(part: str) -> ItemList | None:
        by_parser.append(part)
        return split_items_by_events(part, LIMITS)

    found = cut(text, LIMITS, by_events)
    if found is None:
        return None
    assert found == split_items_by_events(text, LIMITS), text
    return found if len(by_parser) <= most else None


@pytest.mark.parametrize("head", [HEAD, f"# comment\n{HEAD}", f"items: # c\n{TAIL}", f"{TAIL}{HEAD}"], ids=repr)
@pytest.mark.parametrize("tail", ["", TAIL, "# end\n", "  # end\n", "kind: List\n"])
@pytest.mark.parametrize("indent", ["", "  ", "    "])
@pytest.mark.parametrize("item", [ITEM, LITERAL, ITEM + "# c\n", f"{LITERAL}\n", ITEM.replace("d\n", "d # c\n")])
def test_lists_of_every_shape(head: str, item: str, tail: str, indent: str) -> None:
    items = "".join(f"{indent}{line}" for line in (item * 6).splitlines(keepends=True))
    text = head + items + tail
    try:
        split_items_by_events(text, LIMITS)
    except YamlError:
        assert cut(text, LIMITS, lambda part: split_items_by_events(part, LIMITS)) is None
        return
    cut_fast(text)


@pytest.mark.parametrize("item", [ITEM.replace("      a/b: 'c'\n", "      a/b: c\n"), LITERAL])
@pytest.mark.parametrize("indent", ["", "  "])
def test_what_hosts_hand_over_needs_no_exact_look_in_between(item: str, indent: str) -> None:
    items = "".join(f"{indent}{line}" for line in (item * 6).splitlines(keepends=True))
    assert cut_fast(HEAD + items + TAIL) is not None
    assert cut_fast(HEAD + items) is not None


@pytest.mark.parametrize("documents", [ordinary(20_000), mixed(20_000, 0.3)], ids=["ordinary", "mixed"])
def test_the_lists_of_the_benchmarks_take_the_fast_path(documents: list[str]) -> None:
    assert cut_fast(resource_list(documents, options(policies=True)), most=4) is not None


@pytest.mark.parametrize("name", LISTS)
def test_recorded_lists(name: str) -> None:
    cut_fast(LISTS[name].decode())


@pytest.mark.parametrize(
    "bad",
    [
        '- a: "\n- b\n  "\n',
        "- a: [\n- b\n  ]\n",
        "- a: 'x\n  k: |\n    l1\n    l2' junk\n   rest'\n",
        "-\n  a: b\n",
        "-\ta: b\n",
        "- - a\n",
        "- a\n",
        "- &a b\n- *a\n",
        "- kind: a\n  kind: b\n",
        ITEM + "  kind: Pod\n",
        ITEM.replace("    name: d\n", "    name: d\n    name: e\n"),
        ITEM.replace("    name: d\n", "    name: d\n     e\n"),
        ITEM + " a: b\n",
        "- a: " + "[" * 101 + "]" * 101 + "\n",
        "- a: |\n  b\n",
        "- {a: b}\n",
        "- a: b\n...\n",
        "- a: b\n---\n- c\n",
        "items:\n- a\n",
        "a: b\n- c: d\n",
        "-",
        "- ",
        "-\n",
    ],
    ids=repr,
)
def test_what_could_fool_it(bad: str) -> None:
    for text in (HEAD + ITEM * 3 + bad + ITEM * 3, HEAD + bad + ITEM * 5, HEAD + ITEM * 5 + bad, HEAD + bad * 6 + TAIL):
        try:
            split_items_by_events(text, LIMITS)
        except YamlError:
            assert cut(text, LIMITS, lambda part: split_items_by_events(part, LIMITS)) is None, text
        else:
            cut_fast(text)


LINES = st.sampled_from(
    [
        *(ITEM, ITEM, LITERAL, "- a: b\n", "  c: d\n", "-\n"),
        *("- - e\n", "  - f\n", "# g\n", "  # h\n", "\n", "    i: |\n"),
        *("      j\n", "     k\n", "  l: '\n", "  m'\n", '  n: "\n'),
        *('- o"\n', "  p: [\n", "- q]\n", "r: s\n", "results:\n"),
        *("functionConfig:\n", "items:\n", "  kind: Pod\n", "    name: t\n"),
        *(" u: v\n", "  w: &x y\n", "  z: *x\n", "---\n"),
    ]
)


@settings(max_examples=3000)
@given(st.lists(LINES, max_size=14))
def test_random_lists(lines: list[str]) -> None:
    text = HEAD + ITEM + "".join(lines)
    try:
        split_items_by_events(text, LIMITS)
    except YamlError:
        assert cut(text, LIMITS, lambda part: split_items_by_events(part, LIMITS)) is None, text
    else:
        cut_fast(text)
