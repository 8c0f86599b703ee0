"""Ways to change rendered output: what, why somebody would, and the codes that `check` gives, alone and configured.

"" passes. What passes even with the configuration is marked `accepted`, and its reason says why that is right, or why
nobody can see it.
"""

import copy
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from krm_function.kubernetes.workload import EMITTED, INITDATA, ORIGINAL
from krm_function.policy.initdata import Initdata, encode_toml
from tests.adversary.outputs import GPU, HANDLER, TDX, Output

OTHER_KEY = (
    ec.derive_private_key(4711, ec.SECP384R1())
    .public_key()
    .public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    .hex()
)
OTHER = "Deployment/recommendations"  # of which the configuration says nothing by name
WEB = "Deployment/web"
INIT, MESH = "contrast-initializer", "contrast-service-mesh"
CLASS = f"RuntimeClass/{HANDLER}"


class Tamper(NamedTuple):
    """One change. alone, configured: codes, separated by spaces."""

    name: str
    why: str
    change: Callable[[Output], object]
    alone: str = ""
    configured: str = "CC1114"
    where: str = "shop"
    accepted: bool = False


def _set(place: Any, key: Any, value: Any) -> None:
    place[key] = value


def _twice(output: Output, name: str, *, front: bool = False, change: Callable[[Any], object] = bool) -> None:
    """Put a copy of an object beside it."""
    another = copy.deepcopy(output[name])
    change(another)
    output.values.insert(0 if front else len(output.values), another)


def _ordinary(value: Any) -> object:
    """Make an ordinary workload of a sealed one: it keeps the name and runs on the node."""
    spec = value["spec"]["template"]["spec"]
    del spec["runtimeClassName"], spec["initContainers"]
    value["spec"]["template"]["metadata"]["annotations"] = {}
    return value["metadata"].pop("annotations")


def _hooked(value: Any) -> None:
    """Make a Helm hook of an object, and nothing that a render has added."""
    value["metadata"]["annotations"] = {"helm.sh/hook": "post-install"}


def _elsewhere(value: Any) -> None:
    """Make a class of the user's own of one that a render added, for other nodes."""
    del value["metadata"]["annotations"]
    value["scheduling"]["nodeSelector"]["kubernetes.io/hostname"] = "mine"


def _other_manifest(value: Any) -> None:
    _hooked(value)
    value["data"] = {"manifest.json": "{}"}


def _moved(output: Output, name: str, *, with_object: bool = False) -> None:
    """Move web to another class; with_object: that the output has, too."""
    output.pod()["runtimeClassName"] = name
    if with_object:
        _twice(output, CLASS, change=lambda value: (value["metadata"].update(name=name), value.update(handler=name)))


def _unsealed(output: Output, runtime_class: str | None = None) -> None:
    """Take a pod out of its VM, and its policy out of the manifest."""
    pod = output.pod(OTHER)
    pod.pop("runtimeClassName")
    if runtime_class:
        pod["runtimeClassName"] = runtime_class

    def forget(manifest: Any) -> None:
        entry = output.policy("recommendations", manifest)
        manifest["Policies"] = {key: one for key, one in manifest["Policies"].items() if one is not entry}

    output.change_manifest(forget)


def _toml(change: Callable[[dict[str, str]], object]) -> Callable[[Initdata], bytes]:
    def changed(before: Initdata) -> bytes:
        data = dict(before.data)
        change(data)
        return encode_toml(before._replace(data=data))

    return changed


def _manifest(change: Callable[[Any], object]) -> Callable[[Output], None]:
    return lambda output: output.change_manifest(change)


def _snp(field: str, value: Any) -> Callable[[Output], None]:
    """Change one field of the first SNP entry."""

    def change(manifest: Any) -> None:
        place, *rest = manifest["ReferenceValues"]["snp"][0], *field.split(".")
        for part in rest[:-1]:
            place = place[part]
        place[rest[-1]] = value

    return _manifest(change)


def _list(output: Output, *names: str) -> None:
    """Add a List with copies of objects."""
    items = [copy.deepcopy(output[name]) for name in names]
    for one in items:
        _ordinary(one)
    output.values.append({"apiVersion": "v1", "kind": "List", "metadata": {"name": "l"}, "items": items})


