"""`check --cluster` and `plan --cluster`: Services of the cluster that stop pods whose policy has Kata's form."""

import copy
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.cli.test_check_cluster import Objects, check, cluster, plural
from tests.failures.running import Run
from tests.hosts.running import EXAMPLES, called
from tests.policy.test_service_variables import LEGAL, STOPS

__all__ = ["check"]
API_SERVER = STOPS["the API server in a cluster of IPv6"]


@pytest.fixture(scope="module")
def kata(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The quickstart, rendered for nodes without Contrast; payments without service links."""
    here = tmp_path_factory.mktemp("kata")
    for name in ("config", "resources"):
        shutil.copytree(EXAMPLES / "quickstart" / name, here / name)
    config = here / "config/contrast.yaml"
    config.write_text(config.read_text().replace("spec:\n", "spec:\n  policy: {profile: kata-4.1}\n", 1))
    payments = here / "resources/payments.yaml"
    text = payments.read_text()
    payments.write_text(text.replace("      containers:\n", "      enableServiceLinks: false\n      containers:\n", 1))
    output = called("generate", str(here / "resources"), "--config", str(here / "config")).ok()
    (here / "rendered.yaml").write_bytes(output)
    return here / "rendered.yaml"


def there(rendered: Path, *services: Any) -> Objects:
    """A cluster that has it, and some Services."""
    objects = {name: value for name, value in cluster().items() if name.startswith("v1/runtimeclasses/")}
    for value in (*_values(rendered), *map(copy.deepcopy, services)):
        namespace = value["metadata"].get("namespace") or "v1"
        objects[f"{namespace}/{plural(value['kind'])}/{value['metadata']['name']}"] = value
    return objects


@cache
def _values(rendered: Path) -> list[Any]:
    return list(yaml.safe_load_all(rendered.read_text()))


def found(ran: Run) -> list[str]:
    return [line for line in ran.stderr.splitlines() if " CC0684 " in line or " CC1135: " in line]


@pytest.mark.parametrize("name", ["sctp", "a leading digit", "ipv6"])
def test_it_is_named_for_each_workload_with_service_links(check: Callable[..., Run], kata: Path, name: str) -> None:
    ran = check(there(kata, LEGAL["tcp"], STOPS[name]), rendered=kata)
    (said,) = found(ran)
    assert ran.code == 1
    assert " and 4 more: the policy denies the variable " in said, "six workloads, and one without service links"
    assert f"which Service {STOPS[name]['metadata']['name']} adds to each container" in said
    assert "enableServiceLinks: false" in ran.stderr
    assert "10.0.0" not in ran.stderr


def test_the_api_server_s_own_reaches_all(check: Callable[..., Run], kata: Path) -> None:
    service = {**API_SERVER, "metadata": {"name": "kubernetes", "namespace": "default"}}
    (said,) = found(check(there(kata, service), rendered=kata))
    assert " and 5 more: the policy denies the variable KUBERNETES_" in said


def test_what_stops_nobody_is_not_named(check: Callable[..., Run], kata: Path) -> None:
    away = {**STOPS["sctp"], "metadata": {"name": "diameter", "namespace": "elsewhere"}}
    default = {**STOPS["sctp"], "metadata": {"name": "diameter", "namespace": "default"}}
    ran = check(there(kata, *LEGAL.values(), away, default), rendered=kata)
    assert (ran.code, found(ran)) == (0, []), ran.stderr


def test_policies_for_contrast_ask_for_none(check: Callable[..., Run]) -> None:
    objects = {**cluster(), "shop/services/diameter": STOPS["sctp"]}
    ran = check(objects, refused="/services")
    assert (ran.code, found(ran)) == (0, []), ran.stderr


def test_without_the_right_to_see_services_that_is_said(check: Callable[..., Run], kata: Path) -> None:
    ran = check(there(kata, STOPS["sctp"]), rendered=kata, refused="/namespaces/shop/services")
    (said,) = found(ran)
    assert said.startswith("warning CC1135: ")
    assert "namespace shop add to the pods of CronJob/" in said
    assert said.endswith("the cluster answered 403 Forbidden")
    assert ran.code == 0
