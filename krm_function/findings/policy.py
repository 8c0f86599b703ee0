"""CC06: policies, initdata and ID blocks."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0601": Row(
        "error",
        "{field} is not covered by the policy generator yet",
        "remove the field, or set policy.engine: none and seal the pod with genpolicy",
    ),
    "CC0602": Row("error", "{kind} {name} is not in the input", "render it together with the pod"),
    "CC0603": Row("error", "{kind} {name} has no key {key}", "add the key or correct the reference"),
    "CC0604": Row("error", "{field}: {problem}", "{remedy}"),
    "CC0605": Row("error", "unknown field {field}", "{remedy}"),
    "CC0606": Row("info", "policy sealed, digest {digest}"),
    "CC0607": Row("info", "SNP ID block for {product}, {vcpus} vCPUs"),
    "CC0608": Row(
        "error",
        "no SNP ID block can be made for platform {platform}: {problem}",
        "give TrustedMeasurement and APEIP in the release",
    ),
    "CC0609": Row("error", "no RTMR0 for {vcpus} vCPUs on platform {platform}", "add it to rtmr0ByVCPU of the release"),
    "CC0610": Row("error", "annotation {key} holds no initdata: {problem}", "remove it, or give valid initdata"),
    "CC0611": Row(
        "error", "the annotations have {size} bytes, Kubernetes allows {limit}", "shorten the policy or the initdata"
    ),
    "CC0612": Row("error", "policy settings: {problem}", "correct the settings"),
    "CC0613": Row(
        "error",
        "initdata file {name} is in the pod's annotation and in spec.policy.initdata, with different texts",
        "keep one of the two",
    ),
    "CC0614": Row("error", "genpolicy: {problem}", "{remedy}"),
    "CC0615": Row(
        "error",
        "genpolicy answers without a usable initdata annotation: {problem}",
        "name the genpolicy of Contrast or of Kata 3.20 or newer; it is called with --base64-out",
    ),
    "CC0616": Row(
        "error", "genpolicy {problem}", "see whether the image registry answers, or raise --genpolicy-timeout"
    ),
    "CC0617": Row(
        "error",
        "weaker than the policy before: {what}: {why}",
        "take the change back, or review it and renew OLD",
    ),
    "CC0618": Row("error", "the policy's data do not fit the rules of profile {profile}: {problem}", "{remedy}"),
    "CC0619": Row("info", "stronger than the policy before: {what}: {why}"),
    "CC0621": Row(
        "error",
        "the pod's annotation {key} holds {name}, which spec.policy.initdata does not",
        "remove the annotation; name each file that the pod needs under spec.policy.initdata",
    ),
    "CC0630": Row(
        "warning",
        "the files of volume {volume} ({source}) are the host's, which can read and change them",
        "keep secrets in an emptyDir or in an encrypted volume, annotation contrast.edgeless.systems/secure-pv",
    ),
    "CC0631": Row(
        "warning",
        "a device that comes with the resource {resource} is not in the policy, and the VM will not take it",
        "remove the resource, or name it as a GPU in the policy settings (devices.vfio.nvidia.pgpu_resource_keys)",
    ),
    "CC0640": Row(
        "error",
        "{container}: {what} holds {token}, which profile strict cannot bind to one value",
        "write the value into the pod template, or leave out policy.profile: strict",
    ),
    "CC0641": Row(
        "error",
        "policy settings: {member} is missing, as in a file of another Kata release",
        "take genpolicy-settings.json of Kata 4.1, or add the member with a drop-in",
    ),
    "CC0643": Row(
        "error",
        "image {image} of {container} has a VOLUME {volume} that no volume of the pod covers: a host could fill it",
        "mount an emptyDir or an encrypted volume of spec.volumes at {volume}, written just so; no volumeClaimTemplate",
    ),
    "CC0650": Row(
        "error",
        "release {version} is older than Contrast {oldest}, the oldest whose policies are known",
        "use a newer release; with policy.engine: none and manifest.emit: none all else is rendered",
    ),
    "CC0651": Row(
        "warning",
        "release {version} is newer than Contrast {newest}; its nodes may refuse policies of profile {profile}",
        "update contrast-krm; until then try one pod before the others",
    ),
    "CC0652": Row(
        "error",
        "profile {profile} is for nodes of Contrast {other}, the release is {version}",
        "leave out policy.profile, or set it to {right}",
    ),
    "CC0653": Row(
        "warning",
        "profile {profile} is for nodes without Contrast; it does not bind {what}",
        "leave out policy.profile unless the nodes run plain Kata",
    ),
}