THING = """---
apiVersion: example.com/v1
kind: Thing
metadata: {name: hidden, namespace: shop}
spec:
  template:
    spec:
      runtimeClassName: %s
      containers: [{name: a, image: a}]
"""


def _more(text: str) -> Callable[[Output], None]:
    return lambda output: _append(output, text)


def _append(output: Output, text: str) -> None:
    output.more += text


CLASSES = [
    Tamper(
        "handler runc",
        "pods of the class run in no VM",
        lambda o: _set(o[CLASS], "handler", "runc"),
        "CC1116",
        "CC1116",
    ),
    Tamper(
        "handler of the GPU class",
        "pods run in a VM that nobody measured for them",
        lambda o: _set(o[CLASS], "handler", GPU),
        "CC1116",
        "CC1116",
    ),
    Tamper(
        "handler missing",
        "what the API server would do then is its affair",
        lambda o: o[CLASS].pop("handler"),
        "CC1116",
        "CC1116",
    ),
    Tamper("overhead gone", "the VM has less memory than it needs and is killed", lambda o: o[CLASS].pop("overhead")),
    Tamper("overhead smaller", "the same", lambda o: _set(o[CLASS]["overhead"]["podFixed"], "memory", "1Mi")),
    Tamper(
        "node selector gone",
        "pods come to nodes without the hardware",
        lambda o: o[CLASS]["scheduling"].pop("nodeSelector"),
    ),
    Tamper(
        "node selector of other nodes",
        "pods come to nodes of the author",
        lambda o: _set(o[CLASS]["scheduling"]["nodeSelector"], "example.com/tee", "mine"),
    ),
    Tamper("tolerations gone", "pods never start", lambda o: o[f"RuntimeClass/{GPU}"]["scheduling"].pop("tolerations")),
    Tamper(
        "a toleration more",
        "pods come to nodes that are kept free of them",
        lambda o: _set(o[CLASS]["scheduling"], "tolerations", [{"operator": "Exists"}]),
    ),
    Tamper("class twice", "the last one counts", lambda o: _twice(o, CLASS), "CC0118", "CC0118"),
    Tamper(
        "class twice, one with runc",
        "the last one counts",
        lambda o: _twice(o, CLASS, change=lambda v: v.update(handler="runc")),
        "CC0118 CC1116",
        "CC0118 CC1116",
    ),
    Tamper(
        "all classes gone",
        "older ones of the cluster stay in force",
        lambda o: o.keep(lambda v: v["kind"] != "RuntimeClass"),
        "",
        "CC1115",
    ),
    Tamper("one class gone", "the same for one platform", lambda o: o.drop(CLASS), "CC1107", "CC1107"),
    Tamper(
        "class of another name",
        "Contrast's runtime behind a name that no render looks at",
        lambda o: _twice(o, CLASS, change=lambda v: v["metadata"].update(name="safe")),
        "CC1116",
        "CC1116",
    ),
    Tamper(
        "class of another release",
        "a class that this render does not know",
        lambda o: _twice(
            o, CLASS, change=lambda v: (v["metadata"].update(name=HANDLER[:-1]), v.update(handler=HANDLER[:-1]))
        ),
        "",
        "CC1115",
    ),
    Tamper(
        "the same without the mark",
        "as if the user had brought it along",
        lambda o: _twice(
            o,
            CLASS,
            change=lambda v: (v["metadata"].update(name=HANDLER[:-1], annotations={}), v.update(handler=HANDLER[:-1])),
        ),
        "",
        "CC1115",
    ),
    Tamper(
        "class without the mark of the render",
        "as if the user had brought it along; a render compares it all the same",
        lambda o: o[CLASS]["metadata"].pop("annotations"),
        "",
        "",
        accepted=True,
    ),
    Tamper(
        "class without the mark and for the nodes of somebody",
        "nobody can tell it from a class that the user brought along for just these nodes",
        lambda o: _elsewhere(o[CLASS]),
        "",
        "",
        accepted=True,
    ),
    Tamper(
        "class as a hook for Helm's tests",
        "it is not installed, and older ones of the cluster stay in force",
        lambda o: o[CLASS]["metadata"]["annotations"].update({"helm.sh/hook": "test"}),
        "CC0116",
        "CC0116",
    ),
    Tamper(
        "class with another label",
        "it selects nothing of Contrast's, and a render keeps it",
        lambda o: _set(o[CLASS]["metadata"], "labels", {"a": "b"}),
        "",
        "",
        accepted=True,
    ),
    Tamper(
        "the user's class with runc",
        "pods of the class run in no VM",
        lambda o: _set(o[CLASS], "handler", "runc"),
        "CC1116",
        "CC1116",
        "gpu",
    ),
    Tamper(
        "the user's class without overhead", "the VM is killed", lambda o: o[CLASS].pop("overhead"), "", "CC0308", "gpu"
    ),
    Tamper(
        "the user's class without selector",
        "pods come to nodes without the hardware",
        lambda o: o[f"RuntimeClass/{GPU}"].pop("scheduling"),
        "",
        "CC1114",
        "gpu",
    ),
    Tamper(
        "the user's class for other nodes",
        "pods come to nodes of the author",
        lambda o: _set(o[CLASS]["scheduling"]["nodeSelector"], "example.com/tee", "mine"),
        "",
        "CC0115",
        "gpu",
    ),
]

