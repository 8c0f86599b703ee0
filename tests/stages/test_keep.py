"""`manifest.keep: previous`: a rollout from one render to the next, with pods that restart at any moment.

The invariant: at each moment each pod that may start has its policy and the measurement of its VM in the manifest that
the coordinator has. Without `keep` it is broken by the same walk.
"""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from krm_function.config.collect import Config
from krm_function.config.generate import ManifestOptions
from krm_function.config.release import PlatformRelease, Release
from krm_function.contrast.manifest import decode
from krm_function.render.rendered import Rendered
from tests.world import (
    APEIP,
    IMAGES,
    LOCK,
    PLATFORMS,
    RELEASE,
    WEB,
    Json,
    again,
    an_object,
    config,
    coordinator,
    digests,
    good,
    pod_spec,
    values,
)

NEXT_SEED = "ab" * 48
OTHER = WEB.partition("@")[0] + "@sha256:" + "e" * 64
PLATFORM = "metal-qemu-snp"
TCB = {"BootloaderVersion": 9, "TEEVersion": 1, "SNPVersion": 21, "MicrocodeVersion": 72}


def _next_release() -> Release:
    """A made-up release after 1.25: other handlers, images and measurements."""
    entries = tuple(
        {"ProductName": product, "TrustedMeasurement": NEXT_SEED, "APEIP": APEIP} for product in ("Milan", "Genoa")
    )
    platform = PlatformRelease(RELEASE.platforms[PLATFORM].handler[:-8] + "9f8e7d6c", {"memory": "682Mi"}, snp=entries)
    images = {
        name: f"{image.partition('@')[0].replace('v1.25.0', 'v1.25.1')}@sha256:{index * 64}"
        for (name, image), index in zip(IMAGES.items(), "789", strict=True)
    }
    return Release("v1.25.1", "v1.25.1", {**PLATFORMS, PLATFORM: platform}, images)


NEXT = _next_release()


def config_of(release: Release = RELEASE, base: Any = None, keep: Any = "none", **options: Any) -> Config:
    locked = {**LOCK, OTHER: LOCK[WEB], **dict.fromkeys(release.images.values(), LOCK[WEB])}
    manifest = ManifestOptions(base=base, keep=keep, **{"reference_values": {"snp": ({"MinimumTCB": TCB},)}, **options})
    return config(release, locked, manifest=manifest, runtime_classes="emit")


class Pod(NamedTuple):
    """What a coordinator and a node look at: the policy, and the VM's measurement by its handler."""

    workload: str
    policy: str
    handler: str


def pods_of(made: Rendered) -> dict[str, Pod]:
    """The pods that the workloads of an output make."""
    found = {}
    for value in values(made):
        spec = value.get("spec", {}).get("template", {}).get("spec")
        if spec:
            name = value["metadata"]["name"]
            found[name] = Pod(name, digests(made)[name], spec["runtimeClassName"])
    return found


MEASURES = {
    RELEASE.platforms[PLATFORM].handler: RELEASE.platforms[PLATFORM].snp[0]["TrustedMeasurement"],
    NEXT.platforms[PLATFORM].handler: NEXT_SEED,
}


def refused_of(pods: Iterator[Pod], manifest: Json) -> list[Pod]:
    """The pods that a coordinator with this manifest refuses."""
    measured = {entry["TrustedMeasurement"] for entry in manifest["ReferenceValues"]["snp"]}
    return [one for one in pods if one.policy not in manifest["Policies"] or MEASURES[one.handler] not in measured]


def _walk(old: Rendered, new: Rendered, pruned: Rendered) -> Iterator[tuple[str, list[Pod], Json]]:
    """Each moment of the waves: what runs, or restarts, and the manifest that the coordinator has."""
    before, after = pods_of(old), pods_of(new)
    assert before.keys() == after.keys()
    assert before != after
    running = dict(before)
    active = decode(old.manifest)
    yield "installed", [*running.values()], active
    yield "runtime and classes of the new release on the nodes", [*running.values()], active
    active = decode(new.manifest)
    yield "contrast set", [*running.values()], active
    for name in ("coordinator", *sorted(before.keys() - {"coordinator"})):
        # during the rollout of a workload pods of both templates start
        yield f"rollout of {name}", [*running.values(), after[name]], active
        running[name] = after[name]
        yield f"{name} is new", [*running.values()], active
    active = decode(pruned.manifest)
    yield "pruned", [*running.values()], active


def deployment_of(image: str = WEB) -> list[Json]:
    container = {"name": "web", "image": image, "resources": {"limits": {"cpu": "500m", "memory": "200Mi"}}}
    spec = pod_spec(containers=[container])
    return [
        coordinator(),
        an_object(spec=spec),
        an_object("StatefulSet", "db", spec=copy.deepcopy(spec), serviceName="db"),
    ]


