"""Random pods under the rules of `spec.volumes`: containers see the same paths, shared as before, and all is undone.

What containers see is said here once more, from Kubernetes' rules alone: which directory is at which path, and which
mounts show the same one.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from posixpath import normpath
from typing import Any, NamedTuple

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from krm_function.config.generate import VolumeRules
from krm_function.hosts.stream import decode_stream
from krm_function.kubernetes.quantity import nano
from krm_function.render.pipeline import find_unproven
from krm_function.render.read import read
from krm_function.render.rendered import Rendered
from krm_function.text.writer import dump
from tests.world import FACTS, LOCK, WEB, again, an_object, config, coordinator, named, run, values

Json = dict[str, Any]
Place = tuple[str, str]  # container and path

PATHS = ("a", "b", "a/", "./b", "a/b", "ab", "b//c", "A", "x" * 60)
DECLARED = ("/v0", "/v1", "/declared")  # VOLUMEs of the image
LIMITS = (None, "1Gi", 3_000_001, "2Mi")
RULES = VolumeRules("divideSizeLimit", ("c*",), True, ("/cache",))
IMAGES = {**LOCK, WEB: FACTS._replace(config={**FACTS.config, "Volumes": {path: {} for path in DECLARED}})}
FEW = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Seen(NamedTuple):
    """What is at one path of one container. directory: what makes it the same as at another path."""

    directory: tuple[str, ...]
    read_only: bool
    medium: str


def sources(pod: Json) -> Mapping[str, Json]:
    return {one["name"]: one for one in pod.get("volumes", ())}


def seen(pod: Json, *, rewritten: bool = False) -> dict[Place, Seen]:
    """What containers see at the paths that they mount; in a rendered pod without what is Contrast's."""
    volumes = sources(pod)
    found: dict[Place, Seen] = {}
    for field in ("initContainers", "containers"):
        for container in pod.get(field) or ():
            if container["name"].startswith("contrast-"):
                continue
            for mount in container.get("volumeMounts") or ():
                if mount["name"] == "contrast-secrets":
                    continue
                part = normpath(mount.get("subPath") or ".")
                own = volumes[mount["name"]].get("emptyDir") or {}
                directory = (mount["name"], part)
                assert not rewritten or part == "."
                found[container["name"], mount["mountPath"]] = Seen(
                    directory, bool(mount.get("readOnly")), own.get("medium", "")
                )
    return found


def shared(places: Mapping[Place, Seen]) -> set[frozenset[Place]]:
    """Which two places show one directory."""
    return {
        frozenset((one, other))
        for one, other in combinations(places, 2)
        if places[one].directory == places[other].directory
    }


def inside(places: Mapping[Place, Seen]) -> Iterator[tuple[Place, Place]]:
    """Which place shows a directory that is in the one of another place."""
    for one, other in [*combinations(places, 2), *((b, a) for a, b in combinations(places, 2))]:
        (volume, part), (volume_of_other, part_of_other) = places[one].directory, places[other].directory
        above = "" if part == "." else f"{part}/"
        if volume == volume_of_other and part != part_of_other and part_of_other.startswith(above):
            yield one, other


@st.composite
def mounts(draw: st.DrawFn, names: tuple[str, ...]) -> list[Json]:
    made: list[Json] = []
    for number in range(draw(st.integers(0, 4))):
        name = draw(st.sampled_from(names))
        mount: Json = {"name": name, "mountPath": f"/v{number}"}
        whole = name.startswith("c") or draw(st.integers(0, 9)) == 0
        if not whole:
            mount["subPath"] = draw(st.sampled_from(PATHS))
        if draw(st.booleans()):
            mount["readOnly"] = True
        made.append(mount)
    return made


