"""The pod as the controller of a custom resource makes it, and the way back to its template."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.kubernetes.objects import dig, listed, mapping, maps
from krm_function.kubernetes.pod_kinds import (
    OF_CONTROLLER,
    MissingFieldError,
    NotDerivedError,
    Piece,
    PodTemplate,
    field_steps,
    pieces,
    written,
)
from krm_function.kubernetes.pod_names import HASH, NUMBER, RANDOM, Letters, PodName
from krm_function.kubernetes.workload import (
    OpenVariable,
    Workload,
    added_init_containers,
    applied,
    not_replaced,
    that_apply,
)
from krm_function.policy.chosen_programs import steered_by
from krm_function.policy.container_process import WRITTEN
from krm_function.policy.expansion import ANY_KIND, CONTROLLED, INDEX, PATTERNS, expand
from krm_function.policy.pod_metadata import PodMetadata, escape_regex

# --- The containers of a pod as the controller of a custom resource makes them
#
# Rule: in the controller's order. A variable stands before those of the template and replaces one of its
# name, or behind them, where the last of a name counts, or is left out where the template has one. What an added init
# container has of the first container is that container's of the template, before anything is added to it.


Json = dict[str, Any]
Added = Mapping[str, list[Json]]  # what `applied` returns
Texts = Callable[[str], str]  # from a text of an entry to one with markers
BESIDE = frozenset(("when", "unless", "place", "containers", "like"))  # of an entry, and no fields of a pod


def goes_to(entry: Mapping[str, Any], *, is_init: bool, is_first: bool) -> bool:
    """Tell whether a variable or a mount of an entry goes to a container. is_first: of the regular containers."""
    match entry.get("containers", "all"):
        case "containers":
            return not is_init
        case "first":
            return is_first
        case "initContainers":
            return is_init
        case _:
            return True


def added_spec(spec: Json, workload: Workload, adds: Added, text: Texts) -> Json:
    """Return a pod spec with what the controller adds to its containers and volumes."""
    variables = [(entry, text(entry["value"]) if "value" in entry else "") for entry in adds.get("env", ())]
    mounts = adds.get("volumeMounts", [])
    out = {**spec}
    added = added_init_containers(workload)
    starting = not_replaced(maps(spec.get("initContainers")), added)
    starting += [{**_pod_fields(container), **_render_process(container, text)} for container in added]
    if starting:
        out["initContainers"] = [
            _add_to_container(container, variables, mounts, is_init=True) for container in starting
        ]
    running = maps(spec.get("containers"))
    if running:
        first = _set_probes(_set_process(running[0], adds, text), adds, text)
        rest = [_add_to_container(container, variables, mounts) for container in running[1:]]
        out["containers"] = [_add_to_container(first, variables, mounts, is_first=True), *rest]
    volumes = [volume for volume in adds.get("volumes", ()) if _is_added_volume(volume, out)]
    if volumes:
        out["volumes"] = _merge_entries(spec.get("volumes"), [_pod_fields(volume) for volume in volumes], "name")
    return out


def _set_process(container: Json, adds: Added, text: Texts) -> Json:
    """Set the command of the controller, unless the container has one."""
    if container.get("command") or container.get("args"):
        return container
    for entry in adds.get("process", ()):
        container = {**container, **_render_process(entry, text)}
    return container


def _render_process(entry: Json, text: Texts) -> Json:
    return {str(key): [text(word) for word in entry[key]] for key in ("command", "args") if key in entry}


def _set_probes(container: Json, adds: Added, text: Texts) -> Json:
    for probe in adds.get("probes", ()):
        if not container.get(probe["name"]):
            command = [text(word) for word in probe["command"]]
            container = {**container, probe["name"]: {"exec": {"command": command}}}
    return container


def _add_to_container(
    container: Json,
    variables: list[tuple[Json, str]],
    mounts: list[Json],
    *,
    is_init: bool = False,
    is_first: bool = False,
) -> Json:
    env = container.get("env") or []
    present = {variable.get("name") for variable in env}
    leading: list[Json] = []
    trailing: list[Json] = []
    for entry, value in variables:
        place = entry.get("place", "first")
        if not goes_to(entry, is_init=is_init, is_first=is_first) or (place == "missing" and entry["name"] in present):
            continue
        (leading if place == "first" else trailing).append(_make_variable(entry, value))
    names = {variable["name"] for variable in leading}
    added = [mount for mount in mounts if goes_to(mount, is_init=is_init, is_first=is_first)]
    paths = {mount.get("mountPath") for mount in maps(container.get("volumeMounts"))}
    added = [mount for mount in added if mount.get("place") != "missing" or mount.get("mountPath") not in paths]
    out = {**container}
    if leading or trailing:
        out["env"] = [*leading, *(variable for variable in env if variable.get("name") not in names), *trailing]
    if added:
        out["volumeMounts"] = _merge_entries(
            container.get("volumeMounts"), [_pod_fields(mount) for mount in added], "mountPath"
        )
    return out


def _make_variable(entry: Json, value: str) -> Json:
    if "fieldPath" in entry:
        return {"name": entry["name"], "valueFrom": {"fieldRef": {"fieldPath": entry["fieldPath"]}}}
    if "\0" not in value:
        return {"name": entry["name"], "value": value}
    return {"name": entry["name"], "valueFrom": {WRITTEN: value}}


def _is_added_volume(volume: Json, spec: Json) -> bool:
    # A volume with place `missing` is added if a container mounts it and the pod lacks it
    if volume.get("place") != "missing":
        return True
    name = volume.get("name")
    mounted = any(
        dig(mount, ("name",)) == name
        for container in spec["containers"]
        for mount in maps(container.get("volumeMounts"))
    )
    return mounted and all(present.get("name") != name for present in maps(spec.get("volumes")))


def _pod_fields(entry: Json) -> Json:
    return {key: value for key, value in entry.items() if key not in BESIDE}


def _merge_entries(present: Any, added: list[Json], key: str) -> list[Json]:
    keys = {entry.get(key) for entry in added}
    return [*(entry for entry in maps(present) if entry.get(key) not in keys), *added]


# --- The pod as the controller of a custom resource makes it: its template, and what the entry of its kind adds
#
# The node judges the pod and not the template. So the policy is made over what the controller adds as well, in the
# controller's order: a variable of its own comes before those of the template and replaces one of its name.
#
# Rule: what the object says is a constant. What only the controller knows has a form that is as narrow as
# the controller's own text, and is shown as an opening; one that steers a program is an error of
# policy/container_process.py.


OWN_NAME = "pod"  # a form that is bound to the pod's own name, and so no opening
GENERATED = "\0generated\0"
INDEX_OF_NAME = "-\0completion-index\0-"
# token in a name -> the letters that it may be
LETTERS = {
    "pod-index": NUMBER,
    "completion-index": NUMBER,
    "generated": RANDOM,
    "template-hash": HASH,
    "controller-hash": Letters("0-9a-z", 1, 63),
    "pod-uid": Letters("0-9a-f-", 36, 36),
}
ANY = Letters("a-z0-9.-", 1, 253)


def pod_of_controller(pod: PodMetadata, workload: Workload, made_by: PodTemplate) -> tuple[PodMetadata, list[Finding]]:
    """Return a pod as its controller makes it. made_by: its entry of the catalogue."""
    findings: list[Finding] = []
    adds = applied(made_by.adds, workload)

    @cache  # an entry has many texts twice, as label and as annotation
    def text(template: str) -> str:
        try:
            return written(template, workload.object, workload.template)
        except NotDerivedError as unknown:
            findings.append(_not_described(workload, unknown.reason, unknown.instead))
            return ""
        except MissingFieldError as missing:
            where = (*workload.root, *field_steps(str(missing)))
            findings.append(finding("CC0690", workload.ref, where, field=str(missing), kind=workload.ref.kind))
            return ""

    findings += _find_refusals(workload, made_by, adds)
    for variable in adds.get("env", ()):
        program = steered_by(variable["name"])
        if program and any(piece.kind == "form" for piece in pieces(variable.get("value", ""))):
            values = {"kind": workload.ref.kind, "variable": variable["name"], "what": program}
            findings.append(finding("CC0693", workload.ref, workload.spec_path, **values))
    names = tuple(_pod_name(text(name)) for name in made_by.names)
    controlled = {
        (field, key): text(value)
        for field in ("labels", "annotations")
        for key, value in mapping(made_by.adds.get(field)).items()
    }
    spec = added_spec(pod.spec, workload, adds, text)
    seen_pod = pod._replace(
        spec=spec,
        names=names,
        controlled=controlled,
    )
    return seen_pod, findings


def _pod_name(text: str) -> PodName:
    """Read a text with markers. Five letters at its end come from the API server."""
    is_generated, is_indexed = text.endswith(GENERATED), text.endswith(INDEX_OF_NAME + GENERATED)
    parts = text.removesuffix(GENERATED).removesuffix(INDEX_OF_NAME if is_indexed else "").split("\0")
    letters = (LETTERS.get(part, ANY) if index % 2 else part for index, part in enumerate(parts))
    return PodName(tuple(letters), is_generated=is_generated, is_indexed=is_indexed)


def _find_refusals(workload: Workload, made_by: PodTemplate, adds: Added) -> list[Finding]:
    """Return CC0694 for each refusal of the entry, and for a template's command that the controller changes."""
    reasons = [(rule["reason"], rule["instead"]) for rule in that_apply(list(made_by.refuses), workload)]
    first = next(iter(workload.containers), {})
    if first.get("command") or first.get("args"):
        reason = f"it appends its own command to the command of container {first.get('name')}"
        reasons += [(reason, process["instead"]) for process in adds.get("process", ())]
    return [_not_described(workload, *reason_and_remedy) for reason_and_remedy in reasons]


