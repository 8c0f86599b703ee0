"""CC11: `check`, and from CC1160 on why a pod does not start."""

from krm_function.findings.row import Row

# --- CC1160 to CC1189: why a pod does not start, as the command `why` says it


_CHANGED = (
    "if an admission webhook or a controller adds it, put it into the input and render again, or keep it off the pod"
)

WHY: dict[str, Row] = {
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


# --- CC11: `check`: rendered output against its manifest and against another render


APPLY = {  # who applies an object -> how what is missing gets there (operations/live.py)
    "kubectl": "apply this output",
    "helm": "helm upgrade with this chart and these values; Helm 4 with --force-conflicts",
    "kpt": "kpt live apply",
    "gitops": "commit this output, and let Argo CD or Flux sync it",
}
REPAIR = {  # ... how what somebody changed is put right, without an end of what serves
    "kubectl": (
        "kubectl apply puts back what this output has; kubectl rollout undo, or kubectl edit, takes out what somebody"
        " added"
    ),
    "helm": (
        "helm upgrade puts back what the chart has, Helm 4 with --force-conflicts; kubectl rollout undo takes out what"
        " somebody added; kubectl replace would leave a Helm 4 release that cannot be upgraded"
    ),
    "kpt": "kpt live apply puts back what the package has; kubectl rollout undo takes out what somebody added",
    "gitops": (
        "commit this output, and let Argo CD or Flux sync it; kubectl rollout undo takes out what somebody added, and"
        " nothing is applied by hand"
    ),
}

ROWS: dict[str, Row] = {
    "CC1101": Row(
        "error",
        "the placeholder {name} was not replaced",
        (
            "the function was not run on it: kustomize needs --enable-alpha-plugins --enable-exec, and the function's"
            " file under transformers, not under resources; Helm 3 renders no hooks"
        ),
    ),
    "CC1102": Row("error", "the pod has no policy", "render it with contrast-krm"),
    "CC1103": Row(
        "error",
        "the pod is not what its policy describes: {field}",
        "nothing may change a pod template after it is sealed: where an outer overlay does, move the function to the"
        " outermost one; then render again",
    ),
    "CC1104": Row("error", "digest {digest} is not in the manifest", "use the manifest of the same render"),
    "CC1105": Row(
        "error",
        "the manifest has policies of no workload here: {names}",
        "check all resources of the deployment together; or, if manifest.base has the others, add --config",
    ),
    "CC1106": Row(
        "error",
        "no manifest in the input",
        "pass one with --manifest, or check all that a render with manifest.emit: ConfigMap prints",
        {
            "function": ("", "run it on all that a render with manifest.emit: ConfigMap or LocalConfig makes"),
            "not-rendered": (
                "",
                (
                    "this is no rendered output: render it first, as in contrast-krm generate FILE --config FILE -o"
                    " rendered.yaml, and name what was written"
                ),
            ),
            "not-emitted": (
                "",
                (
                    "name all that the render printed; with manifest.emit: none it has no manifest, and contrast-krm"
                    " generate -m FILE writes one"
                ),
            ),
        },
    ),
    "CC1107": Row(
        "error",
        "runtime class {name} does not exist in the input",
        "render again: a render that emits one RuntimeClass emits each that a pod names",
    ),
    "CC1108": Row(
        "error",
        "the placeholder {name} was not replaced in a Helm hook ({hook})",
        "Helm 3 sends no hooks to a post-renderer: use Helm 4, or pipe `helm template` into contrast-krm post-render",
    ),
    "CC1109": Row(
        "error",
        "{kind} asks for runtime class {name}, but {problem}",
        "{remedy}",
        {
            "kind": (
                "no pod of this kind is ever sealed",
                (
                    "use a Pod or ReplicationController of v1, a Deployment, DaemonSet, StatefulSet or ReplicaSet of"
                    " apps/v1, or a Job or CronJob of batch/v1"
                ),
            ),
            "template": (
                "where objects of this kind have pods is not known",
                "if its controller makes pods of this template, say so in ContrastGenerate, under spec: {entry}",
            ),
            "more": (
                "not in a pod template that is known of this kind",
                (
                    "if its controller makes pods of this template, add {entry} to the templates of the kind, in an"
                    " entry of your own under spec.podTemplates"
                ),
            ),
            "bare": (
                "it stands in no pod template there, so no pod is sealed",
                "put the Deployment or Pod that its controller would make of it into the input in its place",
            ),
            "version": (
                "where its pods are is known of {versions} only",
                "use one of these versions, or an entry of your own for this kind under spec.podTemplates",
            ),
            "refused": ("its pods cannot be sealed: {reason}", "{instead}"),
        },
    ),
    "CC1110": Row(
        "error",
        "the manifest gives the pod the role {found}, its template says {wanted}",
        "use the manifest of the same render",
    ),
    "CC1111": Row(
        "error",
        "the manifest of {first} and that of {second} are not the same bytes",
        "keep one; Contrast signs and compares the manifest byte for byte",
    ),
    "CC1112": Row(
        "error",
        "the manifest accepts no RTMR0 of a VM with {vcpus} on platform {platform}",
        "the cpu limits were changed after the render; render again",
    ),
    "CC1113": Row(
        "error",
        "a render with this configuration makes another manifest: {fields}",
        "render again, or check with the configuration of the render; what flags or hands add belongs in spec.manifest",
    ),
    "CC1114": Row(
        "error",
        "a render with this configuration makes this object otherwise: {fields}",
        "nothing may change rendered output; render again, or check with the configuration of the render",
    ),
    "CC1115": Row(
        "error",
        "a render with this configuration {problem}",
        "nothing may change rendered output; render again, or check with the configuration of the render",
        {
            "adds": "makes this object as well, and it is not here",
            "drops": "does not make this object, and drops it",
            "not-sealed": "does not seal this pod",
            "not-known": "does not know this RuntimeClass",
        },
    ),
    "CC1116": Row(
        "error",
        "RuntimeClass {name} has the handler {handler}; a class of Contrast's has its own name as handler",
        "take the RuntimeClass of the release; with another handler its pods run in no confidential VM, or unsealed",
    ),
    "CC1117": Row(
        "info",
        "{problem}",
        "",
        {
            "cluster": "not compared with the cluster, as there are errors; correct them, and check again",
            "no-lock": "not compared with another render: the policies, as the configuration has no ImageLock",
            "no-manifest": "no manifest compared, as manifest.emit is none; one from elsewhere: --manifest FILE",
            "no-configuration": (
                "add --config to compare also: RuntimeClass objects, reference values, owner keys, injected containers,"
                " files beside the policy, and fields that were removed from a pod"
            ),
        },
    ),
    "CC1119": Row(
        "info",
        "made by {kind} {name}, {problem}",
        "",
        {
            "copy": "with the same policy: checked as one of its pods, not counted again",
            "retired": "and runs no pod: not checked",
            "earlier": "of an earlier template: checked by its own policy alone",
        },
    ),
    "CC1120": Row(
        "error",
        "{problem}",
        "{remedy}",
        {
            "absent": ("the cluster has no such object", "{apply}"),
            "class": ("the cluster runs it with runtime class {found}, this output with {wanted}", "{repair}"),
            "no-class": (
                "the cluster runs it without runtime class and so in no VM, this output with {wanted}",
                "{repair}",
            ),
            "no-policy": ("the cluster runs it without a policy, this output with {wanted}", "{repair}"),
            "unreadable": ("the policy that the cluster runs it with cannot be read", "{repair}"),
            "policy": (
                "the cluster has that of another render: policy {found}, here {wanted}; they differ in: {fields}",
                "{apply}; or compare with the render that was applied last",
            ),
            "pod-by": (
                (
                    "changed in the cluster since this render, under its policy {wanted}: {fields}; written last by"
                    " {writer}"
                ),
                "{repair}",
            ),
            "pod": ("changed in the cluster since this render, under its policy {wanted}: {fields}", "{repair}"),
            "manifest": (
                "the cluster has manifest {found}, here it is {wanted}; they differ in: {fields}",
                "{apply}; or compare with the render that was applied last",
            ),
            "unknown": (
                "the cluster runs it with runtime class {found}; neither this output nor another release has it",
                (
                    "render it with the others, or have the manifest of its own deployment in the namespace; if"
                    " nothing needs it, take it out where it was made"
                ),
            ),
            "no-runtime-class": (
                "the cluster has no such RuntimeClass, so it refuses pods of {names}",
                "apply what `contrast-krm release runtime-classes --config CONFIG` prints",
            ),
            "runtime-class": (
                "the cluster's RuntimeClass differs from the render's in: {fields}",
                "kubectl replace -f what `contrast-krm release runtime-classes` prints, or change spec.scheduling",
            ),
        },
    ),
    "CC1121": Row(
        "warning",
        "the RuntimeClasses of the cluster were not compared: it answered {answer}",
        "let the user of this kubeconfig list RuntimeClasses, or compare `kubectl get runtimeclasses -o yaml` by eye",
    ),
    "CC1122": Row(
        "warning",
        "made by {kind} {name}, with another policy; not checked, since its status says that it has ended",
        "in a file, take the object out: only the answer of a cluster is a reason to believe a status",
    ),
    "CC1118": Row(
        "error",
        "there is no document to check",
        "see why the command before made none; in a shell, `set -o pipefail` lets its failure through",
    ),
    "CC1130": Row(
        "error",
        "{problem}",
        "{remedy}",
        {
            "changed": (
                "the API server makes other pods of it than were sealed: {fields}; for pods like this it asks {by}",
                (
                    "keep that away from these pods, by a selector or a namespace of their own, or let the render have"
                    " the change: what the input has is sealed"
                ),
            ),
            "changed-unknown": (
                "the API server makes other pods of it than were sealed: {fields}",
                (
                    "see which webhooks, MutatingAdmissionPolicies and LimitRanges of the cluster are about it, and"
                    " keep them away from these pods, or let the render have the change"
                ),
            ),
            "refused": (
                "the API server refuses its pods: {words}",
                "change the input as these words ask, or let whoever owns the rule exempt this namespace",
            ),
        },
    ),
    "CC1131": Row(
        "warning",
        "not known what the API server makes of the pods of {names}: {problem}",
        "{remedy}",
        {
            "forbidden": (
                "this user may not create pods in namespace {namespace}",
                (
                    "bind a role that may create pods (with dryRun none is made); until then nobody has asked the"
                    " webhooks, admission policies, LimitRanges, quotas and Pod Security of the cluster"
                ),
            ),
            "namespace": (
                "namespace {namespace} is not there yet",
                "create the namespace with its labels and LimitRanges, then ask again",
            ),
            "side-effects": (
                "a webhook cannot be asked by a dry run: {words}",
                "ask its owner what it does to pods; it has to say sideEffects: None or NoneOnDryRun",
            ),
            "room": (
                "a quota has no room for one more beside those that run: {words}",
                "leave room for the pods that a rolling update adds, or set maxSurge: 0",
            ),
            "answer": (
                "it did not answer for namespace {namespace}: {words}",
                "ask again; if it stays so, see its own log",
            ),
        },
    ),
    "CC1132": Row(
        "error",
        "{problem}",
        "{remedy}",
        {
            "admitted": (
                "not what was sealed, though the template is: {pods}: {fields}",
                (
                    "keep what changes pods here (webhooks, MutatingAdmissionPolicies, LimitRanges) away from these,"
                    " then kubectl rollout restart: a node starts no such pod"
                ),
            ),
            "written": (
                "not what was sealed, though the template is: {pods}: {fields}; written last by {writer}",
                "keep what changes pods here away from these, then kubectl rollout restart: a node starts no such pod",
            ),
            "debug": (
                "{pods} got the debug containers {names}, which their policy does not have",
                "the node refuses them, and the pod goes on without; read logs instead, or debug a render of its own",
            ),
        },
    ),
    "CC1133": Row(
        "warning",
        "{what} of {name} not finished: {state}",
        "wait for it; if it does not go on, kubectl describe pod says why; until it ends, both policies are needed",
    ),
    "CC1134": Row(
        "warning",
        "the nodes of the cluster were not compared: it answered {answer}",
        "let the user of this kubeconfig list nodes, or give --nodes what `kubectl get nodes -o yaml` printed",
    ),
    "CC1135": Row(
        "warning",
        "not known whether Services of namespace {namespace} stop the pods of {names}: the cluster answered {answer}",
        "let the user of this kubeconfig list Services; the policies of the profiles for Contrast allow all of them",
    ),
    **WHY,
}
