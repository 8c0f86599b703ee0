"""`plan --cluster` and `check --cluster` against API servers that are hostile, broken or not there.

Whatever they answer, the command ends soon, in bounded memory, with one clear message and a code that is no bug's.
"""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from krm_function.operations.api_server import Listing, Lists, RefusalError
from tests.adversary.hostile_api_server import (
    BOMB,
    ESCAPE,
    INITDATA,
    ROWS,
    Row,
    flood,
    good,
    head,
    on,
    page,
    status,
    text,
    token_of,
)
from tests.adversary.hostile_registry import Mode, Server, Talk
from tests.cli.test_plan import kubeconfig
from tests.failures.running import Run, Zygote
from tests.hosts.running import EXAMPLES
from tests.lock.content import image
from tests.wording import wording

QUICK = EXAMPLES / "quickstart"
COMMANDS = {
    "plan": ("plan", str(QUICK / "resources"), "--config", str(QUICK / "config")),
    "check": ("check", str(QUICK / "expected/rendered.yaml")),
}
SECONDS = 40  # of the clock: what a busy machine may need; the modes themselves would take minutes, or for ever
PREPARED = """
import os, resource
os.environ["KUBECONFIG"] = os.path.join(os.getcwd(), "kubeconfig")  # which the client looks at when it is imported
import kubernetes.client, kubernetes.config, urllib3
import krm_function.operations.api_server as connection
from krm_function.lock.connections import Pace
connection.PACE = Pace(connect=2.0, quiet=1.0)
connection.SECONDS = 6.0
connection.MOST_BYTES = 70 << 20
"""
MEMORY = "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"


class Bounded:
    """Calls in 2 GiB of addresses, which wait a second where a user's would wait half a minute."""

    def __init__(self, scratch: Path, prepared: str = PREPARED + MEMORY) -> None:
        self.scratch, self.zygote = scratch, Zygote(scratch, prepared)

    def __call__(self, *arguments: str, server: Server) -> Run:
        variables = kubeconfig(self.scratch, int(server.address.rpartition(":")[2]))
        return self.zygote(*arguments, directory=self.scratch, variables=variables)


@pytest.fixture(scope="module")
def bounded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bounded]:
    made = Bounded(tmp_path_factory.mktemp("streams"))
    yield made
    made.zygote.close()


def ask(command: str, mode: Mode, call: Bounded, *more: str) -> tuple[Run, Server]:
    server = Server(image(), mode)
    try:
        return call(*COMMANDS[command], "--cluster", *more, server=server), server
    finally:
        server.close()


CASES = [
    pytest.param(command, row, id=f"{command}-{row.name}")
    for row in ROWS
    for command in COMMANDS
    if command == "plan" or row.at != ("nodes",)
    if command == "check" or {"nodes", "runtimeclasses"} & set(row.at)
]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "row"), CASES)
def test_an_api_server_that(command: str, row: Row, bounded: Bounded) -> None:
    start = time.monotonic()
    run, server = ask(command, on(row.at, row.mode), bounded)
    assert time.monotonic() - start < SECONDS
    assert run.code in {0, 1, 2, 3}, run.stderr
    assert "Traceback" not in run.stderr
    assert "internal error" not in run.stderr
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", run.stderr), "nothing that controls a terminal"
    assert "CANARY" not in run.stderr
    if row.says:
        assert row.says in run.stderr
    if command == "plan" and "403 Forbidden" in row.says and "CC1121" not in row.says:
        assert f"warning CC1134: {wording('CC1134', answer='403 Forbidden')}" in run.stderr
    elif command == "check" and row.says[:3] in {"403", "404"}:
        assert run.code == 1, run.stderr
        assert (
            f"error CC1180: {wording('CC1180', names='Deployments', namespace='shop', answer=row.says)}" in run.stderr
        )
    elif row.says and "CC1121" not in row.says:
        assert (run.code, run.stderr.count("error ")) == (3, 1), run.stderr
        assert f"error CC1003: {wording('CC1003', problem='')}" in run.stderr
        assert len(run.stderr) < 1000
    assert all(b"Bearer CANARY-token" in head for head in server.heads), "and to nobody else"