def _not_described(workload: Workload, reason: str, instead: str) -> Finding:
    return finding("CC0694", workload.ref, workload.spec_path, kind=workload.ref.kind, reason=reason, instead=instead)


def written_by_controller(workload: Workload) -> tuple[OpenVariable, ...]:
    """Return the variables of each container whose value only the controller knows, with its form."""
    made_by = workload.made_by
    if made_by is None or not made_by.adds:
        return ()
    unknown = [variable for variable in maps(made_by.adds.get("env")) if _has_form(variable.get("value", ""))]
    shown = [(variable, _show_forms(variable["value"])) for variable in that_apply(unknown, workload)]
    added = [str(container.get("name")) for container in that_apply(made_by.adds.get("initContainers"), workload)]
    places = [(name, True, False) for name in added]
    for pod_container in workload.all_containers:
        is_first = bool(workload.containers) and pod_container.container is workload.containers[0]
        places.append((pod_container.name, pod_container.is_init, is_first))
    return tuple(
        OpenVariable(name, variable["name"], f"{OF_CONTROLLER}{form}")
        for name, is_init, is_first in places
        for variable, form in shown
        if goes_to(variable, is_init=is_init, is_first=is_first)
    )


def _has_form(text: str) -> bool:
    """Tell whether a text has a form other than the pod's own name."""
    return any(piece.kind == "form" and piece.value != OWN_NAME for piece in pieces(text))


