"""The pod as the controller of a custom resource makes it, and what that took from the template."""

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
from krm_function.policy.expansion import CONTROLLED, PATTERNS, expand
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
    """Tell whether a variable or a mount of an entry goes to a container. is_first: of those that are no init ones."""
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
    variables = [(one, text(one["value"]) if "value" in one else "") for one in adds.get("env", ())]
    mounts = adds.get("volumeMounts", [])
    made = {**spec}
    added = added_init_containers(workload)
    starting = not_replaced(maps(spec.get("initContainers")), added)
    starting += [{**_pod_fields(one), **_process(one, text)} for one in added]
    if starting:
        made["initContainers"] = [_container(one, variables, mounts, is_init=True) for one in starting]
    running = maps(spec.get("containers"))
    if running:
        first = _with_probes(_with_process(running[0], adds, text), adds, text)
        others = [_container(one, variables, mounts) for one in running[1:]]
        made["containers"] = [_container(first, variables, mounts, is_first=True), *others]
    volumes = [one for one in adds.get("volumes", ()) if _is_wanted(one, made)]
    if volumes:
        made["volumes"] = _with(spec.get("volumes"), [_pod_fields(one) for one in volumes], "name")
    return made


def _with_process(container: Json, adds: Added, text: Texts) -> Json:
    """Return the first container with the command of the controller; one with a command of its own stays."""
    if container.get("command") or container.get("args"):
        return container
    for one in adds.get("process", ()):
        container = {**container, **_process(one, text)}
    return container


def _process(entry: Json, text: Texts) -> Json:
    """Return command and args of an entry with markers."""
    return {str(key): [text(word) for word in entry[key]] for key in ("command", "args") if key in entry}


def _with_probes(container: Json, adds: Added, text: Texts) -> Json:
    for one in adds.get("probes", ()):
        if not container.get(one["name"]):
            command = [text(word) for word in one["command"]]
            container = {**container, one["name"]: {"exec": {"command": command}}}
    return container


def _container(
    container: Json,
    variables: list[tuple[Json, str]],
    mounts: list[Json],
    *,
    is_init: bool = False,
    is_first: bool = False,
) -> Json:
    """Return a container with the variables and mounts that the controller adds to it."""
    env = container.get("env") or []
    present = {one.get("name") for one in env}
    before: list[Json] = []
    behind: list[Json] = []
    for one, value in variables:
        place = one.get("place", "first")
        if not goes_to(one, is_init=is_init, is_first=is_first) or (place == "missing" and one["name"] in present):
            continue
        (before if place == "first" else behind).append(_variable(one, value))
    names = {one["name"] for one in before}
    added = [one for one in mounts if goes_to(one, is_init=is_init, is_first=is_first)]
    paths = {one.get("mountPath") for one in maps(container.get("volumeMounts"))}
    added = [one for one in added if one.get("place") != "missing" or one.get("mountPath") not in paths]
    out = {**container}
    if before or behind:
        out["env"] = [*before, *(one for one in env if one.get("name") not in names), *behind]
    if added:
        out["volumeMounts"] = _with(container.get("volumeMounts"), [_pod_fields(one) for one in added], "mountPath")
    return out


def _variable(entry: Json, value: str) -> Json:
    if "fieldPath" in entry:
        return {"name": entry["name"], "valueFrom": {"fieldRef": {"fieldPath": entry["fieldPath"]}}}
    if "\0" not in value:
        return {"name": entry["name"], "value": value}
    return {"name": entry["name"], "valueFrom": {WRITTEN: value}}


def _is_wanted(volume: Json, spec: Json) -> bool:
    """Tell whether a volume is added: one for `missing` where it is mounted and there is none of its name."""
    if volume.get("place") != "missing":
        return True
    name = volume.get("name")
    mounted = any(dig(one, ("name",)) == name for each in spec["containers"] for one in maps(each.get("volumeMounts")))
    return mounted and all(one.get("name") != name for one in maps(spec.get("volumes")))


def _pod_fields(entry: Json) -> Json:
    return {key: value for key, value in entry.items() if key not in BESIDE}


def _with(present: Any, added: list[Json], key: str) -> list[Json]:
    """Return entries with those that are added; one of the same key is replaced."""
    keys = {one.get(key) for one in added}
    return [*(one for one in maps(present) if one.get(key) not in keys), *added]


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
    """Return a pod as its controller makes it. made_by: what is known of that."""
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

    findings += _refusals(workload, made_by, adds)
    for one in adds.get("env", ()):
        what = steered_by(one["name"])
        if what and any(piece.known == "form" for piece in pieces(one.get("value", ""))):
            values = {"kind": workload.ref.kind, "variable": one["name"], "what": what}
            findings.append(finding("CC0693", workload.ref, workload.spec_path, **values))
    names = tuple(_pod_name(text(name)) for name in made_by.names)
    controlled = {
        (field, key): text(value)
        for field in ("labels", "annotations")
        for key, value in mapping(made_by.adds.get(field)).items()
    }
    spec = added_spec(pod.spec, workload, adds, text)
    made = pod._replace(
        spec=spec,
        names=names,
        controlled=controlled,
        claim_templates=_claims(workload, made_by),
    )
    return made, findings


