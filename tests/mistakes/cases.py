"""The 20 commonest mistakes: how a good deployment is broken, and what a person does who follows the hint.

`follow` is given the hint as it was printed, and may use nothing else: what to type has to stand in it, or in the file
it names. Where a hint names a page of the documentation, the step is what that page says.
"""

import copy
import re
from collections.abc import Callable
from typing import NamedTuple

from tests.failures.world import NOTE, OTHER_IMAGE, WEB_IMAGE, World

Change = Callable[[World], None]
Follow = Callable[[World, str], None]


class Mistake(NamedTuple):
    """One row of docs/how-to/common-mistakes.md. wrote: the line of the input that is wrong, "" if one is missing."""

    title: str
    wrote: str
    code: str
    change: Change
    follow: Follow


MISTAKES: list[Mistake] = []


def mistake(title: str, wrote: str, code: str, follow: Follow) -> Callable[[Change], Change]:
    def note(change: Change) -> Change:
        MISTAKES.append(Mistake(title, wrote, code, change, follow))
        return change

    return note


def quoted(pattern: str, hint: str) -> str:
    """The word of the hint that a person would copy."""
    found = re.search(pattern, hint)
    assert found, f"{hint!r} does not say what to write"
    return found[1]


# --- images


def append_digest(world: World, hint: str) -> None:
    assert "append @sha256:<digest>" in hint
    world.container["image"] += "@" + WEB_IMAGE.partition("@")[2]


@mistake("An image with only a tag", "image: registry.example.com/shop/web:1.0", "CC0502", append_digest)
def _(world: World) -> None:
    world.container["image"] = "registry.example.com/shop/web:1.0"


def add_to_lock(world: World, hint: str) -> None:
    assert "contrast-krm lock" in hint
    entry = copy.deepcopy(world["lock"]["spec"]["images"][WEB_IMAGE])
    world["lock"]["spec"]["images"][OTHER_IMAGE] = entry | {"digest": OTHER_IMAGE.partition("@")[2]}


@mistake("An image that is not locked", f"image: {OTHER_IMAGE}", "CC0504", add_to_lock)
def _(world: World) -> None:
    del world["lock"]["spec"]["images"][OTHER_IMAGE]
    world.container["image"] = OTHER_IMAGE


# --- the placeholder


def use_suggestion(world: World, hint: str) -> None:
    world.pod["runtimeClassName"] = quoted(r"did you mean (\S+)\?", hint)


