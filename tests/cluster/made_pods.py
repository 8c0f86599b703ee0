"""Pods that a controller made of rendered output: what a node says of them, by the policy of their template.

Rule of this file: the host asks for what the pod says, and the agent has the policy that came with it. Nothing is
sealed anew but to have a correct host.
"""

import copy
import functools
import re
from typing import Any

from krm_function.config.document import ConfigDocument
from krm_function.config.image_lock import parse_image_lock
from krm_function.config.references import References
from krm_function.kubernetes.workload import INITDATA
from krm_function.policy.initdata import decode_toml, from_annotation
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests import quick_yaml as yaml
from tests.cluster.api import Api, until
from tests.cluster.control_plane import ControlPlane
from tests.custom_resources.objects import FACTS, OPTIONS, stream
from tests.hosts.running import EXAMPLES, called
from tests.policy import pods
from tests.policy.host import Agent, Host

Json = dict[str, Any]
CUSTOM_RESOURCES = EXAMPLES / "custom-resources/config"
CREATE = "CreateContainerRequest"


def generated(value: Json) -> bytes:
    """What a render makes of an object and the coordinator."""
    return called("generate", "-", *OPTIONS, stdin=stream(value).encode()).ok()


def object_of(output: bytes, kind: str) -> Json:
    """The first object of a kind in rendered output."""
    return next(one for one in yaml.safe_load_all(output) if one["kind"] == kind)


def made_pods(api: Api, namespace: str, count: int) -> list[Json]:
    """The pods of a namespace, once there are that many."""

    def enough() -> bool:
        return len(api.items("Pod", namespace)) >= count

    until(f"{count} pods", enough)
    return api.items("Pod", namespace)


@functools.cache
def locked() -> Any:
    value, other = (yaml.safe_load((one / "images.yaml").read_text()) for one in (FACTS, CUSTOM_RESOURCES))
    value["spec"]["images"] |= other["spec"]["images"]
    images, findings = parse_image_lock(ConfigDocument(value, "images.yaml", 1, None))
    assert images is not None, findings
    return images


def as_made(pod: Json) -> Json:
    """A pod of the cluster as an object that can be sealed by itself, without what the API server adds to every pod."""
    spec = copy.deepcopy(pod["spec"])
    spec["volumes"] = [one for one in spec.get("volumes", ()) if not one["name"].startswith("kube-api-access")]
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        mounts = container.get("volumeMounts", ())
        container["volumeMounts"] = [one for one in mounts if not one["name"].startswith("kube-api-access")]
    kept = {key: pod["metadata"][key] for key in ("name", "namespace", "labels")}
    notes = {key: text for key, text in pod["metadata"]["annotations"].items() if key != INITDATA}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**kept, "annotations": notes}, "spec": spec}


def host_of(pod: Json) -> Host:
    """A correct host of a pod: it asks for what the pod says."""
    subject = pods.of(as_made(pod))
    made, findings = seal(subject, locked(), References(), default_settings(), load_rules(), {})
    assert made is not None, findings
    return Host(made.rego, pod["metadata"]["name"], pod["metadata"]["namespace"])


def agent_of(pod: Json) -> Agent:
    """The agent of a pod: it has the policy of the template."""
    initdata = decode_toml(from_annotation(pod["metadata"]["annotations"][INITDATA]))
    return Agent(initdata.data["policy.rego"], quick=True, kept=False)


def names(host: Host) -> list[str]:
    key = "io.kubernetes.cri.container-name"
    return [one["OCI"]["Annotations"].get(key, "pause") for one in host.data["containers"]]


def assert_starts(pod: Json) -> None:
    """A node creates the sandbox and each container of a pod."""
    host, agent = host_of(pod), agent_of(pod)
    for name in names(host):
        assert agent.allows(CREATE, host.create(name)), (pod["metadata"]["name"], name)


def assert_denied(pod: Json, container: str, variable: str) -> None:
    """A node creates the sandbox of a pod, and not a container with another value of a variable, `NAME=value`."""
    host, agent = host_of(pod), agent_of(pod)
    assert agent.allows(CREATE, host.create("pause"))
    request = host.create(container)
    env, name = request["OCI"]["Process"]["Env"], variable.partition("=")[0]
    request["OCI"]["Process"]["Env"] = [*(one for one in env if not one.startswith(f"{name}=")), variable]
    assert not agent.allows(CREATE, request)


def beside_the_coordinator(cluster: ControlPlane, namespace: str, resource: str, output: bytes) -> list[str]:
    """Errors of `check --cluster` of the output, and of `check` of what kubectl lists.

    Not those that coordinator and manifest lack, neither of which was applied.
    """
    environment = {"KUBECONFIG": str(cluster.kubeconfig)}
    compared = called("check", "-", "--cluster", stdin=output, env=environment).err
    listed = cluster.kubectl("-n", namespace, "get", f"{resource},statefulsets,jobs,pods", "-o", "yaml")
    assert listed.returncode == 0, listed.stderr
    own = called("check", "-", stdin=listed.stdout.encode()).err
    return [
        line
        for text in (compared, own)
        for line in text.splitlines()
        if line.startswith("error")
        and not re.match("error CC1120 shop/contrast-manifest and 1 more|error CC1106", line)
    ]
