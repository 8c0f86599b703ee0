"""The quickstart in a cluster, what somebody does to it there, and the ways back.

Rule of this file: what it changes, `restore` puts right; the pods may still be on their way then, see `settled`.
"""

import json
import re
from pathlib import Path

from tests import quick_yaml as yaml
from tests.cluster.api import Api, Json, until
from tests.cluster.control_plane import ControlPlane
from tests.hosts.running import EXAMPLES, Machine, Ran

RENDERED = EXAMPLES / "quickstart" / "expected" / "rendered.yaml"
CONFIG = str(EXAMPLES / "quickstart" / "config")
NODES: list[Json] = yaml.safe_load((EXAMPLES / "quickstart" / "nodes.yaml").read_text())["items"]


class Shop:
    """The quickstart in a cluster, and what somebody does to it there."""

    def __init__(self, api: Api, cluster: ControlPlane, machine: Machine, classes: Path) -> None:
        self.api, self.cluster, self.machine, self.classes = api, cluster, machine, classes

    def kubectl(self, *arguments: str, stdin: str = "") -> str:
        done = self.cluster.kubectl(*arguments, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def patch(self, name: str, body: object) -> None:
        self.kubectl("patch", name, "-n", "shop", "--type=json", "-p", json.dumps(body))

    def check(self, *more: str, kubeconfig: Path | None = None) -> Ran:
        path = str(kubeconfig or self.cluster.kubeconfig)
        return self.machine.krm("check", "--cluster", str(RENDERED), *more, KUBECONFIG=path)

    def restore(self) -> None:
        """Whatever was done, at once; and what was deleted, or made by hand."""
        self.kubectl("apply", "-f", str(self.classes))
        self._replace(self.classes)
        self.cluster.kubectl("delete", "pod", "by-hand", "-n", "shop", "--now", "--ignore-not-found")
        self.kubectl("apply", "-f", str(RENDERED))
        self._replace(RENDERED)

    def _replace(self, file: Path) -> None:
        """Once more where a controller has written a status in between, as a person would."""
        done = self.cluster.kubectl("replace", "-f", str(file))
        for _ in range(4):
            if "Conflict" in done.stderr:
                done = self.cluster.kubectl("replace", "-f", str(file))
        assert done.returncode == 0, done.stderr

    def settle(self) -> None:
        """As it was applied first, with all pods there."""
        self.kubectl("apply", "-f", str(RENDERED))
        until("the pods of the quickstart", lambda: ready(self.api) and alarms(self.check()) == [])


def ready(api: Api) -> bool:
    """All Deployments that have a node are there; recommendations wants more GPUs than the node has."""
    every = [one for kind in ("Deployment", "StatefulSet") for one in api.items(kind, "shop")]
    wanted = [one for one in every if one["metadata"]["name"] != "recommendations"]
    return all(one.get("status", {}).get("readyReplicas") == one["spec"]["replicas"] for one in wanted)


def alarms(ran: Ran) -> list[str]:
    """What it says of the pods, but for the ones that want more GPUs than a node of the example has."""
    said = re.findall(r"(?m)^(?:error|warning) CC11[23]\d .*$", ran.err)
    return [line for line in said if "shop/recommendations: rollout" not in line and "CC1122" not in line]
