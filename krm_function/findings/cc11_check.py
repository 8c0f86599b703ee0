"""CC11: `check`: rendered output against its manifest and against another render."""

from krm_function.findings.row import Row

REPLACE = "kubectl replace -f with this output puts it right; kubectl apply keeps what somebody added"

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
        "{kind} asks for runtime class {name}, but no pod of this kind is ever sealed",
        (
            "use a Pod or ReplicationController of v1, a Deployment, DaemonSet, StatefulSet or ReplicaSet of apps/v1,"
            " or a Job or CronJob of batch/v1"
        ),
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
            "no-lock": "not compared with another render: the policies, as the configuration has no ImageLock",
            "no-configuration": (
                "not checked without --config: RuntimeClass objects, reference values and owner keys, injected"
                " containers, initdata beside the policy, and what was removed from a pod"
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
        },
    ),
    "CC1120": Row(
        "error",
        "{problem}",
        "{remedy}",
        {
            "absent": ("the cluster has no such object", "apply this output"),
            "class": ("the cluster runs it with runtime class {found}, this output with {wanted}", REPLACE),
            "no-class": (
                "the cluster runs it without runtime class and so in no VM, this output with {wanted}",
                REPLACE,
            ),
            "no-policy": ("the cluster runs it without a policy, this output with {wanted}", REPLACE),
            "unreadable": ("the policy that the cluster runs it with cannot be read", REPLACE),
            "policy": (
                "the cluster has that of another render: policy {found}, here {wanted}; they differ in: {fields}",
                "apply this output, or compare with the render that was applied last",
            ),
            "pod": ("changed in the cluster since this render, under its policy {wanted}: {fields}", REPLACE),
            "manifest": (
                "the cluster has manifest {found}, here it is {wanted}; they differ in: {fields}",
                "apply this output, or compare with the render that was applied last",
            ),
            "unknown": (
                "the cluster runs it with runtime class {found}; neither this output nor another release has it",
                "delete it, or render it with the others",
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
}
