"""Take out of a pod what its controller wrote into it, so that the pod can be compared with its template.

Rule of this file: a label, an annotation or a variable goes only if the controller of the workload's kind writes it, in
the form in which it does; what the template has itself stays. Variables made of labels and annotations have the form
again then. Source: docs/facts/controllers.md.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.template_texts import MissingFieldError, written
from krm_function.model.workload import Workload
from krm_function.policy.pod_metadata import escape_regex
from krm_function.policy.variable_expansion import CONTROLLED, PATTERNS

BOUND = {"sandbox-name": "name", "sandbox-namespace": "namespace"}  # a form that the pod's own metadata fills
INDEX = "batch.kubernetes.io/job-completion-index"
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"  # in every container of a pod of an indexed Job


def without_controlled(pod: Mapping[str, Any], workload: Workload) -> dict[str, Any]:
    """Return metadata and spec of a pod of a workload as its template has them."""
    metadata, spec = (dict(mapping(pod.get(key))) for key in ("metadata", "spec"))
    keys = set()
    for field, key, form in _controlled(workload):
        keys.add(key)
        value = mapping(metadata.get(field)).get(key)
        own = mapping(workload.pod_metadata.get(field))
        if isinstance(value, str) and key not in own and _fits(value, form, metadata):
            metadata[field] = {name: one for name, one in metadata[field].items() if name != key}
    if INDEX in keys:
        spec |= _without_index(spec, workload)
    if workload.made_by is not None and workload.made_by.adds:
        from krm_function.policy.added_parts import without_added

        spec = without_added(spec, workload, lambda value, form: _fits(value, form, metadata))
    return {"metadata": metadata, "spec": spec}


def moved_variables(pod: Mapping[str, Any], workload: Workload) -> list[str]:
    """Return the variables of a pod that are not as its controller writes them: `container: variable NAME`."""
    if workload.made_by is None or "env" not in workload.made_by.adds:
        return []
    from krm_function.policy import added_parts

    metadata = mapping(pod.get("metadata"))
    spec = mapping(pod.get("spec"))
    return list(added_parts.moved_variables(spec, workload, lambda value, form: _fits(value, form, metadata)))


def _controlled(workload: Workload) -> Iterator[tuple[str, str, str]]:
    """Yield field, key and text of what a controller writes; in the text, forms are markers."""
    if workload.made_by is None:
        for (kind, key), token in CONTROLLED.items():
            if kind == workload.ref.kind:
                yield from ((field, key, f"\0{token}\0") for field in ("labels", "annotations"))
        return
    for field in ("labels", "annotations"):
        for key, text in mapping(workload.made_by.adds.get(field)).items():
            try:
                yield field, key, written(text, workload.object, workload.template)
            except MissingFieldError:
                continue


def _fits(value: str, form: str, metadata: Mapping[str, Any]) -> bool:
    parts = [
        escape_regex(part) if index % 2 == 0 else _pattern(part, metadata)
        for index, part in enumerate(form.split("\0"))
    ]
    return re.fullmatch("".join(parts), value) is not None


def _pattern(token: str, metadata: Mapping[str, Any]) -> str:
    return escape_regex(str(metadata.get(BOUND[token], ""))) if token in BOUND else PATTERNS[token]


def _without_index(spec: Mapping[str, Any], workload: Workload) -> dict[str, Any]:
    """Return the container lists without the variable of the index where the template has none of that name."""
    own = {each.name for each in workload.all_containers for one in maps(each.container.get("env")) if _is_index(one)}
    changed: dict[str, Any] = {}
    for field in ("initContainers", "containers"):
        entries = spec.get(field)
        if isinstance(entries, list):
            changed[field] = [one if mapping(one).get("name") in own else _trimmed(one) for one in entries]
    return changed


def _trimmed(container: Any) -> Any:
    env = mapping(container).get("env")
    if not isinstance(env, list) or not any(map(_is_added, env)):
        return container
    left = [one for one in env if not _is_added(one)]
    others = {key: value for key, value in container.items() if key != "env"}
    return {**others, "env": left} if left else others


def _is_index(variable: Any) -> bool:
    return mapping(variable).get("name") == INDEX_VARIABLE


def _is_added(variable: Any) -> bool:
    path = dig(variable, ("valueFrom", "fieldRef", "fieldPath"))
    return _is_index(variable) and path in (f"metadata.annotations['{INDEX}']", f"metadata.labels['{INDEX}']")