@st.composite
def pods(draw: st.DrawFn) -> Json:
    volumes: list[Json] = []
    for number in range(draw(st.integers(1, 3))):
        own = {"medium": draw(st.sampled_from(("", "Memory"))), "sizeLimit": draw(st.sampled_from(LIMITS))}
        kept = {key: value for key, value in own.items() if value}
        volumes.append({"name": draw(st.sampled_from((f"e{number}", f"e{number}-a"))), "emptyDir": kept})
    if draw(st.booleans()):
        volumes.append({"name": "claim", "persistentVolumeClaim": {"claimName": "claim"}})
    if draw(st.booleans()):
        kind = draw(st.sampled_from(({}, {"type": "DirectoryOrCreate"})))
        volumes.append({"name": "node", "hostPath": {"path": "/cache", **kind}})
    volumes = draw(st.permutations(volumes))
    names = tuple(one["name"] for one in volumes)
    containers = [
        {"name": name, "image": WEB, "volumeMounts": draw(mounts(names))}
        for name in ("first", "web", "second")[: draw(st.integers(1, 3))]
    ]
    init = [{"name": "prep", "image": WEB, "volumeMounts": draw(mounts(names))}] if draw(st.booleans()) else []
    pod: Json = {"runtimeClassName": "contrast-cc", "containers": containers, "volumes": list(volumes)}
    return {**pod, "initContainers": init} if init else pod


def used_rules(pod: Json) -> VolumeRules:
    """The rules without the names that name nothing here, which would be errors."""
    mounted = {place.directory[0] for place in seen(pod).values()}
    return RULES._replace(
        secure_claims=RULES.secure_claims if "claim" in sources(pod) else (),
        cache_paths=RULES.cache_paths if "node" in mounted else (),
    )


def stream_of(made: Rendered) -> bytes:
    texts = [text if text.startswith("---\n") else f"---\n{text}" for text in made.texts if text is not None]
    return "".join([*texts, *(f"---\n{dump(one)}" for one in made.added)]).encode()


@FEW
@given(pods())
def test_containers_see_the_same_paths_shared_as_before(pod: Json) -> None:
    subject = an_object(spec=pod)
    to = config(images=IMAGES, volumes=used_rules(pod))
    made = run(coordinator(), subject, to=to)
    before = seen(pod)
    event("refused" if made.failed else "rendered")
    refusals = {one.code for one in made.findings if one.severity == "error"}
    if refusals:
        explain_refusals(pod, refusals)
        return

    after = seen(named(made, "web").pod_spec, rewritten=True)
    covered = after.keys() - before.keys()
    assert {path for _, path in covered} <= set(DECLARED), "only VOLUMEs are new"
    for container in pod["containers"] + pod.get("initContainers", []):
        assert {path for name, path in after if name == container["name"]} >= set(DECLARED)
    assert {place: seen.read_only for place, seen in after.items() if place in before} == {
        place: seen.read_only for place, seen in before.items()
    }
    assert shared(after) == shared(before), "and what covers a VOLUME is shared with nothing"
    for place, (directory, _, medium) in before.items():
        if directory[0].startswith("e"):
            assert after[place].medium == medium
    limits_hold(pod, named(made, "web").pod_spec, before, after)

    assert values(again(made, to)) == values(made)
    uninjected(made, (coordinator(), subject))


def limits_hold(pod: Json, rendered: Json, before: Mapping[Place, Seen], after: Mapping[Place, Seen]) -> None:
    """What the new volumes of an emptyDir may hold together is no more than it might, and none has lost its limit."""
    for name, volume in sources(pod).items():
        limit = (volume.get("emptyDir") or {}).get("sizeLimit")
        parts = {after[place].directory[0] for place, one in before.items() if one.directory[0] == name}
        if limit is not None and parts:
            limits = [sources(rendered)[part]["emptyDir"]["sizeLimit"] for part in parts]
            assert all(nano(one) > 0 for one in limits)
            assert sum(map(nano, limits)) <= nano(limit)


def explain_refusals(pod: Json, codes: set[str]) -> None:
    """Every refusal has its reason in the pod, found without the code that refuses."""
    places = seen(pod)
    node = [one.read_only for one in places.values() if one.directory[0] == "node"]
    only_read = bool(node) and all(node)
    reasons = {
        "CC0836": any(places[one].directory[0] != "claim" for one, _ in inside(places)),
        "CC0838": only_read,
    }
    assert all(reasons.get(code, False) for code in codes), codes


def uninjected(made: Rendered, objects: tuple[Json, ...]) -> None:
    known = read(decode_stream(stream_of(made)).resources)
    assert known.findings == ()
    assert find_unproven(known.resources, None, rendered=False, seals=False, taken_back=True) == ()
    back = [one.document.text for one in known.resources if one.document is not None and one.state != "added"]
    assert back == [f"---\n{dump(one)}" for one in objects]
