"""What the one line about a bug of the function says, and what it does not."""

from collections.abc import Callable
from typing import Any

import pytest

from krm_function.krm import FunctionError, KubeObject, MisuseError, ResourceList, Results, as_main, run
from tests.krm.test_run import Streams

INPUT = b"""apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: shop
    annotations: {a: hunter2}
  spec:
    replicas: 2
"""
Code = Callable[[KubeObject], Any]


def told(code: Code) -> tuple[str, Results]:
    """Run `code` on the Deployment; return the only line of the results."""

    def function(resources: ResourceList) -> None:
        code(resources.items[0])

    output, results = run(function, INPUT)
    assert output.startswith(INPUT)
    (line,) = results.lines()
    return line, results


def put(item: KubeObject, key: Any, value: Any) -> None:
    spec = item.get_map(("spec",))
    assert spec is not None
    spec[key] = value


LIVE: dict[str, tuple[Code, str]] = {
    "key": (lambda item: put(item, 1, "a"), "spec: a key is a string, not int: write str(key)"),
    "value": (lambda item: put(item, "x", {"y": object()}), "spec.x.y: plain data is dict, list"),
    "nan": (lambda item: put(item, "x", float("nan")), "spec.x: NaN and infinity cannot be written"),
    "infinity": (lambda item: put(item, "x", [float("inf")]), "spec.x[0]: NaN and infinity cannot be written"),
    "surrogate": (lambda item: put(item, "x", "a\ud800"), "spec.x: half of a surrogate pair"),
    "surrogate in a key": (lambda item: put(item, "x", {"\ud800": 1}), "spec.x: half of a surrogate pair"),
}


@pytest.mark.parametrize(("code", "problem"), LIVE.values(), ids=LIVE)
def test_what_cannot_be_written_is_named_by_object_and_path_and_by_no_line_of_the_helpers(
    code: Code, problem: str
) -> None:
    line, results = told(code)
    assert line.startswith(f"[error] bug of the function: MisuseError: apps/v1/Deployment/shop: {problem}")
    assert results.exit_code == 70


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "\udc00", {"a": ["x\ud800"]}, {"\ud800": 1}], ids=repr)
def test_a_value_that_cannot_be_written_is_refused_where_it_is_set(value: Any) -> None:
    item = KubeObject("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: web\n")
    with pytest.raises(MisuseError, match=r"^v1/Pod/p: spec\.x.*cannot be written"):
        item.set_nested(("spec", "x"), value)
    (container,) = item.sub_objects(("spec", "containers"))
    with pytest.raises(MisuseError, match=r"^v1/Pod/p: spec\.containers\[0\]\.x.*cannot be written"):
        container.set_nested(("x",), value)


def test_numbers_that_were_read_stay_whatever_they_are() -> None:
    item = KubeObject("kind: A\na: .inf # as it was\nb: 1\n")
    item.value["b"] = 2
    assert item.text == "kind: A\na: .inf # as it was\nb: 2\n"


def test_a_mistake_inside_the_standard_library_has_the_line_that_called_it() -> None:
    def update(item: KubeObject) -> None:
        item.annotations.update(a=True)  # type: ignore[call-overload]

    line, _ = told(update)
    here = update.__code__.co_firstlineno + 1
    place = f"[error] bug of the function: MisuseError in test_bug.py:{here}"
    assert line == f"{place}: annotations are strings, not bool: write str(...)"


def look_up(item: KubeObject, key: str) -> Any:
    return item.value[key]


NAMES: dict[str, tuple[Code, str]] = {
    "attribute of an object": (lambda item: item.spec, ": KubeObject has no attribute spec"),  # type: ignore[attr-defined]
    "key": (lambda item: item.value["nothere"], ": there is no key nothere"),
    "key of the labels": (lambda item: item.labels["nothere"], ": there is no key nothere"),
    "key from the input": (lambda item: look_up(item, item.annotations["a"]), ""),
    "attribute from the input": (lambda item: getattr(item, item.annotations["a"]), ""),
}


