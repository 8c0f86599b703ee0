"""A Secret that a controller makes in the cluster, on every host: the same open variable, the same digests."""

from pathlib import Path

import pytest

from krm_function.policy.expansion import OPEN
from tests.hosts.documents import digests, initdata
from tests.hosts.hosts import HOSTS, Deployment, quickstart
from tests.hosts.running import Machine

EXTERNAL_SECRET = """apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: shop-tokens
  namespace: shop
spec:
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  target: {name: shop-tokens}
  dataFrom:
    - extract: {key: shop}
"""
SOURCES = """\
  policy:
    externalSources:
      - {kind: Secret, name: shop-tokens, keys: [ANALYTICS_TOKEN], variables: [ANALYTICS_TOKEN]}
"""
WARNING = "the host can choose any value for ANALYTICS_TOKEN (Secret shop-tokens, key ANALYTICS_TOKEN)"


@pytest.fixture(scope="module")
def deployment() -> Deployment:
    """The shop, of which the cluster has a Secret that the input lacks."""
    shop = quickstart()
    settings = shop.resources["settings.yaml"].partition("---\n")[0]
    options = shop.config["contrast.yaml"].replace("spec:\n", f"spec:\n{SOURCES}", 1)
    return shop._replace(
        resources={**shop.resources, "settings.yaml": settings, "external.yaml": EXTERNAL_SECRET},
        config={**shop.config, "contrast.yaml": options},
    )


@pytest.fixture(scope="module")
def from_files(krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory, deployment: Deployment) -> bytes:
    return HOSTS["files"].render(krm_machine, tmp_path_factory.mktemp("files"), deployment).ok()


def test_one_workload_has_the_open_variable(krm_machine: Machine, from_files: bytes) -> None:
    opened = [name for name, text in initdata(from_files).items() if f'"ANALYTICS_TOKEN={OPEN}"' in text]
    assert opened == ["Deployment/shop/web"]
    ran = krm_machine.krm("check", stdin=from_files)
    assert ran.code == 0
    assert WARNING in ran.err


@pytest.mark.parametrize("host", sorted(set(HOSTS) - {"files"}))
def test_a_host_gives_the_policies_that_files_give(
    host: str, krm_machine: Machine, tmp_path: Path, deployment: Deployment, from_files: bytes
) -> None:
    ran = HOSTS[host].render(krm_machine, tmp_path, deployment)
    assert digests(ran.ok()) == digests(from_files)
