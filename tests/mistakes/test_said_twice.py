"""What a container says twice: a mount at one path, which Kubernetes refuses, and a variable, of which one counts."""

from typing import Any

import pytest

from tests.world import an_object, codes, coordinator, good, pod_spec, run


def web(**fields: Any) -> Any:
    spec = pod_spec(volumes=[{"name": name, "emptyDir": {"medium": "Memory"}} for name in ("a", "b")])
    spec["containers"][0] |= fields
    return an_object(spec=spec)


def mounts(*places: str) -> Any:
    return web(volumeMounts=[{"name": name, "mountPath": place} for name, place in zip("ab", places, strict=True)])


def test_two_mounts_at_one_path_are_an_error() -> None:
    assert codes(run(coordinator(), mounts("/data", "/data"))) == ["CC0261"]
    good(coordinator(), mounts("/data", "/data/inner"))


@pytest.mark.parametrize("names, said", [(("A", "A"), 1), (("A", "B"), 0), (("A", "A", "A"), 2)], ids=str)
def test_a_variable_that_is_set_twice_is_a_warning(names: tuple[str, ...], said: int) -> None:
    made = good(coordinator(), web(env=[{"name": name, "value": str(index)} for index, name in enumerate(names)]))
    assert [found.code for found in made.findings].count("CC0262") == said
