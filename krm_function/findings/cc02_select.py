"""CC02: which objects are rendered, and the annotations that choose how."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0202": Row(
        "error",
        "{what} {key} has no effect on {place}",
        "move it to {where}",
        {"rule": ("", "move it to {where}, or set spec.objectAnnotations of the ContrastGenerate to move")},
    ),
    "CC0203": Row(
        "error",
        "unknown {what} {key}",
        "remove it; Contrast reads no such key",
        {"near": ("", "did you mean {near}?")},
    ),
    "CC0204": Row(
        "error",
        "annotation {key}: {problem}",
        "write {grammar}",
        {
            "string": "must be a string",
            "length": "is longer than {limit} characters",
            # the service mesh: ingress and egress are lists of entries
            "disabled": "entry {entry}: DISABLED stands alone or not at all",
            "ingress": "entry {entry} must be name#port#disableTLS",
            "egress": "entry {entry} must be name#listenIP:port#host:port",
            "name": "entry {entry}: the name must be 1 to 128 letters, digits, '-', '_' or '.'",
            "name-twice": "entry {entry}: the name is used twice",
            "port": "entry {entry}: the port must be between 1 and 65535",
            "port-twice": "entry {entry}: port {port} is used twice",
            "disable-tls": "entry {entry}: disableTLS must be true or false",
            "listen-address": "entry {entry}: the listen address must be in 127.0.0.0/8",
            "listen-port": "entry {entry}: the listen port must be between 1 and 65535",
            "listen-twice": "entry {entry}: the listen address and port are used twice",
            "remote-port": "entry {entry}: the remote must end in :port, between 1 and 65535",
            "remote-host": "entry {entry}: the remote host must be a DNS name or an IP address",
            "admin-port": "must be a port between 1 and 65535",
            "admin-port-used": ("port {port} is used by an ingress or egress entry", "write a free port"),
            # the initializer
            "skip": (
                'must be "true", or the initializer is injected',
                'write "true" in quotes to leave the initializer out, or remove the annotation',
            ),
            # the image store
            "size": ("is not a size", 'write a positive quantity such as 10Gi, or "0" for no image store'),
        },
    ),
    "CC0205": Row("error", "the egress annotation is empty", "name at least one egress, or remove the annotation"),
    "CC0206": Row("error", "pod template has no containers", "add spec.containers; an empty pod cannot be sealed"),
    "CC0207": Row(
        "error",
        "{key} must be {expected}, not {actual}",
        "write {expected}",
        {"quotes": ("", "write {expected}; put quotes around a text such as true")},
    ),
    "CC0220": Row(
        "error",
        "it belongs to {kind} {name}, whose controller made it",
        "render what it was made of, without live objects; or remove metadata.ownerReferences to render it by itself",
    ),
    "CC0221": Row(
        "error",
        "init container {container} is no sidecar, and Kubernetes refuses its {field}",
        "remove it, or set restartPolicy: Always on this container if it is to keep running",
    ),
    "CC0222": Row(
        "error",
        "name of {length} characters: there are only pods of a {kind} with a name of at most {limit}; {reason}",
        "shorten the name",
    ),
    "CC0230": Row(
        "error",
        "annotation {key} tells the runtime of the node how to start the VM",
        "remove it: the VM is the one that the release measured, and Contrast reads no such annotation",
        {
            "vcpus": (
                "",
                "remove it, and set limits.cpu of the containers: the VM has as many CPUs, and one more",
            ),
            "policy": ("", "remove it: the policy is in the initdata that a render makes"),
            "handler": ("", "remove it, and name the runtime class in spec.runtimeClassName"),
        },
    ),
    "CC0240": Row(
        "error",
        "{name} stands where nothing reads it, and the pod runs outside of a VM",
        "move it to {home}, or remove it",
    ),
    "CC0241": Row(
        "error",
        "no effect: the pod asks for no class of Contrast's, and runs outside of a VM",
        "write {home}: contrast-cc to make the pod confidential, or remove the {what}",
    ),
    "CC0242": Row(
        "warning",
        "the coordinator is the only confidential workload; outside of a VM run {names}",
        "write runtimeClassName: contrast-cc into the pod spec of each workload that is to be confidential",
    ),
    "CC0250": Row("info", "runtimeClassName {placeholder} is written into the pods that spec.workloads names"),
    "CC0251": Row(
        "error",
        "spec.workloads[{index}] names {entry}, and {problem}",
        "correct kind, namespace and name, or remove the entry",
        {
            "none": "the input has no such workload",
            "namespace": (
                "the workload of that name in the input is in {namespace}",
                "write that namespace, leave namespace out of the entry, or set spec.namespace or --namespace",
            ),
        },
    ),
    "CC0252": Row(
        "error",
        "entries of spec.workloads contradict each other: {entries}",
        "narrow the name of one of them, or remove it",
    ),
    "CC0253": Row(
        "error",
        "runtimeClassName is {own}, and spec.workloads has {entry}: {wanted}",
        "{remedy}",
        {
            "plain": ("", "remove runtimeClassName from the pod, or remove the entry that makes it plain"),
            "platform": ("", "write the same platform in both places, or remove one of the two"),
            "other": ("", "remove runtimeClassName from the pod, or remove the entry: a pod has one runtime class"),
        },
    ),
    "CC0254": Row(
        "error",
        "spec.workloads names it, and the pods of a {kind} are not sealed",
        "write apiVersion {version}, or name it as plain with a reason",
    ),
    "CC0255": Row(
        "error",
        "its pods are not confidential, and spec.workloads requires all to be so or to be named as plain",
        "add {entry} to spec.workloads, for pods that are to be plain with the field plain and the reason",
    ),
    "CC0256": Row(
        "warning",
        "runtimeClassName is taken away from {names}, as the annotation contrast-krm.dev/original has it",
        (
            "render what is printed with the configuration whose spec.workloads names them;"
            " nothing else makes them confidential again"
        ),
    ),
    "CC0257": Row(
        "error",
        "spec.workloads selects workloads, and there is no ContrastRelease to render them for",
        "name the file with the ContrastRelease as well, with --config or among the resources",
    ),
    "CC0260": Row(
        "error",
        "{asked} makes {injector} change the pod after it was sealed, and the node refuses it then",
        "write {way_out} into the pod template",
    ),
    "CC0261": Row(
        "error", "container {container} mounts two volumes at {place}", "remove one; Kubernetes would reject the pod"
    ),
    "CC0262": Row(
        "warning",
        "container {container} sets {name} twice, and the last one counts",
        "remove the one that is not meant",
    ),
    "CC0285": Row(
        "warning",
        "the text here has the placeholder {name}; what somebody makes of it is not in this input and is not sealed",
        "put what is made of it, a Deployment for instance, into the input in its place",
    ),
    "CC0286": Row(
        "error",
        "it has a service mesh and no initializer: nobody fetches the certificate that the proxy waits for",
        "{remedy}",
        {
            "skipped": (
                "",
                (
                    "remove the annotation contrast.edgeless.systems/skip-initializer, or the servicemesh annotations,"
                    " or add an initializer by hand"
                ),
            ),
            "configured": (
                "",
                (
                    "set spec.initializer.enabled of the ContrastGenerate to true and leave --skip-initializer"
                    " out, or remove the servicemesh annotations"
                ),
            ),
        },
    ),
    "CC0287": Row(
        "warning",
        "it has no service mesh, and the firewall of its VM stays closed for what comes in: {problem}",
        "{remedy}",
        {
            "skipped": (
                "no initializer opens it",
                (
                    "remove the annotation contrast.edgeless.systems/skip-initializer, or add an initializer by hand"
                    " with the variable CONTRAST_SERVICE_MESH_DISABLED and the value true"
                ),
            ),
            "configured": (
                "no initializer opens it",
                (
                    "set spec.initializer.enabled of the ContrastGenerate to true and leave --skip-initializer"
                    " out, or add an initializer by hand with the variable CONTRAST_SERVICE_MESH_DISABLED and the"
                    " value true"
                ),
            ),
            "mesh": (
                "its annotations ask for a mesh, and the configuration leaves the mesh out",
                (
                    "set spec.serviceMesh.enabled of the ContrastGenerate to true and leave --skip-service-mesh"
                    " out, or remove the servicemesh annotations"
                ),
            ),
            "variable": (
                "init container {container} is an initializer without CONTRAST_SERVICE_MESH_DISABLED",
                'add the variable CONTRAST_SERVICE_MESH_DISABLED with the value "true" to its env',
            ),
        },
    ),
    "CC0291": Row(
        "error",
        "the configuration is there to make pods confidential, and none is; outside of a VM run {names}",
        (
            "write runtimeClassName: contrast-cc into the pod spec of each workload that is to be confidential, and"
            " render again; name what is to be plain in spec.workloads, with the reason"
        ),
    ),
    "CC0290": Row("info", "{key} of the object is moved to its pod template, where Contrast reads it"),
    "CC0289": Row(
        "error",
        "nothing is left for Helm: the chart has objects of contrast-krm alone",
        "add the workloads to the chart, or leave the post-renderer out",
    ),
    "CC0208": Row("error", "two {what}s are named {name}", "rename one; Kubernetes would reject the pod"),
    "CC0209": Row("info", "namespace {namespace} is written into the workload"),
    "CC0210": Row(
        "warning",
        "no namespace in {names}: manifest and initializer assume default, and the policies accept any namespace",
        (
            "set metadata.namespace, or spec.namespace of the ContrastGenerate, or --namespace,"
            " to the namespace of the deployment, even if that is default"
        ),
    ),
    "CC0211": Row(
        "warning",
        "workloads are put into namespace {namespace}, but {names} name none and go where the deploying tool puts them",
        (
            "set `namespace: {namespace}` in kustomization.yaml, or deploy with `kubectl -n {namespace}` or"
            " `helm -n {namespace}`"
        ),
    ),
}
