"""The table of the issue: bad input, one finding each."""

from tests.failures.case import Table
from tests.failures.world import NOTE, OTHER_IMAGE, WEB_IMAGE, World

cases = Table()
SPEC = "web spec.template.spec"
INITDATA = "io.katacontainers.config.hypervisor.cc_init_data"


@cases("CC0101", "line", "while parsing a flow sequence", echoed=True)
def broken_yaml_in_the_workload(world: World) -> None:
    world.replace("web", "kind: Deployment", "kind: [Deployment")


@cases("CC0101", "line", echoed=True)
def broken_yaml_in_a_document_that_is_none_of_ours(world: World) -> None:
    world.replace("service", "port: 80", "port: 80: 81")


@cases("CC0101", "line", echoed=True)
def broken_yaml_in_the_last_document(world: World) -> None:
    world["last"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: last\n"


@cases(
    "CC0401", f"{SPEC}.runtimeClassName", "unknown runtime class contrast-cc-nope", hint="contrast-cc-metal-qemu-snp"
)
def unknown_placeholder(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-nope"


@cases("CC0402", f"{SPEC}.runtimeClassName", hint="set spec.platform")
def bare_placeholder_without_a_default(world: World) -> None:
    del world.spec["platform"]
    world.pod["runtimeClassName"] = "contrast-cc"
    world["coordinator"]["spec"]["template"]["spec"]["runtimeClassName"] = "contrast-cc-metal-qemu-snp"


@cases("CC0304", f"{SPEC}.nodeSelector.hardware", "hardware=tdx contradicts", hint="remove the key")
def conflicting_node_selector(world: World) -> None:
    world.pod["nodeSelector"] = {"hardware": "tdx"}


@cases("CC0502", f"{SPEC}.containers[0].image", "is not pinned", hint="@sha256:")
def image_without_a_digest(world: World) -> None:
    world.container["image"] = "registry.example.com/shop/web:1.0"


@cases("CC0504", f"{SPEC}.containers[0].image", "is not in the ImageLock")
def image_missing_from_the_lock(world: World) -> None:
    del world["lock"]["spec"]["images"][WEB_IMAGE]


@cases("CC0205", f'web spec.template.metadata.annotations["{NOTE}servicemesh-egress"]', hint="name at least one egress")
def empty_egress_annotation(world: World) -> None:
    world.notes[f"{NOTE}servicemesh-egress"] = ""


@cases("CC0806", f'web spec.template.metadata.annotations["{NOTE}secure-pv"]', "device disk not found", hint="add a")
def secure_pv_without_its_volume(world: World) -> None:
    world.notes[f"{NOTE}secure-pv"] = "disk:data"


@cases(
    "CC0805",
    f"{SPEC}.volumes[0]",
    "volume contrast-secrets must be emptyDir, but it is secret",
    hint="rename the volume",
)
def contrast_secrets_volume_of_another_type(world: World) -> None:
    world.mount("contrast-secrets", {"secret": {"secretName": "login"}})


@cases(
    "CC0705",
    f'web spec.template.metadata.annotations["{INITDATA}"]',
    "DaemonSet/shop/web and ReplicaSet/shop/web have the same digest",
    hint="make the two differ",
)
def two_workloads_with_one_digest(world: World) -> None:
    """The names of pods are a part of a policy, and pods of these two kinds are named alike."""
    world["web"]["kind"] = "DaemonSet"
    world["twin"] = world.text("web").replace("DaemonSet", "ReplicaSet")
    world.spec["manifest"]["policies"] = {"DaemonSet/shop/web": {}, "ReplicaSet/shop/web": {}}


@cases("CC0701", "", "no coordinator among the resources", hint="coordinator.yml")
def manifest_that_lacks_a_coordinator(world: World) -> None:
    del world.documents["coordinator"]


@cases("CC0704", "contrast spec.manifest.referenceValues", "still lacks", hint="set the values")
def unfilled_minimum_tcb_with_a_base_manifest(world: World) -> None:
    world.spec["manifest"]["referenceValues"]["snp"]["MinimumTCB"] = {
        "BootloaderVersion": 4,
        "TEEVersion": 0,
        "SNPVersion": 24,
    }
    world.spec["manifest"]["base"] = {"Policies": {}, "ReferenceValues": {"snp": []}}


@cases("CC0902", "contrast spec.platfrom", "unknown field spec.platfrom", hint="did you mean platform?", exit=2)
def typo_in_the_configuration(world: World) -> None:
    world.spec["platfrom"] = world.spec.pop("platform")


@cases("CC0105", "line", "alias expansions")
def alias_bomb(world: World) -> None:
    lines = ["apiVersion: v1", "kind: ConfigMap", "metadata: {name: bomb}", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    world["bomb"] = "\n".join(lines) + "\n"


@cases("CC0104", "line", echoed=True)
def a_hundred_thousand_nested_brackets(world: World) -> None:
    world["deep"] = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: deep}}\ndata: {'[' * 100_000}\n"


HIDDEN = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "hidden", "namespace": "shop"},
    "spec": {"runtimeClassName": "contrast-cc-nope", "containers": [{"name": "a", "image": OTHER_IMAGE}]},
}


@cases("CC0401", "hidden spec.runtimeClassName", "contrast-cc-nope")
def a_pod_between_two_quotes_that_are_text(world: World) -> None:
    """A splitter that counts quotes would take the pod for a part of a string."""
    head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: quotes}\ndata:\n  text: |\n    "\n'
    world["before"] = head
    world["hidden"] = HIDDEN
    world["after"] = head.replace("quotes", "more-quotes")


@cases("CC0101", "line", "document", hosts=("post-render", "generate", "in-place", "output"))
def a_document_inside_a_quoted_scalar(world: World) -> None:
    """A separator at the start of a line ends the document, also inside quotes: YAML forbids it there."""
    head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: quotes}\ndata:\n  text: "\n'
    world["before"] = head + "---\n" + world.text("web") + '---\n"\n'
