"""Pods that set users for all of their containers: render, check, and start every container on a node.

The node's half is independent of the generator: `as_started` is what the kubelet makes of the final pod spec
(docs/facts/kubernetes.md#security-context), and containerd's own code, tools/containerd, says who that is in the image.
"""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from krm_function.check.check_output import check_output
from krm_function.check.output import ManifestFile
from krm_function.config.collect import Config
from krm_function.config.generate import Generate, ManifestOptions, PolicyOptions
from krm_function.config.image_lock import ImageFacts
from krm_function.hosts.stream import decode_stream
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.workload import INITDATA, ORIGINAL, PREFIX, Workload
from krm_function.policy.initdata import POLICY, decode_toml, from_annotation
from krm_function.render.pipeline import render
from krm_function.render.read import read
from krm_function.render.rendered import Rendered
from krm_function.text.writer import dump
from tests.policy.containerd import Containerd, Found
from tests.policy.host import Agent, Host
from tests.policy.oracle.requests import identity
from tests.world import (
    COORDINATOR,
    INITIALIZER,
    MESH,
    RELEASE,
    WEB,
    an_object,
    coordinator,
    documents,
    named,
    pod_spec,
    stream,
)

Json = dict[str, Any]

PASSWD = "root:x:0:0:root:/root:/bin/sh\nweb:x:1000:2000::/home/web:/bin/sh\n"
GROUP = "root:x:0:\nwheel:x:10:root\nweb:x:2000:web\n"
FACTS: Json = {"Env": ["PATH=/bin"], "Entrypoint": ["/entry"], "Cmd": ["serve"], "WorkingDir": "/work"}
CREATE = "CreateContainerRequest"
CONTRAST = frozenset({"contrast-initializer", "contrast-service-mesh", "pvc-holder"})

