"""Items of a ResourceList or a List are cut where the parser says, whatever their text looks like."""

from pathlib import Path

import pytest

from krm_function.text.chunks import ItemList, replace_items
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse
from krm_function.text.split import resolve_item_aliases, split_items

DATA = Path(__file__).parent / "data"
HOSTS = ("kpt-render", "kustomize-transformer", "kustomize-odd", "kpt-flow-metadata")


def cut(text: str) -> ItemList:
    found = split_items(text)
    assert found is not None
    return found


def texts(text: str) -> list[str]:
    return [chunk.of(text) for chunk in cut(text).items]


@pytest.mark.parametrize("host", HOSTS)
def test_what_the_hosts_send_is_cut_into_items_that_parse_alone(host: str) -> None:
    text = (DATA / f"{host}.yaml").read_text(encoding="utf-8")
    found = cut(text)
    whole = parse(text).value
    assert (found.kind, found.api_version) == ("ResourceList", "config.kubernetes.io/v1")
    assert [parse(chunk.of(text)).value for chunk in found.items] == whole["items"]
    assert found.function_config is not None
    assert parse(found.function_config.of(text)).value == whole["functionConfig"]
    for chunk, item in zip(found.items, whole["items"], strict=True):
        assert (chunk.kind, chunk.name) == (item["kind"], item["metadata"]["name"])
        assert text.splitlines()[chunk.line - 1] == chunk.of(text).splitlines()[0]


@pytest.mark.parametrize("host", HOSTS)
def test_with_nothing_changed_the_text_comes_back(host: str) -> None:
    text = (DATA / f"{host}.yaml").read_text(encoding="utf-8")
    found = cut(text)
    assert replace_items(text, found, [chunk.of(text) for chunk in found.items]) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("items:\n- a: 1\n# c\n- b: 2\nkind: List\n", ["- a: 1\n# c\n", "- b: 2\n"]),
        ("items:\n  # head\n  - a: 1\n    # foot\n  # no foot\n", ["  - a: 1\n    # foot\n"]),
        ("items:\n- a: |\n    x\n\n\n# c\nkind: List\n", ["- a: |\n    x\n"]),
        ("items:\n- a: |+\n    x\n\n\nkind: List\n", ["- a: |+\n    x\n\n\n"]),
        ("items:\n- a: |\n    x\n    \n  \n# c\n", ["- a: |\n    x\n"]),
        ("items:\n- a: |\n    x\n     \n \n# c\n", ["- a: |\n    x\n     \n"]),
        ("items:\n- a: |2\n    x\n   \n# c\n", ["- a: |2\n    x\n   \n"]),
        ("items:\n- a: &b\n          |\n    x\n     \n# c\n", ["- a: &b\n          |\n    x\n     \n"]),
        ('items:\n- x: "foo\n- bar"\n- b: 1\n', ['- x: "foo\n- bar"\n', "- b: 1\n"]),
        ("items:\n- x: [\n{a: 1},\n]\n- b: 1\n", ["- x: [\n{a: 1},\n]\n", "- b: 1\n"]),
        ("items:\n- x: 'foo\n\n- bar'\n-\n  b: 1\n-\n- - c\n", ["- x: 'foo\n\n- bar'\n", "-\n  b: 1\n", "-\n",
        "- - c\n"]),
        ("x: |\n  items:\n  - no\nitems:\n- yes\n", ["- yes\n"]),
        ('"items":\r\n- a: 1\r\n- b: 2', ["- a: 1\r\n", "- b: 2"]),
        ("items: &l # c\n- &a\n  a: 1\n- !!map {b: 1}\n", ["- &a\n  a: 1\n", "- !!map {b: 1}\n"]),
        ("items: [{a: 1}, {b: 2},]\n", ["{a: 1}", "{b: 2}"]),
        ('{"items":[{"a":1},\n{"b":[2]}],"kind":"List"}\n', ['{"a":1}', '{"b":[2]}']),
        ("items:\n- a\n...\n", ["- a\n"]),
        ("items: []\n", []),
        ("items:\n", []),
        ("items: null # none\nkind: List\n", []),
    ],
)  # fmt: skip
def test_items_are_cut_by_events_and_not_by_columns(text: str, wanted: list[str]) -> None:
    found = cut(text)
    assert [chunk.of(text) for chunk in found.items] == wanted
    for before, after in zip(found.items, found.items[1:], strict=False):
        assert found.style == "flow" or before.end == after.start
    assert [parse(chunk.of(text)).value for chunk in found.items] == (parse(text).value["items"] or [])
    assert replace_items(text, found, wanted) == text


@pytest.mark.parametrize(
    "text", ["", "a: 1\n", "- items: []\n", "items: {}\n", "items: x\n", "items: []\n---\nb: 1\n", "x: {items: []}\n"]
)
def test_anything_else_is_no_list(text: str) -> None:
    assert split_items(text) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("items: []\nitems: []\n", "duplicate"),
        ("items: []\nresults: []\nresults: []\n", "duplicate"),
        ("x: &a []\nitems: *a\n", "shape"),
        ("? items\n: - a\n", "shape"),
        ("items: [\n", "syntax"),
        ("items:\n- " + "[" * 1000, "depth"),
    ],
)
def test_a_list_that_readers_could_disagree_about_is_an_error(text: str, code: str) -> None:
    with pytest.raises(YamlError) as caught:
        split_items(text)
    assert caught.value.code == code


