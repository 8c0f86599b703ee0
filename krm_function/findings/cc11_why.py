"""CC1160 to CC1189: why a pod does not start, as the command `why` says it."""

from krm_function.findings.row import Row

_CHANGED = (
    "if an admission webhook or a controller adds it, put it into the input and render again, or keep it off the pod"
)

ROWS: dict[str, Row] = {
    "CC1160": Row(
        "error",
        "the pod was not admitted: {problem}; the server says: {said}",
        "{remedy}",
        {
            "webhook": (
                "webhook {by} denies it",
                "change what it asks for in the input and render again, or exempt the namespace from it",
            ),
            "policy": (
                "the admission policy {by} denies it",
                "change what it asks for in the input and render again, or its binding",
            ),
            "webhook-down": (
                "webhook {by} does not answer",
                "repair its Service and pods; nothing in the pod is wrong",
            ),
            "pod-security": (
                "the PodSecurity level {by} of the namespace forbids it",
                "the page on namespaces says which level injected containers need",
            ),
            "quota": ("it exceeds the quota {by}", "raise the quota, or lower requests and limits and render again"),
            "quota-unset": (
                "the quota {by} wants requests and limits of each container",
                "set them in the input and render again; plan --cluster names those of injected containers",
            ),
            "limit-range": (
                "a LimitRange of the namespace forbids its resources",
                "change requests and limits in the input and render again, or the LimitRange",
            ),
            "no-class": (
                "the cluster has no RuntimeClass {by}",
                (
                    "apply the class: spec.runtimeClasses: emit, or contrast-krm"
                    " release runtime-classes; then the runtime on the nodes"
                ),
            ),
            "class": (
                "it contradicts its RuntimeClass",
                "compare overhead and nodeSelector of the class with the pod: contrast-krm check --cluster",
            ),
            "account": (
                "the namespace has no ServiceAccount {by}",
                "create it, or name another in the input and render again",
            ),
            "priority": (
                "the cluster has no PriorityClass {by}",
                "create it, or name another in the input and render again",
            ),
            "other": ("the API server refuses it", "change what it names in the input and render again"),
        },
    ),
    "CC1161": Row(
        "error",
        "no node takes the pod: {problem}",
        "{remedy}",
        {
            "selector": (
                "{said}",
                (
                    "the class's nodeSelector and the pod's own choose the nodes:"
                    " contrast-krm plan --cluster names each one's reason"
                ),
            ),
            "taint": (
                "{said}",
                (
                    "tolerations come from spec.scheduling of the ContrastGenerate"
                    " and from the pod: contrast-krm plan --cluster"
                ),
            ),
            "resources": (
                "{said}",
                (
                    "each VM needs the overhead of its class besides: lower requests"
                    " and render again, or add a node of the platform"
                ),
            ),
            "volume": (
                "{said}",
                "the claim's volume decides: a StorageClass with WaitForFirstConsumer, or a volume of that zone",
            ),
            "gated": ("a scheduling gate holds it", "whoever set spec.schedulingGates takes it away"),
            "other": ("{said}", "contrast-krm plan --cluster names each node's reason"),
        },
    ),
    "CC1162": Row(
        "error",
        "the node refused the pod: {reason}; it says: {said}",
        "{remedy}",
        {
            "device": ("", "the GPU, or another device, is gone or taken: look at the device plugin of the node"),
            "fit": (
                "",
                (
                    "the node changed after the scheduler chose it: its controller"
                    " makes another pod; plan --cluster shows room"
                ),
            ),
            "evicted": ("", "the node ran out of memory or disk: overhead of the RuntimeClass keeps room for the VM"),
            "deadline": ("", "it ran longer than activeDeadlineSeconds"),
            "other": ("", "look at the node: kubectl describe node"),
        },
    ),
    "CC1163": Row(
        "error",
        "image {image} of container {container} cannot be had: {problem}",
        "{remedy}",
        {
            "digest": (
                "the registry has other bytes, or none, for its digest",
                "contrast-krm lock, render again, set the manifest; a mirror must serve the same digest",
            ),
            "absent": (
                "the registry does not have it",
                "push it, or name another: contrast-krm lock looks every tag up",
            ),
            "login": (
                "the registry wants a login",
                "the image is pulled inside the VM as well: the page on private registries has its login",
            ),
            "network": (
                "the registry is not reached",
                "from the node for its check, and from the VM for the pull: proxies, DNS, firewalls",
            ),
            "name": ("its reference is not valid", "correct it in the input and render again"),
            "never": (
                "imagePullPolicy: Never, and the node does not have it",
                "remove imagePullPolicy and render again",
            ),
            "guest": ("the VM could not pull it", "the VM needs a way to the registry, and a login where it wants one"),
            "other": ("the pull fails", "kubectl describe pod has the words of the registry"),
        },
    ),
    "CC1164": Row(
        "error",
        "the policy denies {kind} of {what}",
        "{remedy}",
        {
            "known": (
                "",
                "the findings beside this one say by which field; render again with what the cluster really runs",
            ),
            "unknown": (
                "",
                (
                    "pod, policy and Services agree, so the node sends what the pod does not show: contrast-krm policy"
                    " replay with a log of the agent names the field"
                ),
            ),
            "exec": (
                "",
                "kubectl exec, attach and exec probes: only commands of the pod's own probes and hooks are allowed",
            ),
        },
    ),
    "CC1165": Row("error", "the pod is not what its policy describes: {field}", _CHANGED),
    "CC1166": Row(
        "error",
        "the VM does not start: {problem}",
        "{remedy}",
        {
            "handler": (
                "the node has no runtime handler {by}",
                (
                    "install this release's runtime on the node (kubectl -n"
                    " kube-system get ds), or keep the pod off nodes without it"
                ),
            ),
            "class": ("the cluster has no RuntimeClass {by}", "apply the class; spec.runtimeClasses: emit renders it"),
            "shim": (
                "the node does not find Kata's shim",
                "the runtime's installer has not finished on this node, or was removed",
            ),
            "timeout": (
                "it was started, and its agent does not answer in time",
                (
                    "memory of the limits too small for kernel and image, a slow"
                    " node, or firmware; journalctl -t kata on the node"
                ),
            ),
            "memory": (
                "the node cannot give it its memory",
                "memory limits and the overhead of the class, against what the node has free",
            ),
            "measured": (
                "the firmware refuses its measurement or ID block",
                "the vCPU count, image or product differs from what was sealed: contrast-krm check --cluster",
            ),
            "device": ("a device cannot be handed to it", "the GPU is not bound to vfio, or another VM has it"),
            "network": ("its network is not made", "the network plugin of the node says why: kubectl describe pod"),
            "block": (
                "its vCPU count or ID block is not the one that was sealed: {field}",
                "a LimitRange or a webhook has changed cpu limits: set them in the input, render again",
            ),
            "other": (
                "the runtime fails, and says what no row of `why` knows",
                "kubectl describe pod, and journalctl -t kata on the node",
            ),
        },
    ),
    "CC1167": Row(
        "error",
        "the initializer waits for the coordinator: {problem}",
        "{remedy}",
        {
            "not-in-manifest": (
                "policy {digest} of the pod is in no manifest of {where}",
                (
                    "apply the output that the pod was made of, and contrast set its"
                    " manifest; manifest.keep: previous keeps old pods in"
                ),
            ),
            "not-ready": (
                "the coordinator {name} is not ready, as before the first manifest and after each restart",
                "contrast set with the manifest of this output; after a restart contrast recover",
            ),
            "no-coordinator": (
                "there is no pod of a coordinator in {where}",
                "apply the coordinator, then contrast set; for one elsewhere, spec.manifest.coordinator",
            ),
            "set": (
                "policy {digest} is in the manifest of {where}, which the coordinator may not have yet",
                "contrast set with this manifest; contrast verify says which one is active",
            ),
            "unknown": (
                "no manifest is among what was looked at",
                "look at its ConfigMap too (kubectl get pod,cm,events), or use --cluster; then contrast set",
            ),
            "failed": (
                "it ends with exit code {exit}",
                (
                    "kubectl logs with -c contrast-initializer has its words: the"
                    " Service coordinator-ready, or a refused attestation"
                ),
            ),
        },
    ),
    "CC1168": Row(
        "error",
        "container {container} has no {problem}",
        "{remedy}",
        {
            "config": (
                "{kind} {name} of its variables",
                "create it with the same values as were rendered, or render without it",
            ),
            "mount": ("{kind} {name} to mount", "create it: the host serves it, the policy has its path alone"),
            "volume": ("volume yet; the node says: {said}", "the claim is not bound, or its driver is not on the node"),
        },
    ),
    "CC1169": Row(
        "error",
        "the VM runs; container {container} {problem}",
        "{remedy}",
        {
            "exit": ("ends with exit code {exit}", "kubectl logs --previous has its words; Contrast has let it start"),
            "oom": (
                "has run out of memory",
                "raise its memory limit and render again: the VM's memory is the sum of the limits and the overhead",
            ),
            "probe": (
                "does not pass its {probe} probe",
                "kubectl logs; a probe by exec runs in the VM, one by HTTP has to get past the mesh",
            ),
        },
    ),
    "CC1170": Row(
        "error",
        "nothing says yet why the pod is not ready: {state}",
        (
            "wait a minute and ask again; events are kept for an hour, kubectl"
            " get pod,events,services,cm -o yaml has them all"
        ),
    ),
    "CC1171": Row("info", "the pod runs: {state}"),
    "CC1172": Row(
        "error",
        "{problem}",
        "{remedy}",
        {
            "address": (
                "{address} names no pod",
                "write pod/NAME, KIND/NAME or KIND/NAMESPACE/NAME, such as deploy/web",
            ),
            "absent": (
                "{address} is not among what was looked at, nor an event about it",
                (
                    "kubectl get pod,rs,deploy,sts,ds,job,svc,cm,events -o yaml |"
                    " contrast-krm why NAME, or --cluster with --namespace"
                ),
            ),
            "several": ("{address} is in several namespaces: {namespaces}", "write KIND/NAMESPACE/NAME"),
        },
    ),
    "CC1173": Row(
        "error",
        "the pod is not confidential: {problem}",
        "contrast-krm check --cluster compares what runs with the output",
        {
            "no-class": "it has no RuntimeClass of Contrast",
            "no-policy": "it has the RuntimeClass {name}, and no sealed policy",
        },
    ),
}
