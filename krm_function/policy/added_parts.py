"""Take out of the containers of a pod what its controller added, so that the pod can be compared with its template.

Rule of this file: what the template has itself stays, and a text goes only where it is what the controller writes; what
else stands there stays, and the comparison tells. The parts are added again when the policy is asked.
"""

from collections.abc import Callable, Mapping
from typing import Any

from krm_function.model.entry_errors import MissingFieldError
from krm_function.model.lookup import dig, maps
from krm_function.model.template_texts import written
from krm_function.model.workload import Workload
from krm_function.policy.controller_containers import that_apply
from krm_function.policy.variable_expansion import expand

Json = dict[str, Any]
Fits = Callable[[str, str], bool]  # a text of the pod, and one with markers
NEW = ("initContainers", "process", "probes")  # only entries with one of these need this


def without_added(spec: Json, workload: Workload, fits: Fits) -> Json:
    """Return the pod spec without what an entry adds to containers. fits: tells whether a text has a form."""
    adds = workload.made_by.adds if workload.made_by else {}
    if not any(field in adds for field in NEW):
        return spec
    own = {(each.field, each.name): each.container for each in workload.all_containers}
    entries = [one for one in that_apply(adds, "env", workload) if "value" in one]
    variables = [(one["name"], _text(one["value"], workload)) for one in entries]
    known = dict(variables)

    def same(given: Any, wanted: list[str]) -> bool:
        texts = [expand(_text(one, workload), known) for one in wanted]
        return isinstance(given, list) and len(given) == len(texts) and all(map(fits, map(str, given), texts))

    added = {one.get("name"): one for one in that_apply(adds, "initContainers", workload)}
    made = {**spec}
    for field in ("initContainers", "containers"):
        kept = []
        for container in maps(spec.get(field)):
            template = own.get((field, str(container.get("name"))))
            entry = added.get(container.get("name")) if field == "initContainers" and template is None else None
            if entry and same(container.get("args"), entry.get("args", [])):
                continue
            kept.append(_of_template(container, template or {}, workload, adds, variables, same))
        if field in spec:
            made[field] = kept
    return made


def _of_template(
    container: Json,
    template: Mapping[str, Any],
    workload: Workload,
    adds: Mapping[str, Any],
    variables: list[tuple[str, str]],
    same: Callable[[Any, list[str]], bool],
) -> Json:
    names = {name for name, _ in variables} | {one["name"] for one in that_apply(adds, "env", workload)}
    out = {**container}
    wanted = [one.get("name") for one in maps(template.get("env"))]
    env = []
    for one in maps(container.get("env")):
        name = one.get("name")
        if name in names and name not in wanted:
            continue
        if name in wanted:
            wanted.remove(name)
        env.append(one)
    out["env"] = env
    for one in that_apply(adds, "process", workload):
        if not template.get("command") and same(container.get("args"), one.get("args", [])):
            out = {key: value for key, value in out.items() if key not in ("command", "args")}
    for one in that_apply(adds, "probes", workload):
        if not template.get(one["name"]) and same(dig(container, (one["name"], "exec", "command")), one["command"]):
            out.pop(one["name"], None)
    paths = {one.get("mountPath") for one in maps(template.get("volumeMounts"))}
    ours = {one.get("mountPath") for one in that_apply(adds, "volumeMounts", workload)} - paths
    if "volumeMounts" in out:
        out["volumeMounts"] = [one for one in maps(out["volumeMounts"]) if one.get("mountPath") not in ours]
    return out


def _text(template: str, workload: Workload) -> str:
    try:
        return written(template, workload.object, workload.template)
    except MissingFieldError:
        return ""