PODS = [
    Tamper(
        "another class of the same look",
        "a class that somebody else owns",
        lambda o: _moved(o, HANDLER[:-1]),
        "CC1107",
        "CC1107",
    ),
    Tamper(
        "another class of the same look, with its object",
        "the same, complete",
        lambda o: _moved(o, HANDLER[:-1], with_object=True),
        "",
        "CC1114 CC1115",
    ),
    Tamper("the GPU class for a pod without", "another VM", lambda o: _moved(o, GPU), "CC1103", "CC1103"),
    Tamper("the TDX class for a pod of SNP", "another VM", lambda o: _moved(o, TDX), "CC1103", "CC1103"),
    Tamper(
        "the placeholder again",
        "no policy is asked for",
        lambda o: _moved(o, "contrast-cc"),
        "CC1101 CC1105",
        "CC1101 CC1105",
    ),
    Tamper(
        "out of the VM",
        "the pod runs on the node",
        lambda o: o.pod().pop("runtimeClassName"),
        "CC0241 CC1105",
        "CC0241 CC1105",
    ),
    Tamper(
        "out of the VM and out of the manifest",
        "nothing in the output asks for it any more",
        _unsealed,
        "CC0241",
        "CC0241",
    ),
    Tamper("another runtime and out of the manifest", "the same", lambda o: _unsealed(o, "gvisor"), "CC0241", "CC0241"),
    Tamper(
        "init containers reversed",
        "the user's run before attestation",
        lambda o: o.pod("Deployment/payments")["initContainers"].reverse(),
    ),
    Tamper(
        "the mesh before the initializer",
        "it starts without its certificate",
        lambda o: o.pod()["initContainers"].reverse(),
    ),
    Tamper("the mesh no sidecar", "the pod never gets past it", lambda o: o.init(MESH).pop("restartPolicy")),
    Tamper(
        "the initializer no sidecar",
        "the encrypted volume is closed again",
        lambda o: o.init(INIT, "StatefulSet/db").pop("restartPolicy"),
    ),
    Tamper(
        "the mesh without its probe",
        "the user's containers start before it",
        lambda o: o.init(MESH).pop("startupProbe"),
        "CC1103",
        "CC1103",
    ),
    Tamper(
        "a default of the API server of another type",
        "no API server writes it",
        lambda o: _set(o.init(MESH)["startupProbe"], "successThreshold", True),
        "CC0207 CC1103",
        "CC0207 CC1103",
    ),
    Tamper(
        "the mesh with another probe",
        "a program of one's own choice",
        lambda o: _set(o.init(MESH)["startupProbe"], "exec", {"command": ["true"]}),
        "CC1103",
        "CC1103",
    ),
    Tamper(
        "the mesh with less memory",
        "it is killed, and the pod with it",
        lambda o: _set(o.init(MESH)["resources"]["limits"], "memory", "1Mi"),
    ),
    Tamper(
        "the mesh for another account",
        "a field that no render writes",
        lambda o: _set(o.init(MESH), "tty", True),
        "CC1103",
        "CC1103",
    ),
    Tamper(
        "an image pull policy that is none of the defaults",
        "an older image of the node",
        lambda o: _set(o.init(MESH), "imagePullPolicy", "Never"),
    ),
    Tamper("the initializer gone", "no attestation", lambda o: o.pod()["initContainers"].pop(0), "CC1103", "CC1103"),
    Tamper(
        "the initializer of another coordinator",
        "secrets of somebody else",
        lambda o: _set(o.init(INIT)["env"][0], "value", "mine"),
        "CC1103",
        "CC1103",
    ),
    Tamper(
        "the initializer's image",
        "another program",
        lambda o: _set(o.init(INIT), "image", o.container()["image"]),
        "CC1103",
        "CC1103",
    ),
    Tamper(
        "the secrets' volume on the node",
        "the node reads them",
        lambda o: _set(next(v for v in o.pod()["volumes"] if v["name"] == "contrast-secrets"), "emptyDir", {}),
        "CC1103",
        "CC1103",
    ),
    Tamper(
        "a command removed",
        "the image's own runs",
        lambda o: o.container("CronJob/nightly-report").pop("command"),
        "",
        "CC1103",
    ),
    Tamper(
        "args removed", "the image's own run", lambda o: o.container("Deployment/payments").pop("args"), "", "CC1103"
    ),
    Tamper(
        "a user removed", "the image's own runs it", lambda o: o.container().pop("securityContext"), "CC1103", "CC1103"
    ),
    Tamper(
        "a cpu limit on TDX",
        "another VM",
        lambda o: _set(o.container("Deployment/payments")["resources"]["limits"], "cpu", "4"),
        "",
        "CC1112 CC1113",
    ),
    Tamper(
        "a cpu limit on SNP",
        "another VM",
        lambda o: _set(o.container()["resources"]["limits"], "cpu", "4"),
        "CC1103",
        "CC1103",
    ),
    Tamper(
        "a variable changed",
        "the policy refuses the pod",
        lambda o: _set(o.container("Deployment/payments")["env"][0], "value", "x"),
        "CC1103",
        "CC1103",
    ),
    Tamper(
        "a ConfigMap's value changed",
        "the policy refuses the pods that read it",
        lambda o: _set(o["ConfigMap/shop-settings"]["data"], "LOG_LEVEL", "x"),
        "CC1103",
        "CC1103",
    ),
    Tamper(
        "an annotation more",
        "no node passes it on to the VM",
        lambda o: _set(o.template(WEB)["metadata"]["annotations"], "a.b/c", "x"),
        "",
        "CC1103",
    ),
    Tamper(
        "the role of the coordinator",
        "the manifest gives it to another",
        lambda o: _set(
            o.template("StatefulSet/coordinator")["metadata"]["labels"], "contrast.edgeless.systems/pod-role", "x"
        ),
        "CC1110",
        "CC1110",
    ),
    Tamper(
        "the policy gone",
        "the pod would be refused",
        lambda o: o.template(WEB)["metadata"]["annotations"].pop(INITDATA),
        "CC1102 CC1105",
        "CC1102 CC1105",
    ),
    Tamper(
        "replicas",
        "how many is no matter of Contrast's, and a render keeps it",
        lambda o: _set(o[WEB]["spec"], "replicas", 9),
        "",
        "",
        accepted=True,
    ),
    Tamper(
        "keys in another order",
        "a host may write them so",
        lambda o: _set(o.values, o.values.index(o[WEB]), dict(reversed(o[WEB].items()))),
        "",
        "",
        accepted=True,
    ),
]

