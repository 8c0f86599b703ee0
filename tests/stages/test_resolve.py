"""Resolution of runtime classes: docs/facts/contrast.md#runtime-class-names, and the truth table of the stage."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from krm_function.config.release import PlatformRelease, Release
from krm_function.contrast.platforms import PLATFORMS
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.resource import Edit
from krm_function.kubernetes.workload import Workload
from krm_function.render import classes as stage
from krm_function.render.classes import resolve
from krm_function.render.stages import find_platforms
from krm_function.text.changes import ABSENT
from tests.world import HANDLERS, RELEASE, WEB, pod_template, workload

BARE = ("contrast-cc", "kata-cc-isolation")
GPU_OF = {
    "metal-qemu-snp": "metal-qemu-snp-gpu",
    "metal-qemu-snp-gpu": "metal-qemu-snp-gpu",
    "metal-qemu-tdx": "metal-qemu-tdx-gpu",
    "metal-qemu-tdx-gpu": "metal-qemu-tdx-gpu",
}
each_platform = pytest.mark.parametrize("platform", list(PLATFORMS))
with_or_without_gpu = pytest.mark.parametrize("gpus", [0, 1, 3])


def containers(gpus: int) -> list[dict[str, Any]]:
    limits = {"cpu": "8"} | ({"nvidia.com/pgpu": str(gpus)} if gpus else {})
    return [{"name": "web", "image": WEB, "resources": {"limits": limits}}]


def decided(name: str, gpus: int = 0, default: str = "", release: Release = RELEASE) -> SimpleNamespace:
    return resolved(
        workload(template=pod_template(runtimeClassName=name, containers=containers(gpus))), release, default
    )


def resolved(subject: Workload, release: Release, default: str) -> SimpleNamespace:
    platform, (edits, findings) = resolve(subject, release, default)
    return SimpleNamespace(platform=platform, edits=edits, findings=findings)


def lacking(*names: str) -> Release:
    return RELEASE._replace(platforms={name: one for name, one in RELEASE.platforms.items() if name not in names})


def outcome(made: SimpleNamespace) -> tuple[str, list[str], list[str]]:
    """Platform, platforms whose reference values the manifest needs, finding codes."""
    name = made.platform.name if made.platform else ""
    used = find_platforms([workload()._replace(platform=name)], "")
    return name, [platform.name for platform in used], [found.code for found in made.findings]


@pytest.mark.parametrize("name", BARE)
@each_platform
def test_a_bare_name_without_gpu_becomes_the_default_platform(name: str, platform: str) -> None:
    made = decided(name, default=platform)
    assert outcome(made) == (platform, [platform], [])
    (edit,) = made.edits
    assert (edit.op, edit.before, edit.after, edit.code) == ("set", name, HANDLERS[platform], "CC0404")
    assert edit.path == ("spec", "template", "spec", "runtimeClassName")
    assert edit.reason == f"contrast-cc-{platform} is {HANDLERS[platform]} in release v1.25.0"


@pytest.mark.parametrize("name", BARE)
@pytest.mark.parametrize("gpus", [1, 4])
@each_platform
def test_a_bare_name_with_a_gpu_becomes_the_defaults_gpu_variant(name: str, platform: str, gpus: int) -> None:
    made = decided(name, gpus, default=platform)
    assert outcome(made) == (GPU_OF[platform], [GPU_OF[platform]], [])
    assert [edit.after for edit in made.edits] == [HANDLERS[GPU_OF[platform]]]


@pytest.mark.parametrize("name", BARE)
@with_or_without_gpu
def test_a_bare_name_without_a_default_platform_is_an_error(name: str, gpus: int) -> None:
    made = decided(name, gpus)
    assert outcome(made) == ("", [], ["CC0402"])
    assert made.edits == ()
    assert name in made.findings[0].message
    assert made.findings[0].path == ("spec", "template", "spec", "runtimeClassName")
    assert made.findings[0].ref is not None


@pytest.mark.parametrize("default", ["", *PLATFORMS])
@pytest.mark.parametrize("suffix", ["", "-0123abcd", "-f"])
@with_or_without_gpu
@each_platform
def test_an_explicit_platform_is_never_changed(platform: str, default: str, suffix: str, gpus: int) -> None:
    made = decided(f"contrast-cc-{platform}{suffix}", gpus, default)
    assert outcome(made) == (platform, [platform], [])
    assert [edit.after for edit in made.edits] == [HANDLERS[platform]]


@each_platform
def test_the_hash_of_an_older_release_becomes_that_of_this_one(platform: str) -> None:
    (edit,) = decided(f"contrast-cc-{platform}-deadbeef").edits
    assert (edit.before, edit.after) == (f"contrast-cc-{platform}-deadbeef", HANDLERS[platform])


@each_platform
@with_or_without_gpu
def test_the_handler_of_this_release_stays_without_an_edit(platform: str, gpus: int) -> None:
    made = decided(HANDLERS[platform], gpus, default="metal-qemu-snp")
    assert made.platform == PLATFORMS[platform]
    assert made.edits == ()


@each_platform
@pytest.mark.parametrize("name", BARE)
def test_resolving_twice_makes_no_second_edit(platform: str, name: str) -> None:
    subject = workload(template=pod_template(runtimeClassName=name))
    first, outcome = resolve(subject, RELEASE, platform)
    assert resolve(subject.after(outcome.edits), RELEASE, platform) == (first, outcome._replace(edits=()))


@pytest.mark.parametrize("name", ["contrast-insecure", "contrast-insecure-metal-qemu", "contrast-insecure-x-12345678"])
@pytest.mark.parametrize("default", ["", *PLATFORMS])
@with_or_without_gpu
def test_an_insecure_platform_is_refused(name: str, default: str, gpus: int) -> None:
    made = decided(name, gpus, default)
    assert (outcome(made), made.edits) == (("", [], ["CC0405"]), ())
    assert name in made.findings[0].message


@pytest.mark.parametrize(
    "name",
    ["contrast-cc-", "contrast-cc-metal-qemu", "contrast-cc-nonexistent", "contrast-ccmetal", "contrast-cc-aks-snp"],
)
@pytest.mark.parametrize("default", ["", *PLATFORMS])
@with_or_without_gpu
def test_a_name_that_is_not_understood_is_an_error_and_never_the_default(name: str, default: str, gpus: int) -> None:
    made = decided(name, gpus, default)
    assert (outcome(made), made.edits) == (("", [], ["CC0401"]), ())
    assert all(f"contrast-cc-{platform}" in made.findings[0].hint for platform in PLATFORMS)


def test_a_name_that_is_close_to_a_placeholder_gets_a_suggestion() -> None:
    assert (
        decided("contrast-cc-metal-qemu-snpp")
        .findings[0]
        .hint.startswith("did you mean contrast-cc-metal-qemu-snp? use one of ")
    )
    assert "did you mean" not in decided("contrast-cc-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz").findings[0].hint


@each_platform
@pytest.mark.parametrize("default", [False, True])
def test_a_platform_that_the_release_lacks_is_an_error_that_names_the_others(platform: str, *, default: bool) -> None:
    made = decided(
        "contrast-cc" if default else f"contrast-cc-{platform}", 0, platform if default else "", lacking(platform)
    )
    assert (outcome(made), made.edits) == (("", [], ["CC0403"]), ())
    found = made.findings[0]
    assert found.message == f"platform {platform} is not in release v1.25.0"
    assert ", ".join(sorted(set(PLATFORMS) - {platform})) in found.hint


def test_a_release_without_any_platform_says_none() -> None:
    made = decided("contrast-cc-metal-qemu-snp", release=lacking(*PLATFORMS))
    assert "none" in made.findings[0].hint


def test_a_gpu_pod_whose_gpu_variant_the_release_lacks_is_not_run_without_one() -> None:
    made = decided("contrast-cc", 1, "metal-qemu-snp", lacking("metal-qemu-snp-gpu"))
    assert outcome(made) == ("", [], ["CC0403"])
    assert made.findings[0].message == "platform metal-qemu-snp-gpu is not in release v1.25.0"


def test_a_gpu_in_the_requests_alone_is_no_gpu() -> None:
    template = pod_template(
        containers=[{"name": "web", "image": WEB, "resources": {"requests": {"nvidia.com/pgpu": "1"}}}]
    )
    assert outcome(resolved(workload(template=template), RELEASE, "metal-qemu-snp"))[0] == "metal-qemu-snp"


@pytest.mark.parametrize("where", ["initContainers", "containers"])
def test_a_gpu_in_any_list_of_containers_counts(where: str) -> None:
    fields: Any = {where: [{**containers(1)[0], "name": "g"}]}
    template = pod_template(**fields)
    assert outcome(resolved(workload(template=template), RELEASE, "metal-qemu-tdx"))[0] == "metal-qemu-tdx-gpu"


@pytest.mark.parametrize("kind", KINDS)
def test_the_edit_is_at_the_pod_spec_of_every_kind_and_place(kind: str) -> None:
    subject = workload(kind, root=("items", 2))
    (edit,) = resolved(subject, RELEASE, "metal-qemu-snp").edits
    assert edit.path == ("items", 2, *KINDS[kind][1], "spec", "runtimeClassName")
    assert edit == Edit("set", edit.path, "contrast-cc", HANDLERS["metal-qemu-snp"], "CC0404", edit.reason)
    assert edit.before is not ABSENT
    assert subject.after((edit,)).runtime_class == HANDLERS["metal-qemu-snp"]


def test_the_handler_is_the_releases_word_even_when_it_looks_odd() -> None:
    release = RELEASE._replace(platforms={"metal-qemu-snp": PlatformRelease("my-own-handler")})
    assert [edit.after for edit in decided("contrast-cc-metal-qemu-snp", release=release).edits] == ["my-own-handler"]


def test_the_table_of_the_docstring_names_every_code_that_a_name_can_lead_to() -> None:
    table = Path(stage.__file__).read_text().split("decided here:")[1].split("\n\n")[0]
    assert set(re.findall(r"CC04\d\d", table)) == {"CC0401", "CC0402", "CC0405"}
