"""Workloads that Kubernetes would refuse, that Contrast would refuse, or that cannot be sealed."""

from typing import Any

from krm_function.policy.initdata import Initdata, annotation, encode_toml
from tests.failures.case import Table
from tests.failures.world import CANARY, CONTRAST, IMAGES, NOTE, OTHER_IMAGE, WEB_IMAGE, World

cases = Table()
TEMPLATE = "web spec.template"
SPEC = f"{TEMPLATE}.spec"
NOTES = f"{TEMPLATE}.metadata.annotations"
CONTAINER = f"{SPEC}.containers[0]"
KATA = "io.katacontainers.config."


def note(key: str) -> str:
    return f'{NOTES}["{NOTE}{key}"]'


# --- annotations


@cases("CC0203", note("service-mesh-egress"), hint="did you mean contrast.edgeless.systems/servicemesh-egress?")
def a_misspelt_annotation(world: World) -> None:
    world.notes[f"{NOTE}service-mesh-egress"] = "db#127.137.0.1:5432#db:5432"


@cases("CC0203", note("frobnicate"), hint="remove it")
def an_annotation_that_nobody_reads(world: World) -> None:
    world.notes[f"{NOTE}frobnicate"] = "yes"


@cases("CC0202", f'web metadata.annotations["{NOTE}skip-initializer"]', hint="the annotations of the pod template")
def an_annotation_on_the_deployment_itself(world: World) -> None:
    world["web"]["metadata"]["annotations"][f"{NOTE}skip-initializer"] = "true"


@cases("CC0202", f'web metadata.annotations["{NOTE}servicemesh-ingress"]', "on a Service", hint="of the pod template")
def an_annotation_of_the_pod_on_a_service(world: World) -> None:
    world["service"]["metadata"]["annotations"] = {f"{NOTE}servicemesh-ingress": ""}


@cases("CC0202", f'{TEMPLATE}.metadata.labels["{NOTE}skip-initializer"]')
def an_annotation_written_as_a_label(world: World) -> None:
    world.template["metadata"]["labels"][f"{NOTE}skip-initializer"] = "true"


@cases("CC0230", f'{NOTES}["{KATA}hypervisor.kernel_params"]', hint="the VM must be the one that the release measured")
def a_parameter_of_the_kernel(world: World) -> None:
    world.notes[f"{KATA}hypervisor.kernel_params"] = "agent.log=debug"


@cases("CC0230", f'{NOTES}["{KATA}hypervisor.default_vcpus"]', hint="set limits.cpu")
def a_number_of_processors(world: World) -> None:
    world.notes[f"{KATA}hypervisor.default_vcpus"] = "4"


@cases("CC0230", f'{NOTES}["{KATA}agent.policy"]', hint="puts the policy into the initdata")
def a_policy_in_an_annotation(world: World) -> None:
    world.notes[f"{KATA}agent.policy"] = CANARY


@cases("CC0230", f'{NOTES}["io.containerd.cri.runtime-handler"]', hint="spec.runtimeClassName")
def a_handler_in_an_annotation(world: World) -> None:
    world.notes["io.containerd.cri.runtime-handler"] = "kata-qemu"


@cases("CC0204", note("servicemesh-egress"), hint="name#listenIP:port#host:port")
def an_egress_without_a_host(world: World) -> None:
    world.notes[f"{NOTE}servicemesh-egress"] = "db#127.137.0.1:5432"


@cases("CC0204", note("servicemesh-ingress"), hint="name#port#disableTLS")
def an_ingress_with_a_port_out_of_range(world: World) -> None:
    world.notes[f"{NOTE}servicemesh-ingress"] = "web#70000#true"


@cases("CC0204", note("servicemesh-admin-interface-port"), hint="a port")
def an_admin_port_that_is_no_number(world: World) -> None:
    world.notes[f"{NOTE}servicemesh-ingress"] = ""
    world.notes[f"{NOTE}servicemesh-admin-interface-port"] = "ninety"


