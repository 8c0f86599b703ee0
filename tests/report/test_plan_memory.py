"""Memory in every form of the plan, and in the explanation of a workload: what VMs get, need, and what is not known."""

import json
from typing import Any

import pytest

from krm_function.kubernetes.nodes import Node
from krm_function.kubernetes.workload import PodMemory, Workload
from krm_function.render.rendered import Rendered
from krm_function.report.explain_workload import explain_json, explain_text
from krm_function.report.plan import NOTHING, Plan, make_plan, memory_sum, plan_json
from krm_function.report.plan_html import plan_html
from krm_function.report.plan_text import plan_text
from tests.report.test_plan_forms import node, plan_of, planned

MIB = 1 << 20
KNOWN = PodMemory(of_vm=512 * MIB, limits=2048 * MIB, asked=2048 * MIB, images=1000 * MIB, images_least=700 * MIB)
UNKNOWN = KNOWN._replace(unknown=("registry.example.com/web",), images=0)
STORED = KNOWN._replace(stored=True, images=0)


def with_memory(memory: PodMemory | None, name: str = "web", replicas: Any = None) -> Workload:
    workload = planned(name)
    if replicas is not None:
        workload.object["spec"]["replicas"] = replicas
    return workload._replace(memory=memory)


def plan(*lines: Workload, nodes: tuple[Node, ...] = (node("a"),)) -> Plan:
    return plan_of(list(lines), list(nodes))


def test_the_column_and_the_sum_of_the_text() -> None:
    text = plan_text(plan(with_memory(KNOWN, replicas=3), with_memory(UNKNOWN, "other")), width=100)
    assert "2560Mi/3048Mi" in text
    assert "2560Mi/?" in text
    assert "    VMs of 4 pods: 10.0Gi/?\n" in text
    assert "memory: what the VM of a pod gets / what its images and limits need; ?: the lock has no sizes" in text


@pytest.mark.parametrize("memory", [UNKNOWN, None])
def test_where_nothing_is_known_one_line_says_so(memory: PodMemory | None) -> None:
    text = plan_text(plan(with_memory(memory)))
    assert ("Mi" in text, NOTHING in text) == (False, memory is not None)


def test_the_page_explains_its_figures_or_has_none() -> None:
    assert "?: the lock has no sizes of an image" in plan_html(plan(with_memory(KNOWN), with_memory(UNKNOWN, "other")))
    page = plan_html(plan(with_memory(UNKNOWN)))
    assert (NOTHING in page, "Mi/?" in page) == (True, False)


def test_the_json_form_has_bytes() -> None:
    data = json.loads(plan_json(plan(with_memory(KNOWN, replicas=3), with_memory(KNOWN, "other"))))
    assert data["workloads"][0]["memory"] == {
        "gets": 2560 * MIB,
        "needs": 3048 * MIB,
        "images": 1000 * MIB,
        "limits": 2048 * MIB,
        "estimated": False,
        "unknownImages": [],
        "imageStore": False,
    }
    assert data["pools"][0]["memory"] == {"pods": 4, "gets": 4 * 2560 * MIB, "needs": 4 * 3048 * MIB}
    unknown = json.loads(plan_json(plan(with_memory(UNKNOWN), with_memory(KNOWN, "other"))))
    assert unknown["workloads"][0]["memory"]["unknownImages"] == ["registry.example.com/web"]
    assert unknown["pools"][0]["memory"]["needs"] is None


def test_the_page_has_cards_sums_and_sentences() -> None:
    page = plan_html(plan(with_memory(KNOWN, replicas=2)))
    assert "memory 2560Mi/3048Mi" in page
    assert "VMs of 2 pods: 5120Mi/6096Mi" in page
    assert "the VM gets 2560Mi: 512Mi of its own and 2048Mi of limits" in page
    assert "it needs 3048Mi: 1000Mi of images and 2048Mi of limits" in page


@pytest.mark.parametrize(
    ("memory", "says"),
    [
        (KNOWN, "it needs 3048Mi"),
        (KNOWN._replace(exact=False), "it needs about 3048Mi: about 1000Mi of images"),
        (KNOWN._replace(least=8 * 1000 * MIB), "8 GB at least"),
        (UNKNOWN, "the lock has no sizes of 1 of them (contrast-krm lock --sizes)"),
        (STORED, "its images are in the image store"),
    ],
    ids=["known", "estimated", "gpu", "unknown", "stored"],
)
def test_the_explanation(memory: PodMemory, says: str) -> None:
    one = with_memory(memory)
    rendered = Rendered((), plan=(one,))
    assert says in explain_text(rendered, one.ref)
    assert json.loads(explain_json(rendered, one.ref))["memory"]["gets"] == memory.gets


def test_a_daemon_set_has_a_pod_on_each_node() -> None:
    one = with_memory(KNOWN)
    each = one._replace(ref=one.ref._replace(kind="DaemonSet"))
    assert str(memory_sum([each], 5)) == "VMs of 5 pods: 12.5Gi/14.9Gi"
    assert memory_sum([one._replace(memory=None)]) is None
    assert make_plan(Rendered((), plan=(each,))).lines