IDENTITY = [
    Tamper(
        "an ordinary one of the same name behind it",
        "kubectl applies it last",
        lambda o: _twice(o, WEB, change=_ordinary),
        "CC0118",
        "CC0118",
    ),
    Tamper(
        "an ordinary one of the same name before it",
        "which one comes last depends on the host",
        lambda o: _twice(o, WEB, front=True, change=_ordinary),
        "CC0118",
        "CC0118",
    ),
    Tamper("the same in a List", "a member is an object", lambda o: _list(o, WEB), "CC0118", "CC0118"),
    Tamper(
        "the same of another version",
        "the version is no part of the identity",
        lambda o: _twice(o, WEB, change=lambda v: (_ordinary(v), v.update(apiVersion="apps/v1beta2"))),
        "CC0118",
        "CC0118",
    ),
    Tamper("the sealed one twice", "whichever it will be", lambda o: _twice(o, WEB), "CC0118", "CC0118"),
    Tamper(
        "a Service twice",
        "traffic goes elsewhere",
        lambda o: _twice(o, "Service/web", change=lambda v: v["spec"].update(selector={"app": "mine"})),
        "CC0118",
        "CC0118",
    ),
    Tamper(
        "a ConfigMap twice",
        "the sealed value is not the one that runs",
        lambda o: _twice(o, "ConfigMap/shop-settings", change=lambda v: v["data"].update(LOG_LEVEL="x")),
        "CC0118",
        "CC0118",
    ),
    Tamper(
        "a hook of the same name with the class",
        "a hook is exempt only if it is not Contrast's",
        lambda o: _twice(o, WEB, change=lambda v: v["metadata"]["annotations"].update({"helm.sh/hook": "pre-install"})),
        "CC0118",
        "CC0118",
    ),
    Tamper(
        "the same without a namespace",
        "it gets the namespace of the sealed one when it is applied",
        lambda o: _twice(o, WEB, change=lambda v: (_ordinary(v), v["metadata"].pop("namespace"))),
        "CC0118",
        "CC0118",
    ),
    Tamper(
        "the same in another namespace",
        "another object, and nothing in it is Contrast's",
        lambda o: _twice(o, WEB, change=lambda v: (_ordinary(v), v["metadata"].update(namespace="else"))),
        "",
        "",
        accepted=True,
    ),
    Tamper(
        "the user's class twice, one as a hook",
        "Helm makes the hook anew over the other one",
        lambda o: _twice(o, CLASS, change=_hooked),
        "CC0118",
        "CC0118",
        "gpu",
    ),
    Tamper(
        "the class twice, one as a hook without the mark",
        "the same",
        lambda o: _twice(o, CLASS, change=_hooked),
        "CC0118",
        "CC0118",
    ),
    Tamper(
        "another manifest of the same name, as a hook",
        "the same: who reads the manifest from the cluster gets another",
        lambda o: _twice(o, "contrast-manifest", change=_other_manifest),
        "CC0118",
        "CC0118",
    ),
    Tamper(
        "the manifest twice",
        "one of them would not verify",
        lambda o: _twice(o, "contrast-manifest"),
        "CC0118",
        "CC0118",
    ),
]


