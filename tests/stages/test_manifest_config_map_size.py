"""The ConfigMap of the manifest says that it grows too large before the cluster does."""

import json

import pytest

from krm_function.config.collect import Config
from krm_function.config.generate import Generate, ManifestOptions
from krm_function.config.release import Release
from krm_function.render.make_manifest import check_size, make_config_map

ENTRY = '"%064d":{"SANs":["web"],"WorkloadSecretID":"apps/v1/Deployment/shop/web","Role":""},'


def found(policies: int, emit: str = "ConfigMap") -> list[str]:
    text = "{" + "".join(ENTRY % number for number in range(policies))[:-1] + "}"
    json.loads(text)
    options = ManifestOptions(emit=emit)  # type: ignore[arg-type]
    config = Config(Generate(manifest=options), Release("v1.25.0", "v1.25.0"))
    emitted = make_config_map(Generate(manifest=options._replace(emit="ConfigMap")), text.encode(), ())
    return [one.message for one in check_size(config, emitted)]


@pytest.mark.parametrize("policies", [1, 500, 1000])
def test_a_manifest_of_usual_size_is_no_finding(policies: int) -> None:
    assert found(policies) == []


def test_kubectl_apply_has_the_smaller_limit() -> None:
    [message] = found(1600)
    assert message.endswith("of the 262144 bytes that kubectl apply can keep in its annotation")


def test_the_api_server_has_the_larger_limit() -> None:
    [message] = found(7000)
    assert message.endswith("of the 1048576 bytes that the API server accepts")


def test_what_is_not_applied_has_no_limit() -> None:
    assert found(7000, "LocalConfig") == []
