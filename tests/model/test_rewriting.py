"""Rewritings that a record takes back: objects of any shape, and what the truth tables say of one volume."""

from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.adapt.choices import free_name
from krm_function.adapt.split_sub_paths import divided
from krm_function.adapt.undone import lost, made_again
from krm_function.kubernetes.image import any_image
from krm_function.render.proof import find_unexplained

Json = dict[str, Any]
NOTE = "contrast.edgeless.systems/secure-pv"


def deployment(pod: Json, **annotations: str) -> Json:
    template = {"metadata": {"annotations": annotations}, "spec": {"runtimeClassName": "contrast-cc", **pod}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": template}}


def container(*mounts: Json) -> Json:
    return {"name": "web", "image": "web", "volumeMounts": list(mounts)}


BEFORE = deployment(
    {
        "containers": [
            container(
                {"name": "e", "mountPath": "/a", "subPath": "a"},
                {"name": "e", "mountPath": "/b", "subPath": "b"},
                {"name": "d", "mountPath": "/d"},
                {"name": "m", "mountPath": "/m"},
            )
        ],
        "volumes": [
            {"name": "e", "emptyDir": {"sizeLimit": "1Gi"}},
            {"name": "d", "persistentVolumeClaim": {"claimName": "d"}},
            {"name": "m", "hostPath": {"path": "/m"}},
        ],
    }
)
AFTER = deployment(
    {
        "containers": [
            container(
                {"name": "x", "mountPath": "/a"},
                {"name": "y", "mountPath": "/b"},
                {"name": "s", "mountPath": "/d", "mountPropagation": "HostToContainer"},
                {"name": "m", "mountPath": "/m"},
                {"name": "v", "mountPath": "/v"},
            )
        ],
        "volumes": [
            {"name": "x", "emptyDir": {"sizeLimit": "512Mi"}},
            {"name": "y", "emptyDir": {"sizeLimit": "512Mi"}},
            {"name": "d", "persistentVolumeClaim": {"claimName": "d"}},
            {"name": "m", "emptyDir": {}},
            {"name": "v", "emptyDir": {}},
        ],
    },
    **{NOTE: "d:s"},
)


def test_all_rewritings_are_made_again_with_the_names_of_the_rendered_pod() -> None:
    assert made_again(AFTER, BEFORE) == AFTER
    assert made_again(BEFORE, BEFORE) is BEFORE


def test_what_is_no_rewriting_is_not_made() -> None:
    for place, value in (
        ((0, "name"), "y"),  # two subPaths in one volume
        ((1, "mountPath"), "/other"),
        ((0, "readOnly"), True),
        ((4, "readOnly"), True),
        ((2, "mountPropagation"), "Bidirectional"),
    ):
        now = deepcopy(AFTER)
        mount, field = place
        now["spec"]["template"]["spec"]["containers"][0]["volumeMounts"][mount][field] = value
        assert made_again(now, BEFORE) != now, place


def test_a_render_that_does_not_make_them_again_loses_them() -> None:
    assert lost(AFTER, BEFORE, AFTER) is None
    assert lost(AFTER, BEFORE, BEFORE) is not None
    assert lost(BEFORE, BEFORE, AFTER) is None, "the record takes nothing of them back"


ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 10**30, "", "x", "..", "/", [], {}, [None], [[]], {"name": []}, {"name": "e"}]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        found += places(child, (*path, key))
    return found


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    value = deepcopy(value)
    inner = value
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = new
    return value


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_objects_of_any_shape_raise_nothing(data: st.DataObject) -> None:
    now, before, after = AFTER, BEFORE, AFTER
    for _ in range(data.draw(st.integers(1, 3))):
        now = changed(now, data.draw(st.sampled_from(places(now))), data.draw(ODD))
        before = changed(before, data.draw(st.sampled_from(places(before))), data.draw(ODD))
        after = changed(after, data.draw(st.sampled_from(places(after))), data.draw(ODD))
    find_unexplained(now, before, any_image)
    lost(now, before, after)


@settings(max_examples=200)
@given(st.text("abAB-/. _", max_size=80), st.text("ab-", min_size=1, max_size=70), st.integers(0, 6))
def test_a_name_is_new_and_short_and_always_the_same(part: str, owner: str, number: int) -> None:
    taken: set[str] = set()
    for _ in range(number + 1):
        name = free_name(owner, part, taken)
        assert name == free_name(owner, part, set(taken))
        assert name not in taken
        assert len(name) <= 63
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        taken.add(name)


@given(st.integers(1, 2**50), st.integers(2, 50))
def test_what_is_divided_is_never_more_than_there_was(limit: int, count: int) -> None:
    from krm_function.kubernetes.quantity import units

    part = divided(limit, count)
    assert (part is None) == (limit < count)
    if part is not None:
        assert 0 < units(part) * count <= limit
        assert units(part) * count > limit - count * 2**20
