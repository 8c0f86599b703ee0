"""Take out of the containers of a pod what its controller added, so that the pod can be compared with its template.

Rule of this file: what the template has itself stays, and a text goes only where it is what the controller writes; what
else stands there stays, and the comparison tells. The parts are added again when the policy is asked; so of variables,
which are added in place of what stands there, `moved_variables` tells.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from krm_function.model.added_containers import that_apply
from krm_function.model.lookup import dig, maps
from krm_function.model.template_texts import MissingFieldError, written
from krm_function.model.workload import Workload
from krm_function.policy.controller_containers import goes_to
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
    variables = list(that_apply(adds.get("env"), workload))
    known = {one["name"]: _text(one["value"], workload) or "" for one in variables if "value" in one}
    names = {one["name"] for one in variables}

    def same(given: Any, wanted: list[str]) -> bool:
        texts = [expand(_text(one, workload) or "", known) for one in wanted]
        return isinstance(given, list) and len(given) == len(texts) and all(map(fits, map(str, given), texts))

    added = {one.get("name"): one for one in that_apply(adds.get("initContainers"), workload)}
    made = {**spec}
    for field in ("initContainers", "containers"):
        kept = []
        for container in maps(spec.get(field)):
            template = own.get((field, str(container.get("name"))))
            entry = added.get(container.get("name")) if field == "initContainers" and template is None else None
            if entry and same(container.get("args"), entry.get("args", [])):
                continue
            kept.append(_of_template(container, template or {}, workload, adds, names, same))
        if field in spec:
            made[field] = kept
    return made


def moved_variables(spec: Json, workload: Workload, fits: Fits) -> Iterator[str]:
    """Yield, as `container: variable NAME`, each of which a pod has another value than its controller writes.

    One that is not there is none of them, nor is one that the controller leaves to the template.
    """
    own = {(each.field, each.name): each.container for each in workload.all_containers}
    adds = workload.made_by.adds if workload.made_by else {}
    entries = [(one, _text(one.get("value", ""), workload)) for one in that_apply(adds.get("env"), workload)]
    known = {one["name"]: text for one, text in entries if "value" in one and text is not None}
    for field in ("initContainers", "containers"):
        for index, container in enumerate(maps(spec.get(field)) if entries else ()):
            name, is_init = str(container.get("name")), field == "initContainers"
            mine = {one.get("name") for one in maps(own.get((field, name), {}).get("env"))}
            given = {one.get("name"): one for one in maps(container.get("env"))}  # of a name, the last counts
            for one, text in entries:
                if not goes_to(one, is_init=is_init, is_first=not is_init and index == 0) or one["name"] not in given:
                    continue
                left = one.get("place") == "missing" and one["name"] in mine
                wanted = None if text is None else expand(text, known)
                if not left and not _is_written(given[one["name"]], one, wanted, fits):
                    yield f"{name}: variable {one['name']}"


def _is_written(given: Json, entry: Json, text: str | None, fits: Fits) -> bool:
    """Tell whether a variable is as the controller writes it. text: None for one of which the value is not known."""
    if "fieldPath" in entry:
        return bool(dig(given, ("valueFrom", "fieldRef", "fieldPath")) == entry["fieldPath"])
    return "valueFrom" not in given and (text is None or fits(str(given.get("value") or ""), text))


def _text(template: str, workload: Workload) -> str | None:
    try:
        return written(template, workload.object, workload.template)
    except MissingFieldError:
        return None  # a render of the object is refused


def _of_template(
    container: Json,
    template: Mapping[str, Any],
    workload: Workload,
    adds: Mapping[str, Any],
    names: set[str],
    same: Callable[[Any, list[str]], bool],
) -> Json:
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
    for one in that_apply(adds.get("process"), workload):
        if not template.get("command") and same(container.get("args"), one.get("args", [])):
            out = {key: value for key, value in out.items() if key not in ("command", "args")}
    for one in that_apply(adds.get("probes"), workload):
        if not template.get(one["name"]) and same(dig(container, (one["name"], "exec", "command")), one["command"]):
            out.pop(one["name"], None)
    paths = {one.get("mountPath") for one in maps(template.get("volumeMounts"))}
    ours = {one.get("mountPath") for one in that_apply(adds.get("volumeMounts"), workload)} - paths
    if "volumeMounts" in out:
        out["volumeMounts"] = [one for one in maps(out["volumeMounts"]) if one.get("mountPath") not in ours]
    return out
