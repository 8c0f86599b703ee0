"""The plan: for people a table, for machines version 1 of a JSON form."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from krm_function.findings import Ref, finding
from krm_function.kubernetes.resource import Edit
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.workload import Workload, workloads_of
from krm_function.render.rendered import Rendered
from krm_function.report.findings import ansi
from krm_function.report.plan import changes_of, make_plan, plan_json
from krm_function.report.plan_text import plan_text
from tests.failures.running import spawned

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "data"
QUICKSTART = ROOT / "examples" / "quickstart"
WEB = Ref("apps/v1", "Deployment", "shop", "web")
WARNINGS = ["CC0821 shop/nightly-report", "CC0675 shop/web"]  # a script of a ConfigMap, a Secret
HANDLER = "contrast-cc-metal-qemu-snp-1a2b3c4d"
LINE = workloads_of({"spec": {"template": {"spec": {"runtimeClassName": HANDLER}}}}, (), WEB)[0]._replace(
    placeholder="contrast-cc",
    platform="metal-qemu-snp",
    vcpus=2,
    scheduled=RuntimeClass(HANDLER, HANDLER, {}, {"b": "2", "a": "1"}),
)
ADDED = Edit("insert", ("spec", "initContainers", 0), None, {}, "CC0801", "because")


def masked(text: str) -> str:
    return re.sub(r"(policy |\"digest\": \")[0-9a-f]+", r"\1...", text)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_plan_of_the_quickstart_is_as_recorded(form: str) -> None:
    """But for digests, which the examples record. After an intended change: `plan -o FORM` there, into data."""
    run = spawned("plan", "resources", "--config", "config", "-o", form, directory=QUICKSTART)
    assert (run.code, re.findall(r"(?m)^warning (\S+ \S+)", run.stderr)) == (0, WARNINGS)
    recorded = (GOLDEN / f"quickstart.{'txt' if form == 'text' else 'json'}").read_text()
    assert masked(run.stdout.decode()) == recorded


def test_nothing_is_written(tmp_path: Path) -> None:
    subprocess.run(["cp", "-r", str(QUICKSTART / "resources"), str(QUICKSTART / "config"), str(tmp_path)], check=True)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert spawned("plan", "resources", "--config", "config", directory=tmp_path).code == 0
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_is_broken_comes_first_and_what_is_skipped_last() -> None:
    other = LINE._replace(ref=WEB._replace(name="zz"))
    skipped = Workload({}, (), WEB._replace(name="aa"), (), skipped="no runtimeClassName")
    findings = (finding("CC0206", other.ref, ("spec",)),)
    plan = make_plan(Rendered((), findings=findings, plan=(skipped, LINE, other), release="v1.25.0"))
    assert plan_text(plan) == (
        "Contrast v1.25.0, runtime class contrast-cc-metal-qemu-snp-1a2b3c4d\n"
        "\n"
        "metal-qemu-snp, in error\n"
        "  shop/zz   Deployment  2 vCPUs\n"
        "      error CC0206\n"
        "\n"
        "metal-qemu-snp on nodes with a=1, b=2\n"
        "  shop/web  Deployment  2 vCPUs  no changes\n"
        "\n"
        "skipped: no runtimeClassName\n"
        "  shop/aa   Deployment\n"
        "\n"
        "2 workloads, 1 skipped, 1 error: nothing would be written\n"
    )


def test_a_plan_of_nothing_is_a_total() -> None:
    assert plan_text(make_plan(Rendered(()))) == "0 workloads, 0 skipped\n"


def test_names_from_the_input_stay_on_their_line() -> None:
    line = LINE._replace(
        ref=WEB._replace(name="a\n\x1b[2J\u202e"),
        scheduled=RuntimeClass(HANDLER, HANDLER, {}, {"\r": "\t"}),
        notes=("\x1b[2J",),
    )
    text = plan_text(make_plan(Rendered((), plan=(line,))), paint=ansi)
    assert len(text.splitlines()) == 7
    assert set(re.findall(r"\x1b(\[[0-9;]*.)", text)) == {"[1m", "[33m", "[0m"}, "the colours of this program"
    assert "\u202e" not in text
    assert "\\r=\\t" in text


@pytest.mark.parametrize(
    ("edits", "digest", "changes"),
    [
        ((), "", "no changes"),
        ((ADDED,), "", "+1 container"),
        ((ADDED, ADDED._replace(code="CC0802"), ADDED), "abcdef0123456789", "+2 containers, policy abcdef01"),
        ((ADDED._replace(code="CC0506"),), "", "1 image"),
    ],
)
def test_changes_are_counted(edits: tuple[Edit, ...], digest: str, changes: str) -> None:
    assert changes_of(LINE._replace(edits=edits, digest=digest)) == changes


def test_the_json_form_has_a_version_and_every_edit_with_its_reason() -> None:
    skipped = Workload({}, (), WEB._replace(name="aa"), (), skipped="no runtimeClassName")
    line = LINE._replace(edits=(ADDED,), digest="abc", notes=("a hole",))
    rendered = Rendered((), plan=(line, skipped), release="v1.25.0")
    assert json.loads(plan_json(make_plan(rendered))) == {
        "version": 1,
        "failed": False,
        "release": "v1.25.0",
        "workloads": [
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "namespace": "shop",
                "name": "web",
                "placeholder": "contrast-cc",
                "platform": "metal-qemu-snp",
                "runtimeClassName": "contrast-cc-metal-qemu-snp-1a2b3c4d",
                "vcpus": 2,
                "memory": None,
                "nodeSelector": {"a": "1", "b": "2"},
                "nodes": None,
                "digest": "abc",
                "openVariables": [],
                "changes": [{"code": "CC0801", "op": "insert", "field": "spec.initContainers[0]", "reason": "because"}],
                "findings": [],
                "notes": ["a hole"],
            }
        ],
        "skipped": [
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "namespace": "shop",
                "name": "aa",
                "reason": "no runtimeClassName",
            }
        ],
        "pools": None,
        "totals": {"workloads": 1, "skipped": 1, "nodes": None, "conflicts": 0, "unplaced": 0},
    }
