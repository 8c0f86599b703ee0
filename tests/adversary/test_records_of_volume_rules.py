"""Undo records against the rules of `spec.volumes`: a record takes back what the same render does again, or nothing.

The input is what a reviewer reads; its author also wrote the record. So the pod that leaves must be the one that stands
in the input, or nothing leaves.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krm_function.config.generate import PolicyOptions, VolumeRules
from krm_function.kubernetes.workload import ORIGINAL
from krm_function.render.rendered import Rendered
from krm_function.text.writer import dump
from tests.adversary.record_cases import OWN, POD
from tests.adversary.test_any_record import records
from tests.hosts.running import called
from tests.world import (
    FACTS,
    LOCK,
    SECURE_PV,
    WEB,
    an_object,
    codes,
    config,
    coordinator,
    good,
    pod_spec,
    run,
    stream,
    values,
)

Json = dict[str, Any]
Record = list[Any]

APP = f"{POD}/containers/@web/volumeMounts"
OFF = VolumeRules()
RULES = VolumeRules("divideSizeLimit", ("data",), True, ("/models",))
IMAGES = {**LOCK, WEB: FACTS._replace(config={**FACTS.config, "Volumes": {"/srv": {}}})}
NOTE = f"{POD.rpartition('/')[0]}/metadata/annotations/contrast.edgeless.systems~1secure-pv"


def mount(name: str, path: str, **more: Any) -> Json:
    return {"name": name, "mountPath": path, **more}


def subject(*mounts: Json, volumes: list[Json], **more: Any) -> Json:
    container = {"name": "web", "image": WEB, "volumeMounts": list(mounts)}
    return an_object(spec=pod_spec(containers=[container], volumes=volumes), **more)


def empty(name: str, **own: Any) -> Json:
    return {"name": name, "emptyDir": own}


def claim(mode: str | None = "Block", **spec: Any) -> Json:
    whole: Json = {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    if mode:
        whole["volumeMode"] = mode
    return {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "shop"},
        "spec": whole,
    }  # fmt: skip


def marked(value: Json, undo: list[Record]) -> Json:
    value = deepcopy(value)
    value["metadata"]["annotations"] = {**value["metadata"].get("annotations", {}), ORIGINAL: json.dumps(undo)}
    return value


def host_path(path: str = "/etc", **more: Any) -> list[Record]:
    """The emptyDir `cache` becomes a directory of the node again."""
    return [["=", f"{POD}/volumes/@cache", {"name": "cache", "hostPath": {"path": path, **more}}], OWN]


ONE = subject(mount("cache", "/models"), volumes=[empty("cache")])
TWO = subject(mount("x", "/a"), mount("y", "/b"), volumes=[empty("x"), empty("y")])
JOINED: list[Record] = [
    ["=", APP, [mount("e", "/a", subPath="a"), mount("e", "/b", subPath="b")]],
    ["=", f"{POD}/volumes", [empty("e")]],
    OWN,
]
SAME_NAMES = subject(mount("e-a", "/a"), mount("e-b", "/b"), volumes=[empty("e-a"), empty("e-b")])
DATA = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
ENCRYPTED = subject(
    mount("data-share", "/d", mountPropagation="HostToContainer"),
    volumes=[DATA, empty("data-share", medium="Memory")],
    annotations={SECURE_PV: "data:data-share"},
)
MOUNTED: list[Record] = [["-", NOTE, 1], ["=", APP, [mount("data", "/d")]], ["-", f"{POD}/volumes/@data-share"], OWN]
COVERED = subject(mount("web-srv", "/srv"), volumes=[empty("web-srv")])
UNCOVERED: list[Record] = [["-", APP], ["-", f"{POD}/volumes"], OWN]

# why, the object in the input, its record, and the rules that may be on
CASES: tuple[tuple[str, Json, list[Record], VolumeRules], ...] = (
    ("a directory of the node comes back, and no rule is on", ONE, host_path(), OFF),
    ("another path than the rule names", ONE, host_path(), RULES),
    ("a socket of the node", ONE, host_path("/models", type="Socket"), RULES),
    (
        "a directory of the node that nobody mounts",
        subject(mount("t", "/t"), volumes=[empty("t"), empty("cache")]), host_path("/models"), RULES,
    ),
    (
        "an emptyDir that is not as the rule makes it",
        subject(mount("cache", "/m"), volumes=[empty("cache", medium="Memory")]), host_path("/models"), RULES,
    ),
    ("two volumes become parts of one, and no rule is on", TWO, JOINED, OFF),
    ("two volumes become parts of one, and the rule names them otherwise", TWO, JOINED, RULES),
    (
        "two volumes become one",
        TWO, [["=", APP, [mount("e", "/a", subPath="a"), mount("e", "/b", subPath="a")]],
              ["=", f"{POD}/volumes", [empty("e")]], OWN], RULES,
    ),
    (
        "one volume becomes two",
        subject(mount("x", "/a"), mount("x", "/b"), volumes=[empty("x")]), JOINED, RULES,
    ),
    (
        "the new volume is in memory",
        SAME_NAMES, [JOINED[0], ["=", f"{POD}/volumes", [empty("e", medium="Memory")]], OWN], RULES,
    ),
    (
        "a mount is no longer readOnly",
        subject(mount("e-a", "/a", readOnly=True), mount("e-b", "/b"), volumes=[empty("e-a"), empty("e-b")]),
        JOINED, RULES,
    ),
    (
        "a part of a volume is mounted, of which another container has all",
        SAME_NAMES, [["=", APP, [mount("e", "/a", subPath="a"), mount("e", "/b")]], JOINED[1], OWN], RULES,
    ),
    ("the encryption goes, and no rule is on", ENCRYPTED, MOUNTED, OFF),
    ("the encryption goes for another claim", ENCRYPTED,
        [*MOUNTED[:3], ["=", f"{POD}/volumes/@data/persistentVolumeClaim/claimName", "other"], OWN], RULES),
    ("the annotation goes, and the mount stays", ENCRYPTED, [MOUNTED[0], OWN], RULES),
    ("a volume goes, and no rule is on", COVERED, UNCOVERED, OFF),
    ("a volume goes that is at no VOLUME of the image",
        subject(mount("web-opt", "/opt"), volumes=[empty("web-opt")]), UNCOVERED, RULES),
    ("a volume in memory goes", subject(mount("web-srv", "/srv"), volumes=[empty("web-srv", medium="Memory")]),
        UNCOVERED, RULES),
    ("a claim becomes a file system, and no rule is on", claim(), [["-", "/spec/volumeMode"], OWN], OFF),
    ("a claim becomes a file system that no pod of the rule has", claim(), [["-", "/spec/volumeMode"], OWN], RULES),
    ("a claim becomes a block device", claim("Filesystem"), [["=", "/spec/volumeMode", "Block"], OWN], RULES),
    ("a claim becomes something else", claim(), [["=", "/spec/volumeMode", "Foo"], OWN], RULES),
    ("a claim becomes larger", claim(), [["=", "/spec/resources/requests/storage", "1Ti"], OWN], RULES),
    ("a claim is of several nodes", claim(), [["=", "/spec/accessModes", ["ReadWriteMany"]], OWN], RULES),
    ("a claim has another name", claim(), [["=", "/metadata/name", "other"], OWN], RULES),
)  # fmt: skip


def rendered(*objects: Json, rules: VolumeRules, policies: bool = True) -> Rendered:
    """Render; the rules' names are given only where they name something, so that this is no error by itself."""
    texts = dump(list(objects))
    volumes = rules._replace(
        secure_claims=rules.secure_claims if "secure-pv" in texts or "claimName" in texts else (),
        cache_paths=rules.cache_paths if "/models" in texts else (),
    )
    policy = PolicyOptions() if policies else PolicyOptions(engine="none")
    images = IMAGES if rules == RULES else LOCK
    return run(coordinator(), *objects, to=config(images=images, volumes=volumes, policy=policy))


