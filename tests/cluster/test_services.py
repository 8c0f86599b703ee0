"""Services that an API server takes, with the addresses that it gives, stop no pod of a policy for Contrast.

The variables are made by the kubelet's own code out of the objects as the API server has them.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from krm_function.contrast.profiles import CONTRAST, KATA, STRICT
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.service_variables import denied_services
from tests.cluster.api import Api, Json
from tests.cluster.control_plane import ControlPlane
from tests.cluster.made_up_nodes import made_up_nodes
from tests.cluster.quickstart.shop import NODES
from tests.hosts.running import EXAMPLES, called
from tests.policy.test_service_variables import _allowed, _by_the_kubelet, _rego
from tests.real_tools import needing

pytestmark = needing("defaults")  # the kubelet's own variables

QUICKSTART = EXAMPLES / "quickstart"
# name -> what of its spec stops a pod of Kata's form
STOPS: dict[str, Json] = {
    "diameter": {"ports": [{"name": "http", "port": 80}, {"name": "peer", "port": 3868, "protocol": "SCTP"}]},
    "9web": {"ports": [{"port": 80}]},
    "six": {"ports": [{"port": 80}], "ipFamilies": ["IPv6"], "ipFamilyPolicy": "SingleStack"},
}


@pytest.fixture
def services(api: Api, namespace: str) -> dict[str, Json]:
    """The Services as the API server has them, one that stops nobody among them."""
    made = {}
    for name, spec in {**STOPS, "db": {"ports": [{"port": 5432}]}}.items():
        metadata = {"name": name, "namespace": namespace}
        made[name] = api.create({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}).ok()
    assert ":" in made["six"]["spec"]["clusterIP"]
    return made


@pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda one: one.name)
def test_the_pods_of_the_namespace_start(services: dict[str, Json], profile: Any) -> None:
    variables = _by_the_kubelet(*services.values())
    assert _allowed(_rego(profile), [text for one in variables for text in one])


def test_in_kata_s_form_we_name_those_that_stop_a_pod_and_no_other(services: dict[str, Json]) -> None:
    rego = _rego(KATA)
    stopped = {
        name
        for (name, _), variables in zip(services.items(), _by_the_kubelet(*services.values()), strict=True)
        if not _allowed(rego, variables)
    }
    named = {one.service for one in denied_services(services.values(), read_policy_data(rego), whole=False)}
    assert stopped == named == set(STOPS)


def test_check_and_plan_of_the_cluster_name_them(
    api: Api, cluster: ControlPlane, services: dict[str, Json], namespace: str, tmp_path: Path
) -> None:
    """For Kata's form alone, and with the first variable that is denied; a policy for Contrast allows them all."""
    environment = {"KUBECONFIG": str(cluster.kubeconfig)}
    for profile, named in (("kata-4.1", set(STOPS)), ("contrast-1.25", set())):
        config = tmp_path / profile
        shutil.copytree(QUICKSTART / "config", config)
        generate = config / "contrast.yaml"
        text = generate.read_text().replace("spec:\n", f"spec:\n  policy: {{profile: {profile}}}\n", 1)
        generate.write_text(text)
        source = tmp_path / f"{profile}.yaml"
        source.write_text("".join(_moved(namespace)))
        with made_up_nodes(api, NODES):
            ran = called("plan", str(source), "--config", str(config), "--cluster", env=environment)
        assert set(re.findall(r"which Service (\S+) adds", ran.err)) == named, ran.err
        rendered = called("generate", str(source), "--config", str(config)).ok()
        ran = called("check", "-", "--cluster", stdin=rendered, env=environment)
        assert set(re.findall(r"which Service (\S+) adds", ran.err)) == named, ran.err
    assert all(api.get("Service", name, namespace).code == 200 for name in services)


def _moved(namespace: str) -> Iterator[str]:
    """The resources of the quickstart that are about web and the coordinator, in another namespace."""
    for name in ("web", "coordinator", "settings"):
        text = (QUICKSTART / "resources" / f"{name}.yaml").read_text()
        yield f"---\n{text.replace('namespace: shop', f'namespace: {namespace}')}"