@pytest.mark.parametrize(("code", "name"), NAMES.values(), ids=NAMES)
def test_a_name_is_shown_if_the_code_has_it(code: Code, name: str) -> None:
    line, _ = told(code)
    assert "hunter2" not in line
    assert line.partition("test_bug.py:")[2].lstrip("0123456789") == name


def test_the_exception_is_at_hand_for_a_test_and_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(item: KubeObject) -> None:
        raise ValueError("hunter2")

    line, results = told(fail)
    assert isinstance(results.cause, ValueError)
    assert "hunter2" not in line
    for value in ("", "1"):
        monkeypatch.setenv("KRM_FUNCTION_DEBUG", value)
        streams = Streams(monkeypatch, INPUT)
        assert as_main(lambda resources: fail(resources.items[0])) == 70
        assert (
            ("Traceback" in streams.err.getvalue()) == ("ValueError: hunter2" in streams.err.getvalue()) == bool(value)
        )
        assert streams.err.getvalue().endswith(f"{line}\n")


def test_a_function_error_names_object_and_field() -> None:
    def fail(item: KubeObject) -> None:
        raise FunctionError("needs a limit", item, ("spec", "replicas"))

    line, results = told(fail)
    assert line == "[error] apps/v1/Deployment/shop spec.replicas: needs a limit"
    assert (results.exit_code, type(results.cause)) == (1, FunctionError)
    with pytest.raises(TypeError):
        FunctionError("web", KubeObject("kind: A\n"), (), "more")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "use",
    [
        lambda item, path: item.nested(path),
        lambda item, path: item.get_str(path),
        lambda item, path: item.get_map((*path, "x")),
        lambda item, path: item.remove_nested(path),
        lambda item, path: item.set_nested(path, "x"),
        lambda item, path: item.sub_objects(path),
    ],
)
def test_one_key_with_dots_at_the_root_is_a_mistake(use: Callable[[KubeObject, tuple[str, ...]], Any]) -> None:
    text = "apiVersion: v1\nkind: A\nown: {}\nown.there: {}\n"
    item = KubeObject(text)
    for path in (("metadata.name",), ("own.field",)):
        with pytest.raises(MisuseError, match=r'no such key; a path is a tuple of keys: write \("(metadata|own)", "'):
            use(item, path)
    assert item.text == text


def test_keys_with_dots_are_keys() -> None:
    item = KubeObject("apiVersion: v1\nkind: A\nmetadata: {labels: {app: x}}\nown.there: 1\n")
    assert item.get_int(("own.there",)) == 1
    assert item.nested(("other.key",)) is None
    item.set_nested(("metadata", "annotations", "metadata.name"), "x")
    item.set_nested(("data", "data.yaml"), "x")
    labels = item.sub_object(("metadata", "labels"))
    assert labels is not None
    labels.set_nested(("app.kubernetes.io/name",), "x")
    assert item.labels["app.kubernetes.io/name"] == "x"


@pytest.mark.parametrize("value", [{}, {"kind": "A"}, {"apiVersion": "v1", "metadata": {"name": "x"}}], ids=repr)
def test_an_object_without_kind_or_version_is_not_added(value: dict[str, Any]) -> None:
    resources = ResourceList.parse(INPUT)
    with pytest.raises(MisuseError, match="needs apiVersion and kind"):
        resources.add(value)
    assert resources.to_bytes() == INPUT


def test_the_arguments_of_a_result_in_another_order_are_a_mistake() -> None:
    item = KubeObject("kind: A\n")
    with pytest.raises(MisuseError, match="a message is a text, and comes first, not KubeObject"):
        Results().error(item, "bad")  # type: ignore[arg-type]
    with pytest.raises(MisuseError, match="about an object or a sub-object of the list, not tuple"):
        Results().info("x", ("spec",))  # type: ignore[arg-type]
