from typing import Any

import pytest

from krm_function.config.references import PREVIOUS_NAMES, References, Undecodable
from krm_function.findings import finding
from krm_function.kubernetes.objects import read_hook
from tests.wording import wording


def _map(name: str, namespace: str = "", kind: str = "ConfigMap", **values: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if "previous" in values:
        metadata["annotations"] = {PREVIOUS_NAMES: values.pop("previous")}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **values}


def test_the_workload_s_namespace_is_first() -> None:
    known = References(
        [_map("a", data={"k": "none"}), _map("a", "x", data={"k": "x"}), _map("a", "y", data={"k": "y"})]
    )

    assert known.find("ConfigMap", "y", "a") == {"k": "y"}
    assert known.find("ConfigMap", "", "a") == {"k": "none"}
    assert known.find("ConfigMap", "z", "a") == {"k": "none"}
    assert known.find("Secret", "y", "a") is None


def test_without_namespaces_a_name_must_be_unique() -> None:
    known = References([_map("a", "x", data={"k": "x"}), _map("b", "x"), _map("b", "y")])

    assert known.find("ConfigMap", "", "a") == {"k": "x"}
    assert known.find("ConfigMap", "", "b") is None
    assert known.find("ConfigMap", "other", "a") is None


def test_names_before_kustomize_renamed_them() -> None:
    known = References([_map("look-h7", "x", data={"k": "new"}, previous="look,look"), _map("plain", data={})])

    assert known.find("ConfigMap", "x", "look") == {"k": "new"}
    assert known.find("ConfigMap", "x", "look-h7") == {"k": "new"}
    assert known.find("ConfigMap", "x", "other") is None


def test_a_real_name_is_before_a_previous_one() -> None:
    known = References([_map("b", "x", data={"k": "old"}, previous="a"), _map("a", "x", data={"k": "real"})])
    assert known.find("ConfigMap", "x", "a") == {"k": "real"}


def test_secrets_are_decoded_and_string_data_wins() -> None:
    secret = _map("s", kind="Secret", data={"b": "w6Q=", "a": "YQ==\n", "e": ""}, stringData={"a": "plain"})
    assert References([secret]).find("Secret", "", "s") == {"a": "plain", "b": "\u00e4", "e": ""}
    assert list(References([secret]).find("Secret", "", "s") or ()) == ["a", "b", "e"]


@pytest.mark.parametrize("value", ["!", "YQ", "/w==", 1])
def test_what_is_no_text_is_not_told(value: Any) -> None:
    with pytest.raises(Undecodable) as caught:
        References([_map("s", kind="Secret", data={"k": value})]).find("Secret", "", "s")
    message = finding(caught.value.code, field="Secret s", key=caught.value.key).message
    assert str(value) not in message.removeprefix(f"Secret s: {wording('CC0604.data-base64', key='k')}")


@pytest.mark.parametrize("kind", [{}, [], ["ConfigMap"], None, 1])
def test_a_kind_that_is_no_text_is_no_kind(kind: Any) -> None:
    """The output that is checked may be anybody's."""
    assert References([_map("a", kind=kind, data={"k": "v"})]).find("ConfigMap", "", "a") is None


def test_other_objects_are_left_out() -> None:
    objects = [
        None,
        "x",
        {"kind": "ConfigMap"},
        {**_map("a"), "apiVersion": "example.com/v1"},
        _map("n", kind="Service"),
    ]
    assert References(objects).find("ConfigMap", "", "a") is None


def test_binary_data_is_no_environment() -> None:
    assert References([_map("a", binaryData={"k": "YQ=="})]).find("ConfigMap", "", "a") == {}


def test_a_number_is_not_guessed_to_be_text() -> None:
    with pytest.raises(Undecodable):
        References([_map("a", data={"k": 1})]).find("ConfigMap", "", "a")


# --- objects that are hooks


def at(weight: str = "", **hooks: str) -> dict[str, Any]:
    keys = {"helm": "helm.sh/hook", "argo": "argocd.argoproj.io/hook"}
    weights = {"helm": "helm.sh/hook-weight", "argo": "argocd.argoproj.io/sync-wave"}
    marks = {keys[host]: moment for host, moment in hooks.items()}
    marks |= {weights[host]: weight for host in hooks if weight}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "cfg", "annotations": marks}}


@pytest.mark.parametrize(
    ("pod", "source", "late"),
    [
        (at(argo="PreSync"), at(), True),
        (at(argo="PreSync"), at("-1", argo="PreSync"), False),
        (at("1", argo="PreSync"), at("2", argo="PreSync"), True),
        (at(argo="PreSync"), at("x", argo="PreSync"), False),  # counts as 0
        (at(argo="PostSync"), at(), False),
        (at(argo="Sync"), at(), False),
        (at(helm="pre-rollback"), at(helm="pre-upgrade"), True),
        (at(helm="test"), at(), False),
        (at(), at(helm="pre-install"), False),
    ],
)
def test_which_objects_are_not_there_when_a_pod_starts(pod: dict[str, Any], source: dict[str, Any], late: bool) -> None:
    assert References([source]).is_late("ConfigMap", "shop", "cfg", read_hook(pod)) == late
