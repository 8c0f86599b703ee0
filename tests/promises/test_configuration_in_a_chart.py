"""kinds.md: each kind may be an object among the resources; no host hands it on to a cluster."""

from pathlib import Path

import pytest

from tests.failures.world import World
from tests.hosts.documents import load
from tests.hosts.hosts import make_chart, quickstart, run_helm3, run_helm4
from tests.hosts.running import Machine, called

KINDS = {"ContrastGenerate", "ContrastRelease", "ImageLock"}
RUN = {"helm3": run_helm3, "helm4": run_helm4}


@pytest.mark.parametrize("host", RUN)
def test_configuration_in_a_chart_is_read_and_taken_out_of_what_helm_gets(
    host: str, krm_machine: Machine, tmp_path: Path
) -> None:
    chart = make_chart(krm_machine, tmp_path, quickstart())
    apart = load(RUN[host](krm_machine, chart).ok())
    for path in (chart / "config").iterdir():
        path.rename(chart / "chart/templates" / path.name)  # each has the annotation
    (chart / "config/empty.yaml").write_text("# in the chart\n")
    inside = load(RUN[host](krm_machine, chart).ok())
    assert not KINDS & {value["kind"] for value in inside}
    assert [(one["kind"], one["metadata"]["name"]) for one in inside] == [
        (one["kind"], one["metadata"]["name"]) for one in apart
    ]


@pytest.mark.parametrize("rest", [b"", b"---\n# a comment\n", b"---\nnull\n"], ids=["alone", "comment", "null"])
def test_a_chart_of_configuration_alone_is_an_error(rest: bytes) -> None:
    world = World()
    ran = called("post-render", stdin=world.stream("options", "release", "lock") + rest)
    assert (ran.code, ran.out) == (1, b"")
    assert "error CC0289" in ran.err
