"""More mistakes in resources and configuration, in the form of cases.py."""

import copy
import re
from collections.abc import Callable

from tests.failures.world import NOTE, PRIVATE_KEY, WEB_IMAGE, World
from tests.mistakes.cases import Change, Follow, Mistake, quoted
from tests.wording import remedy

MORE: list[Mistake] = []


def mistake(title: str, wrote: str, code: str, follow: Follow) -> Callable[[Change], Change]:
    def note(change: Change) -> Change:
        MORE.append(Mistake(title, wrote, code, change, follow))
        return change

    return note


def remove_one(world: World, hint: str) -> None:
    assert "remove one of the two" in hint
    del world.documents["copy"]


@mistake("A file copied but not changed", "", "CC0118", remove_one)
def _(world: World) -> None:
    world["copy"] = copy.deepcopy(world["web"])


def set_runtime_class(world: World, hint: str) -> None:
    workload = quoted(r"set the runtimeClassName of (\S+) to contrast-cc-<platform>", hint)
    assert workload == "Deployment/shop/web"
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp"


@mistake(
    "Names in the manifest for a pod with another runtime class",
    "runtimeClassName: kata-qemu-snp",
    "CC0708",
    set_runtime_class,
)
def _(world: World) -> None:
    world.spec["manifest"]["policies"] = {"web": {"sans": ["shop.example.com"]}}
    world.pod["runtimeClassName"] = "kata-qemu-snp"


def rename_entry(world: World, hint: str) -> None:
    policies = world.spec["manifest"]["policies"]
    policies[quoted(r"did you mean (\S+)\?", hint)] = policies.pop("wep")


@mistake("Names in the manifest for a mistyped workload", "wep:", "CC0708", rename_entry)
def _(world: World) -> None:
    world.spec["manifest"]["policies"] = {"wep": {"sans": ["shop.example.com"]}}


def quote_template(world: World, hint: str) -> None:
    assert "quote text that only looks like a template" in hint
    world["more"] = world["more"].replace("{{ name }}", '"{{ name }}"')


@mistake("An unquoted template of another program", "greeting: {{ name }}", "CC0119", quote_template)
def _(world: World) -> None:
    world["more"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata:\n  greeting: {{ name }}\n"


def leave_template_out(world: World, hint: str) -> None:
    assert "leave the template itself out" in hint
    del world.documents["more"]


@mistake("A Helm template among the resources", "{{- if .Values.more }}", "CC0119", leave_template_out)
def _(world: World) -> None:
    world["more"] = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: more\n{{- if .Values.more }}\ndata: {}\n{{- end }}\n"
    )


def write_reference(world: World, hint: str) -> None:
    assert quoted(r"write (\S+)", hint) == "registry/name:tag@sha256:<64"
    world.container["image"] = WEB_IMAGE


@mistake("An image that is a quoted template", "image: '{{ .Values.image }}'", "CC0503", write_reference)
def _(world: World) -> None:
    world.container["image"] = "{{ .Values.image }}"


@mistake("A truncated digest", f"image: {WEB_IMAGE[:-1]}", "CC0503", write_reference)
def _(world: World) -> None:
    world.container["image"] = WEB_IMAGE[:-1]


def write_integer(world: World, hint: str) -> None:
    assert hint == "write an integer"
    world.container["securityContext"]["runAsUser"] = 1000


@mistake("A quoted integer", "runAsUser: '1000'", "CC0207", write_integer)
def _(world: World) -> None:
    world.container["securityContext"] = {"runAsUser": "1000"}


def lock_again(world: World, hint: str) -> None:
    assert "remove the entry from the ImageLock and run contrast-krm lock" in hint
    world["lock"] = World()["lock"]


@mistake("A lock entry of an older image under the new digest", "", "CC0505", lock_again)
def _(world: World) -> None:
    world["lock"]["spec"]["images"][WEB_IMAGE]["digest"] = "sha256:" + "9" * 64


def say_that_there_is_none(world: World, hint: str) -> None:
    assert 'as "" if the image has no such file' in hint
    world["lock"]["spec"]["images"][WEB_IMAGE]["passwd"] = ""