def _pod_name(text: str) -> PodName:
    """Return how pods are named, of a text with markers. Five letters at its end are the API server's."""
    is_generated, is_indexed = text.endswith(GENERATED), text.endswith(INDEX_OF_NAME + GENERATED)
    parts = text.removesuffix(GENERATED).removesuffix(INDEX_OF_NAME if is_indexed else "").split("\0")
    letters = (LETTERS.get(part, ANY) if index % 2 else part for index, part in enumerate(parts))
    return PodName(tuple(letters), is_generated=is_generated, is_indexed=is_indexed)


def _refusals(workload: Workload, made_by: PodTemplate, adds: Added) -> list[Finding]:
    """Return CC0694 for what the entry refuses, and for a command of the template that the controller changes."""
    said = [(one["reason"], one["instead"]) for one in that_apply(list(made_by.refuses), workload)]
    first = next(iter(workload.containers), {})
    if first.get("command") or first.get("args"):
        reason = f"it puts a command of its own behind that of container {first.get('name')}"
        said += [(reason, one["instead"]) for one in adds.get("process", ())]
    return [_not_described(workload, *one) for one in said]


def _not_described(workload: Workload, reason: str, instead: str) -> Finding:
    return finding("CC0694", workload.ref, workload.spec_path, kind=workload.ref.kind, reason=reason, instead=instead)


def _claims(workload: Workload, made_by: PodTemplate) -> dict[str, str]:
    return {
        str(mapping(entry.get("metadata")).get("name")): str(mapping(entry.get("spec")).get("volumeMode") or "")
        for entry in maps(dig(workload.object, made_by.claims) if made_by.claims else None)
    }


def written_by_controller(workload: Workload) -> tuple[OpenVariable, ...]:
    """Return the variables of which only the controller knows the value, each container's, with the form it has."""
    made_by = workload.made_by
    if made_by is None or not made_by.adds:
        return ()
    unknown = [one for one in maps(made_by.adds.get("env")) if _has_form(one.get("value", ""))]
    shown = [(one, _shown(one["value"])) for one in that_apply(unknown, workload)]
    added = [str(one.get("name")) for one in that_apply(made_by.adds.get("initContainers"), workload)]
    places = [(name, True, False) for name in added]
    for each in workload.all_containers:
        is_first = bool(workload.containers) and each.container is workload.containers[0]
        places.append((each.name, each.is_init, is_first))
    return tuple(
        OpenVariable(name, one["name"], f"{OF_CONTROLLER}{form}")
        for name, is_init, is_first in places
        for one, form in shown
        if goes_to(one, is_init=is_init, is_first=is_first)
    )


def _has_form(text: str) -> bool:
    """Tell whether a text has what only the controller knows, the pod's own name excepted."""
    return any(piece.known == "form" and piece.value != OWN_NAME for piece in pieces(text))


def controller_findings(workload: Workload, variables: Iterable[OpenVariable]) -> tuple[Finding, ...]:
    """Return warnings: CC0691 of values that the controller writes, CC0695 of what no policy covers."""
    place = (workload.ref, workload.spec_path)
    kind = workload.ref.kind
    said = dict.fromkeys(f"{one.name} ({one.source.removeprefix(OF_CONTROLLER)})" for one in variables)
    opened = [finding("CC0691", *place, kind=kind, variables=listed(list(said)))] if said else []
    return (
        *opened,
        *(
            finding("CC0695", *place, kind=kind, reason=one["reason"], instead=one["instead"])
            for one in that_apply(list(workload.made_by.warns if workload.made_by else ()), workload)
        ),
    )


def _shown(text: str) -> str:
    """Write a text for readers: forms and fields in angle brackets."""
    return "".join(map(_piece, pieces(text)))


def _piece(piece: Piece) -> str:
    if piece.known == "text":
        return piece.value
    return f"<{piece.value if piece.known == 'form' else piece.value.rpartition('.')[2]}>"


# --- Take out of a pod what its controller wrote into it, so that the pod can be compared with its template
#
# Rule: a label, an annotation or a variable goes only if the controller of the workload's kind writes it,
# in the form in which it does; what the template has itself stays. Variables made of labels and annotations have the
# form again then. Source: docs/facts/controllers.md.


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
        spec = without_added(spec, workload, lambda value, form: _fits(value, form, metadata))
    return {"metadata": metadata, "spec": spec}


def moved_variables(pod: Mapping[str, Any], workload: Workload) -> list[str]:
    """Return the variables of a pod that are not as its controller writes them: `container: variable NAME`."""
    if workload.made_by is None or "env" not in workload.made_by.adds:
        return []

    metadata = mapping(pod.get("metadata"))
    spec = mapping(pod.get("spec"))
    return list(changed_variables(spec, workload, lambda value, form: _fits(value, form, metadata)))


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


# --- Take out of the containers of a pod what its controller added, so that the pod can be compared with its template
#
# Rule: what the template has itself stays, and a text goes only where it is what the controller writes;
# what else stands there stays, and the comparison tells. The parts are added again when the policy is asked; so of
# variables, which are added in place of what stands there, `moved_variables` tells.


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


def changed_variables(spec: Json, workload: Workload, fits: Fits) -> Iterator[str]:
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
