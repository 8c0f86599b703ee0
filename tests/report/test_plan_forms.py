"""The picture forms of the plan: what comes from the input is shown, and never read as markup."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.findings import Ref, finding
from krm_function.kubernetes.nodes import Node, Taint
from krm_function.kubernetes.placement import place
from krm_function.kubernetes.quantity import NANO
from krm_function.kubernetes.resource import Edit
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.workload import Workload, workloads_of
from krm_function.render.rendered import Rendered
from krm_function.report.plan import Plan, make_plan, plan_json
from krm_function.report.plan_html import plan_html
from krm_function.report.plan_text import mermaid_label, plan_mermaid
from tests.world import an_object, pod_spec

NASTY = "<script>alert(1)</script>\"'`&;\u202e\x1b[31m]-->end|{{7*7}}{% raw %}#"
CLASS = RuntimeClass("kata", "kata", {"memory": "1Gi"}, {"tee": "snp"})


def planned(name: str = "web", tee: str = "snp", runtime_class: str = "kata", **changes: Any) -> Workload:
    ref = Ref("apps/v1", "Deployment", "shop", name)
    value = an_object(name=name, spec=pod_spec(runtimeClassName=runtime_class))
    workload = workloads_of(value, (), ref)[0]._replace(
        placeholder="contrast-cc",
        platform="metal-qemu-snp",
        vcpus=2,
        scheduled=CLASS._replace(node_selector={"tee": tee}),
    )
    return workload._replace(**changes)


def plan_of(lines: list[Workload], nodes: list[Node] | None, *, source: str = "nodes.yaml", findings: Any = ()) -> Plan:
    """As `cli/commands/plan.py` makes it."""
    placed = {
        index: place(line, line.scheduled, nodes)
        for index, line in enumerate(lines)
        if nodes is not None and not line.skipped
    }
    more = [found for answer in placed.values() for found in answer[1]]
    placements = {index: answer[0] for index, answer in placed.items()}
    return make_plan(Rendered((), findings=findings, plan=tuple(lines)), nodes, placements, more, source)


def node(name: str, tee: str = "snp", cpu: int = 4, **changes: Any) -> Node:
    room = {"cpu": cpu * NANO, "memory": 8 * 2**30 * NANO, "ephemeral-storage": NANO, "x.com/empty": 0}
    return Node(name, {"tee": tee, "kubernetes.io/hostname": name}, allocatable=room)._replace(**changes)


class Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


# --- pools


def test_nodes_that_no_workload_can_tell_apart_are_one_pool() -> None:
    little = {**(node("c").allocatable or {}), "memory": 8 * 2**30 * NANO + 12345 * NANO}
    nodes = [node("a"), node("b"), node("c", allocatable=little), node("t", "tdx"), node("s", cpu=2)]
    pools = plan_of([planned()], nodes).pools
    assert [pool.nodes for pool in pools] == [("a", "b", "c"), ("s",), ("t",)]
    assert [pool.workloads for pool in pools] == [(0,), (0,), ()]
    assert pools[0].labels == {"tee": "snp"}
    assert pools[0].capacity == (("cpu", "4"), ("memory", "8Gi"))


def test_a_taint_a_cordon_or_an_answer_makes_another_pool() -> None:
    taint = (Taint("a", "", "PreferNoSchedule"),)
    nodes = [node("a"), node("b", taints=taint), node("c", unschedulable=True)]
    assert [pool.nodes for pool in plan_of([planned()], nodes).pools] == [("a",), ("b",), ("c",)]
    chosen = planned()
    fields = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [fields]}}
    chosen.pod_spec["affinity"] = {"nodeAffinity": required}
    pools = plan_of([chosen], [node("a"), node("b")]).pools
    assert [(pool.nodes, pool.workloads) for pool in pools] == [(("b",), (0,)), (("a",), ())]


def test_without_nodes_a_pool_is_what_the_class_asks_for() -> None:
    lost = planned("lost")
    wrong = (finding("CC0402", lost.ref, name="contrast-cc"),)
    pools = plan_of([lost, planned(), planned("db", "tdx"), planned("api")], None, findings=wrong).pools
    assert [(pool.title, pool.workloads, pool.assumed) for pool in pools] == [
        ("nodes with tee=snp", (1, 3), True),
        ("nodes with tee=tdx", (2,), True),
    ]


# --- json


def test_the_json_form_tells_all_about_the_nodes() -> None:
    nodes = [node("a"), node("t", "tdx", unschedulable=True)]
    lost = planned("lost", "none")
    refused = planned("refused", "tdx")
    refused.pod_spec["nodeSelector"] = {"tee": "snp"}
    data = json.loads(plan_json(plan_of([planned(), lost, refused], nodes)))
    told = {one["name"]: one for one in data["workloads"]}
    assert told["web"]["nodes"] == {
        "replicas": 1,
        "requests": {"cpu": "0.5", "memory": str(2**30 + 200 * 2**20)},
        "refusedAtAdmission": False,
        "fitting": ["a"],
        "others": [{"nodes": ["t"], "reasons": ["label tee is tdx, not snp", "cordoned"]}],
    }
    assert [found["code"] for found in told["lost"]["findings"]] == ["CC0311"]
    assert told["refused"]["nodes"]["refusedAtAdmission"]
    assert data["pools"][0] == {
        "nodes": ["a"],
        "labels": {"tee": "snp"},
        "taints": [],
        "cordoned": False,
        "capacity": {"cpu": "4", "memory": "8Gi"},
        "workloads": [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}],
        "memory": None,
    }
    assert data["totals"] == {"workloads": 3, "skipped": 0, "nodes": 2, "conflicts": 1, "unplaced": 1}
    assert data["failed"] is False


# --- mermaid


def test_the_flowchart_of_a_plan() -> None:
    nodes = [node("a"), node("b"), node("t", "tdx", taints=(Taint("gpu", "", "NoSchedule"),))]
    lost = planned("lost", "none")
    assert plan_mermaid(plan_of([planned(), lost], nodes)).splitlines() == [
        "flowchart LR",
        '  w0["Deployment shop/lost<br/>metal-qemu-snp, 2 vCPUs"]',
        '  w1["Deployment shop/web<br/>metal-qemu-snp, 2 vCPUs"]',
        '  subgraph p0["tee=snp"]',
        '    p0n0["a"]',
        '    p0n1["b"]',
        "  end",
        '  subgraph p1["tee=tdx<br/>taints: gpu:NoSchedule"]',
        '    p1n0["t"]',
        "  end",
        '  nowhere{{"no node"}}',
        "  w1 --> p0",
        '  w0 -- "CC0311" --x nowhere',
        "  linkStyle 1 stroke:#c81e1e,stroke-width:2px",
        "  classDef conflict fill:#fde8e8,stroke:#c81e1e,stroke-width:2px,color:#771d1d",
        "  classDef node fill:#f3f4f6,stroke:#6b7280,color:#111827",
        "  class w0,nowhere conflict",
        "  class p0n0,p0n1,p1n0 node",
    ]


def test_a_flowchart_of_nothing_is_one() -> None:
    assert plan_mermaid(plan_of([], None)).splitlines()[0] == "flowchart LR"


@given(st.text())
def test_a_label_holds_nothing_that_mermaid_could_read(text: str) -> None:
    assert re.fullmatch(r"(?:[A-Za-z0-9 ./,:=-]|#\d+;)*", mermaid_label(text))


@given(st.text(max_size=30).filter(str.isprintable))
def test_a_label_shows_the_text(text: str) -> None:
    assert re.sub(r"#(\d+);", lambda found: chr(int(found[1])), mermaid_label(text)) == text


# --- html


def nasty_plan() -> Plan:
    edit = Edit("set", ("spec", NASTY), None, {}, "CC0801", NASTY)
    one = planned(NASTY, platform=NASTY, runtime_class=NASTY, edits=(edit,), digest=NASTY)
    ref = one.ref._replace(namespace=NASTY, kind="Deployment")
    skipped = Workload({}, (), Ref(NASTY, NASTY, NASTY, NASTY), (), skipped=NASTY)
    taint = Taint(NASTY, NASTY, "NoSchedule")
    nodes = [Node(NASTY, {"tee": NASTY}, (taint,), allocatable={NASTY: NANO, "cpu": NANO})]
    findings = (finding("CC0203", ref, ("spec", NASTY), file=NASTY, line=3, what=NASTY, key=NASTY, remedy=NASTY),)
    return plan_of([one._replace(ref=ref), skipped], nodes, source=NASTY, findings=findings)


def test_names_from_the_input_are_text_wherever_they_stand() -> None:
    page = Page(plan_html(nasty_plan()))
    assert {tag for tag, _ in page.tags} & {"script", "img", "iframe", "object", "embed", "form", "input"} == set()
    assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert page.text.count("<script>alert(1)</script>") > 10
    assert "{{7*7}}" in page.text
    assert "49" not in page.text
    assert "\x1b" not in page.text
    assert "\u202e" not in page.text


def test_the_page_asks_for_nothing_outside_itself() -> None:
    text = plan_html(plan_of([planned()], [node("a")]))
    page = Page(text)
    links = [value for _, attributes in page.tags for name, value in attributes.items() if name in {"src", "href"}]
    assert all(link and (link.startswith("#") or link == "data:,") for link in links)
    assert "url(" not in text
    assert "@import" not in text
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link and link.startswith("#")} <= set(ids)


def test_the_policy_of_the_page_allows_its_style_sheet_by_digest_and_nothing_else() -> None:
    text = plan_html(plan_of([planned()], [node("a")]))
    (policy,) = [
        attributes["content"] or ""
        for tag, attributes in Page(text).tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    css = text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert 'style="' not in text


@pytest.mark.parametrize(
    ("lines", "nodes", "headline"),
    [
        ([planned()], [node("a")], "Every Contrast workload has a node"),
        ([planned()], None, "Ready to render"),
        ([planned(), planned("db")], [node("a", "tdx")], "2 of 2 workloads in conflict"),
        ([], None, "No Contrast workload here"),
    ],
)
def test_the_headline_says_what_matters(lines: list[Workload], nodes: list[Node] | None, headline: str) -> None:
    text = plan_html(plan_of([line._replace(digest="a" * 64) for line in lines], nodes))
    counts = f"{len(lines)} protected, 0 plain, 0 blocked"
    assert f"<h1>{counts}</h1>" in text
    assert f"<title>{counts} · contrast-krm plan</title>" in text
    assert f'<p class="result">{headline}</p>' in text


def test_a_workload_without_a_policy_is_not_counted_as_protected() -> None:
    text = plan_html(plan_of([planned(digest="a" * 64), planned("db")], None))
    assert "<h1>1 protected, 1 without a policy, 0 plain, 0 blocked</h1>" in text


def test_a_render_that_fails_as_a_whole_says_so() -> None:
    plan = make_plan(Rendered((), findings=(finding("CC0701"),), plan=(planned(),)))
    assert '<p class="result">The render fails</p>' in plan_html(plan)


@pytest.mark.parametrize(
    ("values", "look", "result"),
    [
        (None, "good", "Every Contrast workload has a node"),
        (("CC0771", {"host": "coordinator", "service": "shop-coordinator"}), "bad", "1 of 1 workload in conflict"),
        (("CC0262", {"container": "web", "name": "A"}), "warned", "Every Contrast workload has a node, 1 warning"),
    ],
)
def test_the_headline_is_amber_where_something_is_to_be_looked_at(values: Any, look: str, result: str) -> None:
    line = planned()
    found = (finding(values[0], line.ref, **values[1]),) if values else ()
    text = plan_html(plan_of([line], [node("a")], findings=found))
    assert f'<header class="{look}">' in text
    assert f'<p class="result">{result}</p>' in text


@pytest.mark.parametrize(("nodes", "title"), [(None, "In error"), ([node("a", "tdx")], "No node")])
def test_a_workload_in_error_is_not_said_to_have_no_node_where_no_node_is_known(
    nodes: list[Node] | None, title: str
) -> None:
    broken = planned()
    text = plan_html(plan_of([broken], nodes, findings=(finding("CC0206", broken.ref, ("spec",)),)))
    assert f"<h3>{title}</h3>" in text


def test_the_page_is_the_same_every_time() -> None:
    assert plan_html(nasty_plan()) == plan_html(nasty_plan())
