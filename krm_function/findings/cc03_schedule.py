"""CC03: scheduling: RuntimeClass objects, node selectors, nodes."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0301": Row("info", "pods will run on nodes with {selector}"),
    "CC0303": Row(
        "error",
        "RuntimeClass {name}: {problem}",
        "correct the RuntimeClass or the configuration",
        {
            "api-version": "apiVersion must be {version}",
            "field": "{field} {error}",  # by model/runtime_class_objects, which reads those of the configuration, too
        },
    ),
    "CC0304": Row(
        "error",
        "nodeSelector {key}={pod} contradicts runtime class {name}, which needs {key}={wanted}",
        "remove the key from the pod template, or use the placeholder of the platform whose nodes have {key}={pod}",
    ),
    "CC0305": Row(
        "error",
        "overhead is set but does not match runtime class {name}",
        "remove spec.overhead; the admission controller adds it",
    ),
    "CC0306": Row("info", "scheduling of platform {platform} is written into RuntimeClass {name}"),
    "CC0307": Row("info", "RuntimeClass {name} is emitted"),
    "CC0308": Row(
        "error",
        "RuntimeClass {name} says {field}={found}, the configuration says {wanted}",
        "make the two agree",
    ),
    "CC0309": Row("warning", "node label {label} is deprecated by Kubernetes", "use {successor}"),
    "CC0310": Row(
        "warning", "nodeName pins the pod to {node} and bypasses the runtime class's scheduling", "remove nodeName"
    ),
    "CC0311": Row(
        "error",
        "none of {count} takes the pod; closest is {node}: {reasons}",
        "add or label a node that fits, or change what the pod or its runtime class asks for",
    ),
    "CC0312": Row(
        "warning",
        "{problem}",
        "{remedy}",
        {
            "replicas": (
                "{replicas} pods are wanted, but the nodes that fit hold {room} even when nothing else runs there",
                "add nodes, or lower the number of replicas",
            ),
            "daemon-set": (
                "the DaemonSet makes a pod for {nodes}, which would stay Pending: {reasons}",
                "lower the requests of the pod, or keep it away from there with a nodeSelector",
            ),
        },
    ),
    "CC0313": Row(
        "warning",
        "{problem}",
        "{remedy}",
        {
            "missing": (
                "runtime handler {handler} is not installed on {nodes}, where pods may be placed and would not start",
                "install the runtime of this release there, or keep the pods away with scheduling.nodeSelector",
            ),
            "unknown": (
                "nothing keeps the pods off {nodes}, and those do not say whether they have runtime handler {handler}",
                "name the nodes of the platform under scheduling of the configuration, by a nodeSelector",
            ),
        },
    ),
    "CC0314": Row(
        "error",
        "{problem}",
        "give nodes as `kubectl get nodes -o yaml` prints them",
        {
            "twice": "there is twice",
            "string": "must be a string",
            "boolean": "must be true or false",
            "list": "must be a list",
            "map": "must be a map",
            "effect": "must be NoSchedule, PreferNoSchedule or NoExecute",
            "quantity": "{error}",  # in the words of model/quantity
            "hexadecimal": "must be hexadecimal digits, as many as the value has in an attestation report",
            "tcb": (
                "must be four versions from 0 to 255, each with its name",
                "write BootloaderVersion=B,TEEVersion=T,SNPVersion=S,MicrocodeVersion=M",
            ),
            "fact": ("says nothing of a machine", "use one of {known}"),
        },
    ),
    "CC0315": Row(
        "warning",
        "the namespace enforces pod security level {level}, which refuses the pods of {names}: {reasons}",
        (
            "label the namespace pod-security.kubernetes.io/enforce: privileged, or exempt runtime class {classes} in"
            " the PodSecurity configuration of the API server"
        ),
    ),
    "CC0316": Row(
        "warning",
        "ResourceQuota {name} refuses the pods of {names}, whose injected containers do not set: {reasons}",
        "{remedy}",
        {
            "requests": (
                "",
                (
                    "add a LimitRange to the namespace whose item of type Container has defaultRequest for {resources};"
                    " requests do not change the VM"
                ),
            ),
            "limits-cpu": (
                "",
                (
                    "remove limits.cpu from the quota, since a default limit would change the VM that was measured; for"
                    " what else is missing, add a LimitRange whose item of type Container has defaultRequest for it"
                ),
            ),
            "limits-memory": (
                "",
                (
                    "add a LimitRange to the namespace whose item of type Container has default for memory, and"
                    " defaultRequest for what else is missing"
                ),
            ),
        },
    ),
    "CC0317": Row(
        "warning",
        (
            "LimitRange {name} gives containers without a CPU limit one, and so their VM other vCPUs than those"
            " measured: {names}"
        ),
        "remove default and max for cpu from its items of type Container; defaultRequest and min may stay",
    ),
    "CC0318": Row(
        "warning",
        "LimitRange {name} refuses the pods of {names}: {reasons}",
        "widen min and max of its items of type Container so that they admit these amounts",
    ),
    "CC0319": Row(
        "warning",
        "{problem}",
        "{remedy}",
        {
            "absent": (
                "the cluster has no such RuntimeClass, so it would refuse pods of {names}",
                "apply what `contrast-krm release runtime-classes --config CONFIG` prints, before the workloads",
            ),
            "differs": (
                "the cluster's RuntimeClass, by which pods are placed here, differs from the render's in: {fields}",
                "kubectl replace -f what `contrast-krm release runtime-classes` prints, or change spec.scheduling",
            ),
        },
    ),
    "CC0320": Row(
        "info", "{what} of runtime class {name} is in the pod template: the DaemonSet controller sees nothing else"
    ),
    "CC0321": Row(
        "warning",
        "the pod template lacks {what} of runtime class {name}, and the DaemonSet controller sees nothing else",
        "add that to the pod template of the source, and render it again",
    ),
    "CC0322": Row(
        "warning",
        "{what} is taken out of the pod template: a render wrote it, and runtime class {name} no longer has it",
        "if it was no render that wrote it, add it to the source, and render that",
    ),
    "CC0323": Row(
        "error",
        "required node affinity wants {wanted}, and runtime class {name} needs {selector}: no node has both",
        "remove these terms from the pod template, or use the placeholder of the platform whose nodes have them",
    ),
    "CC0324": Row(
        "error",
        "it is a node installer of no platform of the release, so no scheduling is known for it",
        "give the files runtime-*.yml of the release that --config names",
    ),
    "CC0325": Row(
        "warning",
        "nodeSelector wants {label}, {problem}",
        "remove the label from the pod template: the RuntimeClass chooses the nodes of {platform}",
        {
            "cloud": "which {owner} gives to its own nodes; those of {platform} are no nodes of a cloud",
            "containers": "which is of nodes that give GPUs to containers; those of {platform} pass them to VMs",
            "none": "which is of nodes that give GPUs to containers; those of {platform} have none",
        },
    ),
    "CC0326": Row(
        "warning",
        "pods of {platform} can run here, and attestation refuses them: {reasons}",
        "drain the node and update its firmware before this manifest is set; or keep the reference values as they are",
    ),
    "CC0327": Row(
        "warning",
        "whether attestation accepts pods of {platform} on {nodes} is unknown: not known is {missing}",
        "annotate the nodes, or give Nodes with these annotations by --node-facts",
    ),
    "CC0328": Row(
        "error",
        "each node that takes the pod has firmware that attestation refuses: {nodes}",
        "update the firmware of nodes of {platform} before this manifest is set",
    ),
}
