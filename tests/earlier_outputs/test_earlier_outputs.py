"""Outputs of earlier versions render, upgrade in place and can be taken back, whatever is injected since.

A directory for each shape: what that version made of input/. 0.1.0 is by the code of that version. If this version
comes to inject something else, then keep the directory of the shape before, and add one: `CURRENT` tells.
"""

import json
import re
from pathlib import Path

import pytest

from krm_function.contrast import injected as mesh_sidecar
from krm_function.contrast import owned
from krm_function.kubernetes.workload import ORIGINAL
from tests import quick_yaml as yaml
from tests.earlier_outputs.shapes import BY_SHAPE, CHANGES, next_release
from tests.hosts.running import Ran, called

HERE = Path(__file__).parent
CURRENT = "0.2.0"
SHAPES = ("0.1.0", CURRENT)
FILES = ("stream", "list", "package")
UNDONE = ("/image", "/namespace", "/nodeSelector", "/tolerations", "/scheduling/")
FIREWALL = re.compile(r"warning CC0287 (\S+) .*\n(?:  .*\n){2}more: .* CC0287\n")
MESH = "contrast.edgeless.systems/servicemesh-"


def read(shape: str, name: str) -> bytes:
    return (HERE / shape / f"{name}.yaml").read_bytes()


def rendered(name: str, data: bytes, *options: str) -> Ran:
    """Render as a host would: a package by its function, the others from standard input.

    The one thing to say is left out of what it says: which pod has neither initializer nor mesh.
    """
    if name == "package":
        return called("fn", stdin=data)
    ran = called("generate", "-", *configured(name), *options, stdin=data)
    if ran.code == 0:
        without = ["shop/report"] if options else ["shop/agent"] if name == "stream" else []
        assert FIREWALL.findall(ran.err) == without
    return ran._replace(err=FIREWALL.sub("", ran.err))


def configured(name: str) -> tuple[str, ...]:
    generate = "unsealed" if name == "stream" else "sealed"  # a stream without policies is a third of the size
    return "--config", str(HERE / "config"), "--config", str(HERE / f"{generate}.yaml")


def uninjected(name: str, data: bytes) -> Ran:
    return called("uninject", *(("--namespace", "shop") if name == "stream" else ()), stdin=data)


@pytest.mark.parametrize("name", FILES)
def test_the_current_shape_is_what_this_version_injects(name: str) -> None:
    assert rendered(name, read("input", name)).ok() == read(CURRENT, name), "keep this shape, and add another"


def test_the_inputs_have_everything_that_a_render_adds() -> None:
    text = "".join(read(CURRENT, name).decode() for name in FILES)
    for added in (
        *("name: contrast-initializer", "name: contrast-service-mesh", "name: pvc-holder", "mountPath: /state"),
        *("name: image-store", "example.com/tee: sev-snp", "example.com/confidential-only", "namespace: shop"),
        *("cc_init_data", "snp_id_block_Milan", "kind: List", "kind: ResourceList", "coordinator:v1.25.0@sha256"),
    ):
        assert added in text
    assert all(field in undone() for field in UNDONE)


def undone() -> str:
    """The undo records of the stream."""
    values = yaml.safe_load_all(read(CURRENT, "stream"))
    return "".join(one["metadata"].get("annotations", {}).get(ORIGINAL, "") for one in values)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("shape", SHAPES)
def test_it_upgrades_in_place(shape: str, name: str) -> None:
    ran = rendered(name, read(shape, name))
    assert ran.ok() == read(CURRENT, name)
    assert ran.err == ""


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_taken_back_to_the_byte(shape: str, name: str) -> None:
    ran = uninjected(name, read(shape, name))
    assert ran.ok() == read("input", name)
    assert ran.err == ""