@mistake("A lock entry written by hand without passwd", "", "CC0508", say_that_there_is_none)
def _(world: World) -> None:
    del world["lock"]["spec"]["images"][WEB_IMAGE]["passwd"]


def rename_container(world: World, hint: str) -> None:
    assert "rename one" in hint
    world.pod["containers"][1]["name"] = "second"


@mistake("Two containers with the same name", "", "CC0208", rename_container)
def _(world: World) -> None:
    world.pod["containers"].append(copy.deepcopy(world.container))


def write_quantity(world: World, hint: str) -> None:
    assert re.search(r"\b(quantity|500m|1\.5)\b", hint), hint
    world.container["resources"]["limits"]["cpu"] = "1.5"


@mistake("A comma in a number", "cpu: 1,5", "CC0408", write_quantity)
def _(world: World) -> None:
    world.container["resources"]["limits"]["cpu"] = "1,5"


def remove_annotation(world: World, hint: str) -> None:
    assert "or remove the annotation" in hint
    del world.notes[f"{NOTE}servicemesh-egress"]


@mistake("An empty egress annotation", f"{NOTE}servicemesh-egress: ''", "CC0205", remove_annotation)
def _(world: World) -> None:
    world.notes[f"{NOTE}servicemesh-egress"] = ""


def keep_one(world: World, hint: str) -> None:
    assert hint.startswith("keep one")
    del world.documents["second"]


@mistake("Two ContrastGenerate objects", "name: other", "CC0904", keep_one)
def _(world: World) -> None:
    world["second"] = copy.deepcopy(world["options"])
    world["second"]["metadata"]["name"] = "other"


def use_version(world: World, hint: str) -> None:
    world["options"]["apiVersion"] = quoted(r"use (\S+)", hint)


@mistake("An API version that does not exist", "apiVersion: contrast-krm.dev/v1", "CC0907", use_version)
def _(world: World) -> None:
    world["options"]["apiVersion"] = "contrast-krm.dev/v1"


def use_kind(world: World, hint: str) -> None:
    world["lock"]["kind"] = quoted(r"did you mean (\S+)\?", hint)


@mistake("A mistyped kind", "kind: ImageLocks", "CC0905", use_kind)
def _(world: World) -> None:
    world["lock"]["kind"] = "ImageLocks"


def use_public_key(world: World, hint: str) -> None:
    assert "write a public ECDSA key in PEM, never a private one" in hint
    world.spec["manifest"]["workloadOwnerKeys"] = World().spec["manifest"]["workloadOwnerKeys"]


@mistake("A private key in place of the public key", "workloadOwnerKeys:", "CC0901", use_public_key)
def _(world: World) -> None:
    world.spec["manifest"]["workloadOwnerKeys"] = [PRIVATE_KEY]


def use_other_name(world: World, hint: str) -> None:
    assert "set manifest.name to another name" in hint
    world.spec["manifest"]["name"] = "contrast-manifest"


@mistake("A manifest named like an existing ConfigMap", "name: settings", "CC0710", use_other_name)
def _(world: World) -> None:
    world.spec["manifest"]["name"] = "settings"


def write_a_port(world: World, hint: str) -> None:
    assert hint == "write an integer"
    world.container["ports"][0]["containerPort"] = 80


@mistake("A quoted port", "containerPort: '80'", "CC0207", write_a_port)
def _(world: World) -> None:
    world.container["ports"] = [{"containerPort": "80"}]


def write_seconds(world: World, hint: str) -> None:
    assert hint == "write an integer"
    world.pod["terminationGracePeriodSeconds"] = 30


@mistake("A quoted number of seconds", "terminationGracePeriodSeconds: '30'", "CC0207", write_seconds)
def _(world: World) -> None:
    world.pod["terminationGracePeriodSeconds"] = "30"


# --- volumes


def write_rule(world: World, hint: str) -> None:
    assert "write spec.volumes.splitSubPaths: true in the ContrastGenerate" in hint
    world.spec["volumes"] = {"splitSubPaths": True}


@mistake("One emptyDir mounted with several subPaths", "subPath: conf", "CC0604", write_rule)
def _(world: World) -> None:
    parts_of_empty_dir(world, "conf", "tmp")


