"""Name the fields of a pod that differ between two container policies: the sealed one and one generated now.

Rule of this file: fields have the names of the pod spec. What only the settings decide is not compared.
"""

from typing import Any

from krm_function.findings import Path
from krm_function.model.lookup import dig, mapping
from krm_function.policy import genpolicy_variants
from krm_function.policy.image_storage import images, is_bound, is_of, misshapen, without_images
from krm_function.policy.shared_gpus import VARIABLE, shares_gpus
from krm_function.policy.volumes import in_the_vm

Json = dict[str, Any]

IMAGE = "io.kubernetes.cri.image-name"
SHARED_GPUS = f"GPUs of the pod by {VARIABLE}"
ENV: Path = ("OCI", "Process", "Env")  # compared as a set, because variables that the generator adds occur twice

# annotation of the runtime -> field of the object that it repeats
IDENTITY = {
    "io.kubernetes.cri.sandbox-name": "metadata.name",
    "io.kubernetes.cri.sandbox-namespace": "metadata.namespace",
}

# field of the pod -> its path in a container of policy_data
COMPARED: dict[str, Path] = {
    "command or args": ("OCI", "Process", "Args"),
    "workingDir": ("OCI", "Process", "Cwd"),
    "tty": ("OCI", "Process", "Terminal"),
    "securityContext.runAsUser or runAsGroup": ("OCI", "Process", "User"),
    "securityContext.capabilities": ("OCI", "Process", "Capabilities"),
    "securityContext.allowPrivilegeEscalation": ("OCI", "Process", "NoNewPrivileges"),
    "securityContext.readOnlyRootFilesystem": ("OCI", "Root", "Readonly"),
    "volumeDevices": ("OCI", "Linux", "Devices"),
    "exec probes or lifecycle": ("exec_commands",),
    "shareProcessNamespace": ("sandbox_pidns",),
    "resources.limits": ("devices",),
}


def differing_pod_fields(made: Json, policy: Json) -> list[str]:
    """Return the names of the fields in which two containers of the native generator differ."""
    fields = [field for field, path in COMPARED.items() if _at(made, path) != _at(policy, path)]
    if _env(made) != _env(policy):
        fields.append("env")
    if shares_gpus(made) != shares_gpus(policy):
        fields.append(SHARED_GPUS)
    if annotation_value(made, IMAGE) != annotation_value(policy, IMAGE):
        fields.append("image")
    if _mounts(made) != _mounts(policy) or _storages(made) != _storages(policy):
        fields.append("volumeMounts")
    notes, sealed = (_user_annotations(entry) for entry in (made, policy))
    changed = sorted(key for key in notes.keys() | sealed.keys() if notes.get(key) != sealed.get(key))
    return fields + [IDENTITY.get(key, f"annotation {key}") for key in changed]


def without_generator_variants(
    fields: list[str], made: Json, policy: Json, where: dict[str, str], *, propagates: bool
) -> list[str]:
    """Return the fields without those that differ only because another generator writes the same in another way."""
    same = {
        "env": genpolicy_variants.effective_variables(_env(made), _env(policy)) == _env(made),
        "volumeMounts": genpolicy_variants.equivalent_mounts(
            _mounts(made), _mounts(policy), where, propagates=propagates
        )
        and _storages(made) == _storages(policy),
        SHARED_GPUS: not shares_gpus(policy),  # genpolicy does not look at the image's variables
    }
    return [field for field in fields if not same.get(field)]


def same_image(reference: str, policy: Json, binds: bool | None) -> bool:
    """Tell whether the image storage of a container binds the image that the pod names.

    binds: whether there must be one; None if that is unknown, so that both are accepted.
    """
    found = images(policy["storages"])
    if binds is not None and bool(found) != binds:
        return False
    return not found or is_of(found, reference)


def sandbox_differences(made: Json, policy: Json, binds: bool | None, *, native: bool) -> list[str]:
    """Return the names of what differs in the pause container, which is the same for every pod.

    Its image is in the VM, it runs one command, has no volumes and allows no exec.
    """
    found = images(policy["storages"])
    fields = []
    if (binds is not None and bool(found) != binds) or (found and not _is_sandbox_image(found)):
        fields.append("image")
    if without_images(policy["storages"]) or policy.get("exec_commands"):
        fields.append("volumes or exec commands")
    of_the_process = ("command or args", "tty", *(name for name in COMPARED if name.startswith("securityContext.")))
    fields += [name for name in of_the_process if native and _at(made, COMPARED[name]) != _at(policy, COMPARED[name])]
    return fields


def _is_sandbox_image(found: list[Json]) -> bool:
    return len(found) == 1 and not misshapen(found[0]) and is_bound(found[0], sandbox=True)


def _env(entry: Json) -> set[str]:
    return set(_at(entry, ENV) or ())


def _at(value: Any, path: Path) -> Any:
    return dig(value, path) or None


def _mounts(entry: Json) -> list[tuple[str, ...]]:
    """Return destination, type and options of every mount, and the source unless the settings decide it."""
    return sorted(
        (mount["destination"], mount["type_"], *mount["options"], mount["source"] * in_the_vm(mount["source"]))
        for mount in entry["OCI"]["Mounts"]
    )


def _storages(entry: Json) -> list[str]:
    """Return the volumes in the VM: the name of each one in memory, "" for the others, which have none in a policy."""
    return sorted(
        one["mount_point"].rpartition("/")[2] * (one["fstype"] == "tmpfs") for one in without_images(entry["storages"])
    )


def annotation_value(entry: Json, key: str) -> str:
    """Return the value of an annotation in a container's policy, or ""."""
    return str(mapping(dig(entry, ("OCI", "Annotations"))).get(key, ""))


def _user_annotations(entry: Json) -> dict[str, str]:
    """Return the annotations that come from the pod, and the names in IDENTITY; without the runtime's others."""
    annotations = mapping(dig(entry, ("OCI", "Annotations")))
    of_the_runtime = ("io.kubernetes.cri.", "io.katacontainers.pkg.oci.", "nerdctl/")
    return {key: value for key, value in annotations.items() if key in IDENTITY or not key.startswith(of_the_runtime)}
