"""Make the pod that a controller would create of a workload, for a dry run.

Rule of this file: pure. What admission looks at is there: the template's labels and annotations, the namespace, the
service account, claims of templates, what a StatefulSet adds; the name is left to the server, since that of a running
pod is taken. There is no ownerReference, which needs rights of its own. Source: docs/facts/kubernetes.md#dry-run.
"""

from collections.abc import Container
from typing import Any

from krm_function.model.lookup import mapping, maps
from krm_function.model.pod_names import LONGEST_BASE
from krm_function.model.pods import claim_names
from krm_function.model.workload import Workload
from krm_function.policy.controlled_fields import without_controlled
from krm_function.yamltext import Change, apply


def pod_as_created(workload: Workload, namespace: str, without: Container[str] = ()) -> dict[str, Any]:
    """Return the pod. without: fields of its spec that name what the cluster does not have yet."""
    given = {key: workload.pod_metadata[key] for key in ("labels", "annotations") if workload.pod_metadata.get(key)}
    spec = {key: value for key, value in workload.pod_spec.items() if key not in without}
    spec |= _with_claims(workload, spec)
    if workload.ref.kind == "StatefulSet":
        spec |= _of_a_stateful_set(workload)
    metadata = {**given, "generateName": name_prefix(workload), "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def name_prefix(workload: Workload) -> str:
    """Return the beginning of the pod's name, to which the server adds five characters."""
    return f"{workload.ref.name}-"[:LONGEST_BASE]


def _with_claims(workload: Workload, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the volumes with the claims of claim templates, of a kind that has any."""
    claims = claim_names(workload)
    if not claims:
        return {}
    volumes = [one for one in maps(spec.get("volumes")) if one.get("name") not in claims]
    named = [{"name": one, "persistentVolumeClaim": {"claimName": f"{one}-{workload.ref.name}-0"}} for one in claims]
    return {"volumes": [*volumes, *named]}


def _of_a_stateful_set(workload: Workload) -> dict[str, Any]:
    """Return what its controller sets: the name and domain of the first pod."""
    domain = mapping(workload.object.get("spec")).get("serviceName")
    name = {"hostname": f"{workload.ref.name}-0"}
    return {**name, "subdomain": domain} if isinstance(domain, str) else name


def in_its_owner(pod: Any, workload: Workload) -> Workload:
    """Return the workload with a pod in the place of its template, as its policy has the owner's name and kind.

    pod: or the template of what a controller made, with metadata and spec.
    """
    template, path = without_controlled(mapping(pod), workload), workload.template
    if path:
        edited = apply(workload.object, [Change(path, "set", template)])
    else:
        names = {key: workload.pod_metadata[key] for key in ("name", "namespace") if key in workload.pod_metadata}
        edited = {**workload.object, **template, "metadata": {**template["metadata"], **names}}
    return Workload(edited, (), workload.ref, path, made_by=workload.made_by)
