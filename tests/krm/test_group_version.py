"""An apiVersion means to us what it means to Kubernetes' own parser, which `goreaders` asks."""

import pytest

from krm_function.krm import KubeObject, config_map_data, is_gvk
from krm_function.krm.group_version import parse_group_version, plain_api_version
from krm_function.render.select import select
from krm_function.render.unsealed import list_unsealed_classes
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse
from tests.krm.spellings import NOT_TAKEN, SPELLINGS, TAKEN, Spelling
from tests.real_tools import needing
from tools.fuzz import go_reads

IDS = [one.name for one in SPELLINGS]
TEXTS = ("", "/", "v1", "/v1", "v1/", "apps/v1", "/apps/v1", "apps/v1/", "//", "//v1", "a/b/c", " /v1", "é/v1", "a//")


@needing("goreaders")
@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_our_parser_is_that_of_kubernetes(text: str) -> None:
    found = go_reads(
        f"apiVersion: '{text}'\nkind: Pod\nmetadata: {{name: a}}\nspec: {{runtimeClassName: contrast-cc}}\n".encode()
    )
    parsed = parse_group_version(text)
    assert {(one["group"], one["version"]) for one in found} == ({parsed} if parsed is not None else set())


def test_two_spellings_of_one_version_are_one_text() -> None:
    assert [plain_api_version(text) for text in ("v1", "/v1", "/", "apps/v1", "//v1", "/apps/v1")] == [
        *("v1", "v1", "", "apps/v1", "//v1", "/apps/v1"),
    ]


def test_a_function_sees_the_core_group_in_both_spellings() -> None:
    one = KubeObject("apiVersion: /v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n")
    other = KubeObject("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert is_gvk("", "v1", "ConfigMap")(one)
    assert one.is_group_kind("", "ConfigMap")
    assert one.same_id(other)
    assert config_map_data(one) == {"a": "b"}


@pytest.mark.parametrize("spelling", SPELLINGS, ids=IDS)
def test_what_an_api_server_takes_is_selected_and_everything_else_refused(spelling: Spelling) -> None:
    try:
        value = parse(spelling.text("web", "shop")).value
    except YamlError:
        assert not spelling.taken
        return
    assert bool(select(value).workloads) == spelling.taken
    assert bool(list(list_unsealed_classes(value, ()))) != spelling.taken


def test_the_table_has_forty_spellings_and_both_verdicts() -> None:
    assert len(set(SPELLINGS)) >= 40
    assert len(TAKEN) >= 10 < len(NOT_TAKEN)