IMAGES = {  # User, passwd and group of the injected containers' image, and who that is
    "root": (("", "", ""), (0, 0)),
    "root of busybox": (("", PASSWD, GROUP), (0, 0)),
    "a number": (("1000", PASSWD, ""), (1000, 2000)),
    "a number and a group": (("65530:65531", "", ""), (65530, 65531)),
    "a name": (("web", PASSWD, ""), (1000, 2000)),
}
PODS: dict[str, Json] = {
    "nothing": {},
    "non-root": {"runAsNonRoot": True},
    "user": {"runAsUser": 65532},
    "group": {"runAsUser": 0, "runAsGroup": 3000},
    "restricted": {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "fsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "groups": {"runAsUser": 1000, "supplementalGroups": [4, 5], "fsGroup": 6},
    "strict groups": {
        "runAsNonRoot": True,
        "runAsGroup": 7,
        "runAsUser": 7,
        "supplementalGroups": [0, 9],
        "supplementalGroupsPolicy": "Strict",
    },
    "the image's own": {"runAsUser": 1000, "runAsGroup": 2000},
    "root and not": {"runAsUser": 0, "runAsGroup": 0, "runAsNonRoot": True},
}
CONTAINERS: dict[str, Json] = {
    "own": {"runAsUser": 65533, "runAsGroup": 65533},
    "own non-root": {"runAsUser": 1000, "runAsGroup": 1000, "runAsNonRoot": True, "allowPrivilegeEscalation": False},
}
INJECTED: dict[str, tuple[Json, Json]] = {  # annotations of the pod, options of the render
    "initializer": ({}, {}),
    "mesh": ({PREFIX + "servicemesh-ingress": "web#8080#false"}, {}),
    "mesh and image store": ({PREFIX + "servicemesh-ingress": ""}, {"image_store": True}),
    "mesh beside an initializer of the pod": ({PREFIX + "servicemesh-ingress": ""}, {"initializer": False}),
    "secure-pv": ({PREFIX + "secure-pv": "state:share"}, {}),
}
TCB = dict.fromkeys(("BootloaderVersion", "TEEVersion", "SNPVersion", "MicrocodeVersion"), 3)
STATE = {"name": "state", "persistentVolumeClaim": {"claimName": "state"}}
PROFILES = ("contrast-1.25", "strict", "kata-4.1")


def lock(image: str) -> dict[str, ImageFacts]:
    (user, passwd, group), _ = IMAGES[image]
    own = ImageFacts("", {**FACTS, **({"User": user} if user else {})}, passwd, group)
    plain = ImageFacts("", FACTS, "", "")
    return {WEB: plain, COORDINATOR: plain, INITIALIZER: own, MESH: own}


def configured(image: str, injected: str, profile: Any) -> Config:
    options = {"platform": "metal-qemu-snp", "runtime_classes": "off", **INJECTED[injected][1]}
    manifest = ManifestOptions(reference_values={"snp": ({"MinimumTCB": TCB},)})
    return Config(Generate(**options, policy=PolicyOptions(profile=profile), manifest=manifest), RELEASE, lock(image))


def shape(kind: str, context: Json, container: str, injected: str) -> Json:
    spec = pod_spec(securityContext=copy.deepcopy(context) or None)
    spec["containers"][0]["securityContext"] = dict(CONTAINERS[container])
    if injected == "secure-pv":
        spec["volumes"] = [STATE]
    if injected == "mesh beside an initializer of the pod":
        own = {"name": "first", "image": INITIALIZER, "securityContext": dict(CONTAINERS[container])}
        spec["initContainers"] = [own]
    return an_object(kind, spec=spec, annotations=INJECTED[injected][0])


def output(made: Rendered) -> str:
    texts = [text.removeprefix("---\n") for text in made.texts if text is not None]
    return "".join(f"---\n{text}" for text in (*texts, *map(dump, made.added)))


@pytest.fixture(scope="module")
def containerd(tmp_path_factory: pytest.TempPathFactory, containerd_tool: None) -> Iterator[Containerd]:
    with Containerd(tmp_path_factory.mktemp("rootfs")) as running:
        yield running


def as_started(container: Json, pod: Json, user_of_image: str) -> tuple[str, str | None] | str:
    """What the kubelet has containerd start: a user string and the member of groups; or why it does not start it."""
    own = container.get("securityContext") or {}
    user, group, non_root = (
        own[key] if own.get(key) is not None else pod.get(key) for key in ("runAsUser", "runAsGroup", "runAsNonRoot")
    )
    name = user_of_image.partition(":")[0] or "0"
    if non_root and user is None and not name.isdecimal():
        return "image has non-numeric user, cannot verify that it is not root"
    if non_root and (name if user is None else str(user)) == "0":
        return "container has runAsNonRoot and would run as root"
    told = name if user is None else str(user)
    member = None if pod.get("supplementalGroupsPolicy") == "Strict" else told
    return (told if group is None else f"{told}:{group}"), member


def users(made: Workload, image: str, containerd: Containerd) -> dict[str, Found]:
    """Who each container of a rendered pod runs as."""
    pod = made.pod_spec.get("securityContext") or {}
    (of_injected, passwd, group), _ = IMAGES[image]
    extra = frozenset(pod.get("supplementalGroups") or ()) | ({pod["fsGroup"]} if "fsGroup" in pod else frozenset())
    found = {}
    for container in made.init_containers + made.containers:
        injected = container["name"] in CONTRAST
        containerd.unpack(*((passwd, group) if injected else ("", "")))
        told = as_started(container, pod, of_injected if injected else "")
        assert isinstance(told, tuple), (container["name"], told)
        who = containerd.look(*told)
        assert isinstance(who, Found), who
        found[container["name"]] = who._replace(groups=who.groups | extra | {who.gid})
    return found


def context_of(profile: str, image: str, pod: str) -> Json:
    """The pod's securityContext; with kata-4.1 it names the group that busybox's root is in, as the hint says."""
    if (profile, image) != ("kata-4.1", "root of busybox"):
        return PODS[pod]
    return {**PODS[pod], "supplementalGroups": [*PODS[pod].get("supplementalGroups", ()), 10]}


@pytest.mark.slow
@pytest.mark.parametrize("pod", PODS)
@pytest.mark.parametrize("image", IMAGES)
def test_every_container_starts_as_the_node_runs_it_and_nothing_as_somebody_else(
    image: str, pod: str, containerd: Containerd
) -> None:
    turn = list(IMAGES).index(image) + list(PODS).index(pod)
    kind, container, profile, injected = (
        list(values)[turn // step % len(values)]
        for values, step in ((KINDS, 1), (CONTAINERS, 2), (PROFILES, 1), (INJECTED, 1))
    )
    config = configured(image, injected, profile)
    of_coordinator = context_of(profile, image, "nothing") or None
    source = stream(
        shape(kind, context_of(profile, image, pod), container, injected), coordinator(securityContext=of_coordinator)
    )
    made = render(source, config)
    assert [found for found in made.findings if found.severity == "error"] == []
    text = output(made)

    again = render(decode_stream(text.encode()).resources, config)
    assert output(again) == text
    assert restored(text) == "".join(one.text for one in source)
    for checked_with in (config, config._replace(images=None), None):
        verdict = check_output(
            decode_stream(text.encode()).resources, ManifestFile("manifest.json", made.manifest), checked_with
        )
        assert [found for found in verdict.findings if found.severity == "error"] == []

    workload = named(made, "web")
    found = users(workload, image, containerd)
    wanted = IMAGES[image][1]
    sets = {"runAsUser", "runAsGroup", "runAsNonRoot"} & PODS[pod].keys()
    if sets or profile == "kata-4.1":
        assert {(who.uid, who.gid) for name, who in found.items() if name in CONTRAST} == {wanted}
    app = CONTAINERS[container]
    assert (found["web"].uid, found["web"].gid) == (app["runAsUser"], app["runAsGroup"])
    starts(workload, found)


def restored(text: str) -> str:
    """The output with its records undone, without what the render added."""
    resources = decode_stream(text.encode()).resources
    known = read(resources)
    assert known.findings == ()
    return "".join(document.text for document in documents(known).values() if ORIGINAL not in document.text)


def starts(workload: Workload, found: dict[str, Found]) -> None:
    """Start the sandbox and every container as the node does; each is denied as 65532, and as somebody else."""
    rego = decode_toml(from_annotation(str(workload.annotations[INITDATA]))).data[POLICY]
    host, agent = Host(rego, *identity(rego)), Agent(rego, quick=True)
    assert agent.allows(CREATE, host.create("pause"))
    for name, who in found.items():
        request = host.create(name)
        process = request["OCI"]["Process"]
        process["User"] = {
            "UID": who.uid,
            "GID": who.gid,
            "AdditionalGids": sorted(who.groups),
            "Username": "",
        }
        for uid, gid in ((65532, who.gid), (65532, 65532), (who.uid + 1, who.gid), (who.uid, who.gid + 1)):
            if (uid, gid) != (who.uid, who.gid):
                wrong = copy.deepcopy(request)
                wrong["OCI"]["Process"]["User"] |= {"UID": uid, "GID": gid}
                assert agent.verdict(CREATE, wrong) is False, (name, uid, gid)
        assert agent.allows(CREATE, request), (name, who)
