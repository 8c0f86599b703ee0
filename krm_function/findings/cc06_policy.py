"""CC06: policies, initdata and ID blocks; open variables; variables of Services."""

from krm_function.findings.row import Row

# --- CC06: variables whose values only the cluster, or the running pod, has


EXTERNAL_SOURCES: dict[str, Row] = {
    "CC0670": Row(
        "error",
        "{variable} would have any value, from a {kind} that only the cluster has, and steers {what}",
        "write its value into the pod, or put the {kind} into the input",
    ),
    "CC0671": Row(
        "error",
        "this expands $({variable}), which may have any value by spec.policy.externalSources",
        "let the program read the variable {variable} itself, or put its ConfigMap or Secret into the input",
    ),
    "CC0672": Row(
        "error",
        "{kind} {name} is not in the input, and its entry of spec.policy.externalSources {problem}",
        "{remedy}",
        {
            "namespace": (
                "is for namespace {other}, while that of the workload is {namespace}",
                "correct the namespace of the entry, or leave it out",
            ),
            "key": ("does not have the key {key} among its keys", "add {key} to the keys of the entry"),
            "variable": (
                "does not have {variable} among its variables",
                "add {variable} to the variables of the entry, or correct the name of the variable",
            ),
            "keys": (
                "has no keys, which envFrom needs",
                "list the keys under keys of the entry: each becomes a variable of which the host chooses the value",
            ),
        },
    ),
    "CC0673": Row(
        "warning",
        "spec.policy.externalSources[{index}], {kind} {name}, {problem}",
        "{remedy}",
        {
            "input": ("is in the input, so its values are fixed", "remove the entry"),
            "unused": (
                "opens no variable of this input",
                "remove the entry: it would open a variable that is added later",
            ),
        },
    ),
    "CC0674": Row(
        "warning",
        "container {container}: the host may choose any value of {variables}",
        "keep what must be secret or true out of them: put their object into the input, or use /contrast/secrets",
    ),
    "CC0680": Row(
        "error",
        "{variable} would have {value}, which the host chooses, and steers {what}",
        "write its value into the pod, or let the program read another variable; only numbers, addresses, the pod's own"
        " name and namespace may stand in a longer text there",
    ),
    "CC0681": Row(
        "error",
        "this puts {value}, which the host chooses, {problem}",
        "{remedy}",
        {
            "program": ("where a program is named", "write the program into the pod"),
            "code": (
                "into code that an interpreter runs",
                "let the code read the variable itself, such as $NAME in place of $(NAME) in a shell",
            ),
        },
    ),
    "CC0682": Row(
        "warning",
        "the pod template has no annotation {key}, so its variable is bound to the empty text",
        "add the annotation with its value to the pod template; if only the cluster sets it, mount it as a file with"
        " downwardAPI: a pod that has the annotation when it starts is denied",
    ),
    "CC0683": Row(
        "warning",
        "container {container}: the policy binds no form of {variables}, so the host may choose any value",
        "render it with the project's own rules and generator, which bind the form of each",
    ),
    "CC0690": Row(
        "error",
        "the controller of a {kind} writes {field} of the object into its pods, and that is no text and no number",
        "write {field} into the object",
    ),
    "CC0691": Row(
        "warning",
        "the controller of a {kind} writes {variables} into the pods that it makes; the policy allows all of that form",
        "none is needed; an entry for the kind under spec.podTemplates may be narrower or leave variables out",
    ),
    "CC0693": Row(
        "error",
        "an entry for {kind} gives {variable} a form, so that a host could choose its value, and it steers {what}",
        "give it a value that the object says, or leave it out of the entry",
    ),
    "CC0694": Row(
        "error",
        "no policy describes the pods that the controller of a {kind} makes: {reason}",
        "{instead}",
    ),
    "CC0695": Row(
        "warning",
        "no policy covers this of a {kind}: {reason}",
        "{instead}",
    ),
    "CC0696": Row(
        "warning",
        "kustomize gives {kind} {name} another name and leaves the old one in the pods of a {owner}, unless it is"
        " told of the field",
        "name the field in a nameReference under configurations in the kustomization, or keep the name: no prefix, and"
        " disableNameSuffixHash: true",
    ),
    "CC0692": Row(
        "error",
        "genpolicy does not know what the controller of a {kind} makes of this template",
        "leave out --genpolicy, so that the project's own generator seals it",
    ),
}


