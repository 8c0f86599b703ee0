"""CC04: runtime class placeholders, and the size of the VM."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0401": Row(
        "error",
        "unknown runtime class {name}",
        "use one of {known}",
        {"near": ("", "did you mean {near}? use one of {known}")},
    ),
    "CC0402": Row(
        "error",
        "runtime class {name} names no platform and no default platform is configured",
        "set spec.platform in the ContrastGenerate, or use contrast-cc-<platform>",
    ),
    "CC0403": Row(
        "error",
        "platform {platform} is not in release {release}",
        "add it to the ContrastRelease, or use one of {known}",
    ),
    "CC0404": Row("info", "runtime class {before} becomes {after}"),
    "CC0405": Row("error", "insecure platform {platform} is not supported", "use a confidential platform"),
    "CC0406": Row(
        "error",
        "the pod needs {gpus} GPUs but its VM gets {vcpus}",
        "raise the cpu limits: at least one vCPU a GPU",
    ),
    "CC0407": Row("error", "the pod's VM would have {vcpus}; between 1 and 220 are possible", "lower the cpu limits"),
    "CC0408": Row(
        "error",
        "{key}: {problem}",
        "write a Kubernetes quantity such as 500m or 2",
        {
            "negative": "must not be negative",
            "quantity": "{error}",  # in the words of model/quantity
        },
    ),
    "CC0409": Row(
        "warning",
        "the pod asks for a GPU but platform {platform} has none; an explicit platform is never changed",
        "use contrast-cc-{platform}-gpu, or the bare placeholder contrast-cc",
    ),
    "CC0410": Row(
        "warning",
        "the VM is measured with {vcpus} vCPUs, as Contrast counts; the size that the kubelet tells makes {sandbox}",
        'set spec.resources.limits.cpu: "{cpus}" in the pod template; then both are the same',
    ),
}
