"""The pod as the controller of a custom resource makes it: its template, and what the entry of its kind adds.

The node judges the pod and not the template. So the policy is made over what the controller adds as well, in the
controller's order: a variable of its own comes before those of the template and replaces one of its name.

Rule of this file: what the object says is a constant. What only the controller knows has a form that is as narrow as
the controller's own text, and is shown as an opening; one that steers a program is an error of policy/environment.py.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.listed_names import listed
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.pod_kind import OF_CONTROLLER, PodTemplate
from krm_function.model.template_texts import MissingFieldError, Piece, applies, pieces, written
from krm_function.model.workload import Workload
from krm_function.policy.environment import WRITTEN
from krm_function.policy.open_variables import OpenVariable
from krm_function.policy.pod_metadata import PodMetadata, escape_regex
from krm_function.policy.steering_variables import steered_by
from krm_function.policy.variable_expansion import PATTERNS

OWN_NAME = "pod"  # a form that is bound to the pod's own name, and so no opening


def pod_of_controller(pod: PodMetadata, workload: Workload, made_by: PodTemplate) -> tuple[PodMetadata, list[Finding]]:
    """Return a pod as its controller makes it. made_by: what is known of that."""
    findings: list[Finding] = []
    adds = made_by.adds

    def text(template: str) -> str:
        try:
            return written(template, workload.object, workload.template)
        except MissingFieldError as missing:
            where = (*workload.root, *str(missing).removeprefix(".").split("."))
            findings.append(finding("CC0690", workload.ref, where, field=str(missing), kind=workload.ref.kind))
            return ""

    for one in _that_apply(adds, workload):
        what = steered_by(one["name"])
        if what and any(piece.known == "form" for piece in pieces(one.get("value", ""))):
            values = {"kind": workload.ref.kind, "variable": one["name"], "what": what}
            findings.append(finding("CC0693", workload.ref, workload.spec_path, **values))
    names = [_as_pattern(text(name)) for name in made_by.names]
    controlled = {
        (field, key): text(value)
        for field in ("labels", "annotations")
        for key, value in mapping(adds.get(field)).items()
    }
    spec = {
        **pod.spec,
        **{
            field: _with(pod.spec.get(field), maps(adds.get(field)))
            for field in ("volumes", "initContainers")
            if adds.get(field)
        },
    }
    variables = [(one, text(one["value"]) if "value" in one else "") for one in _that_apply(adds, workload)]
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [
                _container(entry, variables, maps(adds.get("volumeMounts")), field, index)
                for index, entry in enumerate(spec[field])
            ]
    made = pod._replace(
        spec=spec,
        name_pattern=names[0] if len(names) == 1 else f"(?:{'|'.join(names)})" if names else "",
        controlled=controlled,
        claim_templates=_claims(workload, made_by),
    )
    return made, findings


def _as_pattern(name: str) -> str:
    """Return the regex of a pod's name, of a text with markers."""
    parts = name.split("\0")
    return "".join(PATTERNS[part] if index % 2 else escape_regex(part) for index, part in enumerate(parts))


def _that_apply(adds: Mapping[str, Any], workload: Workload) -> Iterator[Mapping[str, Any]]:
    """Yield the variables whose conditions hold."""
    for one in maps(adds.get("env")):
        if applies(one, workload.object, workload.template):
            yield one


def _container(
    container: Mapping[str, Any],
    variables: list[tuple[Mapping[str, Any], str]],
    mounts: list[dict[str, Any]],
    field: str,
    index: int,
) -> dict[str, Any]:
    """Return a container with the variables and mounts that the controller adds to it."""
    which = {"all", *(("containers",) if field == "containers" else ())}
    which |= {"first"} if field == "containers" and index == 0 else set()
    own = [
        {"name": one["name"], "valueFrom": {"fieldRef": {"fieldPath": one["fieldPath"]}}}
        if "fieldPath" in one
        else {"name": one["name"], "valueFrom": {WRITTEN: value}}
        for one, value in variables
        if one.get("containers", "all") in which
    ]
    names = {one["name"] for one in own}
    kept = [one for one in container.get("env") or () if one.get("name") not in names]
    out = {**container}
    if own:
        out["env"] = [*own, *kept]
    if mounts:
        out["volumeMounts"] = _with(container.get("volumeMounts"), mounts)
    return out


def _with(present: Any, added: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return entries with those that are added; one of the same name is replaced."""
    names = {one.get("name") for one in added}
    return [*(one for one in maps(present) if one.get("name") not in names), *added]


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
    shown = [
        (one, _shown(one["value"]))
        for one in _that_apply(made_by.adds, workload)
        if "value" in one and any(piece.known == "form" and piece.value != OWN_NAME for piece in pieces(one["value"]))
    ]
    found: list[OpenVariable] = []
    for each in workload.all_containers:
        first = bool(workload.containers) and each.container is workload.containers[0]
        which = {"all"} | (set() if each.is_init else {"containers"}) | ({"first"} if first else set())
        found += [
            OpenVariable(each.name, one["name"], f"{OF_CONTROLLER}{form}")
            for one, form in shown
            if one.get("containers", "all") in which
        ]
    return tuple(found)


def controller_findings(workload: Workload, variables: Iterable[OpenVariable]) -> tuple[Finding, ...]:
    """Return one warning, CC0691, if a policy allows values that the controller writes."""
    said = dict.fromkeys(f"{one.name} ({one.source.removeprefix(OF_CONTROLLER)})" for one in variables)
    if not said:
        return ()
    return (finding("CC0691", workload.ref, workload.spec_path, kind=workload.ref.kind, variables=listed(list(said))),)


def _shown(text: str) -> str:
    """Write a text for readers: forms and fields in angle brackets."""
    return "".join(map(_piece, pieces(text)))


def _piece(piece: Piece) -> str:
    if piece.known == "text":
        return piece.value
    return f"<{piece.value if piece.known == 'form' else piece.value.rpartition('.')[2]}>"