def _let(output: Output) -> None:
    """Give payments another argument, in the policy as well."""
    old, new = "--listen=:8443", "--listen=:9999"
    args = output.container("Deployment/payments")["args"]
    args[args.index(old)] = new
    output.reseal(
        "Deployment/payments", _toml(lambda data: _set(data, "policy.rego", data["policy.rego"].replace(old, new)))
    )


INITDATA_ = [
    Tamper(
        "a file more",
        "it opens the agent",
        lambda o: o.reseal(WEB, _toml(lambda data: data.update({"aa.toml": "x = 1\n"}))),
    ),
    Tamper(
        "a file less", "what it forbade is allowed", lambda o: o.reseal(WEB, _toml(lambda data: data.pop("notes.toml")))
    ),
    Tamper(
        "a file changed",
        "what it forbade is allowed",
        lambda o: o.reseal(WEB, _toml(lambda data: data.update({"notes.toml": "allowed = true\n"}))),
    ),
    Tamper(
        "another algorithm",
        "another digest than the one that the hardware is asked for",
        lambda o: o.reseal(WEB, lambda before: encode_toml(before._replace(algorithm="sha384"))),
    ),
    Tamper(
        "the same written otherwise",
        "another digest",
        lambda o: o.reseal(WEB, lambda before: encode_toml(before) + b"# x\n"),
    ),
    Tamper(
        "the policy of another profile",
        "other rules for the same data",
        lambda o: o.reseal(
            WEB,
            _toml(
                lambda data: _set(
                    data,
                    "policy.rego",
                    data["policy.rego"].replace(
                        "default AllowRequestsFailingPolicy := false", "default AllowRequestsFailingPolicy := true"
                    ),
                )
            ),
        ),
        "CC0654",
        "CC0654 CC1103",
    ),
    Tamper(
        "a policy that allows more, and the pod that uses it",
        "who may change the resources may render them: what they were, only git knows; it shows as another digest",
        _let,
        "",
        "",
        accepted=True,
    ),
    Tamper(
        "a file more beside a manifest in a file",
        "it opens the agent",
        lambda o: o.reseal(WEB, _toml(lambda data: data.update({"aa.toml": "x = 1\n"}))),
        where="file",
    ),
]


