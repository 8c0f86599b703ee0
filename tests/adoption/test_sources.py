"""`adopt` proposes an entry for each reference that only the cluster can answer, and no wider one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.check.adopt import Request, adopt, merge_spec
from krm_function.config.document import ConfigDocument
from krm_function.config.edit import spec_changes, with_spec
from krm_function.text.changes import same
from tests.world import Json, an_object, config, coordinator, pod_spec, stream

GENERATE = {"apiVersion": "contrast-krm.dev/v1alpha1", "kind": "ContrastGenerate", "metadata": {"name": "contrast"}}


def reading(*env: Json, env_from: tuple[Json, ...] = (), name: str = "web", **container: Any) -> Json:
    spec = pod_spec()
    spec["containers"][0] |= {"env": list(env), "envFrom": list(env_from), **container}
    return an_object(name=name, spec=spec)


def variable(name: str, secret: str, key: str, **more: Any) -> Json:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key, **more}}}


def adopted(*objects: Json, spec: Json | None = None, yes: bool = True, **request: Any) -> Any:
    document = ConfigDocument({**GENERATE, "spec": {"platform": "metal-qemu-snp", **(spec or {})}})
    wanted = Request(yes=frozenset({"externalSources"} if yes else ()), **request)
    return adopt(stream(coordinator(), *objects), document, config(), wanted)


def sources(adoption: Any) -> list[Json]:
    found: list[Json] = adoption.spec.get("policy", {}).get("externalSources", [])
    return found


def codes(adoption: Any) -> list[str]:
    return [found.code for pod in adoption.refused for found in pod.after]


def test_an_entry_has_the_object_its_keys_and_the_names_of_the_variables() -> None:
    pods = (reading(variable("A", "db", "a"), variable("B", "db", "b")), reading(variable("C", "db", "a"), name="api"))
    made = adopted(*pods)
    assert sources(made) == [
        {"kind": "Secret", "name": "db", "namespace": "shop", "keys": ["a", "b"], "variables": ["A", "B", "C"]}
    ]
    assert codes(made) == []
    assert [pod.ref.name for pod in made.pods if pod.before] == ["web", "api"]


def test_nothing_is_chosen_that_nobody_has_named() -> None:
    made = adopted(reading(variable("A", "db", "a")), yes=False)
    assert sources(made) == []
    assert [choice.name for choice in made.offered] == ["externalSources"]
    assert made.offered[0].spec["policy"]["externalSources"][0]["name"] == "db"
    assert codes(made) == ["CC0602"]


def test_an_entry_that_is_there_gets_the_keys_that_it_lacks() -> None:
    there = {"kind": "Secret", "name": "db", "keys": ["a"], "variables": ["A"]}
    made = adopted(
        reading(variable("A", "db", "a"), variable("B", "db", "b")), spec={"policy": {"externalSources": [there]}}
    )
    assert sources(made) == [{**there, "keys": ["a", "b"], "variables": ["A", "B"]}]
    assert codes(made) == []


def test_an_optional_reference_renders_without_an_entry() -> None:
    made = adopted(reading(variable("A", "db", "a", optional=True)))
    assert sources(made) == []
    assert codes(made) == []


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        (reading(variable("JAVA_OPTS", "db", "a")), "JAVA_OPTS controls"),
        (reading(variable("A", "db", "a"), args=["--password=$(A)"]), "$(A) is part of a command"),
        (reading(variable("A", "db", "a"), {"name": "B", "value": "db://u:$(A)@db"}), "$(A) is part of a command"),
    ],
    ids=["steers", "argument", "value"],
)
@pytest.mark.parametrize("keys", [None, ["other"]], ids=["no entry", "entry without the key"])
def test_a_variable_that_must_not_be_open_keeps_its_reason_and_no_hint_opens_it(
    keys: list[str] | None, pod: Json, reason: str
) -> None:
    present = [{"kind": "Secret", "name": "db", "keys": keys}] if keys else []
    made = adopted(pod, spec={"policy": {"externalSources": present}})
    assert sources(made) == present
    ((finding,),) = [pod.after for pod in made.refused]
    assert finding.code == "CC0602"
    assert reason in finding.message
    assert "externalSources" not in finding.hint


def test_keys_of_env_from_are_asked_for() -> None:
    pod = reading(env_from=({"prefix": "DB_", "secretRef": {"name": "db"}},))
    made = adopted(pod)
    assert made.keys == (("Secret", "db"),)
    assert codes(made) == ["CC0602"]
    made = adopted(pod, keys={("Secret", "db"): ("user",)})
    assert made.keys == ()
    assert sources(made) == [
        {"kind": "Secret", "name": "db", "namespace": "shop", "keys": ["user"], "variables": ["DB_user"]}
    ]
    assert codes(made) == []


def test_names_that_no_cluster_has_are_not_proposed() -> None:
    made = adopted(reading(variable("A", "Not a name", "a"), variable("B", "db", "no key"), variable("C", "ok", "c")))
    assert [entry["name"] for entry in sources(made)] == ["ok"]
    assert set(codes(made)) == {"CC0602"}


def test_a_profile_that_opens_nothing_is_offered_nothing() -> None:
    made = adopted(reading(variable("A", "db", "a")), spec={"policy": {"profile": "strict"}})
    assert (made.offered, made.accepted, sources(made)) == ((), (), [])
    assert codes(made) == ["CC0602"]


def test_what_is_written_is_adopted_without_a_change() -> None:
    pods = (reading(variable("A", "db", "a"), variable("JAVA_OPTS", "db", "j")),)
    made = adopted(*pods)
    again = adopted(*pods, spec=made.spec)
    assert again.spec == made.spec
    assert again.accepted == ()


leaves = st.booleans() | st.integers(0, 9) | st.text("ab", max_size=2)
keys = st.text("abc", min_size=1, max_size=1)
specs = st.recursive(
    st.dictionaries(keys, leaves | st.lists(leaves, max_size=3), max_size=3),
    lambda inner: st.dictionaries(keys, leaves | inner, max_size=3),
    max_leaves=6,
)


@given(specs, specs)
def test_the_changes_of_a_spec_give_exactly_that_and_none_give_it_again(before: Json, more: Json) -> None:
    wanted = merge_spec(before, more)
    made = with_spec({**GENERATE, "spec": before}, wanted)
    assert same(made["spec"], wanted)
    assert spec_changes(made, wanted) == []
    assert merge_spec(wanted, more) == wanted


@given(specs, specs)
def test_what_is_set_stays(before: Json, more: Json) -> None:
    assert kept(before, merge_spec(before, more))


def kept(old: Any, new: Any) -> bool:
    """Whether everything of an old value is in the new one."""
    if isinstance(old, dict):
        return not old or (isinstance(new, dict) and all(kept(value, new.get(key)) for key, value in old.items()))
    if isinstance(old, list):
        return not old or (isinstance(new, list) and new[: len(old)] == old)
    return bool(old == new)
