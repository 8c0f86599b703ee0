"""`manifest prune` and `why --cluster`: what a cluster has left of an earlier render, and what it says of its pods."""

import copy
import json
import threading
from collections.abc import Callable, Iterator
from http.server import HTTPServer
from pathlib import Path

import pytest

from tests.cli.test_check_cluster import Api, Objects, plural
from tests.cli.test_plan import kubeconfig
from tests.diagnosis.objects import NAME, Json, deployment, event, pod, replica_set, status
from tests.failures.running import Run, Zygote
from tests.hosts.running import Ran, called, copied
from tests.wording import wording

BASE = "  manifest:\n    name: contrast-manifest\n"

SHARED = "    sharedSecrets: [{id: shop/db, workloads: [StatefulSet/shop/db]}]\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The quickstart after one render, whose manifest is the base of the next, in which an image is another."""
    here = copied("quickstart", tmp_path)
    called("generate", str(here / "resources"), "--config", str(here / "config"), "-m", str(here / "base.json")).ok()
    config = here / "config" / "contrast.yaml"
    base = json.dumps((here / "base.json").read_text())
    config.write_text(config.read_text().replace(BASE, f"{BASE}    keep: previous\n{SHARED}    base: {base}\n"))
    workload = here / "resources" / "web.yaml"
    text = workload.read_text()
    assert "args: [serve, " in text
    workload.write_text(text.replace("args: [serve, ", "args: [serve, --fast, "))
    return here


def pruning(here: Path, *more: str) -> tuple[str, ...]:
    return ("manifest", "prune", str(here / "resources"), "--config", str(here / "config"), *more)


def prune(here: Path) -> Ran:
    return called(*pruning(here))


Asked = Callable[..., Run]


@pytest.fixture
def asked(tmp_path: Path, call: Zygote) -> Iterator[Asked]:
    """A call beside a cluster with some objects."""
    server = HTTPServer(("127.0.0.1", 0), type("Answer", (Api,), {}))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def run(objects: list[Json], *arguments: str, refused: str = "nothing") -> Run:
        server.RequestHandlerClass.refused = refused  # type: ignore[attr-defined]
        named: Objects = {
            f"{one['metadata'].get('namespace') or 'v1'}/{plural(one['kind'])}/{one['metadata']['name']}": one
            for one in objects
        }
        vars(Api)["objects"].clear()
        vars(Api)["objects"].update(named)
        return call(*arguments, directory=tmp_path, variables=kubeconfig(tmp_path, server.server_port))

    yield run
    server.shutdown()
    server.server_close()


def test_it_prints_the_manifest_without_what_was_kept(shop: Path) -> None:
    manifests = ("-m", str(shop / "kept.json"))
    ran = called("generate", str(shop / "resources"), "--config", str(shop / "config"), *manifests)
    assert ran.code == 0, ran.err
    assert "CC0730" in ran.err
    kept, base = (json.loads((shop / f"{name}.json").read_text()) for name in ("kept", "base"))
    pruned = json.loads(prune(shop).ok())
    assert len(kept["Policies"]) == len(base["Policies"]) + 1
    assert len(pruned["Policies"]) == len(base["Policies"])
    (gone,) = kept["Policies"].keys() - pruned["Policies"].keys()
    assert kept["Policies"][gone] == base["Policies"][gone]


def test_what_was_kept_is_a_warning_of_check_and_no_error(shop: Path) -> None:
    made = called("generate", str(shop / "resources"), "--config", str(shop / "config"))
    for more in ((), ("--config", str(shop / "config"))):  # the base has it, and it is not of another deployment
        ran = called("check", *more, stdin=made.out)
        assert ran.code == 0, ran.err
        assert "CC0731" in ran.err
        assert "earlier policies of web" in ran.err


def test_it_needs_the_configuration_that_kept(shop: Path) -> None:
    config = shop / "config" / "contrast.yaml"
    config.write_text(config.read_text().replace("    keep: previous\n", ""))
    ran = prune(shop)
    assert (ran.code, ran.out) == (1, b"")
    assert "CC0734" in ran.err


def test_with_a_cluster_nothing_is_printed_while_a_pod_is_left(shop: Path, asked: Asked) -> None:
    of_before, others = deployment(), replica_set()
    old = status(pod(), {"phase": "Running"})
    idle = {**copy.deepcopy(others), "spec": {**others["spec"], "replicas": 0}}
    ended = status(pod(), {"phase": "Succeeded"})
    for objects, left in (
        ([old], [f"Pod/shop/{NAME}"]),
        ([of_before], ["Deployment/shop/web"]),
        ([others], ["ReplicaSet/shop/web-7c5ddbdf54"]),
        ([idle, ended], []),
        ([], []),
    ):
        ran = asked(objects, *pruning(shop, "--cluster"))
        assert ran.code == (1 if left else 0), ran.stderr
        assert bool(ran.stdout) == (not left)
        for name in left:
            assert name in ran.stderr


def test_nothing_is_printed_while_a_kind_cannot_be_listed(shop: Path, asked: Asked) -> None:
    ran = asked([deployment()], *pruning(shop, "--cluster"), refused="/deployments")
    assert (ran.code, ran.stdout) == (1, b"")
    assert f"error CC1180: {wording('CC1180', names='Deployments', namespace='shop', answer='403 Forb')}" in ran.stderr


def test_a_pod_of_another_runtime_of_contrast_is_left_too(shop: Path, asked: Asked) -> None:
    other = status(pod(), {"phase": "Running"})
    other["spec"]["runtimeClassName"] = "contrast-cc-metal-qemu-snp-9f8e7d6c"
    del other["metadata"]["annotations"]
    ran = asked([other], *pruning(shop, "--cluster"))
    assert (ran.code, ran.stdout) == (1, b"")
    assert "CC0733" in ran.stderr


def test_a_cluster_that_does_not_answer_prunes_nothing(shop: Path, tmp_path: Path, call: Zygote) -> None:
    ran = call(*pruning(shop, "--cluster"), directory=tmp_path, variables=kubeconfig(tmp_path, 1))
    assert (ran.code, ran.stdout) == (3, b"")


def test_why_names_what_it_could_not_read_unless_the_pod_runs(asked: Asked) -> None:
    objects = [status(pod(), {}), replica_set(), deployment()]
    ran = asked(objects, "why", "deploy/shop/web", "--cluster", refused="/replicasets")
    assert f"error CC1180: {wording('CC1180', names='ReplicaSets', namespace='shop', answer='403 Forb')}" in ran.stderr
    assert (ran.code, "there is no pod" in ran.stdout.decode()) == (1, True)
    runs = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    ran = asked([status(pod(), runs)], "why", f"pod/shop/{NAME}", "--cluster", refused="/replicasets")
    assert (ran.code, ran.stderr) == (0, "")


def test_why_asks_the_cluster(asked: Asked) -> None:
    made = status(pod(), {})
    words = 'Failed to create pod sandbox: no runtime for "contrast-cc" is configured'
    objects = [made, replica_set(), deployment(), event(made, "FailedCreatePodSandBox", words)]
    for of, more in ((f"pod/{NAME}", ("--namespace", "shop")), (f"pod/shop/{NAME}", ()), ("deploy/shop/web", ())):
        ran = asked(objects, "why", of, "--cluster", *more)
        assert ran.code == 1, ran.stderr
        assert "the node has no runtime handler contrast-cc" in ran.stdout.decode()
    assert "CC1172" in asked(objects, "why", f"pod/{NAME}", "--cluster").stderr  # in namespace default
