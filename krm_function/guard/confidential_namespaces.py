"""The policy for namespaces with the label: every pod is confidential, or has an exception that somebody may give.

Rule of this file: an exception stands on the pod or its template, with its reason, and RBAC says who may write one.
What had the same exceptions before may keep them, whoever changes the object.

    a pod in a namespace with guard.contrast-krm.dev/pods: confidential        answer
    names a class of Contrast's                                                the policy `sealed-pods` decides
    has no annotation guard.contrast-krm.dev/plain, or an empty one            refused
    has one, and the object had the same before                                admitted
    has one, and a controller of Kubernetes makes the pod                      admitted: its template was asked about
    has one, and the author may `create plainpods.guard.contrast-krm.dev`      admitted
    has one, otherwise                                                         refused
"""

from krm_function.guard.cel import is_text, text
from krm_function.guard.class_names import IS_CONTRAST
from krm_function.guard.pod_templates import Guarded, rules
from krm_function.guard.policy_objects import CLASS, Json, pod_variables, policy, refuse
from krm_function.model.guarded_namespaces import CONFIDENTIAL, DOMAIN, LABEL, PLAIN
from krm_function.model.runtime_class_names import BARE

RESOURCE, VERB = "plainpods", "create"  # what RBAC decides about
ACCOUNTS = "system:serviceaccount:kube-system:"  # Kubernetes' controllers make pods of templates that were asked about
MANAGER = "system:kube-controller-manager"  # the same, where they have no accounts of their own
EXCEPTION = f"p.?metadata.?annotations[?{text(PLAIN)}]"
IS_EXCEPTED = is_text(EXCEPTION, 't.trim() != ""')
MAY = f'authorizer.group("{DOMAIN}").resource("{RESOURCE}").namespace(request.namespace).check("{VERB}").allowed()'


def confidential_namespaces(known: Guarded) -> Json:
    """Return the policy."""
    reasons = f'.map(p, {EXCEPTION}.orValue(""))'
    user = "request.userInfo.username"
    of_kubernetes = f'{user}.startsWith("{ACCOUNTS}") || {user} == "{MANAGER}"'
    variables = {
        **pod_variables(known),
        "plain": f"variables.judged ? variables.pods.filter(p, !{is_text(CLASS, IS_CONTRAST)}) : []",
        "open": f"variables.plain.filter(p, !{IS_EXCEPTED})",
        "excepted": f"variables.plain.filter(p, {IS_EXCEPTED})",
        "isKept": f'request.operation == "UPDATE" && variables.pods{reasons} == variables.before{reasons}',
        "mayExcept": f"variables.isKept || {of_kubernetes} || {MAY}",
        "unreviewed": "variables.excepted.size() == 0 || variables.mayExcept ? [] : variables.excepted",
    }
    validations = [
        refuse(
            "open",
            f"the namespace has the label {LABEL}: {CONFIDENTIAL}, and the pod runs outside of a VM",
            f"namespace {{}} has the label {LABEL}: {CONFIDENTIAL}, and the pod runs outside of a VM: write "
            f"runtimeClassName: {BARE} and render it, or, for an exception, annotation {PLAIN} with the reason",
            "request.namespace",
        ),
        refuse(
            "unreviewed",
            f"annotation {PLAIN} is for those who may {VERB} {RESOURCE}.{DOMAIN}",
            f"{{}} may except no pod in namespace {{}}: annotation {PLAIN} is for those who may {VERB} "
            f"{RESOURCE}.{DOMAIN}",
            *("request.userInfo.username", "request.namespace"),
        ),
    ]
    matched = {"namespaceSelector": {"matchLabels": {LABEL: CONFIDENTIAL}}, "resourceRules": rules(known.pods)}
    return policy("confidential-namespaces", matched, variables, validations)


def role_of_exceptions() -> Json:
    """Return the role that lets somebody write exceptions, bound to nobody."""
    rule = {"apiGroups": [DOMAIN], "resources": [RESOURCE], "verbs": [VERB]}
    metadata = {"name": f"{RESOURCE}.{DOMAIN}"}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": metadata,
        "rules": [rule],
    }
