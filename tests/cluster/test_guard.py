"""What `guard` prints, asked by a real API server: each rule with what passes and what is refused, and its sentence."""

import copy
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from krm_function.contrast.platforms import is_contrast_name, is_handler
from krm_function.kubernetes.workload import INITDATA
from tests import quick_yaml as yaml
from tests.cluster.api import Answer, Api, Json, collection, until
from tests.cluster.conftest import add_namespace, empty_namespace
from tests.cluster.control_plane import ControlPlane
from tests.hosts.running import EXAMPLES, ROOT, called

QUICKSTART = EXAMPLES / "quickstart"
PAGE = ROOT / "docs/how-to/guard.md"
FLEET = """
apiVersion: contrast-krm.dev/v1alpha1
kind: ContrastGenerate
metadata: {name: contrast}
spec:
  podTemplates: [{group: example.com, kind: Fleet, templates: [{path: 'spec.worker-groups.in[*].template'}]}]
"""
PODS = "pods.example.com"
OPEN, CLOSED = "guard-open", "guard-closed"  # namespaces: without and with the label
CUSTOM = {  # kind -> group, version, plural
    "Fleet": ("example.com", "v1", "fleets"),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets"),
    "JobSet": ("jobset.x-k8s.io", "v1alpha2", "jobsets"),
    "Sandbox": ("agents.x-k8s.io", "v1alpha1", "sandboxes"),
    "RayJob": ("ray.io", "v1", "rayjobs"),
    "TFJob": ("kubeflow.org", "v1", "tfjobs"),
    "Workflow": ("argoproj.io", "v1alpha1", "workflows"),
}
HANDLER = "contrast-cc-metal-qemu-snp-18a1a065"
DIGEST = "@sha256:" + "ab" * 32
PLACEHOLDER = "is a placeholder, or no handler of a platform that contrast-krm knows"
UNSEALED = f"starts nothing without annotation {INITDATA}"
UNPINNED = "has an image without sha256 digest, so no sealed policy lists it"
STRANGE = "not among the sealed containers of this pod, or with another image: "
PLAIN = "guard.contrast-krm.dev/plain"
OUTSIDE = "and the pod runs outside of a VM"
OPENED = "and no class of Contrast's, so it runs outside of a VM with what was sealed"
CHANGED = "a sealed pod keeps its policy and its images"
UNREVIEWED = "author may except no pod in namespace guard-closed"


class Door:
    """The API server behind the guard."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def __call__(self, value: Json, user: str = "", method: str = "POST", name: str = "") -> Answer:
        """Create an object, or replace one, without that it stays. user: who asks, else the administrator."""
        group, _, version = value["apiVersion"].rpartition("/")
        plural = CUSTOM[value["kind"]][2] if value["kind"] in CUSTOM else value["kind"].lower() + "s"
        base = f"/apis/{group}/{version}" if group else f"/api/{version}"
        path = f"{base}/namespaces/{value['metadata']['namespace']}/{plural}{name and '/' + name}?dryRun=All"
        return self.send(method, path, value, user)

    def send(self, method: str, path: str, value: Json, user: str = "") -> Answer:
        """Send a request; PATCH merges as `kubectl patch` does."""
        headers = self.api._headers
        self.api._headers = {**headers, **({"Impersonate-User": user} if user else {})}
        try:
            return self.api(
                method, path, value, f"application/{'strategic-merge-patch+' if method == 'PATCH' else ''}json"
            )
        finally:
            self.api._headers = headers

    def refuses(self, value: Json, user: str = "") -> str:
        """What a guard says of a new object, "" if it lets it in."""
        answer = self(value, user)
        if answer.code == 201:
            return ""
        assert "ValidatingAdmissionPolicy" in answer.message, answer.message
        return answer.message.partition("denied request: ")[2]


def definition(kind: str) -> Json:
    """A CRD of any content, in place of the operator's own."""
    group, version, plural = CUSTOM[kind]
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


@pytest.fixture(scope="module")
def rendered() -> dict[str, Json]:
    """The rendered quickstart, by kind and name."""
    output = called("generate", str(QUICKSTART / "resources"), "--config", str(QUICKSTART / "config")).ok()
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in yaml.safe_load_all(output)}