# --- a release that injects something else


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_changed_shape_breaks_no_earlier_output(shape: str, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the change alone: what an earlier render added is not compared with what this one would add."""
    CHANGES[change](monkeypatch)
    for name in FILES:
        made = rendered(name, read(shape, name))
        assert (made.code, made.err) == (0, "")
        assert made.out == rendered(name, read("input", name)).ok()
        assert uninjected(name, read(shape, name)).ok() == read("input", name)


def test_other_arguments_of_the_mesh(monkeypatch: pytest.MonkeyPatch) -> None:
    """The experiment that found it: every earlier output with a mesh was no record of a render, for `uninject` too.

    Even if the table of shapes forgets the old one: the pod asks for a mesh, so what has its name is replaced.
    """
    monkeypatch.setattr(mesh_sidecar, "MESH_ARGS", ["-l", "info"])
    monkeypatch.setitem(owned.PROCESSES, mesh_sidecar.SERVICE_MESH, ((None, ("-l", "info")),))
    for name in FILES:
        made = rendered(name, read(CURRENT, name))
        assert (made.code, made.err) == (0, "")
        assert b"- info\n" in made.out
        assert b"- debug\n" not in made.out
        assert uninjected(name, read(CURRENT, name)).ok() == read("input", name)


@pytest.fixture(name="upcoming")
def upcoming_release(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """What the next release makes of the inputs, with that release in place."""
    next_release(monkeypatch)
    return {name: rendered(name, read("input", name)).ok() for name in FILES}


def test_the_next_release_takes_all_earlier_outputs_and_its_own(upcoming: dict[str, bytes]) -> None:
    for name, expected in upcoming.items():
        assert expected != read(CURRENT, name)
        for data in (*(read(shape, name) for shape in SHAPES), expected):
            made = rendered(name, data)
            assert (made.code, made.out, made.err) == (0, expected, "")
            assert uninjected(name, data).ok() == read("input", name)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_an_output_of_the_next_release_goes_back_to_this_one(change: str) -> None:
    """But for what has no name of Contrast's: there a version knows the shapes up to its own, and says so."""
    with pytest.MonkeyPatch.context() as patch:
        CHANGES[change](patch)
        later = {name: rendered(name, read("input", name)).ok() for name in FILES}
    for name, data in later.items():
        made, back = rendered(name, data), uninjected(name, data)
        if change in BY_SHAPE:
            assert "CC0115" in made.err
            assert "CC0115" in back.err
        else:
            assert (made.code, made.out, made.err) == (0, read(CURRENT, name), "")
            assert back.ok() == read("input", name)


# --- what the pod no longer asks for


@pytest.mark.slow
@pytest.mark.parametrize("change", [None, *CHANGES])
@pytest.mark.parametrize("shape", SHAPES)
def test_annotations_may_go_at_the_same_time(shape: str, change: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if change is not None:
        CHANGES[change](monkeypatch)

    def without_mesh(data: bytes) -> bytes:
        return b"".join(line for line in data.splitlines(keepends=True) if not line.strip().startswith(MESH.encode()))

    made = rendered("stream", without_mesh(read(shape, "stream")))
    assert (made.code, made.err) == (0, "")
    assert b"name: contrast-service-mesh" not in made.out
    names = [one["metadata"]["name"] for one in yaml.safe_load_all(made.out)]
    assert names == [one["metadata"]["name"] for one in yaml.safe_load_all(read(shape, "stream"))]


@pytest.mark.slow
@pytest.mark.parametrize("change", [None, *CHANGES])
@pytest.mark.parametrize("shape", SHAPES)
def test_options_may_change_at_the_same_time(shape: str, change: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if change is not None:
        CHANGES[change](monkeypatch)
    options = ("--skip-initializer", "--skip-service-mesh")
    made = rendered("list", read(shape, "list"), *options)
    assert (made.code, made.err) == (0, "")
    assert made.out == rendered("list", read("input", "list"), *options).ok()
    assert b"contrast-initializer" not in made.out


# --- check


ALONE = {"0.1.0": {"CC0654", "CC1117"}, CURRENT: {"CC1117"}}  # its policies have other rules
CHECKED = {"0.1.0": {"CC0654", "CC1103", "CC1114"}, CURRENT: set()}


@pytest.mark.parametrize("shape", SHAPES)
def test_check_says_that_another_version_rendered_it(shape: str) -> None:
    alone = called("check", "-", "--format", "json", stdin=read(shape, "list"))
    assert {finding["code"] for finding in json.loads(alone.err)["findings"]} == ALONE[shape]
    assert alone.code == (0 if shape == CURRENT else 1)
    ran = called("check", "-", *configured("list"), "--format", "json", stdin=read(shape, "list"))
    assert {one["code"] for one in json.loads(ran.err)["findings"]} == CHECKED[shape]
    assert ran.code == (1 if CHECKED[shape] else 0)


def test_check_of_the_next_release_says_it_of_this_one(upcoming: dict[str, bytes]) -> None:
    assert called("check", "-", *configured("list"), stdin=upcoming["list"]).code == 0
    ran = called("check", "-", *configured("list"), stdin=read(CURRENT, "list"))
    assert ran.code == 1
    assert "CC1114" in ran.err
    assert "CC0115" not in ran.err
