from collections.abc import Callable

import pytest

from krm_function.krm import FunctionError, KubeObject, ResourceList, config_map_data

Payload = Callable[[str], bytes]


def config(data: str, head: str = "apiVersion: v1\nkind: ConfigMap\n") -> KubeObject:
    return KubeObject(f"{head}{data}\n")


def test_recorded_forms(payload: Payload) -> None:
    def data(name: str) -> dict[str, str] | None:
        return config_map_data(ResourceList.parse(payload(name)).function_config)

    assert data("kpt-eval-exec-args") == {"mode": "yaml", "k2": "two words"}
    assert data("kpt-render-second") == {"mode": "echo"}
    assert data("kpt-odd") == {}
    with pytest.raises(FunctionError, match="functionConfig is of kind MyConf, a v1 ConfigMap is expected"):
        data("kpt-render")


def test_no_config_is_not_an_empty_one() -> None:
    assert config_map_data(None) is None
    assert config_map_data(config("")) == {}
    assert config_map_data(config("data:")) == {}
    assert config_map_data(config("data: {}")) == {}


def test_values_are_the_text_that_was_written() -> None:
    text = 'data: {version: 1.10, flag: yes, oct: 010, exp: 1e3, none: , tilde: ~, quoted: "1.10", date: 2024-01-01}'
    assert config_map_data(config(text)) == {
        "version": "1.10",
        "flag": "yes",
        "oct": "010",
        "exp": "1e3",
        "none": "",
        "tilde": "",
        "quoted": "1.10",
        "date": "2024-01-01",
    }


def test_after_an_edit_only_strings_are_left() -> None:
    changed = config("data: {a: b}")
    changed.set_nested(("data", "c"), "d")
    assert config_map_data(changed) == {"a": "b", "c": "d"}
    changed.set_nested(("data", "e"), 5)
    with pytest.raises(FunctionError, match=r"data\.e is not a string"):
        config_map_data(changed)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (config("data: [a]"), "data is not a map"),
        (config("data: text"), "data is not a map"),
        (config("data: {a: {b: c}}"), "data.a is not a string"),
        (config("data: {a: [1]}"), "data.a is not a string"),
        (config("", "apiVersion: v2\nkind: ConfigMap\n"), "a v1 ConfigMap is expected"),
        (config("", "a: b\n"), "functionConfig has no kind"),
        (config("", "text"), "functionConfig has no kind"),
    ],
)
def test_what_is_no_string_map(config: KubeObject, problem: str) -> None:
    with pytest.raises(FunctionError, match=problem):
        config_map_data(config)


def test_keys_are_the_text_that_was_written_too() -> None:
    text = 'data: {n: 3, y: "4", 0x10: a, "off": b, plain: d}'
    assert config_map_data(config(text)) == {
        "n": "3",
        "y": "4",
        "0x10": "a",
        "off": "b",
        "plain": "d",
    }