@cases("CC0806", note("secure-pv"), "device-name:mount-name")
def a_secure_pv_without_a_colon(world: World) -> None:
    world.notes[f"{NOTE}secure-pv"] = "disk"


@cases("CC0806", note("secure-pv"), "secure-pv annotation: must have the form")
def a_secure_pv_with_something_pasted_into_it(world: World) -> None:
    world.notes[f"{NOTE}secure-pv"] = f"{CANARY * 20}:data"


@cases("CC0207", note("skip-initializer"), "must be a string, not a boolean")
def an_annotation_without_quotes(world: World) -> None:
    world.notes[f"{NOTE}skip-initializer"] = True


@cases("CC0204", note("skip-initializer"), 'must be "true"', hint="remove the annotation")
def a_skipped_initializer_that_is_injected_all_the_same(world: World) -> None:
    world.notes[f"{NOTE}skip-initializer"] = "yes"


@cases("CC0286", note("skip-initializer"), "no initializer", hint="remove the annotation")
def a_service_mesh_without_initializer(world: World) -> None:
    world.notes[f"{NOTE}skip-initializer"] = "true"
    world.notes[f"{NOTE}servicemesh-ingress"] = ""


@cases("CC0610", f'{NOTES}["io.katacontainers.config.hypervisor.cc_init_data"]', "does not contain valid initdata")
def initdata_that_is_no_base64(world: World) -> None:
    world.notes["io.katacontainers.config.hypervisor.cc_init_data"] = f"{CANARY} !"


@cases("CC0610", f'{NOTES}["io.katacontainers.config.hypervisor.cc_init_data"]', "gzip")
def initdata_that_is_no_gzip(world: World) -> None:
    world.notes["io.katacontainers.config.hypervisor.cc_init_data"] = "aGVsbG8="


@cases("CC0613", f'{NOTES}["io.katacontainers.config.hypervisor.cc_init_data"]', "file aa.toml", hint="keep one")
def a_file_of_the_initdata_with_two_texts(world: World) -> None:
    base = Initdata("0.1.0", "sha256", {"aa.toml": f"a = '{CANARY}'"})
    world.notes["io.katacontainers.config.hypervisor.cc_init_data"] = annotation(encode_toml(base))
    world.spec["policy"] = {"initdata": {"aa.toml": f"b = '{CANARY}'"}}


@cases("CC0611", f"{TEMPLATE}.metadata.annotations", "Kubernetes allows 262144")
def a_huge_annotation(world: World) -> None:
    for index in range(6):
        world.notes[f"example.com/huge-{index}"] = CANARY * 8000


@cases("CC0604", f'{NOTES}["io.kubernetes.cri.container-type"]', hint="remove the annotation")
def an_annotation_of_the_container_runtime(world: World) -> None:
    world.notes["io.kubernetes.cri.container-type"] = "sandbox"


# --- resources of the VM


@cases("CC0408", f"{CONTAINER}.resources.limits.cpu", "is not a Kubernetes quantity", hint="500m")
def a_cpu_limit_that_is_no_quantity(world: World) -> None:
    world.container["resources"]["limits"]["cpu"] = "half"


@cases("CC0408", f"{CONTAINER}.resources.limits.cpu", "must not be negative")
def a_negative_cpu_limit(world: World) -> None:
    world.container["resources"]["limits"]["cpu"] = "-1"


@cases("CC0407", SPEC, "221 vCPUs", hint="lower the cpu limits")
def more_than_220_processors(world: World) -> None:
    world.container["resources"]["limits"]["cpu"] = "220"


