"""Name the fields in which a pod of a cluster is not what its owner was sealed for.

Rule of this file: the generator answers, as in `drift`; here is only what a policy cannot show of a pod: another one,
another class, another number of vCPUs, what an image would have put where a field is gone, a debug container. What
nobody's policy is about (tolerations, priority, pull secrets) is no difference.
"""

from functools import lru_cache
from typing import Any

from krm_function.checking.pod_as_created import in_its_owner
from krm_function.checking.seal_checks import check_workload
from krm_function.model.cpu_limits import vcpus
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.runtime_class_names import is_contrast_name
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy import References, digest, from_annotation
from krm_function.policy.controlled_fields import moved_variables
from krm_function.record import NamedTuple
from krm_function.yamltext import same

OF_THE_IMAGE = ("command", "args", "workingDir")  # without them, the image's own count
DEBUG = "ephemeralContainers"
READ_BY_THE_NODE = ("io.katacontainers.", "contrast.edgeless.systems/")


class Judged(NamedTuple):
    """The fields that differ, [] for none. debug: names of containers that somebody added to a pod that ran.

    allowed_names: the pattern of its name in its policy, "" if it is not known; pods that are alike have other names.
    """

    fields: tuple[str, ...] = ()
    debug: tuple[str, ...] = ()
    allowed_names: str = ""


def judge_pod(pod: Any, workload: Workload, references: References) -> Judged:
    """Compare a pod with the workload of which it was made, and with the policy that the pod itself has."""
    spec = mapping(mapping(pod).get("spec"))
    debug = tuple(str(one.get("name")) for one in maps(spec.get(DEBUG)))
    whole = {**mapping(pod), "spec": {key: value for key, value in spec.items() if key != DEBUG}}
    there = in_its_owner(whole, workload)
    sealed, found = sealed_digest(workload), sealed_digest(there)
    wanted, given = workload.runtime_class, there.runtime_class
    fields: list[str] = []
    if given != wanted if found == sealed else not is_contrast_name(given):
        fields.append(f"runtimeClassName, {given or 'none'} in place of {wanted}")
    if not found:
        gone = there.annotations.get(INITDATA) is None
        return Judged((*fields, f"its policy, which {'is gone' if gone else 'cannot be read'}"), debug)
    allowed = ""
    if is_contrast_name(given):
        checked = check_workload(there, references)
        allowed = checked.allowed_names
        fields += checked.moved
        fields += moved_variables(whole, workload)
    fields += _gone(workload, there) if found == sealed else ()
    return Judged(tuple(dict.fromkeys(fields)), debug, allowed)


def judge_admitted(pod: Any, workload: Workload, references: References) -> Judged:
    """Compare what the API server makes of a workload's pod with the workload: its policy has to be the same."""
    judged = judge_pod(pod, workload, references)
    there = in_its_owner(pod, workload)
    sealed, found = sealed_digest(workload), sealed_digest(there)
    if found and sealed != found:
        return Judged(("its policy, in place of which there is another", *judged.fields), judged.debug)
    return judged


def sealed_digest(workload: Workload) -> str:
    """Return the digest of the policy that a pod has, "" if it has none that can be read."""
    return _digest(str(workload.annotations.get(INITDATA)))


@lru_cache(maxsize=64)  # the pods of a workload have one text
def _digest(annotation: str) -> str:
    try:
        return digest(from_annotation(annotation))
    except ValueError:
        return ""


def _gone(ours: Workload, theirs: Workload) -> list[str]:
    """Return what a policy does not show to be gone or other: fields that hide the image's, mounts, vCPUs, options."""
    fields: list[str] = []
    there = {(one.field, one.name): one.container for one in theirs.all_containers}
    for each in ours.all_containers:
        found = there.get((each.field, each.name))
        if found is None:
            continue
        fields += [f"{each.name}: {key}" for key in OF_THE_IMAGE if each.container.get(key) and not found.get(key)]
        mounts = {one.get("mountPath") for one in maps(found.get("volumeMounts"))}
        gone = [str(one.get("mountPath")) for one in each.mounts if one.get("mountPath") not in mounts]
        fields += [f"{each.name}: the mount {path}" for path in gone]
    counts = [vcpus(one) for one in (ours, theirs)]
    if counts[0] != counts[1] and all(isinstance(count, int) for count in counts):
        fields.append(f"its vCPUs, {counts[1]} in place of {counts[0]}")
    return [*fields, *_annotations(ours, theirs)]


def _annotations(ours: Workload, theirs: Workload) -> list[str]:
    """Return the annotations by which a node starts the VM or Contrast the pod, where they differ."""
    names = {name for one in (ours, theirs) for name in one.annotations if str(name).startswith(READ_BY_THE_NODE)}
    values = [(name, *(dig(one.annotations, (name,)) for one in (ours, theirs))) for name in sorted(names - {INITDATA})]
    return [f"annotation {name}" for name, first, second in values if not same(first, second)]
