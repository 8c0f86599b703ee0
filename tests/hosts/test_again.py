"""Rendering rendered output changes nothing, in every host, and uninject gives back what came in."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Protocol

import pytest

from krm_function.kubernetes.workload import EMITTED, ORIGINAL
from tests.hosts.documents import by_name, load, pod_templates
from tests.hosts.hosts import (
    HOSTS,
    Deployment,
    kustomization,
    make_kpt,
    make_kustomize,
    make_legacy,
    named,
    put,
    quickstart,
    run_kustomize,
    run_legacy,
)
from tests.hosts.running import EXAMPLES, Machine, copied, snapshot

FILE_EXAMPLES = ("quickstart", "multi-runtime", "gpu", "every-field")
STREAMS = ("legacy", "helm3", "helm4")
LISTS = ("kustomize", "kpt")


class Outputs(Protocol):
    def __getitem__(self, host: str) -> bytes: ...

    def seen(self, host: str) -> bytes: ...


def config(name: str) -> tuple[str, str]:
    return "--config", str(EXAMPLES / name / "config")


def joined(directory: Path) -> bytes:
    """The files of a directory as one stream, those with what others need in front."""
    texts = [path.read_bytes() for path in sorted(directory.iterdir())]
    texts.sort(key=lambda text: b"kind: Namespace\n" not in text and b"kind: RuntimeClass\n" not in text)
    return b"".join(
        text if index == 0 or text.startswith(b"---") else b"---\n" + text for index, text in enumerate(texts)
    )


@pytest.fixture(scope="module")
def once(krm_machine: Machine) -> Callable[..., bytes]:
    """The first render of a text, by text and arguments."""
    return cache(lambda data, *arguments: krm_machine.krm(*arguments, stdin=data).ok())


@pytest.fixture(scope="module")
def resource_lists(
    untouched: Outputs, krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    """What kustomize and kpt send, and `kpt fn source` for every example with files."""
    found = {host: untouched.seen(host) for host in LISTS}
    directory = tmp_path_factory.mktemp("packages")
    for name in FILE_EXAMPLES:
        resources, configuration = (
            {path.name: path.read_text() for path in (EXAMPLES / name / part).iterdir()}
            for part in ("resources", "config")
        )
        package = make_kpt(krm_machine, directory / name, Deployment(resources, configuration))
        found[f"source of {name}"] = krm_machine.run(["kpt", "fn", "source", "."], package).ok()
    found["source of kpt"] = krm_machine.run(["kpt", "fn", "source", "."], copied("kpt", directory)).ok()
    return found


RESOURCE_LISTS = (*LISTS, *(f"source of {name}" for name in (*FILE_EXAMPLES, "kpt")))


@pytest.mark.slow
@pytest.mark.parametrize("name", RESOURCE_LISTS)
def test_the_function_leaves_its_own_output_as_it_is(
    krm_machine: Machine, resource_lists: dict[str, bytes], once: Callable[..., bytes], name: str
) -> None:
    first = once(resource_lists[name])
    assert ORIGINAL.encode() in first
    assert krm_machine.krm(stdin=first).ok() == first


@pytest.mark.parametrize("name", RESOURCE_LISTS)
def test_uninject_gives_back_the_bytes_of_a_resource_list(
    krm_machine: Machine, resource_lists: dict[str, bytes], once: Callable[..., bytes], name: str
) -> None:
    assert krm_machine.krm("uninject", stdin=once(resource_lists[name])).ok() == resource_lists[name]


def test_results_of_another_function_stay_in_front_of_ours(
    krm_machine: Machine, resource_lists: dict[str, bytes]
) -> None:
    foreign = b"results:\n- message: looked at\n  severity: info\n"
    once = krm_machine.krm(stdin=resource_lists["source of gpu"] + foreign).ok()
    said = load(once)[0]["results"]
    assert said[0] == {"message": "looked at", "severity": "info"}
    assert [result["tags"]["code"] for result in said[1:]] == ["CC0703"]
    assert krm_machine.krm(stdin=once).ok() == once
    assert load(krm_machine.krm("uninject", stdin=once).ok())[0]["results"] == said[:1]


@pytest.mark.parametrize("host", STREAMS)
def test_post_render_leaves_its_own_output_as_it_is(
    krm_machine: Machine, untouched: Outputs, once: Callable[..., bytes], host: str
) -> None:
    first = once(untouched.seen(host), "post-render", *config("quickstart"))
    assert ORIGINAL.encode() in first
    assert krm_machine.krm("post-render", *config("quickstart"), stdin=first).ok() == first


@pytest.mark.parametrize("host", STREAMS)
def test_uninject_gives_back_the_bytes_of_a_stream(
    krm_machine: Machine, untouched: Outputs, once: Callable[..., bytes], host: str
) -> None:
    """But for the configuration, which a post-renderer keeps from Helm; the stream of a legacy plugin has some."""
    seen = untouched.seen(host)
    first = once(seen, "post-render", *config("quickstart"))
    others = b"---\n".join(one for one in seen.split(b"---\n") if b"apiVersion: contrast-krm.dev/" not in one)
    assert (others == seen) == (host != "legacy")
    assert krm_machine.krm("uninject", stdin=first).ok() == others


@pytest.mark.parametrize("host", sorted(set(HOSTS) - {"files"}))
def test_uninject_of_what_a_tool_prints_has_the_objects_it_prints_without_us(
    krm_machine: Machine, rendered: Outputs, untouched: Outputs, host: str
) -> None:
    assert by_name(krm_machine.krm("uninject", stdin=rendered[host]).ok()) == by_name(untouched[host])


@pytest.mark.parametrize("name", FILE_EXAMPLES)
def test_generate_leaves_its_own_output_as_it_is(krm_machine: Machine, tmp_path: Path, name: str) -> None:
    work = copied(name, tmp_path)
    krm_machine.krm("generate", "resources", "--config", "config", "-o", "one.yaml", cwd=work).ok()
    once = (work / "one.yaml").read_bytes()
    assert krm_machine.krm("generate", "one.yaml", "--config", "config", cwd=work).ok() == once
    assert krm_machine.krm("generate", "--config", "config", stdin=once, cwd=work).ok() == once


@pytest.mark.parametrize("name", FILE_EXAMPLES)
def test_uninject_gives_back_the_bytes_of_the_files(krm_machine: Machine, tmp_path: Path, name: str) -> None:
    work = copied(name, tmp_path)
    once = krm_machine.krm("generate", "resources", "--config", "config", cwd=work).ok()
    assert krm_machine.krm("uninject", stdin=once).ok() == joined(work / "resources")


@pytest.mark.parametrize("name", FILE_EXAMPLES)
def test_in_place_changes_nothing_the_second_time(krm_machine: Machine, tmp_path: Path, name: str) -> None:
    work = copied(name, tmp_path)
    before = snapshot(work)
    command = ("generate", "resources", "--config", "config", "--in-place")
    assert krm_machine.krm(*command, cwd=work).ok() == b""
    once = snapshot(work)
    assert set(once) - set(before) == {"resources/contrast-manifest.yaml"}
    assert EMITTED.encode() in once["resources/contrast-manifest.yaml"]
    assert krm_machine.krm(*command, cwd=work).ok() == b""
    assert snapshot(work) == once


@pytest.mark.parametrize("name", FILE_EXAMPLES)
def test_uninject_gives_back_the_bytes_of_every_file_that_was_rendered_in_place(
    krm_machine: Machine, tmp_path: Path, name: str
) -> None:
    work = copied(name, tmp_path)
    before = snapshot(work)
    krm_machine.krm("generate", "resources", "--config", "config", "--in-place", cwd=work).ok()
    after = snapshot(work)
    assert {file for file in before if before[file] != after[file]}
    for file, data in after.items():
        if data != before.get(file):
            assert krm_machine.krm("uninject", file, cwd=work).ok() == before.get(file, b"")


def test_in_place_gives_the_pods_that_one_stream_gives(krm_machine: Machine, rendered: Outputs, tmp_path: Path) -> None:
    work = copied("quickstart", tmp_path)
    krm_machine.krm("generate", "resources", "--config", "config", "--in-place", cwd=work).ok()
    assert by_name(joined(work / "resources")) == by_name(rendered["files"])


def test_a_second_render_of_kpt_changes_nothing_on_disk(krm_machine: Machine, tmp_path: Path) -> None:
    package = copied("kpt", tmp_path)
    krm_machine.run(["kpt", "fn", "render", "--allow-exec"], package).ok()
    once = snapshot(package)
    krm_machine.run(["kpt", "fn", "render", "--allow-exec"], package).ok()
    assert snapshot(package) == once


def test_a_second_render_of_kpt_leaves_a_comment_above_the_first_init_container_alone(
    krm_machine: Machine, tmp_path: Path
) -> None:
    package = make_kpt(krm_machine, tmp_path, quickstart())
    krm_machine.run(["kpt", "fn", "render", "--allow-exec"], package).ok()
    once = snapshot(package)
    krm_machine.run(["kpt", "fn", "render", "--allow-exec"], package).ok()
    assert snapshot(package) == once


def test_kpt_writes_a_rendered_package_that_uninject_takes_back(
    krm_machine: Machine, recording_machine: Machine, tmp_path: Path
) -> None:
    work, plain = copied("kpt", tmp_path), copied("kpt", tmp_path / "plain")
    krm_machine.run(["kpt", "fn", "render", "--allow-exec"], work).ok()
    recording_machine.run(["kpt", "fn", "render", "--allow-exec"], plain).ok()
    for file, data in snapshot(plain).items():
        if file.endswith(".yaml"):
            assert krm_machine.krm("uninject", file, cwd=work).ok() == data


@pytest.mark.parametrize("host", ["kustomize", "legacy"])
def test_kustomize_builds_rendered_output_to_the_same_output(
    krm_machine: Machine, rendered: Outputs, tmp_path: Path, host: str
) -> None:
    make, run = (make_kustomize, run_kustomize) if host == "kustomize" else (make_legacy, run_legacy)
    again = make(krm_machine, tmp_path, quickstart()._replace(resources={"rendered.yaml": rendered[host].decode()}))
    assert run(krm_machine, again).ok() == rendered[host]


def test_kustomize_can_edit_rendered_output_and_render_it_again(
    krm_machine: Machine, rendered: Outputs, tmp_path: Path
) -> None:
    deployment = quickstart()
    contrast = named(deployment.config["contrast.yaml"])
    label = "commonAnnotations:\n  example.com/team: shop\n"
    files = {**deployment.config, "contrast.yaml": contrast, "rendered.yaml": rendered["kustomize"].decode()}
    stale = deployment._replace(resources={"rendered.yaml": ""})
    again = put(tmp_path / "again", {**files, "kustomization.yaml": kustomization(stale, label)})
    fresh = make_kustomize(krm_machine, tmp_path / "fresh", deployment, label)
    assert pod_templates(run_kustomize(krm_machine, again).ok()) == pod_templates(
        run_kustomize(krm_machine, fresh).ok()
    )
