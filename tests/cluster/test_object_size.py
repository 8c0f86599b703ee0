"""The size at which `kubectl apply` and etcd no longer take an object is the one that CC0715 counts up to."""

import json
import re

import pytest

from krm_function.findings import Ref
from krm_function.render.write import STORED, check_object_size
from tests.cluster.api import Json
from tests.cluster.control_plane import ControlPlane

REF = Ref("apps/v1", "Deployment", "shop", "large")


def large(length: int) -> Json:
    """A Deployment of no pods that is so much longer; with characters that Go writes as six."""
    values = ["a<b>&c" * 100, "x" * length]
    env = [{"name": f"V{number}", "value": value} for number, value in enumerate(values)]
    spec = {"containers": [{"name": "c", "image": "i", "env": env}]}
    labels = {"app": "large"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    metadata = {"name": "large", "namespace": "shop", "annotations": {"example.com/a": "b"}}
    whole = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": whole}


def counted(value: Json) -> int:
    (said,) = check_object_size(REF, ("metadata",), value)
    (size,) = re.findall(r"(?:takes|has) (\d+)", said.message)
    return int(size)


@pytest.mark.usefixtures("shop")
def test_kubectl_apply_takes_what_is_counted_and_not_a_byte_more(cluster: ControlPlane) -> None:
    room = 262_144 - counted(large(250_000)) + 250_000
    for more, taken in ((1, False), (0, True)):
        done = cluster.kubectl("apply", "-f", "-", stdin=json.dumps(large(room + more)))
        assert (done.returncode == 0, "Too long" in done.stderr) == (taken, not taken), done.stderr[-300:]


@pytest.mark.usefixtures("shop")
def test_etcd_takes_none_that_is_a_tenth_longer(cluster: ControlPlane) -> None:
    for length, taken in ((STORED * 90 // 100, True), (STORED * 110 // 100, False)):
        done = cluster.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(large(length)))
        assert (done.returncode == 0, "too large" in done.stderr) == (taken, not taken), done.stderr[-300:]