@pytest.mark.parametrize("policies", [True, False])
@pytest.mark.parametrize(("why", "value", "undo", "rules"), CASES, ids=[case[0] for case in CASES])
def test_nothing_is_written(why: str, value: Json, undo: list[Record], rules: VolumeRules, policies: bool) -> None:
    objects = [marked(value, undo)]
    made = rendered(*objects, rules=rules, policies=policies)

    assert made.failed, why
    assert set(codes(made)) & {"CC0115", "CC0807", "CC0604"}, codes(made)
    assert made.texts == tuple(one.text for one in stream(coordinator(), *objects))


TAKEN_BACK: tuple[tuple[Json, list[Record], tuple[Json, ...]], ...] = (
    (ONE, host_path("/models"), ()),
    (SAME_NAMES, JOINED, ()),
    (ENCRYPTED, MOUNTED, (claim(),)),
    (COVERED, UNCOVERED, ()),
)


@pytest.mark.parametrize(("value", "undo", "more"), TAKEN_BACK)
def test_a_record_of_what_the_rule_does_again_changes_nothing(
    value: Json, undo: list[Record], more: tuple[Json, ...]
) -> None:
    """Whoever wrote it: the pod that leaves is the one that stands there."""
    images = IMAGES if value is COVERED else LOCK
    rules = VolumeRules(
        split_sub_paths=True,
        secure_claims=("data",) if value is ENCRYPTED else (),
        image_volumes=True,
        cache_paths=("/models",) if value is ONE else (),
    )
    made = good(coordinator(), marked(value, undo), *more, to=config(images=images, volumes=rules))
    plain = good(coordinator(), value, *more, to=config(images=images))

    assert without_records(values(made)) == without_records(values(plain))