def controller_findings(workload: Workload, variables: Iterable[OpenVariable]) -> tuple[Finding, ...]:
    """Return warnings: CC0691 for values that the controller writes, CC0695 for parts that no policy covers."""
    place = (workload.ref, workload.spec_path)
    kind = workload.ref.kind
    texts = dict.fromkeys(f"{variable.name} ({variable.source.removeprefix(OF_CONTROLLER)})" for variable in variables)
    opened = [finding("CC0691", *place, kind=kind, variables=listed(list(texts)))] if texts else []
    return (
        *opened,
        *(
            finding("CC0695", *place, kind=kind, reason=rule["reason"], instead=rule["instead"])
            for rule in that_apply(list(workload.made_by.warns if workload.made_by else ()), workload)
        ),
    )


def _show_forms(text: str) -> str:
    return "".join(map(_show_piece, pieces(text)))


def _show_piece(piece: Piece) -> str:
    if piece.kind == "text":
        return piece.value
    return f"<{piece.value if piece.kind == 'form' else piece.value.rpartition('.')[2]}>"


# --- Take out of a pod what its controller wrote into it, so that the pod can be compared with its template
#
# Rule: a label, an annotation or a variable goes only if the controller of the workload's kind writes it,
# in the form in which it does; what the template has itself stays. Variables made of labels and annotations have the
# form again then. Source: docs/facts/controllers.md.


BOUND = {"sandbox-name": "name", "sandbox-namespace": "namespace"}  # a form that the pod's own metadata fills
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"  # in every container of a pod of an indexed Job