@cases("CC0406", SPEC, "needs 4 GPUs", hint="raise the cpu limits to 3")
def more_gpus_than_processors(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-gpu"
    world.container["resources"]["limits"]["nvidia.com/GH100_H100_PCIE"] = 4


@cases("CC0408", f'{CONTAINER}.resources.limits["nvidia.com/gpu"]')
def a_gpu_limit_that_is_no_number(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-gpu"
    world.container["resources"]["limits"]["nvidia.com/gpu"] = "some"


@cases("CC0409", f"{SPEC}.runtimeClassName", "metal-qemu-snp has none", hint="contrast-cc-metal-qemu-snp-gpu")
def a_gpu_on_a_platform_without_one(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp"
    world.container["resources"]["limits"]["nvidia.com/pgpu"] = 1


@cases("CC0411", f'{CONTAINER}.resources.limits["nvidia.com/gpu"]', "do not offer", hint="nvidia.com/pgpu")
def a_gpu_by_the_name_of_other_nodes(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-gpu"
    world.container["resources"]["limits"]["nvidia.com/gpu"] = 1


@cases("CC0411", f'{CONTAINER}.resources.limits["nvidia.com/mig-1g.5gb"]', "a part of a GPU", hint="rename")
def a_part_of_a_gpu(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-gpu"
    world.container["resources"]["limits"]["nvidia.com/mig-1g.5gb"] = 1


@cases("CC0413", f"{CONTAINER}.resources.limits", "cannot become nvidia.com/pgpu", hint="a single limit")
def a_gpu_by_two_names(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-gpu"
    world.container["resources"]["limits"] |= {"nvidia.com/gpu": 1, "nvidia.com/pgpu": 1}
    world.spec["gpus"] = {"rename": {"nvidia.com/gpu": "nvidia.com/pgpu"}}


def _sized(world: World, web: int = 1 << 20) -> None:
    """Give each image a layer, that of web of `web` bytes."""
    for name, entry in world["lock"]["spec"]["images"].items():
        size = web if name == WEB_IMAGE else 1 << 20
        entry["layers"] = [{"diffID": f"sha256:{'1' * 64}", "compressedSize": size // 2, "uncompressedSize": size}]


@cases("CC0420", f"{SPEC}.resources.limits", "alone take 21.0Gi", hint="set spec.resources.limits.memory: ")
def an_image_larger_than_its_vm(world: World) -> None:
    world.container["resources"]["limits"]["memory"] = "2Gi"
    _sized(world, 21 << 30)


@cases("CC0423", f"{SPEC}.resources", f"of image {WEB_IMAGE}", hint="contrast-krm lock --sizes")
def memory_of_an_image_without_sizes(world: World) -> None:
    world.spec["memory"] = "calculate"
    _sized(world)
    del world["lock"]["spec"]["images"][WEB_IMAGE]["layers"]


@cases("CC0424", f"{SPEC}.resources", "request 4096Mi of memory", hint="set a memory limit")
def memory_that_a_container_requests_without_a_limit(world: World) -> None:
    world.spec["memory"] = "calculate"
    world.container["resources"]["limits"].pop("memory", None)
    world.container["resources"]["requests"] = {"memory": "4Gi"}
    _sized(world)


@cases("CC0408", f"{CONTAINER}.resources.limits.memory", "is not a Kubernetes quantity")
def a_memory_limit_that_is_no_quantity(world: World) -> None:
    world.container["resources"]["limits"]["memory"] = "2GB"


@cases("CC0221", f"{SPEC}.initContainers[0].lifecycle", "is not a sidecar", hint="restartPolicy: Always")
def a_hook_of_an_init_container(world: World) -> None:
    hook = {"postStart": {"exec": {"command": ["/x"]}}}
    world.pod["initContainers"] = [{"name": "first", "image": world.container["image"], "lifecycle": hook}]


@cases("CC0222", f"{'w' * 53} metadata.name", "at most 52", hint="shorten the name")
def a_name_that_leaves_no_room_for_a_hash(world: World) -> None:
    world["web"] |= {"kind": "StatefulSet"}
    world["web"]["metadata"]["name"] = "w" * 53


@cases("CC1109", f"{SPEC}.runtimeClassName", "example.com/v1 Thing", hint="podTemplates")
def a_custom_resource_with_a_class_of_contrasts(world: World) -> None:
    world["web"] |= {"apiVersion": "example.com/v1", "kind": "Thing"}


@cases("CC0220", "web metadata.ownerReferences", "it belongs to ReplicaSet web-1", hint="not objects read from")
def a_workload_that_a_controller_made(world: World) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "u", "controller": True}
    world["web"]["metadata"]["ownerReferences"] = [owner]


@cases("CC0305", f"{SPEC}.overhead", hint="remove spec.overhead")
def an_overhead_of_its_own(world: World) -> None:
    world.pod["overhead"] = {"memory": "1Gi"}


# --- volumes


@cases("CC0807", f"{CONTAINER}.volumeMounts[0]", "a hostPath that the host controls")
def a_mounted_host_path(world: World) -> None:
    world.mount("host", {"hostPath": {"path": "/"}})


@cases("CC0807", f"{CONTAINER}.volumeMounts[0]", "a persistentVolumeClaim")
def a_mounted_claim(world: World) -> None:
    world.mount("data", {"persistentVolumeClaim": {"claimName": "data"}})


@cases("CC0808", "web spec.volumeClaimTemplates[0]", hint="volumeMode: Block")
def a_claim_template_that_is_a_file_system(world: World) -> None:
    world["web"]["kind"] = "StatefulSet"
    world["web"]["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "disk"}, "spec": {"accessModes": []}}]


@cases("CC0810", f"{CONTAINER}.volumeMounts[0]", "which the pod does not have")
def a_mount_of_no_volume(world: World) -> None:
    world.container["volumeMounts"] = [{"name": "nothing", "mountPath": "/n"}]


@cases("CC0812", f"{CONTAINER}.volumeMounts[0].mountPath", "at /contrast")
def a_mount_where_the_secrets_belong(world: World) -> None:
    world.mount("contrast", {"emptyDir": {}})


@cases("CC0812", f"{CONTAINER}.volumeMounts[0].mountPath", "at /contrast/tls-config/mesh-ca.pem")
def a_mount_below_the_secrets_by_a_detour(world: World) -> None:
    world.mount("contrast", {"emptyDir": {}}, mountPath="//x/../contrast/tls-config/mesh-ca.pem")


@cases("CC0820", f"{CONTAINER}.volumeMounts[0].mountPath", "the program /scripts/start.sh", hint="into the image")
def a_program_out_of_a_config_map(world: World) -> None:
    world.mount("scripts", {"configMap": {"name": "settings"}})
    world.container["command"] = ["/scripts/start.sh"]


@cases("CC0820", f"{CONTAINER}.terminationMessagePath", "/etc/ld.so.preload, which the loader", hint="somewhere else")
def a_termination_message_that_the_loader_reads(world: World) -> None:
    world.container["terminationMessagePath"] = "/etc/./ld.so.preload"


@cases("CC0604", f"{CONTAINER}.volumeMounts[0].subPath", hint="spec.volumes.splitSubPaths: true")
def a_sub_path(world: World) -> None:
    world.mount("data", {"emptyDir": {}}, subPath="below")


@cases("CC0601", f"{SPEC}.volumes[0].emptyDir.mode", hint="remove the field")
def the_mode_of_a_volume(world: World) -> None:
    world.mount("data", {"emptyDir": {"mode": 0o700}})


@cases("CC0208", SPEC, "two volumes are named data")
def two_volumes_of_one_name(world: World) -> None:
    world.mount("data", {"emptyDir": {}})
    world.pod["volumes"].append({"name": "data", "emptyDir": {}})


# --- fields that are refused or unknown


@cases("CC0601", f"{SPEC}.hostPID", "hostPID is not covered")
def the_host_s_processes(world: World) -> None:
    world.pod["hostPID"] = True


@cases("CC0601", f"{SPEC}.hostNetwork", "hostNetwork is not covered")
def the_host_s_network(world: World) -> None:
    world.pod["hostNetwork"] = True


@cases("CC0601", f"{SPEC}.hostIPC")
def the_host_s_memory(world: World) -> None:
    world.pod["hostIPC"] = True


@cases("CC0601", f"{SPEC}.ephemeralContainers")
def an_ephemeral_container(world: World) -> None:
    world.pod["ephemeralContainers"] = [{"name": "debug", "image": WEB_IMAGE}]


@cases("CC0601", f"{CONTAINER}.securityContext.procMount")
def an_unmasked_proc(world: World) -> None:
    world.container["securityContext"] = {"procMount": "Unmasked"}


@cases("CC0640", CONTAINER, "URL contains $(text-pattern)", hint="do not use policy.profile: strict")
def a_value_that_profile_strict_cannot_bind(world: World) -> None:
    world.spec["policy"] = {"profile": "strict"}
    world.container["env"] = []
    world.env("NODE", fieldRef={"fieldPath": "spec.nodeName"})
    world.container["env"].append({"name": "URL", "value": "http://$(NODE)"})


@cases("CC0643", f"{CONTAINER}.image", "has a VOLUME /data that no", hint="of spec.volumes at exactly /data")
def an_image_with_a_volume_that_nothing_is_mounted_on(world: World) -> None:
    world["lock"]["spec"]["images"][WEB_IMAGE]["config"]["Volumes"] = {"/data": {}}


@cases("CC0508", f"{CONTAINER}.image", "lacks passwd", hint="run contrast-krm lock")
def a_lock_that_does_not_say_what_users_an_image_has(world: World) -> None:
    del world["lock"]["spec"]["images"][WEB_IMAGE]["passwd"]


@cases("CC0604", CONTAINER, "runs as the image's user web, whose name", hint="set runAsUser and runAsGroup")
def an_image_with_a_user_that_its_passwd_does_not_have(world: World) -> None:
    world["lock"]["spec"]["images"][WEB_IMAGE]["config"]["User"] = "web"


@cases("CC0604", f"{SPEC}.securityContext.runAsGroup", "without runAsUser", hint="add runAsUser")
def a_group_of_the_pod_without_a_user(world: World) -> None:
    world.pod["securityContext"] = {"runAsGroup": 2000}


@cases(
    "CC0604",
    f"{SPEC}.securityContext.runAsNonRoot",
    "it does not know the number of that user",
    hint="set runAsUser: 1000",
)
def a_user_by_name_that_must_not_be_root(world: World) -> None:
    facts = world["lock"]["spec"]["images"][WEB_IMAGE]
    facts["config"]["User"], facts["passwd"] = "web", "web:x:1000:2000:web:/:/bin/false\n"
    world.container.pop("securityContext", None)
    world.pod["securityContext"] = {"runAsNonRoot": True}


@cases("CC0632", CONTAINER, "is only known later", hint="write its value into the pod")
def a_variable_that_may_give_all_gpus(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-gpu"
    world.container["resources"]["limits"]["nvidia.com/GH100_H100_PCIE"] = 1
    later = {"fieldRef": {"fieldPath": "metadata.name"}}
    world.container["env"] = [{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": later}]


@cases("CC0605", f"{SPEC}.hostNetwrok", "unknown field hostNetwrok", hint="did you mean hostNetwork?")
def an_unknown_field_in_the_pod_spec(world: World) -> None:
    world.pod["hostNetwrok"] = True


@cases("CC0605", f"{CONTAINER}.imagePulPolicy", hint="did you mean imagePullPolicy?")
def an_unknown_field_in_a_container(world: World) -> None:
    world.container["imagePulPolicy"] = "Always"


# --- types


@cases("CC0206", f"{SPEC}.containers")
def containers_that_are_null(world: World) -> None:
    world.pod["containers"] = None


@cases("CC0206", f"{SPEC}.containers")
def containers_that_are_empty(world: World) -> None:
    world.pod["containers"] = []


@cases("CC0207", f"{SPEC}.containers", "must be a list, not a string")
def containers_that_are_a_string(world: World) -> None:
    world.pod["containers"] = "web"


@cases("CC0207", f"{SPEC}.containers[0]", "must be a map, not null")
def a_container_that_is_null(world: World) -> None:
    world.pod["containers"] = [None]


@cases("CC0207", f"{CONTAINER}.name", "must be a string, not null")
def a_container_without_a_name(world: World) -> None:
    del world.container["name"]


@cases("CC0208", SPEC, "two containers are named web")
def two_containers_of_one_name(world: World) -> None:
    world.pod["containers"].append({"name": "web", "image": OTHER_IMAGE})


@cases("CC0208", f"{CONTAINER}.name", "two containers are named contrast-initializer")
def a_container_that_is_named_as_ours(world: World) -> None:
    world.container["name"] = "contrast-initializer"


@cases("CC0207", f"{SPEC}.runtimeClassName", "must be a string, not an integer")
def a_runtime_class_that_is_a_number(world: World) -> None:
    world.pod["runtimeClassName"] = 1


@cases("CC0207", f"{SPEC}.runtimeClassName", "must be a string, not a boolean")
def a_runtime_class_that_is_a_boolean(world: World) -> None:
    world.pod["runtimeClassName"] = True


@cases("CC0207", f"{SPEC}.runtimeClassName", "must be a string, not a list")
def a_runtime_class_that_is_a_list(world: World) -> None:
    world.pod["runtimeClassName"] = ["contrast-cc"]


@cases("CC0207", f"{TEMPLATE}.metadata.labels", "must be a map, not a list")
def labels_that_are_a_list(world: World) -> None:
    world.template["metadata"]["labels"] = ["app"]


@cases("CC0207", f"{TEMPLATE}.metadata.annotations", "must be a map, not a string")
def annotations_that_are_a_string(world: World) -> None:
    world.template["metadata"]["annotations"] = CANARY


@cases("CC0207", "web spec.template", "must be a map, not a string")
def a_pod_template_that_is_a_string(world: World) -> None:
    world["web"]["spec"]["template"] = CANARY


@cases("CC0712", "web metadata.name", hint="give it a name")
def a_workload_with_a_generated_name(world: World) -> None:
    metadata = world["web"]["metadata"]
    metadata["generateName"] = metadata.pop("name")
    world["web"] |= {"apiVersion": "v1", "kind": "Pod"}
    world["web"]["spec"] = world["web"]["spec"]["template"]["spec"]


@cases("CC0712", "metadata.name")
def a_workload_whose_metadata_are_null(world: World) -> None:
    world["web"]["metadata"] = None


@cases("CC0207", f"{CONTAINER}.env[3].name", "must be a string, not null")
def a_variable_without_a_name(world: World) -> None:
    world.container["env"].append({"value": CANARY})


@cases("CC0207", f"{CONTAINER}.env[3].value", "must be a string, not an integer")
def a_variable_without_quotes(world: World) -> None:
    world.container["env"].append({"name": "PORT", "value": 8080})


# --- references


@cases("CC0602", f"{CONTAINER}.env[3].valueFrom.configMapKeyRef", "ConfigMap nothing is not in the input")
def a_config_map_that_is_missing(world: World) -> None:
    world.env("MORE", configMapKeyRef={"name": "nothing", "key": "KEY"})


@cases("CC0603", f"{CONTAINER}.env[3].valueFrom.secretKeyRef", "Secret login has no key nothing")
def a_secret_key_that_is_missing(world: World) -> None:
    world.env("MORE", secretKeyRef={"name": "login", "key": "nothing"})


@cases("CC0602", f"{CONTAINER}.envFrom[1].secretRef", "Secret nothing is not in the input")
def a_secret_that_is_missing(world: World) -> None:
    world.container["envFrom"].append({"secretRef": {"name": "nothing"}})


@cases(
    "CC0602", f"{CONTAINER}.env[3].valueFrom.secretKeyRef", "LD_PRELOAD controls", hint="write its value into the pod"
)
def a_missing_secret_of_a_variable_that_steers_the_loader(world: World) -> None:
    _from_db(world, "LD_PRELOAD")


@cases("CC0602", f"{CONTAINER}.env[3].valueFrom.secretKeyRef", "$(MORE) is part of a command", hint="read the variable")
def a_missing_secret_of_a_variable_that_an_argument_expands(world: World) -> None:
    _from_db(world)
    world.container["args"] = ["--password=$(MORE)"]


def _opened(world: World, **entry: Any) -> None:
    """Let the configuration open the Secret db, which only the cluster has."""
    world.spec["policy"] = {"externalSources": [{"kind": "Secret", "name": "db", **entry}]}


def _from_db(world: World, name: str = "MORE") -> None:
    world.env(name, secretKeyRef={"name": "db", "key": "password"})


@cases(
    "CC0670", f"{CONTAINER}.env[3].name", "controls the C library and its loader", hint="write its value into the pod"
)
def an_open_variable_that_steers_the_loader(world: World) -> None:
    _opened(world)
    _from_db(world, "LD_PRELOAD")


@cases("CC0670", f"{CONTAINER}.envFrom[1].secretRef", "PATH could have any value")
def an_open_variable_that_steers_the_shell_through_its_prefix(world: World) -> None:
    _opened(world, keys=["ATH"])
    world.container["envFrom"].append({"prefix": "P", "secretRef": {"name": "db"}})


@cases("CC0671", f"{CONTAINER}.args[0]", "this expands $(MORE)", hint="let the program read the variable MORE itself")
def an_argument_that_expands_an_open_variable(world: World) -> None:
    _opened(world)
    _from_db(world)
    world.container["args"] = ["--password=$(MORE)"]


@cases("CC0671", f"{CONTAINER}.env[4].value", "this expands $(MORE)")
def a_variable_that_expands_an_open_one(world: World) -> None:
    _opened(world)
    _from_db(world)
    world.container["env"].append({"name": "URL", "value": "db://$(MORE)@db"})


@cases("CC0672", f"{CONTAINER}.env[3].valueFrom.secretKeyRef", "is for namespace bank", hint="correct the namespace")
def an_open_secret_of_another_namespace(world: World) -> None:
    _opened(world, namespace="bank")
    _from_db(world)


@cases("CC0672", f"{CONTAINER}.env[3].valueFrom.secretKeyRef", "the key password", hint="add password to the keys")
def an_open_secret_without_this_key(world: World) -> None:
    _opened(world, keys=["user"])
    _from_db(world)


@cases(
    "CC0672",
    f"{CONTAINER}.env[3].valueFrom.secretKeyRef",
    "does not list the variable MORE",
    hint="add MORE to the variables",
)
def an_open_secret_for_another_variable(world: World) -> None:
    _opened(world, keys=["password"], variables=["PASSWORD"])
    _from_db(world)


@cases("CC0680", f"{CONTAINER}.env[3]", "the name of its node, which the host chooses, and it controls Node.js")
def a_value_of_the_pod_that_steers_a_program(world: World) -> None:
    world.env("NODE_OPTIONS", fieldRef={"fieldPath": "spec.nodeName"})


@cases(
    "CC0672",
    f"{CONTAINER}.env[3].valueFrom.secretKeyRef",
    "does not name MORE",
    hint="add an entry with keys: [password] and variables: [MORE]",
)
def an_open_secret_of_a_shell_without_names(world: World) -> None:
    _opened(world)
    _from_db(world)
    world.container["command"] = ["sh", "-c", "serve"]


@cases(
    "CC0681",
    f"{CONTAINER}.command[2]",
    "into what a shell, an interpreter or a launcher runs",
    hint="write it into the pod, or let the code read the variable",
)
def a_value_of_the_pod_that_is_a_script(world: World) -> None:
    world.env("MORE", fieldRef={"fieldPath": "spec.nodeName"})
    world.container["command"] = ["sh", "-c", "$(MORE)"]


@cases(
    "CC0681", f"{CONTAINER}.command[0]", "into the name of a program", hint="write the name of the program into the pod"
)
def a_value_of_the_pod_that_is_the_program(world: World) -> None:
    world.env("MORE", fieldRef={"fieldPath": "metadata.uid"})
    world.container["command"] = ["$(MORE)"]


@cases("CC0672", f"{CONTAINER}.envFrom[1].secretRef", "lists no keys, which envFrom needs", hint="list the keys")
def all_keys_of_an_open_secret(world: World) -> None:
    _opened(world)
    world.container["envFrom"].append({"secretRef": {"name": "db"}})


@cases("CC0604", f"{CONTAINER}.env[0].valueFrom.secretKeyRef", "not UTF-8 text in base64")
def a_secret_that_is_no_base64(world: World) -> None:
    world["secret"]["data"]["password"] = f"{CANARY} is no base64 %"
    world.container["env"] = []
    world.container["envFrom"] = []
    world.env("MORE", secretKeyRef={"name": "login", "key": "password"})


@cases("CC0601", f"{CONTAINER}.env[3].valueFrom.fieldRef.fieldPath")
def a_field_reference_that_is_not_covered(world: World) -> None:
    world.env("MORE", fieldRef={"fieldPath": "spec.hostname"})


# --- images


@cases("CC0502", f"{SPEC}.initContainers[0].image", "is not pinned")
def an_init_container_that_is_not_pinned(world: World) -> None:
    world.pod["initContainers"] = [{"name": "first", "image": "registry.example.com/shop/other:1.0"}]


@cases("CC0504", f"{SPEC}.initContainers[0].image", "is not in the ImageLock")
def an_init_container_missing_from_the_lock(world: World) -> None:
    """Named by its place in the input, where no initializer stands before it."""
    world.pod["initContainers"] = [{"name": "first", "image": OTHER_IMAGE}]
    del world["lock"]["spec"]["images"][OTHER_IMAGE]


@cases("CC0504", SPEC, f"{CONTRAST}/initializer:v1.25.0")
def our_own_initializer_missing_from_the_lock(world: World) -> None:
    del world["lock"]["spec"]["images"][IMAGES[f"{CONTRAST}/initializer:latest"]]


@cases("CC0501", CONTAINER, "container web has no image")
def a_container_without_an_image(world: World) -> None:
    del world.container["image"]


@cases("CC0503", f"{CONTAINER}.image", "is not a valid reference")
def an_image_with_half_a_digest(world: World) -> None:
    world.container["image"] = "registry.example.com/shop/web@sha256:abc"


@cases("CC0507", "coordinator spec.template.spec.containers[0].image", "has tag v1.24.0, but the release is v1.25.0")
def a_coordinator_of_another_release(world: World) -> None:
    image = IMAGES[f"{CONTRAST}/coordinator:latest"].replace("v1.25.0", "v1.24.0")
    world["coordinator"]["spec"]["template"]["spec"]["containers"][0]["image"] = image


# --- platforms


@cases("CC0403", f"{SPEC}.runtimeClassName", "platform metal-qemu-tdx is not in release v1.25.0", hint="metal-qemu-snp")
def a_platform_that_the_release_lacks(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-tdx"


@cases("CC0405", f"{SPEC}.runtimeClassName", hint="use a confidential platform")
def an_insecure_platform(world: World) -> None:
    world.pod["runtimeClassName"] = "contrast-insecure-metal-qemu-snp"


# --- lists


@cases("CC0401", "inner items[0].items[0].spec.runtimeClassName")
def a_pod_in_a_list_in_a_list(world: World) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "inner", "namespace": "shop"},
        "spec": {"runtimeClassName": "contrast-cc-nope", "containers": [{"name": "a", "image": OTHER_IMAGE}]},
    }
    inner = {"apiVersion": "v1", "kind": "List", "items": [pod]}
    world["list"] = {"apiVersion": "v1", "kind": "List", "items": [inner]}


@cases("CC0401", f"{SPEC}.runtimeClassName")
def json_among_the_yaml(world: World) -> None:
    import json

    world.pod["runtimeClassName"] = "contrast-cc-nope"
    world["web"] = json.dumps(world["web"]) + "\n"