@pytest.mark.parametrize(("why", "value", "undo", "rules"), [case for case in CASES if case[1]["kind"] != "Deployment"])
def test_uninject_knows_what_a_claim_may_become(why: str, value: Json, undo: list[Record], rules: VolumeRules) -> None:
    assert rules in (RULES, OFF)
    ran = called("uninject", stdin=dump(marked(value, undo)).encode())

    assert (ran.code == 0) == why.startswith("a claim becomes a file system")
    assert (ran.out == b"") == (ran.code != 0)


def without_records(objects: list[Any]) -> list[Any]:
    for value in objects:
        (value["metadata"].get("annotations") or {}).pop(ORIGINAL, None)
        if not value["metadata"].get("annotations"):
            value["metadata"].pop("annotations", None)
    return objects


# --- any record


def everything() -> tuple[Json, Json]:
    spec = subject(
        mount("e", "/a", subPath="a"), mount("e", "/b", subPath="b"), mount("data", "/d"), mount("m", "/models"),
        volumes=[empty("e", sizeLimit="1Gi"), DATA, {"name": "m", "hostPath": {"path": "/models"}}],
    )  # fmt: skip
    return spec, claim(None)


ALL_ON: Callable[[], Any] = lambda: config(images=IMAGES, volumes=RULES)  # noqa: E731
FIRST = values(good(coordinator(), *everything(), to=ALL_ON()))
KINDS = {"Deployment": 1, "PersistentVolumeClaim": 2}
SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(data=st.data())
def test_any_record_gives_the_pod_of_the_input_or_nothing(kind: str, data: st.DataObject) -> None:
    objects = deepcopy(FIRST[:3])
    value = objects[KINDS[kind]]
    assert value["kind"] == kind
    undo = data.draw(records(value))
    value["metadata"]["annotations"][ORIGINAL] = json.dumps(undo)
    made = run(*objects, to=ALL_ON())
    if not made.failed:
        assert without_records(values(made))[1:3] == without_records(deepcopy(FIRST[1:3]))
