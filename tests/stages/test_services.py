"""Services of the input whose variables a policy denies are findings, and go as the hint says."""

from typing import Any

import pytest

from krm_function.config.generate import ManifestOptions, PolicyOptions
from krm_function.contrast.profiles import KATA
from krm_function.policy.settings import default_document
from tests.policy.test_service_variables import LEGAL, STOPS
from tests.world import Json, an_object, config, coordinator, good, pod_spec, run

KATA_NODES = config(policy=PolicyOptions(profile="kata-4.1"), manifest=ManifestOptions(emit="none"))
ROOT: Json = {"securityContext": {"runAsUser": 0, "runAsGroup": 0}}


def _web(**fields: Any) -> Json:
    return an_object(spec=pod_spec(**ROOT, **fields))


def _found(*values: Any, to: Any = KATA_NODES) -> list[tuple[str, str, str]]:
    made = run(*values, to=to)
    return [(one.severity, one.message, one.hint) for one in made.findings if one.code == "CC0684"]


@pytest.mark.parametrize("name", STOPS)
def test_it_is_an_error_in_kata_s_form_and_nothing_leaves_the_render(name: str) -> None:
    ((severity, message, hint),) = _found(_web(), STOPS[name])
    assert severity == "error"
    assert f"Service {STOPS[name]['metadata']['name']} adds" in message
    assert "10.0.0" not in message
    assert "fd00" not in message
    assert "enableServiceLinks: false" in hint
    assert "initdata" not in str(run(_web(), STOPS[name], to=KATA_NODES).texts)
    # the hint, followed
    assert not _found(_web(enableServiceLinks=False), STOPS[name])


@pytest.mark.parametrize("name", LEGAL)
def test_what_kata_s_form_allows_is_none(name: str) -> None:
    assert not _found(_web(), LEGAL[name])


def test_no_service_is_one_for_contrast() -> None:
    good(coordinator(), an_object(), *{one["metadata"]["name"]: one for one in STOPS.values()}.values())


def test_settings_of_a_user_are_asked_whatever_the_profile() -> None:
    settings = {**default_document(KATA), "cluster_config": default_document(KATA)["cluster_config"]}
    theirs = config(policy=PolicyOptions(settings=settings), manifest=ManifestOptions(emit="none"))
    for given, count in ((STOPS["sctp"], 1), (LEGAL["tcp"], 0)):
        assert len(_found(an_object(), given, to=theirs)) == count


def test_only_services_of_the_namespace_with_an_address_count() -> None:
    sctp = STOPS["sctp"]
    other = {**sctp, "metadata": {"name": "diameter", "namespace": "elsewhere"}}
    none = {**sctp, "metadata": {"name": "diameter"}}
    headless = {**sctp, "spec": {**sctp["spec"], "clusterIP": "None"}}
    away = {**sctp, "spec": {"type": "ExternalName", "externalName": "example.com", "ports": sctp["spec"]["ports"]}}
    foreign = {**sctp, "apiVersion": "serving.knative.dev/v1"}
    assert len(_found(_web(), none)) == 1
    for given in (other, headless, away, foreign):
        assert not _found(_web(), given)


def test_an_address_that_the_cluster_gives_later_has_the_family_that_the_service_asks_for() -> None:
    for families, count in ((["IPv6"], 1), (["IPv6", "IPv4"], 1), (["IPv4", "IPv6"], 0), ([], 0)):
        service = {**LEGAL["tcp"], "spec": {"ports": [{"port": 80}], "ipFamilies": families}}
        assert len(_found(_web(), service)) == count
