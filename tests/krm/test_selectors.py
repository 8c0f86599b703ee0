from typing import Any

import pytest

from krm_function.krm import (
    KubeObject,
    MisuseError,
    has_annotations,
    has_labels,
    is_gvk,
    is_kind,
    is_name,
    is_namespace,
    not_,
    where,
    where_not,
)

POD = KubeObject("apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {app: web, tier: a}}\n")
WEB = KubeObject("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop, annotations: {a: b}}\n")
KUSTOMIZATION = KubeObject("resources: []\n")
ALL = (POD, WEB, KUSTOMIZATION)


def test_where() -> None:
    assert where(ALL) == ALL
    assert where(ALL, is_kind("Pod", "Deployment")) == (POD, WEB)
    assert where(ALL, is_kind("Pod", "Deployment"), is_name("web")) == (WEB,)
    assert where(ALL, not_(is_kind("Pod"))) == (WEB, KUSTOMIZATION)
    assert where(ALL, is_namespace("shop")) == (WEB,)
    assert where(ALL, is_namespace("")) == (POD, KUSTOMIZATION)
    assert where(ALL, has_labels({"app": "web"})) == (POD,)
    assert where(ALL, has_labels({"app": "web", "tier": "b"})) == ()
    assert where(ALL, has_annotations({"a": "b"})) == (WEB,)
    assert where(ALL, is_gvk("apps", "v1", "Deployment")) == (WEB,)
    assert where(ALL, lambda item: item.line == 1) == ALL


def test_where_not() -> None:
    assert where_not(ALL, is_kind("Pod"), is_name("web")) == (KUSTOMIZATION,)
    assert where_not(ALL) == ALL


def test_kinds_are_chosen_without_parsing() -> None:
    broken = KubeObject("{broken", 1, ("v1", "Pod", "p"))
    assert where([broken], is_kind("Pod"), is_name("p")) == (broken,)


@pytest.mark.parametrize("wrong", [is_kind, is_gvk, has_labels])
def test_a_selector_that_was_not_called_is_a_mistake(wrong: Any) -> None:
    with pytest.raises(MisuseError, match=rf"{wrong.__name__} makes a predicate: call it"):
        where([], wrong)
    with pytest.raises(MisuseError, match="call it"):
        where_not([], wrong)
    with pytest.raises(MisuseError, match="call it"):
        not_(wrong)


def test_a_text_is_no_predicate() -> None:
    with pytest.raises(MisuseError, match="a predicate is a function of an object, not str"):
        where([], "Pod")  # type: ignore[arg-type]