STEPS = {
    "another image": (RELEASE, OTHER),
    "another release": (NEXT, WEB),
    "both": (NEXT, OTHER),
}


@pytest.mark.parametrize("step", STEPS)
def test_no_pod_is_refused_at_any_moment(step: str) -> None:
    release, image = STEPS[step]
    old = good(*deployment_of(), to=config_of())
    base = decode(old.manifest)
    new = good(*deployment_of(image), to=config_of(release, base, "previous"))
    pruned = good(*deployment_of(image), to=config_of(release, base))
    moments = [*_walk(old, new, pruned)]
    assert len(moments) >= 8
    for moment, pods, manifest in moments:
        assert refused_of(iter(pods), manifest) == [], moment
    # the same without keep refuses pods of the earlier render
    refused = [moment for moment, pods, manifest in _walk(old, pruned, pruned) if refused_of(iter(pods), manifest)]
    assert "contrast set" in refused


@pytest.mark.parametrize("step", STEPS)
def test_what_is_pruned_is_what_a_first_render_has(step: str) -> None:
    release, image = STEPS[step]
    base = decode(good(*deployment_of(), to=config_of()).manifest)
    fresh = decode(good(*deployment_of(image), to=config_of(release)).manifest)
    pruned = decode(good(*deployment_of(image), to=config_of(release, base)).manifest)
    assert pruned == fresh
    assert set(base["Policies"]) & set(pruned["Policies"]) == set() if release is NEXT else True


def test_what_is_kept_stays_as_it_is_and_is_said() -> None:
    base = decode(good(*deployment_of(), to=config_of()).manifest)
    made = good(*deployment_of(OTHER), to=config_of(NEXT, base, "previous"))
    manifest = decode(made.manifest)
    for digest, entry in base["Policies"].items():
        assert manifest["Policies"][digest] == entry
    assert [entry for entry in manifest["ReferenceValues"]["snp"] if entry in base["ReferenceValues"]["snp"]] == (
        base["ReferenceValues"]["snp"]
    )
    (found,) = [one for one in made.findings if one.code == "CC0730"]
    assert found.severity == "warning"
    assert f"{len(base['Policies'])} policies and 2 reference values" in found.message


def test_the_blocks_of_pods_are_of_the_new_release() -> None:
    """The first entry of a product is the one that ID blocks are made from."""
    base = decode(good(*deployment_of(), to=config_of()).manifest)
    kept = good(*deployment_of(), to=config_of(NEXT, base, "previous"))
    plain = good(*deployment_of(), to=config_of(NEXT, base))
    assert digests(kept) == digests(plain)
    blocks = [
        {key: text for key, text in value["spec"]["template"]["metadata"]["annotations"].items() if "snp_id" in key}
        for made in (kept, plain)
        for value in values(made)
        if value["metadata"]["name"] == "web"
    ]
    assert blocks[0] == blocks[1] != {}


def test_a_second_render_and_one_of_the_rendered_change_nothing() -> None:
    base = decode(good(*deployment_of(), to=config_of()).manifest)
    once = good(*deployment_of(OTHER), to=config_of(NEXT, base, "previous"))
    assert again(once, config_of(NEXT, base, "previous")).manifest == once.manifest
    # the manifest that was set becomes the base of the next render
    twice = good(*deployment_of(OTHER), to=config_of(NEXT, decode(once.manifest), "previous"))
    assert twice.manifest == once.manifest


def test_settings_of_the_operator_hold_for_what_is_kept_too() -> None:
    base = decode(good(*deployment_of(), to=config_of()).manifest)
    tcb = {**TCB, "MicrocodeVersion": 73}
    raised = {"snp": ({"MinimumTCB": tcb},)}
    made = decode(good(*deployment_of(), to=config_of(NEXT, base, "previous", reference_values=raised)).manifest)
    assert len(made["ReferenceValues"]["snp"]) == 4
    assert all(entry["MinimumTCB"] == tcb for entry in made["ReferenceValues"]["snp"])


def test_nothing_is_kept_where_nothing_changed_and_nothing_without_a_base() -> None:
    base = decode(good(*deployment_of(), to=config_of()).manifest)
    same = good(*deployment_of(), to=config_of(RELEASE, base, "previous"))
    assert decode(same.manifest) == base
    assert not [one for one in same.findings if one.code in ("CC0730", "CC0732")]
    alone = good(*deployment_of(), to=config_of(RELEASE, None, "previous"))
    assert decode(alone.manifest) == base
    assert [one.severity for one in alone.findings if one.code == "CC0732"] == ["warning"]


def test_without_keep_nothing_moves() -> None:
    base = decode(good(*deployment_of(), to=config_of()).manifest)
    assert (
        good(*deployment_of(), to=config_of(NEXT, base)).manifest
        == good(*deployment_of(), to=config_of(NEXT, base, "none")).manifest
    )
