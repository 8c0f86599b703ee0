"""Authors edit with ruamel.yaml; only the lines of changed values move."""

import difflib
import io
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from krm_function.krm import KubeObject, MisuseError, ResourceList, ruamel_edit, run
from krm_function.text.errors import YamlError

TEXT = """# The shop.
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, labels: {"app": 'shop', on: yes}}   # flow
spec:
    replicas: 2      # enough
    mode: 0o17
    since: 2024-01-01
    small: 1e3
    template:
        spec:
            containers:
            # the first
            - name: web   # ours
              image: "web:1"
              command: ['sh', "-c",
                        "true"]
            # the second
            - {name: log, image: log:1}
            - name: last
              args: [a, 010, 1.50]
"""
EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted(EXAMPLES.glob("*/resources/*.y*ml"))


def changed_lines(before: str, after: str) -> list[str]:
    return [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]


def edited(text: str, edit: Any) -> str:
    item = KubeObject(text)
    with ruamel_edit(item) as value:
        edit(value)
    return item.text


def containers(value: Any) -> Any:
    return value["spec"]["template"]["spec"]["containers"]


def test_only_the_line_of_a_changed_value_moves() -> None:
    def edit(value: Any) -> None:
        value["spec"]["replicas"] = 3

    assert changed_lines(TEXT, edited(TEXT, edit)) == [
        "-     replicas: 2      # enough",
        "+     replicas: 3      # enough",
    ]
    out = io.StringIO()
    value = YAML(typ="rt").load(TEXT)
    edit(value)
    YAML(typ="rt").dump(value, out)
    assert len(changed_lines(TEXT, out.getvalue())) > 2, "by itself ruamel.yaml moves more: else this needs no adaptor"


def test_elements_keep_their_comments_when_others_are_removed_and_added() -> None:
    def edit(value: Any) -> None:
        del containers(value)[1]
        containers(value)[0]["image"] = "web:2"
        containers(value).append({"name": "new"})

    after = edited(TEXT, edit)
    gone = {line for line in changed_lines(TEXT, after) if line[0] == "-"}
    image, log = '-               image: "web:1"', "-             - {name: log, image: log:1}"
    assert gone - {"-             # the second"} == {image, log}
    found = KubeObject(after).value["spec"]["template"]["spec"]["containers"]
    assert [one["name"] for one in found] == ["web", "last", "new"]
    assert "# ours" in after
    assert "010" in after


def test_what_is_not_changed_is_never_ruamels() -> None:
    """It reads 2024-01-01 as a date, 0o17 as a number of another form, and these stand beside a change."""
    before = KubeObject(TEXT).value

    def edit(value: Any) -> None:
        value["spec"]["new"] = True
        value["metadata"]["labels"]["app"] = "other"

    after = KubeObject(edited(TEXT, edit)).value
    before["spec"]["new"] = True
    before["metadata"]["labels"]["app"] = "other"
    assert after == before
    assert {key: type(value) for key, value in after["spec"].items()} == {
        key: type(value) for key, value in before["spec"].items()
    }


@pytest.mark.parametrize("value", [1, True, 1.0], ids=repr)
def test_equal_values_of_other_types_are_changes(value: object) -> None:
    text = "kind: A\nspec:\n  a: {}\n  other: 1 # stays\n"
    for first in (1, True, 1.0):
        given = text.format(repr(first).lower()) if "{}" in text else text.replace("{}", repr(first).lower())

        def edit(loaded: Any) -> None:
            loaded["spec"]["a"] = value

        found = KubeObject(edited(given, edit)).value["spec"]["a"]
        assert found == value
        assert isinstance(found, bool) == isinstance(value, bool)


def test_nothing_changed_is_the_same_bytes() -> None:
    assert edited(TEXT, lambda _: None) == TEXT


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_an_annotation_in_any_example_moves_its_own_lines_alone(path: Path) -> None:
    from krm_function.text.split import split_stream

    text = path.read_text()
    for chunk in split_stream(text):
        if chunk.empty or chunk.kind in {"List", ""}:
            continue
        given = chunk.of(text)

        def edit(value: Any) -> None:
            value["metadata"].setdefault("annotations", {})["example.com/by"] = "ruamel"

        after = edited(given.removeprefix("---\n"), edit)
        moved = changed_lines(given.removeprefix("---\n"), after)
        assert [line for line in moved if line[0] == "-"] == [] or "{" in moved[0], path
        assert len(moved) <= 2, moved


def test_a_date_and_a_list_in_the_place_of_the_object_are_refused() -> None:
    import datetime as dt

    def date(value: Any) -> None:
        value["spec"]["since"] = dt.date(2024, 1, 2)

    with pytest.raises(MisuseError):
        edited(TEXT, date)
    with pytest.raises(YamlError, match="duplicate key"):
        edited("kind: A\nspec: {a: 1, a: 2}\n", lambda _: None)


def test_an_exception_leaves_the_object() -> None:
    item = KubeObject(TEXT)

    def fails() -> None:
        with ruamel_edit(item) as value:
            value["spec"]["replicas"] = 9
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert item.text == TEXT


def test_a_function_edits_the_items_of_a_list() -> None:
    def more(resources: ResourceList) -> None:
        for item in resources.items:
            with ruamel_edit(item) as value:
                value["spec"]["replicas"] += 1

    body = "".join(f"  {line}" for line in TEXT.splitlines(keepends=True)[1:])
    given = f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {body[2:]}"
    output, results = run(more, given.encode())
    assert results.lines() == []
    assert output.decode() == given.replace("replicas: 2", "replicas: 3")