@mistake("A mistyped placeholder", "runtimeClassName: contrast-cc-metal-qemu-spn", "CC0401", use_suggestion)
def _(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-spn"


def set_platform(world: World, hint: str) -> None:
    *fields, last = quoted(r"set (spec\.platform) in the ContrastGenerate", hint).split(".")
    place = world["options"]
    for field in fields:
        place = place[field]
    place[last] = "metal-qemu-snp"


@mistake("The bare placeholder without a default", "runtimeClassName: contrast-cc", "CC0402", set_platform)
def _(world: World) -> None:
    del world.spec["platform"]


def use_known_platform(world: World, hint: str) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-" + quoted(r"use one of ([a-z0-9-]+)", hint)


@mistake(
    "A platform that the release does not have",
    "runtimeClassName: contrast-cc-metal-qemu-tdx",
    "CC0403",
    use_known_platform,
)
def _(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-tdx"


# --- configuration


def pass_release(world: World, hint: str) -> None:
    assert "add one to the resources with the local-config annotation" in hint
    world["release"] = World()["release"]


@mistake("No ContrastRelease", "", "CC0903", pass_release)
def _(world: World) -> None:
    del world.documents["release"]


def pass_lock(world: World, hint: str) -> None:
    assert "pass it with --config" in hint
    world["lock"] = World()["lock"]


@mistake("No ImageLock", "", "CC0906", pass_lock)
def _(world: World) -> None:
    del world.documents["lock"]


def use_field(world: World, hint: str) -> None:
    world.spec[quoted(r"did you mean (\S+)\?", hint).rpartition(".")[2]] = world.spec.pop("platfrom")


@mistake("A mistyped option", "platfrom: metal-qemu-snp", "CC0902", use_field)
def _(world: World) -> None:
    world.spec["platfrom"] = world.spec.pop("platform")


def render_coordinator(world: World, hint: str) -> None:
    assert "render coordinator.yml with them" in hint
    world["coordinator"] = World()["coordinator"]


@mistake("The coordinator is not among the resources", "", "CC0701", render_coordinator)
def _(world: World) -> None:
    del world.documents["coordinator"]


# --- annotations


def use_key(world: World, hint: str) -> None:
    world.notes[quoted(r"did you mean (\S+)\?", hint)] = world.notes.pop(f"{NOTE}service-mesh-ingress")


@mistake("A mistyped annotation", f"{NOTE}service-mesh-ingress: web#8080#true", "CC0203", use_key)
def _(world: World) -> None:
    world.notes[f"{NOTE}service-mesh-ingress"] = "web#8080#true"


def move_to_template(world: World, hint: str) -> None:
    assert "move it to the annotations of the pod template" in hint
    world.notes[f"{NOTE}servicemesh-ingress"] = world["web"]["metadata"]["annotations"].pop(
        f"{NOTE}servicemesh-ingress"
    )


@mistake(
    "An annotation on the Deployment instead of its pod template",
    f"{NOTE}servicemesh-ingress: ''",
    "CC0202",
    move_to_template,
)
def _(world: World) -> None:
    world["web"]["metadata"]["annotations"][f"{NOTE}servicemesh-ingress"] = ""


def write_grammar(world: World, hint: str) -> None:
    form = quoted(r"write .*?(name#\S+#host:port)", hint)
    values = {"name": "db", "listenIP": "127.137.0.1", "host": "db"}
    text = form
    for word, value in values.items():
        text = text.replace(word, value, 1) if word != "host" else text.replace("#host", f"#{value}", 1)
    world.notes[f"{NOTE}servicemesh-egress"] = text.replace("port", "5432")


@mistake("An egress without its target", f"{NOTE}servicemesh-egress: db#127.137.0.1:5432", "CC0204", write_grammar)
def _(world: World) -> None:
    world.notes[f"{NOTE}servicemesh-egress"] = "db#127.137.0.1:5432"


def quote(world: World, hint: str) -> None:
    assert "put quotes around" in hint
    world.notes[f"{NOTE}servicemesh-admin-interface-port"] = "9901"


@mistake("An annotation without quotes", f"{NOTE}servicemesh-admin-interface-port: 9901", "CC0207", quote)
def _(world: World) -> None:
    world.notes[f"{NOTE}servicemesh-admin-interface-port"] = 9901


# --- the pod


def remove_key(world: World, hint: str) -> None:
    assert "remove the key from the pod template" in hint
    del world.pod["nodeSelector"]["hardware"]


@mistake("A node selector that contradicts the platform", "hardware: tdx", "CC0304", remove_key)
def _(world: World) -> None:
    world.pod["nodeSelector"] = {"hardware": "tdx"}


def use_empty_dir(world: World, hint: str) -> None:
    assert "mount an emptyDir" in hint
    world.pod["volumes"][0] = {"name": "data", "emptyDir": {}}


@mistake("A volume that the host controls", "claimName: data", "CC0807", use_empty_dir)
def _(world: World) -> None:
    world.mount("data", {"persistentVolumeClaim": {"claimName": "data"}})


def render_together(world: World, hint: str) -> None:
    assert "render it together with the pod" in hint
    world["settings"] = World()["settings"]


@mistake("A ConfigMap that is not in the input", "name: settings", "CC0602", render_together)
def _(world: World) -> None:
    del world.documents["settings"]


def use_pod_field(world: World, hint: str) -> None:
    world.container[quoted(r"did you mean (\S+)\?", hint)] = world.container.pop("imagePulPolicy")


@mistake("A mistyped field of the pod", "imagePulPolicy: Always", "CC0605", use_pod_field)
def _(world: World) -> None:
    world.container["imagePulPolicy"] = "Always"


def remove_field(world: World, hint: str) -> None:
    assert "remove the field" in hint
    del world.pod["hostPID"]


@mistake("A field that no policy covers", "hostPID: true", "CC0601", remove_field)
def _(world: World) -> None:
    world.pod["hostPID"] = True


# --- on the way to the cluster: `check` finds them, and the step is one on the command line

NOT_RUN = Mistake(
    "kustomize without the flags that let it run functions",
    "kustomize build --enable-alpha-plugins .",
    "CC1101",
    lambda _: None,
    lambda _, hint: None,  # tests/mistakes/test_mistakes.py runs kustomize with the flags that the hint names
)
EDITED = Mistake(
    "A pod edited after it was sealed",
    "value: edited after the render",
    "CC1103",
    lambda world: world.container["env"][0].update(value="edited after the render"),
    lambda _, hint: None,  # tests/mistakes/test_mistakes.py renders again, as the hint says
)