RECORDS = [
    Tamper(
        "records emptied",
        "uninject gives sealed output back as if it were input",
        lambda o: o.records(lambda _: [], OTHER),
        "CC0115",
        "CC0115 CC0621",
    ),
    Tamper("records removed", "the same", lambda o: o[WEB]["metadata"]["annotations"].pop(ORIGINAL), "", "CC0621"),
    Tamper(
        "records that are none",
        "a render stops",
        lambda o: _set(o[WEB]["metadata"]["annotations"], ORIGINAL, "x"),
        "CC0108",
        "CC0108",
    ),
    Tamper(
        "records of an unknown operation",
        "a render stops",
        lambda o: o.records(lambda found: [*found, ["!", "/a"]]),
        "CC0108",
        "CC0108",
    ),
    Tamper(
        "a record takes the pod out of its VM",
        "the next render leaves it alone; without a configuration it may be one of spec.workloads",
        lambda o: o.records(lambda found: [["-", one[1]] if one[0] == "=" else one for one in found], OTHER),
        "",
        "CC0115 CC0241",
    ),
    Tamper(
        "a record gives a command",
        "the next render seals it",
        lambda o: o.records(lambda found: [*found, ["+", "/spec/template/spec/containers/@web/command", ["sh"]]]),
        "CC0115",
        "CC0115",
    ),
    Tamper(
        "a record renames the object",
        "the next render makes another one",
        lambda o: o.records(lambda found: [*found, ["=", "/metadata/name", "else"]], OTHER),
        "CC0115",
        "CC0115",
    ),
    Tamper(
        "a mark of a render on a workload",
        "the next render drops it",
        lambda o: _set(o[OTHER]["metadata"]["annotations"], EMITTED, "true"),
        "CC0116",
        "CC0116",
    ),
    Tamper(
        "a mark of a render on a Service",
        "the next render drops it",
        lambda o: _set(o["Service/web"]["metadata"], "annotations", {EMITTED: "true"}),
        "CC0116",
        "CC0116",
    ),
    Tamper(
        "records in another order",
        "a host may sort keys, and records follow the text",
        lambda o: o.records(lambda found: found[::-1]),
        "",
        "",
        accepted=True,
    ),
    Tamper(
        "bytes of a record",
        "they are for the eyes of whoever takes the render back; the value is the same",
        lambda o: o.records(lambda found: [["~", one[1], f'  "{one[2]}"'] if one[0] == "=" else one for one in found]),
        "",
        "",
        accepted=True,
    ),
]