@pytest.fixture(scope="module")
def door(cluster: ControlPlane, rendered: dict[str, Json], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A cluster with the guard, two namespaces, and a Deployment with a placeholder that was there before."""
    api, here = cluster.api, tmp_path_factory.mktemp("guard")
    (here / "fleet.yaml").write_text(FLEET)
    own = [
        f"customresourcedefinitions/{one['metadata']['name']}"
        for one in map(definition, CUSTOM)
        if api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", one).code == 201
    ]
    add_namespace(api, OPEN)
    add_namespace(api, CLOSED)
    api.patch("Namespace", CLOSED, {"metadata": {"labels": {"guard.contrast-krm.dev/pods": "confidential"}}}).ok()
    api.create({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": HANDLER}, "handler": "x"})
    before = deployment(runtimeClassName="contrast-cc")
    before["metadata"]["name"] = "before"
    api.create(before).ok()
    printed = called("guard", "--config", str(here / "fleet.yaml")).ok().decode()
    output = "".join(f"---\n{yaml.safe_dump(one)}" for one in rendered.values()).replace(
        "namespace: shop", "namespace: guard-open"
    )
    sealed = called("guard", "--sealed", "-", stdin=output.encode()).ok().decode()
    made = cluster.kubectl("apply", "-f", "-", stdin=f"{printed}---\n{sealed}")
    assert made.returncode == 0, made.stderr
    made_door = Door(api)
    plain = deployment(CLOSED)
    until(
        "the guard",
        lambda: made_door(plain).code == 403 and made_door(deployment(runtimeClassName="contrast-cc")).code == 403,
    )
    until("its parameters", lambda: made_door(added(rendered["Deployment/web"], "more")).code == 403)
    yield made_door
    cluster.kubectl("delete", "-f", "-", stdin=printed)
    cluster.kubectl("delete", *own)
    for name in (OPEN, CLOSED):
        empty_namespace(api, name)
        api.delete("Namespace", name)


def template(annotations: Json | None = None, image: str = f"registry.example.com/web{DIGEST}", **spec: Any) -> Json:
    """A pod template of one container."""
    metadata = {"labels": {"app": "web"}, "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"containers": [{"name": "web", "image": image}], **spec}}


def thing(api_version: str, kind: str, namespace: str = OPEN, **spec: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web", "namespace": namespace}, "spec": spec}


def deployment(namespace: str = OPEN, annotations: Json | None = None, **spec: Any) -> Json:
    selector = {"matchLabels": {"app": "web"}}
    return thing("apps/v1", "Deployment", namespace, selector=selector, template=template(annotations, **spec))


def custom(kind: str, **spec: Any) -> Json:
    group, version, _ = CUSTOM[kind]
    return thing(f"{group}/{version}", kind, **spec)


def fleet(groups: Any) -> Json:
    """An object whose pod templates are below a key with a dash, and one that is a word of CEL."""
    return custom("Fleet", **{"worker-groups": {"in": groups}})


def of_kind(kind: str, pod: Json) -> Json:
    """An object of a kind with a pod template."""
    selector = {"matchLabels": {"app": "web"}}
    job = {**pod, "spec": {"restartPolicy": "Never", **pod["spec"]}}
    match kind:
        case "Pod":
            return {**thing("v1", kind), **pod, "metadata": {**pod["metadata"], "name": "web", "namespace": OPEN}}
        case "ReplicationController":
            return thing("v1", kind, selector=selector["matchLabels"], template=pod)
        case "Job":
            return thing("batch/v1", kind, template=job)
        case "CronJob":
            return thing("batch/v1", kind, schedule="* * * * *", jobTemplate={"spec": {"template": job}})
        case "Fleet":
            return fleet([{"template": template()}, {"template": pod}])
        case "LeaderWorkerSet":
            return custom(kind, leaderWorkerTemplate={"size": 2, "workerTemplate": pod})
        case "JobSet":
            jobs = [
                {"name": name, "template": {"spec": {"template": one}}} for name, one in (("a", template()), ("b", pod))
            ]
            return custom(kind, replicatedJobs=jobs)
        case "Sandbox":
            return custom(kind, podTemplate=pod)
        case _:
            named = {"serviceName": "web"} if kind == "StatefulSet" else {}
            return thing("apps/v1", kind, selector=selector, template=pod, **named)


SEALED_KINDS = (
    *("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob"),
    *("Fleet", "LeaderWorkerSet", "JobSet", "Sandbox"),
)


@pytest.mark.parametrize("kind", SEALED_KINDS)
def test_a_template_is_let_in_plain_or_sealed_and_refused_with_a_placeholder_or_unsealed(door: Door, kind: str) -> None:
    sealed = {INITDATA: "x"}
    assert door.refuses(of_kind(kind, template())) == ""
    assert door.refuses(of_kind(kind, template(sealed, runtimeClassName=HANDLER))) == ""
    assert PLACEHOLDER in door.refuses(of_kind(kind, template(sealed, runtimeClassName="contrast-cc")))
    assert UNSEALED in door.refuses(of_kind(kind, template(runtimeClassName=HANDLER)))
    assert f"container web {UNPINNED}" in door.refuses(
        of_kind(kind, template(sealed, "registry.example.com/web:1", runtimeClassName=HANDLER))
    )


def test_a_pod_is_looked_at_like_a_template(door: Door) -> None:
    sealed = {INITDATA: "x"}
    assert door.refuses(of_kind("Pod", template())) == ""
    assert door.refuses(of_kind("Pod", template(sealed, runtimeClassName=HANDLER))) == ""
    assert UNSEALED in door.refuses(of_kind("Pod", template(runtimeClassName=HANDLER)))
    pod = template(sealed, runtimeClassName=HANDLER)
    pod["spec"]["initContainers"] = [{"name": "istio-init", "image": "istio/proxyv2:1"}]
    assert f"container istio-init {UNPINNED}" in door.refuses(of_kind("Pod", pod))


NAMES = (
    *("contrast-cc", "kata-cc-isolation", "contrast-cc-metal-qemu-snp", "contrast-cc-metal-qemu-tdx-gpu", HANDLER),
    *("contrast-cc-metal-qemu-snp-gpu-1a2b", "contrast-cc-metal-qemu-snp-gpux", "contrast-cc-metal-qemu-snp-gpu-gpux"),
    *("contrast-cc-metal-qemu-snp-12345678901234567", "contrast-cc-aks-clh-snp-1a2b", "Contrast-CC", " contrast-cc "),
    *(
        "CONTRAST-CC-METAL-QEMU-SNP-1A2B",
        "contrast-insecure-1a2b",
        "contrast",
        "contrastive",
        "contrastcc",
        "contrast_cc",
    ),
    *(
        "contrastinsecure",
        "contrasté",
        "kata-cc-isolation-2",
        "kata-qemu-snp",
        "runc",
        "",
        "my-contrast-cc",
        "contrast.cc",
    ),
)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: f"<{name}>")
def test_a_name_means_what_a_render_takes_it_for(door: Door, name: str) -> None:
    said = door.refuses(of_kind("Sandbox", template(runtimeClassName=name)))
    if is_handler(name):
        assert UNSEALED in said
    else:
        assert (PLACEHOLDER in said) == is_contrast_name(name), said
        assert bool(said) == is_contrast_name(name)


@pytest.mark.parametrize(
    ("where", "key", "step"),
    [
        ("annotations", "meta.helm.sh/release-name", "Helm ran without --post-renderer contrast-krm"),
        ("annotations", "config.k8s.io/owning-inventory", "kpt applied it without contrast-krm"),
        ("annotations", "argocd.argoproj.io/tracking-id", "Argo CD or Flux applied it without"),
        ("labels", "kustomize.toolkit.fluxcd.io/name", "Argo CD or Flux applied it without"),
        ("labels", "app", "kustomize build with --enable-alpha-plugins --enable-exec"),
    ],
)
def test_the_missing_step_is_that_of_the_host(door: Door, where: str, key: str, step: str) -> None:
    value = deployment(runtimeClassName="contrast-cc")
    value["metadata"][where] = {key: "web"}
    assert step in door.refuses(value)


WORKERS = [{"groupName": "a", "template": template(runtimeClassName="contrast-cc")}]
REFUSED = {
    "head": custom("RayJob", rayClusterSpec={"headGroupSpec": {"template": template(runtimeClassName="contrast-cc")}}),
    "worker": custom("RayJob", rayClusterSpec={"headGroupSpec": {"template": template()}, "workerGroupSpecs": WORKERS}),
    "replica": custom("TFJob", tfReplicaSpecs={"Worker": {"template": template(runtimeClassName=HANDLER)}}),
}


@pytest.mark.parametrize("place", REFUSED)
def test_kinds_whose_pods_nobody_seals_are_refused_with_the_reason(door: Door, place: str) -> None:
    said = door.refuses(REFUSED[place])
    assert "is asked for in vain, as no render seals pods of this kind: the operator" in said
    assert "RayCluster" in said or "JobSet" in said, "the way out"


@pytest.mark.parametrize(
    "value",
    [
        custom("RayJob", rayClusterSpec={"headGroupSpec": {"template": template()}, "workerGroupSpecs": None}),
        custom("TFJob", tfReplicaSpecs={"Worker": {"template": template()}}),
        custom("Workflow", templates=[{"name": "a", "runtimeClassName": 3}]),
        custom("Sandbox", podTemplate={"metadata": None, "spec": {"runtimeClassName": None, "containers": None}}),
        custom("Sandbox", podTemplate={"spec": {"runtimeClassName": 7}}),
        custom("TFJob", tfReplicaSpecs=None),
        fleet(None),
        custom("Sandbox", podTemplate=None),
        custom("Sandbox"),
        fleet([{"template": None}, {}]),
        {**custom("Sandbox"), "spec": None},
    ],
    ids=lambda value: f"{value['kind']}-{str(value['spec'])[:40]}",
)
def test_what_is_plain_empty_or_of_another_shape_is_let_in(door: Door, value: Json) -> None:
    assert door.refuses(value) == ""


def added(value: Json, name: str) -> Json:
    """A workload with one container more, as a webhook would add it."""
    changed = copy.deepcopy(value)
    changed["metadata"] |= {"namespace": OPEN, "name": f"{value['metadata']['name']}-2"}
    changed["spec"]["template"]["spec"]["containers"].append({"name": name, "image": f"example.com/{name}{DIGEST}"})
    return changed


def test_containers_are_compared_with_those_of_the_render(door: Door, rendered: dict[str, Json]) -> None:
    sealed = rendered["Deployment/web"]
    same = added(sealed, "x")
    same["spec"]["template"]["spec"]["containers"].pop()
    assert door.refuses(same) == ""
    assert f"{STRANGE}proxy. " in door.refuses(added(sealed, "proxy"))
    image = copy.deepcopy(same)
    image["spec"]["template"]["spec"]["containers"][0]["image"] = f"registry.example.com/web:2{DIGEST}"
    assert f"{STRANGE}{same['spec']['template']['spec']['containers'][0]['name']}. " in door.refuses(image)
    mirrored = copy.deepcopy(same)
    first = mirrored["spec"]["template"]["spec"]["containers"][0]
    first["image"] = f"mirror.example.com/any:tag@{first['image'].partition('@')[2]}"
    assert door.refuses(mirrored) == "", "the digest counts"
    pod = {**same["spec"]["template"], "apiVersion": "v1", "kind": "Pod"}
    pod["metadata"] = {**pod["metadata"], "name": "web", "namespace": OPEN}
    assert door.refuses(pod) == ""
    pod["spec"] = {**pod["spec"], "containers": added(sealed, "proxy")["spec"]["template"]["spec"]["containers"]}
    assert f"{STRANGE}proxy. " in door.refuses(pod)
    earlier = added(sealed, "proxy")
    earlier["spec"]["template"]["metadata"]["annotations"][INITDATA] += "AAAA"
    assert door.refuses(earlier) == "", "of another render, so nobody can tell"


def test_an_ephemeral_container_is_refused_in_a_sealed_pod_and_in_no_other(door: Door) -> None:
    for name, pod in (("plain", template()), ("sealed", template({INITDATA: "x"}, runtimeClassName=HANDLER))):
        value = of_kind("Pod", pod)
        value["metadata"]["name"] = name
        door.api.create(value).ok()
        body = {"spec": {"ephemeralContainers": [{"name": "debug", "image": f"example.com/debug{DIGEST}"}]}}
        answer = door.api.patch("Pod", name, body, OPEN, "/ephemeralcontainers")
        refused = "an ephemeral container is in no sealed policy, so its VM refuses it" in answer.message
        assert (answer.code >= 400, refused) == ((True, True) if name == "sealed" else (False, False)), answer.message


def test_what_was_there_before_can_be_changed_and_deleted_but_not_in_its_pods(door: Door) -> None:
    def change(body: Json) -> Answer:
        return door.api.patch("Deployment", "before", body, OPEN)

    assert change({"spec": {"replicas": 3}}).code == 200
    assert change({"metadata": {"annotations": {"a": "b"}}}).code == 200
    said = change({"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}})
    assert (said.code >= 400, PLACEHOLDER in said.message) == (True, True), said.message
    assert change({"spec": {"template": {"spec": {"runtimeClassName": None}}}}).code == 200
    assert door.api.delete("Deployment", "before", OPEN).code == 200


CONTROLLER = "system:serviceaccount:kube-system:deployment-controller"


def test_what_a_controller_made_is_as_its_owner(door: Door) -> None:
    value = of_kind("ReplicaSet", template(runtimeClassName="contrast-cc"))
    assert PLACEHOLDER in door.refuses(value)
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "1", "controller": True}
    value["metadata"]["ownerReferences"] = [owner]
    assert PLACEHOLDER in door.refuses(value), "anybody can write an owner"
    assert door.refuses(value, CONTROLLER) == ""


EXCEPTED = {PLAIN: "a page that anybody may read"}


def test_a_labelled_namespace_takes_confidential_pods_and_reviewed_exceptions(door: Door) -> None:
    assert door.refuses(deployment(CLOSED, {INITDATA: "x"}, runtimeClassName=HANDLER)) == ""
    assert OUTSIDE in door.refuses(deployment(CLOSED))
    assert OUTSIDE in door.refuses(deployment(CLOSED, {PLAIN: " "}))
    assert OUTSIDE in door.refuses(deployment(CLOSED, runtimeClassName="kata-qemu"))
    assert door.refuses(deployment(OPEN)) == ""
    assert door.refuses(deployment(CLOSED, EXCEPTED)) == "", "the administrator may"


def test_who_may_write_exceptions_is_for_rbac(door: Door) -> None:
    kinds = ["deployments", "pods", "statefulsets", "jobs", "replicasets"]
    edit = {"apiGroups": ["*"], "resources": kinds, "verbs": ["*"]}
    head = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    users = [{"kind": "User", "name": name} for name in ("dev", "reviewer")]
    role = {**head, "kind": "Role", "metadata": {"name": "edit", "namespace": CLOSED}, "rules": [edit]}
    bound = {**head, "kind": "RoleBinding", "metadata": {"name": "edit", "namespace": CLOSED}, "subjects": users}
    door.api.create(role).ok()
    door.api.create(
        {**bound, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "edit"}}
    ).ok()
    reviewers = {**bound, "metadata": {"name": "reviewers", "namespace": CLOSED}, "subjects": users[1:]}
    reference = {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "plainpods.guard.contrast-krm.dev",
    }
    door.api.create({**reviewers, "roleRef": reference}).ok()
    value = deployment(CLOSED, EXCEPTED)
    until("the roles", lambda: door(value, "reviewer").code == 201)
    assert "dev may except no pod in namespace guard-closed: annotation" in door.refuses(value, "dev")
    value["spec"]["replicas"] = 0
    door.api.create(value).ok()
    value["spec"]["template"]["spec"]["containers"][0]["name"] = "other"
    assert door(value, "dev", "PUT", "web").code == 200, "who has an exception keeps it"
    value["spec"]["template"]["metadata"]["annotations"][PLAIN] = "another reason"
    assert door(value, "dev", "PUT", "web").code == 403
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "any", "uid": "1", "controller": True}
    for kind in ("Deployment", "StatefulSet", "Job", "ReplicaSet"):
        for runtime_class in ({}, {"runtimeClassName": "kata-qemu"}):
            owned = of_kind(kind, template(EXCEPTED, **runtime_class))
            owned["metadata"] |= {"namespace": CLOSED, "ownerReferences": [owner]}
            assert "may except no pod" in door.refuses(owned, "dev"), kind
    sealed = deployment(CLOSED, {INITDATA: "x", **EXCEPTED}, runtimeClassName=HANDLER)
    sealed["metadata"]["name"] = "sealed"
    sealed["spec"]["replicas"] = 0
    assert door.refuses(sealed, "dev") == "", "the exception of a confidential pod counts for nothing"
    door.api.create(sealed).ok()
    for annotations, more in ((EXCEPTED, {}), ({INITDATA: "x", **EXCEPTED}, {}), (EXCEPTED, {"nodeName": "a"})):
        opened = deployment(CLOSED, annotations, **more)
        opened["metadata"]["name"] = "sealed"
        answer = door(opened, "dev", "PUT", "sealed")
        refusals = ["may except no pod", *([OPENED] if INITDATA in annotations else [])]  # of two policies, one answers
        assert (answer.code, any(words in answer.message for words in refusals)) == (403, True), answer.message
    pod = {**of_kind("Pod", template(EXCEPTED))}
    pod["metadata"] |= {"namespace": CLOSED}
    assert "may except no pod" in door.refuses(pod, "dev")


def test_controllers_make_the_pods_of_an_exception(door: Door) -> None:
    value = deployment(CLOSED, EXCEPTED)
    value["metadata"]["name"] = "pages"
    door.api.create(value).ok()
    until("its pod", lambda: door.api.items("Pod", CLOSED))


# --- The attempts of an author, with the role `edit` of both namespaces and no right to exceptions
#
# Rule: each is refused, or the page lists that a guard does not stop it. Who binds pods to nodes, and who debugs them,
# needs more than `edit`: there the administrator asks.


class Attempt(NamedTuple):
    """A request. said: a pattern of the refusal, "" if it passes. page: how the page lists it then."""

    what: str
    path: str
    body: Json
    said: str = ""
    page: str = ""
    user: str = "author"

    @property
    def method(self) -> str:
        """POST to a collection or to a subresource that has no other, PATCH to an object."""
        return "POST" if "kind" in self.body else "PATCH"


POLICY, LARGE = "D" * 80, "E" * 80
LISTED = f"web {DIGEST[1:]}\n"
IN_A_VM = {"runtimeClassName": HANDLER}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "name": "any", "uid": "1", "controller": True}
LIVE = {one: collection(one, OPEN) + "/live" for one in ("Deployment", "Pod", "ConfigMap")}
NOTES = {"pod": "io.katacontainers.config.hypervisor.kernel_params"}


def sealed(policy: str = POLICY, **more: Any) -> Json:
    return template({INITDATA: policy}, **{**IN_A_VM, **more})


def two_containers(policy: str = POLICY) -> Json:
    pod = sealed(policy)
    pod["spec"]["containers"].append({"name": "proxy", "image": f"example.com/proxy{DIGEST}"})
    return pod


def new(what: str, kind: str, pod: Json, said: str = "", namespace: str = OPEN, page: str = "", **more: Any) -> Attempt:
    value = of_kind(kind, pod)
    value["metadata"] |= {"namespace": namespace, **more}
    return Attempt(f"{what}: {kind}", collection(kind, namespace), value, said, page)


def update(what: str, said: str = "", page: str = "", annotations: Json | None = None, **spec: Any) -> Attempt:
    body = {"spec": {"template": {"metadata": {"annotations": annotations or {}}, "spec": spec}}}
    return Attempt(f"update: {what}", LIVE["Deployment"], body, said, page)


def of_pod(what: str, body: Json, said: str = "", page: str = "", part: str = "", user: str = "author") -> Attempt:
    return Attempt(f"pod: {what}", LIVE["Pod"] + part, body, said, page, user)


def image(reference: str) -> list[Json]:
    return [{"name": "web", "image": f"registry.example.com/{reference}"}]


def annotated(value: str | None, key: str = INITDATA) -> Json:
    return {"metadata": {"annotations": {key: value}}}


BINDING = {
    "apiVersion": "v1",
    "kind": "Binding",
    "metadata": {"name": "live", "namespace": OPEN, "annotations": {INITDATA: "other"}},
    "target": {"kind": "Node", "name": "any"},
}
EPHEMERAL = {"spec": {"ephemeralContainers": [{"name": "debug", "image": f"example.com/debug{DIGEST}"}]}}
OLD_JOB = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "old", "uid": "1", "controller": True}
ATTEMPTS = (
    *(
        new(f"an owner, {what}", kind, pod, said, namespace, ownerReferences=[CONFIG_MAP])
        for kind in SEALED_KINDS[:7]
        for what, pod, said, namespace in (
            ("a placeholder", template(runtimeClassName="contrast-cc"), PLACEHOLDER, OPEN),
            ("one container more", two_containers(), f"{STRANGE}proxy. ", OPEN),
            ("an exception", template({PLAIN: "public pages"}), UNREVIEWED, CLOSED),
            ("a plain pod", template(), OUTSIDE, CLOSED),
        )
    ),
    new("an exception of invisible characters", "Deployment", template({PLAIN: "\u200b"}), OUTSIDE, CLOSED),
    new("a sealed pod without class", "Deployment", template({INITDATA: POLICY}), OPENED),
    new("a blank policy", "Deployment", sealed(" "), UNSEALED),
    new("an invisible policy", "Deployment", sealed("\u200b"), UNSEALED),
    new("a digest that is none", "Deployment", sealed("F" * 80, containers=image("web@sha256:zz")), UNPINNED),
    new("a digest of sha512", "Deployment", sealed("F" * 80, containers=image(f"web@sha512:{'ab' * 64}")), UNPINNED),
    new("of an old CronJob", "Job", template(runtimeClassName="contrast-cc"), PLACEHOLDER, ownerReferences=[OLD_JOB]),
    update("no class", OPENED, runtimeClassName=None),
    update("class runc", OPENED, runtimeClassName="runc"),
    update("class kata-qemu", OPENED, runtimeClassName="kata-qemu"),
    update("no policy", UNSEALED, annotations={INITDATA: None}),
    update("a blank policy", UNSEALED, annotations={INITDATA: " "}),
    update("set image to a tag", f"{UNPINNED}|{STRANGE}", containers=image("web:2")),
    update("set image to another digest", f"{STRANGE}web. ", containers=image(f"web@sha256:{'cd' * 32}")),
    update("one container more", f"{STRANGE}proxy. ", containers=two_containers()["spec"]["containers"]),
    of_pod("set image to a tag", {"spec": {"containers": image("web:2")}}, CHANGED),
    of_pod("set image to another digest", {"spec": {"containers": image(f"web@sha256:{'cd' * 32}")}}, CHANGED),
    of_pod("another policy", annotated("other"), CHANGED),
    of_pod("no policy", annotated(None), CHANGED),
    of_pod("debug", EPHEMERAL, "an ephemeral container is in no sealed policy", "", "/ephemeralcontainers", ""),
    of_pod("a policy in the binding", BINDING, CHANGED, "", "/binding", ""),
    Attempt("pod: a policy in an old binding", collection("Pod", OPEN)[:-4] + "bindings", BINDING, CHANGED, "", ""),
    # what passes
    update(
        "no class and no policy", "", "loses both its class and its policy", {INITDATA: None}, runtimeClassName=None
    ),
    update("another policy", "", "Whether a policy matches its pod", {INITDATA: "other"}),
    update("a kernel parameter", "", "Other annotations", {NOTES["pod"]: "agent.log=debug"}),
    of_pod("a kernel parameter", annotated("agent.log=debug", NOTES["pod"]), "", "Other annotations"),
    new("a policy with class runc", "Deployment", sealed(runtimeClassName="runc"), "", OPEN, "of another runtime"),
    Attempt(
        "the list: edited",
        LIVE["ConfigMap"],
        {"data": {POLICY[-40:]: f"{LISTED}proxy {DIGEST[1:]}\n"}},
        "",
        "edit ConfigMaps",
    ),
    new(
        "an account of kube-system",
        "ReplicaSet",
        template(runtimeClassName="contrast-cc"),
        "",
        OPEN,
        "Service accounts of `kube-system`",
        ownerReferences=[CONFIG_MAP],
    )._replace(user=CONTROLLER),
)


def test_a_list_of_thousands_of_containers_is_compared(author: Door) -> None:
    assert author.refuses(of_kind("CronJob", sealed(LARGE))) == ""
    assert f"{STRANGE}proxy. " in author.refuses(of_kind("CronJob", two_containers(LARGE)))


@pytest.fixture(scope="module")
def author(door: Door) -> Iterator[Door]:
    """The guard with an author, a sealed Deployment, a sealed pod that waits for a node, and the list of both."""
    rbac = "rbac.authorization.k8s.io"
    for namespace in (OPEN, CLOSED):
        door.api.create(
            {
                "apiVersion": f"{rbac}/v1",
                "kind": "RoleBinding",
                "metadata": {"name": "author", "namespace": namespace},
                "subjects": [{"kind": "User", "name": "author"}],
                "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "edit"},
            }
        ).ok()
    labels = {"guard.contrast-krm.dev/sealed-containers": "true"}
    door.api.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "live", "namespace": OPEN, "labels": labels},
            "data": {POLICY[-40:]: LISTED, LARGE[-40:]: LISTED.replace("web", "more") * 9_000 + LISTED},
        }
    ).ok()
    for kind, more in (("Deployment", {"replicas": 0}), ("Pod", {"nodeSelector": {"no": "node"}})):
        value = of_kind(kind, sealed())
        value["metadata"]["name"] = "live"
        value["spec"] |= more
        door.api.create(value).ok()
    until("the list", lambda: STRANGE in door.refuses(of_kind("Job", two_containers())))
    until("the role", lambda: door(of_kind("Job", sealed()), "author").code == 201)
    yield door
    door.api.delete("Pod", "live", OPEN)


def test_there_are_forty_attempts() -> None:
    assert sum(bool(attempt.said) for attempt in ATTEMPTS) >= 40


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.what)
def test_an_attempt_of_an_author_is_refused_or_on_the_page(author: Door, attempt: Attempt) -> None:
    answer = author.send(attempt.method, f"{attempt.path}?dryRun=All", attempt.body, attempt.user)
    if attempt.said:
        assert (answer.code, bool(re.search(attempt.said, answer.message))) == (403, True), answer.message
    else:
        assert answer.code in (200, 201), answer.message
        assert attempt.page in PAGE.read_text().partition("## Not covered")[2]


def test_what_a_pod_needs_while_it_runs_passes(author: Door) -> None:
    for attempt in (
        of_pod("a label", {"metadata": {"labels": {"a": "b"}}}),
        of_pod("another annotation", annotated("b", "a")),
        of_pod("a finalizer", {"metadata": {"finalizers": ["example.com/a"]}}),
        of_pod("a node", {**BINDING, "metadata": {"name": "live", "namespace": OPEN}}, "", "", "/binding", ""),
        update("more replicas", annotations={"a": "b"}),
    ):
        answer = author.send(attempt.method, f"{attempt.path}?dryRun=All", attempt.body, attempt.user)
        assert answer.code in (200, 201), (attempt.what, answer.message)


@pytest.mark.parametrize("count", [1, 300])
def test_the_largest_pods_stay_within_the_cost_that_a_server_allows(
    door: Door, rendered: dict[str, Json], count: int
) -> None:
    value = added(rendered["Deployment/web"], "x")
    pod = value["spec"]["template"]
    pod["spec"]["containers"] = [
        {"name": f"container-{number}", "image": f"registry.example.com/{'x' * 120}/{number}{DIGEST}"}
        for number in range(count)
    ]
    pod["spec"]["initContainers"] = []
    pod["spec"]["volumes"] = []
    pod["metadata"]["annotations"][INITDATA] += "A" * (200_000 if count == 1 else 64) + "BC"[count % 2] * 40
    sealed = called("guard", "--sealed", "-", "--name", f"large-{count}", stdin=yaml.safe_dump(value).encode()).ok()
    (made,) = yaml.safe_load_all(sealed)
    door.api.create(made).ok()
    strange = copy.deepcopy(value)
    strange["spec"]["template"]["spec"]["containers"].append({"name": "late", "image": f"example.com/x{DIGEST}"})
    until("its containers", lambda: f"{STRANGE}late. " in door.refuses(strange))
    assert door.refuses(value) == ""