def without_controlled(pod: Mapping[str, Any], workload: Workload) -> dict[str, Any]:
    """Return metadata and spec of a workload's pod as the template has them."""
    metadata, spec = (dict(mapping(pod.get(key))) for key in ("metadata", "spec"))
    keys = set()
    for field, key, form in _controlled_texts(workload):
        keys.add(key)
        value = mapping(metadata.get(field)).get(key)
        of_template = mapping(workload.pod_metadata.get(field))
        if isinstance(value, str) and key not in of_template and _matches_form(value, form, metadata):
            metadata[field] = {name: text for name, text in metadata[field].items() if name != key}
    if INDEX in keys:
        spec |= _drop_index_variables(spec, workload)
    return {"metadata": metadata, "spec": without_added(spec, workload, metadata)}


def _controlled_texts(workload: Workload) -> Iterator[tuple[str, str, str]]:
    """Yield field, key and text; in the text, forms are markers."""
    for (kind, key), text in CONTROLLED.items():
        if kind == ANY_KIND or (kind == workload.ref.kind and workload.made_by is None):
            for field in ("labels", "annotations") if key == INDEX else ("labels",):
                yield field, key, text.replace("{name}", workload.ref.name)
    if workload.made_by is None:
        return
    for field in ("labels", "annotations"):
        for key, text in mapping(workload.made_by.adds.get(field)).items():
            try:
                yield field, key, written(text, workload.object, workload.template)
            except MissingFieldError:
                continue


def _matches_form(value: str, form: str, metadata: Mapping[str, Any]) -> bool:
    parts = [
        escape_regex(part) if index % 2 == 0 else _token_pattern(part, metadata)
        for index, part in enumerate(form.split("\0"))
    ]
    return re.fullmatch("".join(parts), value) is not None


def _token_pattern(token: str, metadata: Mapping[str, Any]) -> str:
    return escape_regex(str(metadata.get(BOUND[token], ""))) if token in BOUND else PATTERNS[token]


def _drop_index_variables(spec: Mapping[str, Any], workload: Workload) -> dict[str, Any]:
    """Drop the variable of the index where the template has no variable of that name."""
    own_names = {
        entry.name for entry in workload.all_containers if any(map(_is_index, maps(entry.container.get("env"))))
    }
    changed: dict[str, Any] = {}
    for field in ("initContainers", "containers"):
        entries = spec.get(field)
        if isinstance(entries, list):
            changed[field] = [
                container if mapping(container).get("name") in own_names else _drop_index_variable(container)
                for container in entries
            ]
    return changed


def _drop_index_variable(container: Any) -> Any:
    env = mapping(container).get("env")
    if not isinstance(env, list) or not any(map(_is_added_index, env)):
        return container
    rest = [variable for variable in env if not _is_added_index(variable)]
    fields = {key: value for key, value in container.items() if key != "env"}
    return {**fields, "env": rest} if rest else fields


def _is_index(variable: Any) -> bool:
    return mapping(variable).get("name") == INDEX_VARIABLE


def _is_added_index(variable: Any) -> bool:
    path = dig(variable, ("valueFrom", "fieldRef", "fieldPath"))
    return _is_index(variable) and path in (f"metadata.annotations['{INDEX}']", f"metadata.labels['{INDEX}']")


# --- Take out of the containers of a pod what its controller added, so that the pod can be compared with its template
#
# Rule: what the template has itself stays, and a text goes only where it is what the controller writes;
# what else stands there stays, and the comparison tells. The parts are added again when the policy is asked; so of
# variables, which are added in place of what stands there, `moved_variables` tells.


NEW = ("initContainers", "process", "probes")  # only entries with one of these need this


def without_added(spec: Json, workload: Workload, metadata: Mapping[str, Any]) -> Json:
    """Return the pod spec without the entry's additions to containers. metadata: of the pod."""
    adds = workload.made_by.adds if workload.made_by else {}
    if not any(field in adds for field in NEW):
        return spec
    containers_of_template = _containers_of_template(workload)
    variables = list(that_apply(adds.get("env"), workload))
    values_by_name = {
        variable["name"]: _render_text(variable["value"], workload) or ""
        for variable in variables
        if "value" in variable
    }
    names = {variable["name"] for variable in variables}

    def same(words: Any, templates: list[str]) -> bool:
        texts = [expand(_render_text(template, workload) or "", values_by_name) for template in templates]
        return isinstance(words, list) and len(words) == len(texts) and all(map(has_form, words, texts))

    def has_form(word: Any, form: str) -> bool:
        return _matches_form(str(word), form, metadata)

    added = {container.get("name"): container for container in that_apply(adds.get("initContainers"), workload)}
    out = {**spec}
    for field in ("initContainers", "containers"):
        containers = []
        for container in maps(spec.get(field)):
            template = containers_of_template.get((field, str(container.get("name"))))
            entry = added.get(container.get("name")) if field == "initContainers" and template is None else None
            if entry and same(container.get("args"), entry.get("args", [])):
                continue
            containers.append(_without_additions(container, template or {}, workload, adds, names, same))
        if field in spec:
            out[field] = containers
    return out