def test_aliases_between_items_are_written_out_so_that_items_parse_alone() -> None:
    text = "items:\n- a: &x {b: 0o17, c: on}\n  same: *x\n- d: *x\nfunctionConfig: *x\n"
    assert cut(text).shared_anchors
    resolved = resolve_item_aliases(text)
    assert resolved == (
        "items:\n- a: &x {b: 0o17, c: on}\n  same: *x\n"
        '- d: {"b": 0o17, "c": on}\nfunctionConfig: {"b": 0o17, "c": on}\n'
    )
    assert parse(resolved).value == parse(text).value
    assert not cut(resolved).shared_anchors
    assert resolve_item_aliases(resolved) is resolved


def test_aliases_inside_of_one_item_are_left_alone() -> None:
    text = "items:\n- a: &x {b: 1}\n  c: *x\n- &x {d: 1}\n"
    assert not cut(text).shared_anchors
    assert resolve_item_aliases(text) == text


ADDED = {"kind": "X", "data": {"k": "a\nb\n"}}
RESULTS = [{"message": "hello", "severity": "info"}]
ITEM = "- kind: X\n  data:\n    k: |\n      a\n      b\n"
TAIL = "results:\n- message: hello\n  severity: info\n"
FLOW_ITEM = '{"kind": "X", "data": {"k": "a\\nb\\n"}}'
FLOW_TAIL = '"results": [{"message": "hello", "severity": "info"}]'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("items:\n- a: 1\n# c\nkind: List\n", f"items:\n- a: 1\n{ITEM}# c\nkind: List\n{TAIL}"),
        (
            "items:\n  - a: 1\nresults: [] # old",
            "items:\n  - a: 1\n  - kind: X\n    data:\n      k: |\n        a\n        b\n" + TAIL[:-1] + " # old",
        ),
        (
            "items:\r\n- a: 1",
            ('items:\n- a: 1\n- kind: X\n  data:\n    k: "a\\nb\\n"\n' + TAIL[:-1]).replace("\n", "\r\n"),
        ),
        ("items: []\nkind: List\n", f"items:\n{ITEM}kind: List\n{TAIL}"),
        ("items: [{a: 1},]\n", f"items: [{{a: 1}}, {FLOW_ITEM},]\n{TAIL}"),
        ('{"items":[{"a":1}]}\n', f'{{"items":[{{"a":1}}, {FLOW_ITEM}], {FLOW_TAIL}}}\n'),
        ('{"items": [], "results": []}', f'{{"items": [{FLOW_ITEM}], {FLOW_TAIL}}}'),
    ],
)
def test_new_items_and_results_follow_the_style_of_the_list(text: str, wanted: str) -> None:
    found = cut(text)
    new = replace_items(text, found, [chunk.of(text) for chunk in found.items], [ADDED], RESULTS)
    assert new == wanted
    value = parse(new).value
    assert value["items"][-1] == ADDED
    assert value["results"] == RESULTS


def test_results_that_say_the_same_are_left_alone() -> None:
    text = "items: []\nresults:\n    - message: 'hello'\n      severity: info # c\n"
    assert replace_items(text, cut(text), [], (), RESULTS) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("items:\n- a: 1\n# about b\n- b: 2\n- c: 3\n", "items:\n# about b\n- b: 2\n- c: 3\n"),
        ("items:\n- a: |\n    x\n  \n\n# about b\n- b: 2\n", "items:\n  \n\n# about b\n- b: 2\n"),
        ("items:\n- a: x\n\n# about b\n- b: 2\n", "items:\n\n# about b\n- b: 2\n"),
        ("items: [{a: 1}, {b: 2}]\n", "items: [{b: 2}]\n"),
        ("items:\n- a: 1\nkind: List\n", "items: []\nkind: List\n"),
        ('{"items": [{"a": 1}]}', '{"items": []}'),
    ],
)
def test_a_removed_item_goes_and_the_comment_below_it_stays(text: str, wanted: str) -> None:
    found = cut(text)
    rest = [chunk.of(text) for chunk in found.items][1:]
    assert replace_items(text, found, [None, *rest]) == wanted


def test_the_number_of_texts_must_be_that_of_the_items() -> None:
    text = "items:\n- a\n"
    with pytest.raises(ValueError, match="0 texts for 1 items"):
        replace_items(text, cut(text), [])


def test_an_edited_item_changes_nothing_around_it() -> None:
    text = "items:\n# head\n- a: 1\n# between\n- b: 2 # two\nkind: List # end\n"
    found = cut(text)
    assert replace_items(text, found, ["- a: 1\n# between\n", "- b: 3 # two"]) == text.replace("b: 2", "b: 3")
