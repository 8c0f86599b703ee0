"""The text form of the plan: what is said once, and that it fits the width that there is."""

import re

import pytest

from krm_function.findings import finding
from krm_function.kubernetes.nodes import Node
from krm_function.kubernetes.workload import Workload, workloads_of
from krm_function.report.plan import Plan
from krm_function.report.plan_text import plan_text
from tests.report.test_plan_forms import CLASS, node, plan_of, planned
from tests.wording import wording
from tests.world import an_object, pod_spec

DIGEST = "0123456789abcdef" * 4
TEES = ("snp", "tdx", "gpu", "big", "old")
NAMES = {
    "twelve": [f"service-{index}" for index in range(12)],
    "long": ["web", "kube-prometheus-stack-kube-state-metrics-of-the-west"],
    "longest": ["web", "n" * 253, "n" * 252 + "m"],
}
CLASSES = {tee: f"contrast-cc-metal-qemu-{tee}-1a2b3c4d" for tee in TEES}


def one(name: str, tee: str = "snp", kind: str = "Deployment", runtime_class: str = "") -> Workload:
    made = planned(name, tee, runtime_class or CLASSES.get(tee, "kata"), platform=f"metal-qemu-{tee}", digest=DIGEST)
    ref = made.ref._replace(kind=kind)
    spec = pod_spec(runtimeClassName=made.runtime_class)
    template = workloads_of(an_object(name=name, kind=kind, spec=spec), (), ref)[0]
    return made._replace(ref=ref, object=template.object, template=template.template)


def one_pool() -> list[Node]:
    return [node("snp-1"), node("snp-2")]


def five_pools() -> list[Node]:
    """Three nodes of each kind."""
    return [node(f"worker-{tee}-{index}", tee) for tee in TEES for index in range(3)]


def lines_of(plan: Plan, width: int = 80) -> list[str]:
    return plan_text(plan, width).splitlines()


# --- width


@pytest.mark.parametrize("width", [1, 40, 80, 120, 400])
@pytest.mark.parametrize("pools", ["none", "one", "five", "no node fits", "one in error"])
@pytest.mark.parametrize("names", list(NAMES))
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(names: str, pools: str, width: int) -> None:
    tees = TEES if pools == "five" else ("snp",)
    lines = [one(name, tees[index % len(tees)]) for index, name in enumerate(NAMES[names])]
    lines[-1] = lines[-1]._replace(
        notes=("a variable whose value the policy does not bind, of a very long name: " + "V" * 90,)
    )
    nodes = {"none": None, "five": five_pools(), "no node fits": [node("n" * 253, "x" * 63)]}.get(pools, one_pool())
    findings = (finding("CC0206", lines[0].ref, ("spec",)),) if pools == "one in error" else ()
    plan = plan_of([*lines, one("s" * 200)._replace(skipped="no runtimeClassName")], nodes, findings=findings)
    text = plan_text(plan, width)
    assert max(map(len, text.splitlines())) <= max(width, 40)
    together = re.sub(r"\s", "", text)
    assert [name for name in (*NAMES[names], "V" * 90, "s" * 200) if name not in together] == []
    assert all(line == line.rstrip() for line in text.splitlines())


def test_columns_stand_below_each_other_and_long_names_before_them() -> None:
    plan = plan_of(
        [one("web"), one("database"), one("a-name-that-is-much-longer-than-half-of-it", kind="StatefulSet")], None
    )
    assert lines_of(plan) == [
        "runtime class contrast-cc-metal-qemu-snp-1a2b3c4d",
        "",
        "metal-qemu-snp on nodes with tee=snp",
        "  shop/web       Deployment   2 vCPUs  policy 01234567",
        "  shop/database  Deployment   2 vCPUs  policy 01234567",
        "  shop/a-name-that-is-much-longer-than-half-of-it",
        "                 StatefulSet  2 vCPUs  policy 01234567",
        "",
        "3 workloads, 0 skipped",
    ]