def _containers_of_template(workload: Workload) -> dict[tuple[str, str], Json]:
    return {entry.key: entry.container for entry in workload.all_containers}


def moved_variables(pod: Mapping[str, Any], workload: Workload) -> Iterator[str]:
    """Yield `container: variable NAME` for each of a pod whose value is not the controller's.

    Missing variables do not count, nor do those that the controller leaves to the template.
    """
    metadata, spec = mapping(pod.get("metadata")), mapping(pod.get("spec"))
    templates = _containers_of_template(workload)
    adds = workload.made_by.adds if workload.made_by else {}
    entries = [
        (entry, _render_text(entry.get("value", ""), workload)) for entry in that_apply(adds.get("env"), workload)
    ]
    values_by_name = {entry["name"]: text for entry, text in entries if "value" in entry and text is not None}
    for field in ("initContainers", "containers"):
        for index, container in enumerate(maps(spec.get(field)) if entries else ()):
            name, is_init = str(container.get("name")), field == "initContainers"
            mine = {variable.get("name") for variable in maps(templates.get((field, name), {}).get("env"))}
            # of a name, the last counts
            variables = {variable.get("name"): variable for variable in maps(container.get("env"))}
            for entry, text in entries:
                is_of_template = entry.get("place") == "missing" and entry["name"] in mine
                is_added = goes_to(entry, is_init=is_init, is_first=not is_init and index == 0)
                variable = variables.get(entry["name"])
                if not is_added or variable is None or is_of_template:
                    continue
                value = None if text is None else expand(text, values_by_name)
                if not _is_as_written(variable, entry, value, metadata):
                    yield f"{name}: variable {entry['name']}"


def _is_as_written(variable: Json, entry: Json, text: str | None, metadata: Mapping[str, Any]) -> bool:
    """Compare a variable with its entry. text: the controller's value, None if unknown."""
    if "fieldPath" in entry:
        return bool(dig(variable, ("valueFrom", "fieldRef", "fieldPath")) == entry["fieldPath"])
    value = str(variable.get("value") or "")
    return "valueFrom" not in variable and (text is None or _matches_form(value, text, metadata))


def _render_text(template: str, workload: Workload) -> str | None:
    try:
        return written(template, workload.object, workload.template)
    except MissingFieldError:
        return None  # a render of the object is refused


def _without_additions(
    container: Json,
    template: Mapping[str, Any],
    workload: Workload,
    adds: Mapping[str, Any],
    names: set[str],
    same: Callable[[Any, list[str]], bool],
) -> Json:
    out = {**container}
    own_names = [variable.get("name") for variable in maps(template.get("env"))]
    env = []
    for variable in maps(container.get("env")):
        name = variable.get("name")
        if name in names and name not in own_names:
            continue
        if name in own_names:
            own_names.remove(name)
        env.append(variable)
    out["env"] = env
    for process in that_apply(adds.get("process"), workload):
        if not template.get("command") and same(container.get("args"), process.get("args", [])):
            out = {key: value for key, value in out.items() if key not in ("command", "args")}
    for probe in that_apply(adds.get("probes"), workload):
        if not template.get(probe["name"]) and same(
            dig(container, (probe["name"], "exec", "command")), probe["command"]
        ):
            out.pop(probe["name"], None)
    paths = {mount.get("mountPath") for mount in maps(template.get("volumeMounts"))}
    ours = {mount.get("mountPath") for mount in that_apply(adds.get("volumeMounts"), workload)} - paths
    if "volumeMounts" in out:
        out["volumeMounts"] = [mount for mount in maps(out["volumeMounts"]) if mount.get("mountPath") not in ours]
    return out