MANIFEST = [
    Tamper("TCB 0", "outdated firmware is accepted", _snp("MinimumTCB.SNPVersion", 0), "", "CC1113"),
    Tamper(
        "a foreign measurement",
        "a VM of somebody else's is accepted",
        _snp("TrustedMeasurement", "0b" * 48),
        "CC1103",
        "CC1103",
    ),
    Tamper(
        "debug allowed",
        "the host reads the VM's memory",
        _snp("GuestPolicy.Debug", True),
        "CC0702 CC1103",
        "CC0702 CC1103",
    ),
    Tamper("migration allowed", "the VM leaves its machine", _snp("PlatformInfo", {"SMTEnabled": True}), "", "CC1113"),
    Tamper("a chip allowed", "only some machines are accepted", _snp("AllowedChipIDs", ["0c" * 64]), "", "CC1113"),
    Tamper(
        "a reference value more",
        "another machine is accepted",
        _manifest(
            lambda m: m["ReferenceValues"]["snp"].append(
                {**m["ReferenceValues"]["snp"][0], "TrustedMeasurement": "0b" * 48}
            )
        ),
        "",
        "CC1113",
    ),
    Tamper(
        "MrSeam",
        "another TDX module is accepted",
        _manifest(lambda m: m["ReferenceValues"]["tdx"][0].update(MrSeam="0d" * 48)),
        "",
        "CC1113",
    ),
    Tamper(
        "an RTMR",
        "another kernel is accepted",
        _manifest(lambda m: _set(m["ReferenceValues"]["tdx"][0]["Rtmrs"], 1, "0d" * 48)),
        "",
        "CC1113",
    ),
    Tamper(
        "RTMR 0",
        "another number of vCPUs is accepted",
        _manifest(lambda m: _set(m["ReferenceValues"]["tdx"][0]["Rtmrs"], 0, "0d" * 48)),
        "",
        "CC1112 CC1113",
    ),
    Tamper(
        "another name in the certificate",
        "a pod may pass for another service",
        lambda o: o.change_manifest(lambda m: o.policy("web", m)["SANs"].append("bank.example.com")),
        "",
        "CC1113",
    ),
    Tamper(
        "another WorkloadSecretID",
        "a pod gets the secrets of another",
        lambda o: o.change_manifest(lambda m: o.policy("web", m).update(WorkloadSecretID="shop/db")),
        "",
        "CC1113",
    ),
    Tamper(
        "the role given away",
        "any pod may pass for the coordinator",
        lambda o: o.change_manifest(lambda m: o.policy("web", m).update(Role="coordinator")),
        "CC1110",
        "CC1110",
    ),
    Tamper(
        "a policy more",
        "a pod of somebody else's is accepted",
        _manifest(lambda m: m["Policies"].update({"0e" * 32: {"SANs": ["x"], "WorkloadSecretID": "x"}})),
        "CC1105",
        "CC1105",
    ),
    Tamper(
        "another owner",
        "whoever has the key changes the manifest",
        _manifest(lambda m: m.update(WorkloadOwnerPubKeys=[OTHER_KEY])),
        "",
        "CC1113",
    ),
    Tamper("an owner more", "the same", _manifest(lambda m: m["WorkloadOwnerPubKeys"].append(OTHER_KEY)), "", "CC1113"),
    Tamper(
        "no owner",
        "nobody can ever change the manifest",
        _manifest(lambda m: m.update(WorkloadOwnerPubKeys=None)),
        "",
        "CC1113",
    ),
    Tamper(
        "written otherwise",
        "Contrast compares bytes",
        lambda o: _set(o["contrast-manifest"]["data"], "manifest.json", json.dumps(o.manifest)),
        "",
        "CC1113",
    ),
    Tamper(
        "a key more beside the manifest",
        "the ConfigMap says more than the render",
        lambda o: _set(o["contrast-manifest"]["data"], "x", "y"),
        "CC0116",
        "CC0116",
    ),
    Tamper(
        "the manifest under another name",
        "the old one of the cluster stays",
        lambda o: _set(o["contrast-manifest"]["metadata"], "name", "else"),
        "",
        "CC1115",
    ),
    Tamper(
        "the manifest in another namespace",
        "the same",
        lambda o: _set(o["contrast-manifest"]["metadata"], "namespace", "else"),
        "",
        "CC1115",
    ),
    Tamper(
        "the manifest without the mark of the render",
        "nobody finds it",
        lambda o: o["contrast-manifest"]["metadata"].pop("annotations"),
        "CC1106",
        "CC1106",
    ),
    Tamper(
        "the manifest gone", "the old one stays in force", lambda o: o.drop("contrast-manifest"), "CC1106", "CC1106"
    ),
    Tamper(
        "the local manifest gone",
        "there is none at all",
        lambda o: o.drop("contrast-manifest"),
        "CC1106",
        "CC1106",
        "local",
    ),
    Tamper(
        "TCB 0 in the local manifest",
        "outdated firmware is accepted",
        _snp("MinimumTCB.SNPVersion", 0),
        "",
        "CC1113",
        "local",
    ),
    Tamper(
        "the local manifest made an object",
        "it reaches the cluster, and nothing of it is secret or in force",
        lambda o: o["contrast-manifest"]["metadata"]["annotations"].pop("config.kubernetes.io/local-config"),
        "",
        "CC1114",
        "local",
    ),
    *(
        tamper._replace(name=f"{tamper.name}, in a file", where="file")
        for tamper in (
            Tamper("TCB 0", "outdated firmware is accepted", _snp("MinimumTCB.BootloaderVersion", 0), "", "CC1113"),
            Tamper(
                "another owner",
                "whoever has the key changes the manifest",
                _manifest(lambda m: m.update(WorkloadOwnerPubKeys=[OTHER_KEY])),
                "",
                "CC1113",
            ),
            Tamper(
                "another name",
                "a pod may pass for another service",
                lambda o: o.change_manifest(lambda m: o.policy("web", m)["SANs"].append("x")),
                "",
                "CC1113",
            ),
            Tamper(
                "another secret",
                "a pod gets the secrets of another",
                lambda o: o.change_manifest(lambda m: o.policy("web", m).update(WorkloadSecretID="shop/db")),
                "",
                "CC1113",
            ),
            Tamper(
                "a foreign measurement on TDX",
                "a VM of somebody else's is accepted",
                _manifest(lambda m: m["ReferenceValues"]["tdx"][0].update(MrTd="0d" * 48)),
                "",
                "CC1113",
            ),
            Tamper(
                "written otherwise",
                "Contrast compares bytes",
                lambda o: setattr(o, "file", json.dumps(o.manifest).encode()),
                "",
                "CC1113",
            ),
        )
    ),
]