@pytest.mark.parametrize(
    ("width", "row"),
    [
        (80, "  shop/checkout-of-the-shop  StatefulSet  2 vCPUs  policy 01234567"),
        (65, "  shop/checkout-of-the-shop  sts  2 vCPUs  policy 01234567"),
        (55, "  shop/checkout-of-the-shop  sts  2 vCPUs  policy"),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "",
)
def test_a_narrow_terminal_gets_short_kinds_and_then_no_digests(width: int, row: str) -> None:
    plan = plan_of([one("checkout-of-the-shop", kind="StatefulSet")], None)
    assert lines_of(plan, width)[3] == row


# --- what is said once


def test_one_line_for_each_reason_and_pool_however_many_workloads() -> None:
    lines = lines_of(plan_of([one(name) for name in NAMES["twelve"]], five_pools()))
    assert sum("service-" in line for line in lines) == 12
    said = [line.strip() for line in lines if line.startswith("    not ")]
    assert said == [
        f"not worker-{tee}-0, worker-{tee}-1, worker-{tee}-2: label tee is {tee}, not snp"
        for tee in ("big", "gpu", "old")
    ]
    assert lines.count("    nor 3 more nodes") == 1
    assert "metal-qemu-snp on worker-snp-0, worker-snp-1, worker-snp-2 (3 of 15 nodes)" in lines


def test_the_release_and_the_classes_stand_once_at_the_top() -> None:
    plan = plan_of([one("a"), one("b", "tdx")], None)._replace(release="v1.25.0")
    first, *others = lines_of(plan)
    assert first == "Contrast v1.25.0, runtime classes contrast-cc-<platform>-1a2b3c4d"
    assert not any("1a2b3c4d" in line for line in others)


def test_classes_that_have_nothing_in_common_stand_in_the_headings() -> None:
    plan = plan_of([one("a"), one("b", runtime_class="kata-of-my-own")], None)
    assert [line for line in lines_of(plan) if "class" in line] == [
        "metal-qemu-snp (class contrast-cc-metal-qemu-snp-1a2b3c4d) on nodes with tee=snp",
        "metal-qemu-snp (class kata-of-my-own) on nodes with tee=snp",
    ]


def test_a_class_without_a_selector_is_said_to_have_none() -> None:
    open_to_all = one("a")._replace(scheduled=CLASS._replace(node_selector={}))
    unknown = one("b", "tdx")._replace(scheduled=None)
    headings = [line for line in lines_of(plan_of([open_to_all, unknown], None)) if line.startswith("metal")]
    first = "metal-qemu-snp on any node: the runtime class has no node selector"
    assert headings == [first, "metal-qemu-tdx on any node"]


# --- conflicts


def test_the_closest_nodes_come_first_and_the_rest_is_counted() -> None:
    nodes = [node("ok"), *(node(f"n{index}", f"t{index}") for index in range(5)), node("c", "t", unschedulable=True)]
    lines = lines_of(plan_of([planned()], nodes))
    assert "metal-qemu-snp on ok (1 of 7 nodes)" in lines
    assert [line for line in lines if line.startswith("    ")] == [
        "    not c: label tee is t, not snp",
        *(f"    not n{at}: label tee is t{at}, not snp" for at in range(2)),
        "    nor 3 more nodes",
    ]


def test_a_conflict_of_placement_keeps_the_changes_and_a_conflict_of_the_render_does_not() -> None:
    broken = one("bad")
    findings = (finding("CC0206", broken.ref, ("spec",)),)
    lines = lines_of(plan_of([one("web"), broken], [node("a", "tdx")], findings=findings))
    assert lines[3:8] == [
        "metal-qemu-snp on none of 1 node",
        "  shop/web  Deployment  2 vCPUs  policy 01234567",
        "      error CC0311",
        "  shop/bad  Deployment  2 vCPUs",
        "      error CC0206, error CC0311",
    ]
    assert lines[8] == "    not a: label tee is tdx, not snp"
    assert lines[-2:] == [
        "2 workloads, 0 skipped, 1 node, 2 without a node that fits, 1 error: nothing",
        "  would be written",
    ]


# --- DaemonSets


def test_a_daemon_set_is_about_the_nodes_that_get_a_pod() -> None:
    small = node("small", cpu=0)
    daemon = one("agent", kind="DaemonSet")
    daemon.pod_spec["nodeSelector"] = {"tee": "snp"}  # as a render writes it
    plan = plan_of([daemon], [node("a"), node("b"), small, node("t", "tdx")])
    lines = lines_of(plan)
    assert lines[3:7] == [
        "metal-qemu-snp, one pod on each of a, b (2 of 4 nodes)",
        "  shop/agent  DaemonSet  2 vCPUs  policy 01234567",
        "      warning CC0312",
        "    Pending on small: 0.5 cpu needed, node has 0",
    ]
    assert not any("tdx" in line for line in lines), "no pod is made for that node"
    (warning,) = plan.problems
    assert warning.message == wording("CC0312.daemon-set", nodes="small", reasons="0.5 cpu needed, node has 0")


def test_a_daemon_set_without_a_node_says_why() -> None:
    lines = lines_of(plan_of([one("agent", kind="DaemonSet")], [node("t", "tdx")]))
    assert "metal-qemu-snp on none of 1 node" in lines
    assert "    not t: label tee is tdx, not snp" in lines