# --- CC0684 to CC0689: variables of Services that a policy denies


_REMEDY = (
    "set enableServiceLinks: false in the pod template, unless its programs read variables of Services;"
    " with the patterns of the profiles for Contrast all Services are allowed"
)
_IPV6 = (
    "a policy profile for Contrast allows it; enableServiceLinks: false helps only where the Service of the API"
    " server has an IPv4 address"
)

SERVICE_VARIABLES: dict[str, Row] = {
    "CC0684": Row(
        "error",
        "the policy denies the variable {variable} that Service {service} gives each container: {problem}",
        _REMEDY,
        {
            "sctp": "a port with protocol SCTP",
            "digit": "a name that begins with a digit",
            "ipv6": ("an IPv6 address", _IPV6),
            "other": "no pattern of the policy settings fits it",
        },
    ),
}


# --- CC06: policies, initdata and ID blocks


ROWS: dict[str, Row] = {
    "CC0601": Row(
        "error",
        "{problem} is not covered by the policy generator yet",
        "remove the field, or set policy.engine: none and seal the pod with genpolicy",
        {
            "field": "{field}",
            "field-path": "{field} {field_path}",
            "sources": "{field} of a volume with more than one source ({sources})",
            "medium": "{field} of an emptyDir of medium {medium}",
            "token": "{field} with $({token}) inside a longer value",
            "token-variable": "{field}: {variable} with $({token}) inside a longer value",
            "variable-around": "container {container}: {variable} with text around a value of the pod",
            "arguments-around": "container {container}: its arguments with text around a value of the pod",
        },
    ),
    "CC0602": Row(
        "error",
        "{kind} {name} is not in the input",
        (
            "render it together with the pod (its values are then readable in the pod's annotation);"
            " or mount it as a volume instead (the host can read and change the files)"
        ),
        {
            "open": (
                "",
                (
                    "render it together with the pod (its values are then readable in the pod's annotation);"
                    " or mount it as a volume instead (the host can read and change the files); or, if only the cluster"
                    " has it, name it in spec.policy.externalSources (the host may then give the variables any value)"
                ),
            ),
        },
    ),
    "CC0603": Row("error", "{kind} {name} has no key {key}", "add the key or correct the reference"),
    "CC0604": Row(
        "error",
        "{field}: {problem}",
        "{remedy}",
        {
            "missing": ("is missing", "add {key}"),
            "value": ("{error}", "correct the value"),
            "name-twice": ("is {name}, as that of another container", "give each container its own name"),
            "object-name": ("is no valid name", "use letters, digits, dots and dashes only"),
            "cut-name": (
                "is so long that a pod may be called {name}, which the policy of genpolicy refuses",
                "shorten the name, or leave genpolicy out: the policies of contrast-krm allow such names",
            ),
            "runtime-annotation": ("is written by the container runtime", "remove the annotation"),
            "capability": ("is no capability", "write {name}, or correct it"),
            "long-policy": (
                "makes a policy of more than {limit} {unit}, which the guest's policy engine refuses",
                "shorten the pod's longest values or lists",
            ),
            "long-line": (
                "makes a policy with a line of more than {limit} bytes, which the guest's policy engine refuses",
                "shorten the pod's longest values or lists",
            ),
            "unicode": ("holds text that is no Unicode", "remove the lone surrogate"),
            # the process
            "command": ("has neither Entrypoint nor Cmd, and the container no command", "set command"),
            "token": ("holds $({token}), which a policy reads as any value", "use another name"),
            "nul": ("holds a NUL byte", "remove it"),
            "long-expansion": (
                "becomes longer than {limit} characters when its variables are expanded",
                "refer to fewer variables, or to shorter ones",
            ),
            "long-expansions": (
                "is one too many: the expanded variables of this container have more than {limit} characters",
                "refer to fewer variables, or to shorter ones",
            ),
            "long-pattern": (
                "needs a pattern longer than {limit} characters for what only the node knows",
                "refer to fewer variables with a fieldRef, or to each once",
            ),
            "variable": ("is no name of a variable", "correct the name"),
            "source": ("names no source", "name one"),
            "label": ("names no label of the pod template", "add the label, or do not refer to it"),
            "data-type": ("key {key} is no string", "correct the data"),
            "data-base64": ("key {key} is no base64 of UTF-8 text", "correct the data"),
            # who it runs as; the hint of `unnamed` lists up to three settings, and is put together where they are found
            "root": (
                "is true, and container {container} would run as root",
                "set runAsUser, or set runAsNonRoot only for containers that do not run as root",
            ),
            "sandbox-group": (
                "is set without runAsUser: containerd does not start the sandbox of such a pod",
                "set runAsUser beside it, or move runAsGroup into the securityContext of the containers",
            ),
            "named-user": (
                (
                    "is true, and container {container} runs as the user {user} of its image: the kubelet does not"
                    " start it, because it knows no number of that user"
                ),
                "set runAsUser: {uid} in the container's securityContext",
            ),
            "unnamed": ("runs with {identity}, which the image implies and the pod does not name", "{remedy}"),
            "user-number": (
                "runs as the image's user {user}, whose number the passwd of the ImageLock does not tell",
                "set runAsUser and runAsGroup in its securityContext",
            ),
            "user-name": (
                "runs as the image's user {user}, whose name the image's /etc/passwd does not have",
                "set runAsUser and runAsGroup in the container's securityContext",
            ),
            "accounts": ("cannot start: containerd refuses the image, whose {error}", "correct {accounts}"),
            "image-user-range": (
                "runs as the image's user {number}, which is out of range: a node takes 0 to {limit}",
                "set runAsUser and runAsGroup in the container's securityContext",
            ),
            "user-range": (
                "runs with user {number}, which is out of range: a node takes 0 to {limit}",
                "correct runAsUser",
            ),
            "implied-user-range": (
                "runs with user {number}, which is out of range: a node takes 0 to {limit}",
                "set runAsUser and runAsGroup in the container's securityContext",
            ),
            "group-range": (
                "runs with group {number}, which is out of range: a node takes 0 to {limit}",
                "correct runAsGroup",
            ),
            "implied-group-range": (
                "runs with group {number}, which is out of range: a node takes 0 to {limit}",
                "set runAsUser and runAsGroup in the container's securityContext",
            ),
            "groups-range": (
                "runs with supplementary group {number}, which is out of range: a node takes 0 to {limit}",
                "correct supplementalGroups and fsGroup",
            ),
            "implied-groups-range": (
                "runs with supplementary group {number}, which is out of range: a node takes 0 to {limit}",
                (
                    "set supplementalGroupsPolicy: Strict and the supplementalGroups it needs"
                    " in the pod's securityContext"
                ),
            ),
            # volumes and devices
            "volume": ("names no volume of the pod", "correct the name"),
            "mount-name": ("has no last component a policy can hold", "use an absolute path of plain characters"),
            "image-volume": ("has a volume {volume} whose name a policy cannot hold", "use another image"),
            "propagation": ("is not known", "use one of {known}"),
            "part-of-empty-dir": (
                "is of an emptyDir, and would be a directory of the node instead",
                (
                    "write spec.volumes.splitSubPaths: true in the ContrastGenerate, which makes an emptyDir of each"
                    " subPath, or give each path an emptyDir of its own"
                ),
            ),
            "part-of-storage": ("is not known with enable_configmap_secret_storages", "mount the whole volume"),
            "part-in-vm": ("is of a hostPath that is in the VM", "write it as part of the hostPath"),
            "host-path": ("is of a hostPath that is no plain absolute path", "write the path in full"),
            "block": ("is of a volume with volumeMode Block", "use volumeDevices"),
            "device-gpu": ("begins with {prefix}, where GPUs are", "use another path"),
            "device-path": ("is no absolute path", "use an absolute path"),
            "no-device": ("names a volume that is no block device", "use a persistentVolumeClaim of mode Block"),
            "gpus": ("is no whole number of GPUs", "write a number such as 1"),
        },
    ),
    "CC0605": Row(
        "error",
        "unknown field {field}",
        "remove it, or set policy.engine: none",
        {"near": ("", "did you mean {near}?")},
    ),
    "CC0606": Row("info", "policy sealed, digest {digest}"),
    "CC0607": Row("info", "SNP ID block for {product}, {vcpus}"),
    "CC0608": Row(
        "error",
        "no SNP ID block can be made for platform {platform}: {problem}",
        "give TrustedMeasurement and APEIP in the release",
    ),  # what each of the platform's products lacks, also in the words of krm_function/measurement
    "CC0609": Row("error", "no RTMR0 for {vcpus} on platform {platform}", "add it to rtmr0ByVCPU of the release"),
    "CC0610": Row(
        "error",
        "annotation {key} holds no initdata: {problem}",
        "remove it, or give valid initdata",
        {
            "algorithm": "its algorithm is {algorithm}, Contrast needs sha256",
            "content": "{error}",  # in the words of policy/initdata
        },
    ),
    "CC0611": Row(
        "error", "the annotations have {size} bytes, Kubernetes allows {limit}", "shorten the policy or the initdata"
    ),
    "CC0612": Row(
        "error",
        "policy settings: {problem}",
        "correct the settings",
        {
            "type": "{member} must be {expected}",
            "commands": "request_defaults.ExecProcessRequest.commands is not understood, use allowed_commands",
            "emptydir-type": "cluster_config.emptydir_type must be one of {known}",
            "guest-pull": "cluster_config.guest_pull must be true in profile {profile}, else no image is bound",
            "anchor": "{member} must begin with ^ in profile {profile}",
        },
    ),
    "CC0613": Row(
        "error",
        "initdata file {name} is in the pod's annotation and in spec.policy.initdata, with different texts",
        "keep one of the two",
    ),
    "CC0614": Row(
        "error",
        "genpolicy: {problem}",
        "{remedy}",
        {
            # in the words of genpolicy or of the operating system
            "start": ("cannot be started: {error}", "name the executable of genpolicy for this machine"),
            "field": ("{error}", "remove the field, or leave --genpolicy out: the native engine may know it"),
            "settings": (
                "{error}",
                "correct the policy settings: genpolicy wants each member that the settings file of its release has",
            ),
            "pod": ("{error}", "correct the pod, or leave --genpolicy out: the native engine may know the field"),
            # the remaining ones are in this program's own words
            "open": (
                "it knows no open variables, and the policy has {variables}",
                "remove the entry from spec.policy.externalSources, and put its object into the input",
            ),
            "exit": (
                "it ended with exit code {status} and said nothing",
                "correct the pod, or leave --genpolicy out: the native engine may know the field",
            ),
            "signal": (
                "it ended with signal {signal} and said nothing",
                "correct the pod, or leave --genpolicy out: the native engine may know the field",
            ),
        },
    ),
    "CC0615": Row(
        "error",
        "genpolicy answers without a usable initdata annotation: {problem}",
        "name the genpolicy of Contrast or of Kata 3.20 or newer; it is called with --base64-out",
        {
            "size": "it printed more than {limit} bytes",
            "nothing": "it printed nothing",
            "algorithm": "its algorithm is {algorithm}, Contrast needs sha256",
            "no-policy": "its data has no {member}",
            "content": "{error}",  # in the words of policy/initdata
        },
    ),
    "CC0616": Row(
        "error",
        "genpolicy did not end within {seconds} seconds",
        "see whether the image registry answers, or raise --genpolicy-timeout",
    ),
    "CC0617": Row(
        "error",
        "weaker than the policy before: {what}: {why}",
        "take the change back, or review it and renew OLD",
    ),  # in the words of policy/compare, which `diff --policy` prints as well
    "CC0618": Row(
        "error",
        "the policy's data do not fit the rules of profile {profile}: {problem}",
        "use {maker}, or set policy.profile: {others} and use rules for it",
        {
            "member": "there is no {member}",
            "containers": "there are no containers",
            "sandbox": "the first container, and it alone, has to be the sandbox",
            "names": "the containers are not those of the pod",
            "image": "container {container} has another image than in the pod",
            "sandbox-image": "the sandbox has another image than {image}",
            "digest": "{container} has an image without a digest",
            "storages": "{container} has no list of storages",
            "known-storage": "{container} has an image storage, which these rules do not know",
            "no-storage": "{container} has no image storage instead of one",
            "more-storages": "{container} has {count} image storages instead of one",
            "storage": "{container} has an image storage whose {member} is not what a node sends",
        },
    ),
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
    "CC0632": Row(
        "error",
        "container {container}: NVIDIA_VISIBLE_DEVICES has a value that is known later only, and all would give it"
        " every GPU of the pod",
        "write its value into the pod, or put its ConfigMap or Secret into the input",
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
        (
            "mount an emptyDir or an encrypted volume of spec.volumes at {volume}, written just so; no"
            " volumeClaimTemplate; or write spec.volumes.imageVolumes: emptyDir in the ContrastGenerate"
        ),
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
    **EXTERNAL_SOURCES,
    **SERVICE_VARIABLES,
}
