"""The pod as the controller of a custom resource makes it: its template, and what the entry of its kind adds.

The node judges the pod and not the template. So the policy is made over what the controller adds as well, in the
controller's order: a variable of its own comes before those of the template and replaces one of its name.

Rule of this file: what the object says is a constant. What only the controller knows has a form that is as narrow as
the controller's own text, and is shown as an opening; one that steers a program is an error of policy/environment.py.
"""

from collections.abc import Iterable
from functools import cache

from krm_function.findings import Finding, finding
from krm_function.model.added_containers import applied, that_apply
from krm_function.model.listed_names import listed
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.pod_kind import OF_CONTROLLER, PodTemplate
from krm_function.model.pod_names import HASH, NUMBER, RANDOM, Letters, PodName
from krm_function.model.template_texts import MissingFieldError, NotDerivedError, Piece, field_steps, pieces, written
from krm_function.model.workload import Workload
from krm_function.policy.controller_containers import Added, added_spec, goes_to
from krm_function.policy.open_variables import OpenVariable
from krm_function.policy.pod_metadata import PodMetadata
from krm_function.policy.steering_variables import steered_by

OWN_NAME = "pod"  # a form that is bound to the pod's own name, and so no opening
GENERATED = "\0generated\0"
INDEX = "-\0completion-index\0-"
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
    is_generated, is_indexed = text.endswith(GENERATED), text.endswith(INDEX + GENERATED)
    parts = text.removesuffix(GENERATED).removesuffix(INDEX if is_indexed else "").split("\0")
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
