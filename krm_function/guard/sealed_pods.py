"""The policy for pods of a class of Contrast's: that they are sealed.

Rule of this file: what is refused cannot start, and the sentence names the step that is missing.

    in an object with pods                                            refused as
    a name of Contrast's that is no handler of a known platform       a placeholder
    the same, or a handler, in a kind whose pods nobody seals         asked for in vain, with the reason and the way out
    a handler, and no initdata                                        not sealed
    a handler and initdata, and an image without digest               changed after it was sealed: no VM pulls it
    a handler, and an ephemeral container put into the pod            in no sealed policy
"""

from collections.abc import Mapping

from krm_function.checking.applied_by import MARKS, Host
from krm_function.guard.cel import a_list, field, is_text, text, texts
from krm_function.guard.class_names import IS_CONTRAST, IS_HANDLER, IS_UNRESOLVED
from krm_function.guard.pod_templates import Guarded, ephemeral_containers, maps_at, rules
from krm_function.guard.policy_objects import CLASS, Json, pod_variables, policy, refuse
from krm_function.model.workload import INITDATA

STEPS: Mapping[Host, str] = {
    "gitops": "Argo CD or Flux applied it without the step contrast-krm",
    "kpt": "kpt applied it without contrast-krm as its last mutator (kpt fn render --allow-exec)",
    "helm": "Helm ran without --post-renderer contrast-krm",
    "kubectl": "it was applied without a render (contrast-krm generate, or kustomize build with --enable-alpha-plugins "
    "--enable-exec)",
}
SEALED = f"p.?metadata.?annotations[?{text(INITDATA)}]"
IS_SEALED = is_text(SEALED, 't != ""')
UNPINNED = f"!{is_text('c.?image', 't.contains(' + text('@sha256:') + ')')}"


def containers(pod: str) -> str:
    """Write the init containers and containers of a pod."""
    init, more = (a_list(field(pod, ("spec", name))) for name in ("initContainers", "containers"))
    return f"({init} + {more})"


def classes(maps: str, path: str, condition: str) -> str:
    """Write the class names of a list of maps for which a condition holds."""
    return f'{maps}.map(p, {path}.orValue("")).filter(t, type(t) == string && {condition})'


def sealed_pods(known: Guarded) -> Json:
    """Return the policy."""
    judged = "variables.judged ? "
    unpinned = f"{containers('p')}.exists(c, {UNPINNED})"
    variables = {
        **pod_variables(known),
        "unresolved": f"{judged}{classes('variables.pods', CLASS, IS_UNRESOLVED)} : []",
        "asked": classes(maps_at("variables.it", known.classes), "p.?runtimeClassName", IS_CONTRAST),
        "askedBefore": 'request.operation == "CREATE" ? [] : '
        + classes(maps_at("variables.was", known.classes), "p.?runtimeClassName", IS_CONTRAST),
        "inVain": "variables.asked.filter(t, !(t in variables.askedBefore))",
        "confidential": f"{judged}variables.pods.filter(p, {is_text(CLASS, IS_HANDLER)}) : []",
        "unsealed": f"variables.confidential.filter(p, !{IS_SEALED})",
        "unpinned": f"variables.confidential.filter(p, {IS_SEALED} && {unpinned})",
        "debugged": f"variables.confidential.filter(p, {a_list('p.?spec.?ephemeralContainers')}.size() > 0)",
        "step": _step(),
        "reason": _reason(known),
    }
    matched = [*rules((*known.pods, *known.classes), "*"), ephemeral_containers()]
    return policy("sealed-pods", {"resourceRules": matched}, variables, _validations())


def _validations() -> list[Json]:
    container = f"{containers('variables.unpinned[0]')}.filter(c, {UNPINNED})[0].name"
    return [
        refuse(
            "unresolved",
            "a placeholder of Contrast's is left, as no render has replaced it",
            "runtimeClassName {} is a placeholder, or no handler of a platform that contrast-krm knows: {}",
            *("variables.unresolved[0]", "variables.step"),
        ),
        refuse(
            "inVain",
            "a class of Contrast's is asked for in vain, as no render seals pods of this kind",
            "runtimeClassName {} is asked for in vain, as no render seals pods of this kind: {}",
            *("variables.inVain[0]", "variables.reason"),
        ),
        refuse(
            "unsealed",
            f"annotation {INITDATA} is missing, without which a VM of Contrast's starts nothing",
            f"runtimeClassName {{}} is a VM of Contrast's, which starts nothing without annotation {INITDATA}: {{}}",
            *("variables.unsealed[0].spec.runtimeClassName", "variables.step"),
        ),
        refuse(
            "unpinned",
            "an image has no digest, so no sealed policy lists it",
            "container {} has an image without digest, so no sealed policy lists it: it was added or changed after the "
            "render; change the input, and render again",
            container,
        ),
        refuse(
            "debugged",
            "an ephemeral container is in no sealed policy, so its VM refuses it",
            "an ephemeral container is in no sealed policy, so its VM refuses it: read the logs, or put the container "
            "into the input, and render again",
        ),
    ]


def _step() -> str:
    """Write which step is missing, by what hosts write into the objects that they apply."""
    cases = [
        f"variables.it.metadata.?{where}.orValue({{}}).exists(k, k == {text(key)}) ? {text(STEPS[host])} : "
        for where, key, host in MARKS
    ]
    return "".join(cases) + text(STEPS["kubectl"])


def _reason(known: Guarded) -> str:
    """Write why no render seals the pods of a refused kind, and what to do."""
    by_reason: dict[str, list[str]] = {}
    for key, reason in known.reasons.items():
        by_reason.setdefault(reason, []).append(key)
    cases = [f"variables.kind in {texts(keys)} ? {text(reason)} : " for reason, keys in by_reason.items()]
    return "".join(cases) + '""'