HIDING = [
    Tamper("a kind that Contrast does not know", "no render seals it", _more(THING % HANDLER), "CC1109", "CC1109"),
    Tamper(
        "the same with a letter by its number",
        "a search for the word does not find it",
        _more(THING % f'"{HANDLER.replace("o", chr(92) + "x6f", 1)}"'),
        "CC1109",
        "CC1109",
    ),
    Tamper(
        "the same with all letters by their numbers",
        "the same",
        _more(THING % ('"' + "".join(f"\\u{ord(one):04x}" for one in HANDLER) + '"')),
        "CC1109",
        "CC1109",
    ),
    Tamper(
        "the same over two lines",
        "the same",
        _more(THING % f'"{HANDLER[:3]}\\\n        {HANDLER[3:]}"'),
        "CC1109",
        "CC1109",
    ),
    Tamper(
        "the same as binary",
        "the same",
        _more(THING % "!!binary Y29udHJhc3QtY2MtbWV0YWwtcWVtdS1zbnAtMThhMWEwNjU="),
        "CC1109",
        "CC1109",
    ),
    Tamper("the old class", "older nodes know it", _more(THING % "kata-cc-isolation"), "CC1109", "CC1109"),
    Tamper(
        "an old version of a known kind",
        "no render looks at it",
        _more((THING % HANDLER).replace("example.com/v1", "extensions/v1beta1").replace("Thing", "Deployment")),
        "CC1109",
        "CC1109",
    ),
    Tamper(
        "all of Contrast's gone",
        "alone nothing is left to check, and `checked 0 Contrast workloads` says so; a configuration wants some",
        lambda o: o.keep(lambda v: "contrast-cc" not in json.dumps(v) and v["metadata"]["name"] != "contrast-manifest"),
        "",
        "CC0291",
    ),
]

OF_A_CLUSTER = [
    Tamper(
        "a status",
        "a reader, or another tool, takes what stands there for what a cluster says",
        lambda output: _set(output[WEB], "status", {"readyReplicas": 1}),
    ),
    Tamper(
        "an owner",
        "the garbage collector of the cluster deletes what belongs to an owner that is not there",
        lambda output: _set(
            output[WEB]["metadata"],
            "ownerReferences",
            [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}],
        ),
    ),
    Tamper(
        "an empty status",
        "as `kubectl create --dry-run` prints it, so nobody can tell it from one of the source",
        lambda output: _set(output[WEB], "status", {}),
        configured="",
        accepted=True,
    ),
]

TAMPERS = [*OF_A_CLUSTER, *CLASSES, *PODS, *IDENTITY, *INITDATA_, *RECORDS, *MANIFEST, *HIDING]
