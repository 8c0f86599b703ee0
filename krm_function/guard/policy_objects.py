"""The form of a ValidatingAdmissionPolicy, and what all policies of a guard have in common.

Rule of this file: an expression that fails refuses the request (`failurePolicy: Fail`), and so does one that costs too
much; where a message cannot be made, the plain sentence counts. Source:
docs/facts/kubernetes.md#validating-admission-policies.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.guard.cel import sentence
from krm_function.guard.pod_templates import Guarded, maps_at
from krm_function.model.guarded_namespaces import DOMAIN

Json = dict[str, Any]
API_VERSION = "admissionregistration.k8s.io/v1"
CLASS = "p.?spec.?runtimeClassName"  # of a pod `p`
CONDITIONS = {
    "of-no-controller": 'request.kind.kind == "Pod" || !object.metadata.?ownerReferences.orValue([])'
    ".exists(o, o.?controller.orValue(false))",
    "not-on-its-way-out": "!has(object.metadata.deletionTimestamp)",
}


def pod_variables(known: Guarded) -> dict[str, str]:
    """Return the variables about an object: its kind, its pods, those before, and whether they are judged."""
    return {
        "it": "dyn(object)",
        "was": "dyn(oldObject)",
        "kind": 'request.kind.group + "/" + request.kind.kind',
        "pods": maps_at("variables.it", known.pods),
        "before": f'request.operation == "CREATE" ? [] : {maps_at("variables.was", known.pods)}',
        "judged": 'request.operation == "CREATE" || variables.pods != variables.before',
    }


def refuse(offenders: str, plain: str, words: str, *values: str) -> Json:
    """Return a validation. offenders: a variable with a list. words: with `{}` for values. plain: if these fail."""
    said = {"message": plain, "messageExpression": sentence(words, *values)}
    return {"expression": f"variables.{offenders}.size() == 0", **said, "reason": "Forbidden"}


def policy(
    name: str, matched: Json, variables: Mapping[str, str], validations: Sequence[Json], parameters: Json | None = None
) -> Json:
    """Return a policy. matched: which requests it is asked about. parameters: the kind of its parameters."""
    spec: Json = {
        "failurePolicy": "Fail",
        **({"paramKind": parameters} if parameters else {}),
        "matchConstraints": matched,
        "matchConditions": [{"name": key, "expression": value} for key, value in CONDITIONS.items()],
        "variables": [{"name": key, "expression": value} for key, value in variables.items()],
        "validations": list(validations),
    }
    metadata = {"name": f"{name}.{DOMAIN}"}
    return {"apiVersion": API_VERSION, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec}


def binding(of: Json, selector: Json | None, *, warn: bool) -> Json:
    """Return the binding that puts a policy into force. selector: of its parameters. warn: nothing is refused."""
    name = of["metadata"]["name"]
    spec: Json = {"policyName": name, "validationActions": ["Warn", "Audit"] if warn else ["Deny"]}
    if selector is not None:
        spec["paramRef"] = {"selector": {"matchLabels": selector}, "parameterNotFoundAction": "Allow"}
    kind = "ValidatingAdmissionPolicyBinding"
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