def parts_of_empty_dir(world: World, *parts: str, **own: str) -> None:
    """Mount parts of one emptyDir."""
    world.pod["volumes"] = [{"name": "empty", "emptyDir": own}]
    world.container["volumeMounts"] = [
        {"name": "empty", "mountPath": f"/mnt/{number}", "subPath": part} for number, part in enumerate(parts)
    ]


def divide_limit(world: World, hint: str) -> None:
    rule = quoted(r"write splitSubPaths: (\w+) in spec\.volumes", hint)
    world.spec["volumes"] = {"splitSubPaths": rule}


@mistake("A sizeLimit on an emptyDir that is split", "sizeLimit: 1Gi", "CC0836", divide_limit)
def _(world: World) -> None:
    parts_of_empty_dir(world, "conf", "tmp", sizeLimit="1Gi")
    world.spec["volumes"] = {"splitSubPaths": True}


def mount_one(world: World, hint: str) -> None:
    part = quoted(r"mount only (\S+),", hint)
    world.container["volumeMounts"] = [one for one in world.container["volumeMounts"] if one["subPath"] == part]


@mistake("A subPath inside another subPath", "subPath: conf/d", "CC0836", mount_one)
def _(world: World) -> None:
    parts_of_empty_dir(world, "conf", "conf/d")
    world.spec["volumes"] = {"splitSubPaths": True}


def set_block(world: World, hint: str) -> None:
    name = quoted(r"set spec\.volumeMode: Block in PersistentVolumeClaim (\S+);", hint)
    assert world["claim"]["metadata"]["name"] == name
    world["claim"]["spec"]["volumeMode"] = "Block"


def claimed(world: World) -> None:
    """Give web a claim, with its object."""
    world.mount("data", {"persistentVolumeClaim": {"claimName": "web-data"}})
    world["claim"] = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "web-data", "namespace": "shop"},
        "spec": {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": "1Gi"}}},
    }


@mistake("A secure-pv claim that is a file system", "claimName: web-data", "CC0830", set_block)
def _(world: World) -> None:
    claimed(world)
    world.container["volumeMounts"] = [{"name": "share", "mountPath": "/data", "mountPropagation": "HostToContainer"}]
    world.notes[f"{NOTE}secure-pv"] = "data:share"


def correct_claim(world: World, hint: str) -> None:
    assert "correct the name (of a claim, of a volumeClaimTemplate or of the pod's volume)" in hint
    world.spec["volumes"]["securePV"]["claims"] = ["web-data"]


@mistake("A claim name that no pod uses", "web-dat", "CC0840", correct_claim)
def _(world: World) -> None:
    claimed(world)
    world.spec["volumes"] = {"securePV": {"claims": ["web-data", "web-dat"]}}


def remove_read_only(world: World, hint: str) -> None:
    assert hint == remedy("CC0837.read-only")
    del world.pod["volumes"][0]["persistentVolumeClaim"]["readOnly"]


@mistake("A read-only encrypted volume", "readOnly: true", "CC0837", remove_read_only)
def _(world: World) -> None:
    claimed(world)
    world.pod["volumes"][0]["persistentVolumeClaim"]["readOnly"] = True
    world.spec["volumes"] = {"securePV": {"claims": ["data"]}}


def write_as_image(world: World, hint: str) -> None:
    world.container["volumeMounts"][0]["mountPath"] = quoted(remedy("CC0839", place="(\\S+)"), hint)


@mistake("A VOLUME spelled differently in the mountPath", "mountPath: /data", "CC0839", write_as_image)
def _(world: World) -> None:
    world["lock"]["spec"]["images"][WEB_IMAGE]["config"]["Volumes"] = {"/data/": {}}
    world.mount("data", {"emptyDir": {}})
    world.spec["volumes"] = {"imageVolumes": "emptyDir"}


def correct_path(world: World, hint: str) -> None:
    assert "correct the path" in hint
    world.spec["volumes"]["hostPathCaches"]["paths"] = ["/models"]


@mistake("A cache path that no pod mounts", "/model", "CC0840", correct_path)
def _(world: World) -> None:
    world.mount("models", {"hostPath": {"path": "/models", "type": "DirectoryOrCreate"}})
    world.spec["volumes"] = {"hostPathCaches": {"paths": ["/models", "/model"]}}