POSTS: dict[str, Mode] = {
    "closes": lambda talk: talk.close(),
    "hangs": lambda talk: talk.hang(),
    "drips": lambda talk: talk.drip(b"HTTP/1.1 201 OK\r\n"),
    "floods": flood(head(), b"x"),
    "refuses without end": flood(head(status="403 No"), b"x"),
    "redirects": status(307, Location="https://elsewhere.example/"),
    "shows a page": text(b"<html>", Content_Type="text/html"),
    "compresses": text(BOMB, Content_Encoding="gzip"),
    "has no words": status(403),
    "has words that control a terminal": status(
        403, json.dumps({"kind": "Status", "message": ESCAPE}).encode(), Content_Type="application/json"
    ),
    "has many words": status(
        403, json.dumps({"kind": "Status", "message": "x y " * 9000}).encode(), Content_Type="application/json"
    ),
    "is deep": text(b'{"a":' * 200_000 + b"1" + b"}" * 200_000),
    "has a million values": text(b'{"kind": "Pod", "spec": [' + b"{}," * 1_000_000 + b"{}]}"),
    "makes null": text(b"null"),
    "makes a list": text(b"[]"),
    "makes a pod without a spec": text(b'{"kind": "Pod"}'),
    "makes a pod of numbers": text(b'{"kind": "Pod", "metadata": 5, "spec": {"containers": 7, "initContainers": [8]}}'),
    "makes a policy of garbage": text(
        json.dumps({"kind": "Pod", "metadata": {"annotations": {INITDATA: "x" * 9000}}, "spec": {}}).encode()
    ),
    "makes other containers": text(
        json.dumps({"kind": "Pod", "spec": {"containers": [{"name": ESCAPE}], "ephemeralContainers": [7]}}).encode()
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", POSTS)
def test_a_dry_run_that(name: str, bounded: Bounded) -> None:
    """What cannot be asked is a warning; a pod that is another one is an error."""
    start = time.monotonic()
    run, server = ask("plan", lambda talk: POSTS[name](talk) if talk.sent else good(talk), bounded)
    assert time.monotonic() - start < SECONDS
    assert run.code in {0, 1}, run.stderr
    assert "warning CC1131" in run.stderr or "error CC1130" in run.stderr
    assert "internal error" not in run.stderr
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", run.stderr)
    assert "CANARY" not in run.stderr
    assert len(run.stderr) < 20_000
    assert all(b"Bearer CANARY-token" in head for head in server.heads)


def test_the_table_has_what_was_asked_for() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS) >= 80


def test_a_list_is_read_page_by_page(bounded: Bounded) -> None:
    """What stands on the second page counts, and each page is asked for by the token of the one before."""

    def act(talk: Talk) -> None:
        second = token_of(talk) == "a b&c"
        metadata = {} if second else {"continue": "a b&c"}
        items = [{"metadata": {"name": f"node-{int(second)}"}}]
        talk.answer(200, page(talk, items, metadata=metadata), Content_Type="application/json")

    run, server = ask("plan", on(("nodes",), act), bounded, "-o", "json")
    assert run.code in {0, 1}
    assert b"node-1" in run.stdout
    assert len([head for head in server.heads if b"/api/v1/nodes" in head]) == 2


@pytest.mark.slow
def test_a_cluster_of_5000_nodes_and_30_kb_each_is_no_attack(tmp_path: Path) -> None:
    """150 MB, with the bounds as they are: 50 images and the history of its fields make a node that long."""
    as_it_is = Bounded(tmp_path, PREPARED.partition("import krm_function")[0] + MEMORY)
    images = [
        {"names": [f"registry.example.com/a/{n}-{'x' * 312}@sha256:{'0' * 64}", f"r/{n}:1"], "sizeBytes": n}
        for n in range(50)
    ]
    history = [{"manager": "kubelet", "fieldsV1": {f"f:{n}": {} for n in range(400)}}]
    labels = {f"label-{n}": "x" * 60 for n in range(30)}
    sizes: list[int] = []
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "110"}

    def act(talk: Talk) -> None:
        first = int(token_of(talk) or 0)
        items = [
            {
                "metadata": {"name": f"node-{number}", "labels": labels, "managedFields": history},
                "spec": {},
                "status": {"images": images, "allocatable": capacity, "capacity": capacity},
            }
            for number in range(first, first + 250)
        ]
        sizes.append(len(json.dumps(items[0])))
        metadata = {"continue": str(first + 250)} if first < 4750 else {}
        talk.answer(200, page(talk, items, metadata=metadata), Content_Type="application/json")

    run, server = ask("plan", on(("nodes",), act), as_it_is)
    as_it_is.zygote.close()
    assert run.code in {0, 1}, run.stderr
    assert "CC1003" not in run.stderr
    assert 29_000 < min(sizes) < 33_000, sizes[0]
    assert len([head for head in server.heads if b"/api/v1/nodes" in head]) == 20


@pytest.mark.parametrize("expired", [1, 2])
def test_a_list_that_expires_is_read_again_once(expired: int) -> None:
    """Each object comes once, also one that was there before; then it is an error."""

    class Expiring:
        left = expired

        def get(self, path: str, _: str) -> bytes:
            if "continue" not in path:
                return json.dumps(expiring_page(["a", "b"], "next")).encode()
            if self.left:
                self.left -= 1
                raise RefusalError("CC1003.status", 410)
            return json.dumps(expiring_page(["c"], "")).encode()

    def expiring_page(names: list[str], token: str) -> dict[str, object]:
        items = [{"metadata": {"name": name, "namespace": "shop"}} for name in names]
        return {"apiVersion": "v1", "kind": "PodList", "metadata": {"continue": token}, "items": items}

    values = Lists(Expiring()).objects(Listing("v1", "Pod", "the pods", "shop"))  # type: ignore[arg-type]
    if expired == 1:
        assert [value["metadata"]["name"] for value in values] == ["a", "b", "c"]
    else:
        with pytest.raises(RefusalError) as raised:
            list(values)
        assert raised.value.status == 410


def test_a_namespace_that_is_none_is_not_asked_for() -> None:
    """It comes from the rendered output, and would lead to other objects."""
    wanted = Listing("v1", "ConfigMap", "the ConfigMaps", "../../secrets")
    with pytest.raises(RefusalError, match=r"^CC1003\.namespace$"):
        next(Lists(None).objects(wanted))  # type: ignore[arg-type]


def test_what_is_asked_is_the_same_as_before(bounded: Bounded) -> None:
    _, server = ask("check", good, bounded)
    paths = {head.split(b" ")[1].partition(b"?")[0].decode() for head in server.heads}
    assert not [path for path in paths if "secret" in path]
    assert "/apis/apps/v1/namespaces/shop/deployments" in paths
    assert "/apis/node.k8s.io/v1/runtimeclasses" in paths
