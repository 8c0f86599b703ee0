"""The kubelets of all made-up nodes, and a storage driver: pods with a node run or succeed, claims get volumes.

Rule of this file: nothing is run, only status is written. That is enough for rollouts, for hooks and for `--wait`.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any

from tests.cluster.api import Api, Json, Refused

WHEN = "2026-11-22T12:00:00Z"
PERIOD = 0.2  # seconds
CONDITIONS = ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")


@contextmanager
def made_up_kubelet(api: Api) -> Iterator[None]:
    """Play kubelet for a block, in a thread."""
    done = threading.Event()

    def play() -> None:
        while not done.wait(PERIOD):
            try:
                for pod in api.items("Pod"):
                    sync(api, pod)
                for claim in api.items("PersistentVolumeClaim"):
                    provide(api, claim)
            except (OSError, HTTPException, Refused):  # the next round sees the same pods
                api.close()
        api.close()

    thread = threading.Thread(target=play, name="made-up kubelet")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def sync(api: Api, pod: Json) -> None:
    """Take one pod one step further."""
    metadata = pod["metadata"]
    if metadata.get("deletionTimestamp"):
        api.delete("Pod", metadata["name"], metadata["namespace"])
    elif pod["spec"].get("nodeName") and pod["status"]["phase"] == "Pending":
        api.patch("Pod", metadata["name"], {"status": status(pod)}, metadata["namespace"], "/status")


def provide(api: Api, claim: Json) -> None:
    """Make the volume that a claim waits for, once."""
    if claim["status"]["phase"] != "Pending":
        return
    metadata, spec = claim["metadata"], claim["spec"]
    reference = {"kind": "PersistentVolumeClaim", "namespace": metadata["namespace"], "name": metadata["name"]}
    wanted = {
        "capacity": spec["resources"]["requests"],
        "accessModes": spec["accessModes"],
        "volumeMode": spec.get("volumeMode", "Filesystem"),
        "persistentVolumeReclaimPolicy": "Retain",
        "csi": {"driver": "made-up.example.com", "volumeHandle": metadata["uid"]},
        "claimRef": {"apiVersion": "v1", **reference},
    }
    head = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"pv-{metadata['uid']}"}}
    api.create({**head, "spec": wanted})


def status(pod: Json) -> Json:
    """The status of a pod that runs, or of one that has ended well: of a Job, or never to be started again."""
    spec = pod["spec"]
    owners = [owner["kind"] for owner in pod["metadata"].get("ownerReferences", ())]
    ends = "Job" in owners or spec.get("restartPolicy") == "Never"
    ready = "False" if ends else "True"
    return {
        "phase": "Succeeded" if ends else "Running",
        "startTime": WHEN,
        "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": WHEN},
            *(
                {"type": kind, "status": ready if "eady" in kind else "True", "lastTransitionTime": WHEN}
                for kind in CONDITIONS
            ),
        ],
        "containerStatuses": [_container(one, ended=ends) for one in spec["containers"]],
        "initContainerStatuses": [
            _container(one, ended=ends or one.get("restartPolicy") != "Always")
            for one in spec.get("initContainers", ())
        ],
    }


def _container(container: Any, *, ended: bool) -> Json:
    over = {"exitCode": 0, "reason": "Completed", "startedAt": WHEN, "finishedAt": WHEN}
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": container["image"],
        "ready": not ended,
        "started": not ended,
        "restartCount": 0,
        "state": {"terminated": over} if ended else {"running": {"startedAt": WHEN}},
    }
