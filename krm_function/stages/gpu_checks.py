"""Check GPUs: that the nodes of the pod's platform offer what it asks for, and that the pod uses what it gets.

Truth table, of a container's limit (model/gpu_names.py has the names):

    it is                               platform with GPUs            platform without
    a GPU that the policy passes        nothing to say                CC0409: an error, once for the pod
    another GPU, or a part of one       CC0411: an error, with the    CC0409
                                        name to write
    a share of a GPU                    CC0414: a warning, it is not counted

Rule of this file: the pod as it is after the rules of the configuration. A render asks, and `check` of its output.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.gpu import wants_gpu
from krm_function.model.gpu_names import USUAL, asked_gpus
from krm_function.model.platforms import Platform
from krm_function.model.workload import Workload

CDI = "cdi.k8s.io/"


def gpu_checks(
    workload: Workload, platform: Platform | None, passed: tuple[str, ...], *, explicit: bool
) -> Iterator[Finding]:
    """Yield what is wrong with the GPUs of a pod.

    platform: None if it is not known. passed: names that the policy passes. explicit: whether the class names the
    platform; under the bare placeholder, a pod without GPU may well be where the cluster has no other nodes.
    """
    name = passed[0] if passed else USUAL
    for each in workload.all_containers:
        for one in asked_gpus(each.container, passed):
            at = (*each.path, "resources", "limits", one.name)
            if one.what == "share":
                yield finding("CC0414", workload.ref, at, container=each.name, resource=one.name)
            elif one.what != "passed" and platform is not None and platform.gpu:
                code = ("CC0411.part" if one.what == "part" else "CC0411.other") if passed else "CC0411.none"
                values: dict[str, Any] = {"container": each.name, "resource": one.name, "name": name}
                yield finding(code, workload.ref, at, platform=platform.name, **values)
    wanted = wants_gpu(workload.pod_spec)
    if wanted and platform is not None and not platform.gpu:
        at = (*workload.spec_path, "runtimeClassName")
        yield finding("CC0409", workload.ref, at, platform=platform.name)
    if explicit and platform is not None and platform.gpu and not wanted:
        at = (*workload.spec_path, "runtimeClassName")
        plain = platform.name.removesuffix("-gpu")
        yield finding("CC0415", workload.ref, at, platform=platform.name, plain=plain, name=name)
    for key in workload.annotations:
        if str(key).startswith(CDI) and not (wanted and platform is not None and platform.gpu):
            yield finding("CC0416", workload.ref, (*workload.metadata_path, "annotations", key), key=key, name=name)
