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
        "raise the cpu limits: at least one vCPU a GPU, which is cpu limits of {cpus} in all; or set vcpus.minimum:"
        " gpus in the ContrastGenerate",
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
        "error",
        "the pod asks for a GPU but platform {platform} has none; an explicit platform is never changed",
        "use contrast-cc-{platform}-gpu, or the bare placeholder contrast-cc",
    ),
    "CC0410": Row(
        "warning",
        "the VM is measured with {vcpus} vCPUs, as Contrast counts; the size that the kubelet tells makes {sandbox}",
        'set spec.resources.limits.cpu: "{cpus}" in the pod template; then both are the same',
    ),
    "CC0411": Row(
        "error",
        "container {container} asks for {resource}, {problem}",
        "{remedy}",
        {
            "other": (
                "a GPU that the nodes of {platform} do not offer and the policy does not pass",
                "write {name} in its place, or {resource}: {name} under spec.gpus.rename of the ContrastGenerate",
            ),
            "part": (
                "a part of a GPU, and a VM of {platform} gets whole ones",
                "write {name} in its place, or {resource}: {name} under spec.gpus.rename of the ContrastGenerate",
            ),
            "none": (
                "and the settings of the policy pass no GPU at all",
                "name a resource in the policy settings (devices.vfio.nvidia.pgpu_resource_keys)",
            ),
        },
    ),
    "CC0412": Row("info", "{before} becomes {after}"),
    "CC0413": Row(
        "error",
        "container {container}: {resource} cannot become {name}, which it has for something else already",
        "write one limit of {name} in the pod, with the number of both",
    ),
    "CC0414": Row(
        "warning",
        "container {container} asks for {resource}, a share of a GPU; a VM gets whole ones, and no node of Contrast's"
        " platforms offers it",
        "remove the resource",
    ),
    "CC0415": Row(
        "warning",
        "the pod asks for no GPU and will run on {platform}, whose nodes have them",
        "write a limit of {name}, or use contrast-cc-{plain}",
    ),
    "CC0416": Row(
        "warning",
        "annotation {key} has no effect: the pod gets no GPU",
        "remove it, or write a limit of {name} and a class of a platform with GPUs",
    ),
    "CC0417": Row("info", "the cpu limit of the pod becomes {after}"),
    "CC0418": Row(
        "info",
        "container {container} asks for a GPU, and neither the pod nor its image sets NVIDIA_VISIBLE_DEVICES",
    ),
    "CC0419": Row(
        "warning",
        "container {container} asks for a GPU, and its NVIDIA_VISIBLE_DEVICES is not all",
        "set it to all, or remove the limit",
    ),
    "CC0420": Row(
        "error",
        "the pod's VM gets {gets} of memory, and the images alone take {images} of it once they are unpacked",
        "set spec.resources.limits.memory: {figure} in the pod template, or memory: calculate in the ContrastGenerate",
    ),
    "CC0421": Row(
        "warning",
        "{problem}",
        "{remedy}",
        {
            "none": (
                "no container has a memory limit, so the pod's VM gets {gets}; its images take {images} of it",
                (
                    "set spec.resources.limits.memory: {figure} in the pod template, and more for its programs;"
                    " or memory limits of the containers, and memory: calculate in the ContrastGenerate"
                ),
            ),
            "some": (
                "container {containers} has no memory limit; the pod's VM gets {gets}, and its images take {images}",
                (
                    "set a memory limit there, and spec.resources.limits.memory: {figure} in the pod template with as"
                    " much more, or memory: calculate in the ContrastGenerate"
                ),
            ),
            "tight": (
                "the pod's VM gets {gets} of memory, and its images take {images} of it, compressed and unpacked",
                (
                    "set spec.resources.limits.memory: {figure} in the pod template, or memory: calculate in the"
                    " ContrastGenerate"
                ),
            ),
            "gpu": (
                "the pod's VM gets {gets} of memory; with a GPU it needs 8 GB at least",
                "set spec.resources.limits.memory: {figure} in the pod template, or raise the limits of its containers",
            ),
        },
    ),
    "CC0422": Row("info", "the memory of the pod becomes {after}"),
    "CC0423": Row(
        "error",
        "memory: calculate wants the sizes of all layers of image {image}, and the lock does not have them",
        "run contrast-krm lock --sizes with the same input and configuration",
    ),
    "CC0424": Row(
        "error",
        "the containers request {requested} of memory, more than the {calculated} that were calculated of images and"
        " limits; Kubernetes refuses such a pod",
        "set memory limits of the containers, each as large as its request",
    ),
    "CC0425": Row(
        "warning",
        "annotation {key} is no number of MiB in quotes, and is not counted",
        'write a number such as "2048"; or remove it, and set memory limits',
    ),
}
