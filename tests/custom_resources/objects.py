"""Objects of the catalogue's kinds, the configuration to render them with, and calls of the program."""

import json
import subprocess
import sys
from typing import Any

from tests import quick_yaml as yaml
from tests.hosts.running import EXAMPLES, ROOT, Ran

Json = dict[str, Any]
QUICKSTART = EXAMPLES / "quickstart"
FACTS = QUICKSTART / "config"
CONTRAST = ROOT / "tests/custom_resources/contrast.yaml"
OPTIONS = tuple(
    part for file in (FACTS / "release.yaml", FACTS / "images.yaml", CONTRAST) for part in ("--config", str(file))
)
LOCKED = next(
    name for name in yaml.safe_load((FACTS / "images.yaml").read_text())["spec"]["images"] if "edgelesssys" not in name
)
COORDINATOR = (QUICKSTART / "resources/coordinator.yaml").read_text()
CALL = "import sys; from krm_function.cli.main import main; sys.exit(main())"


def template(name: str = "main", runtime_class: str = "contrast-cc", **more: Any) -> Json:
    """A pod template with one container."""
    container = {
        "name": name,
        "image": LOCKED,
        "command": [f"/bin/{name}"],
        "securityContext": {"runAsUser": 1000, "runAsGroup": 1000},
        "resources": {"limits": {"memory": "200Mi"}},
        **more,
    }
    return {
        "metadata": {"labels": {"app": name}},
        "spec": {"runtimeClassName": runtime_class, "containers": [container]},
    }


def leader_worker_set(name: str = "vllm", **template_of_lws: Any) -> Json:
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "replicas": 2,
            "leaderWorkerTemplate": {
                "size": 3,
                "leaderTemplate": template("leader", args=["$(LWS_LEADER_ADDRESS)", "$(LWS_GROUP_SIZE)"]),
                "workerTemplate": template("worker", args=["$(LWS_WORKER_INDEX)"]),
                **template_of_lws,
            },
        },
    }


def ray_cluster(name: str = "llm", *, own_command: bool = True, **spec: Any) -> Json:
    """A RayCluster of a head and two groups, one of which has GPUs."""
    templates = [template("ray", args=["$(KUBERAY_GEN_RAY_START_CMD)"]) for _ in range(3)]
    for one in templates:
        container = one["spec"]["containers"][0]
        container["resources"]["limits"]["cpu"] = "2"
        if not own_command:
            del container["command"], container["args"]
    head, workers, gpus = templates
    gpus["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/pgpu"] = "1"
    groups = [
        {
            "groupName": group,
            "replicas": count,
            "minReplicas": 0,
            "maxReplicas": 4,
            "template": one,
            "rayStartParams": {},
        }
        for group, count, one in (("cpu", 2, workers), ("gpu", 1, gpus))
    ]
    notes = {"annotations": {"ray.io/overwrite-container-cmd": "true"}} if own_command else {}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": name, "namespace": "shop", **notes},
        "spec": {
            "headGroupSpec": {"rayStartParams": {"num-cpus": "0"}, "template": head},
            "workerGroupSpecs": groups,
            **spec,
        },
    }


def py_torch_job(name: str = "llm", roles: tuple[str, ...] = ("Worker",), **spec: Any) -> Json:
    """A PyTorchJob of one master, of three workers, or of both."""
    counts = {"Master": 1, "Worker": 3}
    replicas = {role: {"replicas": counts[role], "template": template("pytorch")} for role in roles}
    metadata = {"name": name, "namespace": "shop"}
    spec = {"pytorchReplicaSpecs": replicas, **spec}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata, "spec": spec}


def stream(*objects: Json) -> str:
    """The input: the objects as JSON documents, and the coordinator."""
    return "".join(f"{json.dumps(one, indent=2)}\n---\n" for one in objects) + COORDINATOR


def ran(*arguments: str, stdin: str | bytes = b"") -> Ran:
    """One call of the program."""
    done = subprocess.run(
        [sys.executable, "-c", CALL, *arguments],
        cwd=ROOT,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def rendered(*objects: Json, config: tuple[str, ...] = ()) -> Ran:
    return ran("generate", "-", *OPTIONS, *config, stdin=stream(*objects))


def data_of(output: bytes, address: str) -> Json:
    """The policy data of one workload of rendered output."""
    made: Json = json.loads(ran("policy", "show", address, "-o", "data", stdin=output).ok())
    return made


def variables(data: Json, container: str) -> dict[str, str]:
    """The variables of one container of policy data."""
    for one in data["containers"]:
        if one["OCI"]["Annotations"].get("io.kubernetes.cri.container-name") == container:
            return dict(text.split("=", 1) for text in one["OCI"]["Process"].get("Env", ()))
    raise AssertionError(container)


def pod_name(data: Json) -> str:
    """The pattern of the pod's name."""
    return str(data["containers"][0]["OCI"]["Annotations"]["io.kubernetes.cri.sandbox-name"])
