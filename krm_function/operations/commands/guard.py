"""`contrast-krm guard`: admission policies for a cluster, for its owner.

Rule of this file: the output depends only on the configuration, or with --sealed on rendered output; it asks no
cluster.
"""

from argparse import Namespace
from collections.abc import Iterable, Mapping

from krm_function.check.output import parse_output
from krm_function.cli.configuration import configured_kinds
from krm_function.cli.inputs import read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_config, add_findings
from krm_function.cli.streams import write_out
from krm_function.contrast.guarded_namespaces import CONFIDENTIAL, DOMAIN, LABEL, PLAIN
from krm_function.contrast.platforms import BARE
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.stream import Stream, encode_stream
from krm_function.hosts.write_files import write_file
from krm_function.kubernetes.objects import is_dns_subdomain, reference
from krm_function.kubernetes.resource import with_kinds
from krm_function.kubernetes.workload import INITDATA, Workload, workloads_of
from krm_function.operations.guard_cel import (
    CLASS,
    IS_CONTRAST,
    IS_HANDLER,
    IS_UNRESOLVED,
    OF_KUBERNETES,
    USER,
    Guarded,
    Json,
    a_list,
    binding,
    by_kind,
    changes_of_pods,
    field,
    find_guarded,
    is_text,
    maps_at,
    pod_variables,
    policy,
    refuse,
    rules,
    text,
)
from krm_function.operations.live import MARKS, Host

DESCRIPTION = (
    "Prints ValidatingAdmissionPolicies with their bindings: the API server then refuses placeholders, "
    "Contrast pods without a policy, and plain pods in namespaces with the label "
    "guard.contrast-krm.dev/pods: confidential. They belong to the whole cluster: apply them once. They "
    "stop honest mistakes, not the operator of the API server."
)
NAME = "sealed-containers"


def add_arguments(parser: Parser) -> None:
    """Add configuration, choice of objects, output, findings."""
    add_config(parser)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--warn", action="store_true", help="warn and write to the audit log, but do not refuse")
    mode.add_argument(
        "--sealed",
        metavar="FILE",
        action="append",
        default=[],
        help="print ConfigMaps instead, with the containers of this rendered output, for the policy that compares "
        "them; apply them with it (file, directory or -; repeatable)",
    )
    parser.add_argument(
        "--name", metavar="NAME", default=NAME, help=f"name of these ConfigMaps, one of each release (default: {NAME})"
    )
    parser.add_argument("-o", "--output", metavar="FILE", default="", help="write this file (default: standard output)")
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the objects as YAML documents. Raises FileProblem."""
    objects, findings = _make_config_maps(options) if options.sealed else _make_policies(options)
    if not has_errors(findings):
        data = encode_stream(Stream(()), (), objects)
        if options.output:
            write_file(options.output, data)
        else:
            write_out(data)
    return print_findings(findings, options.format, options.report)


# --- The command `guard`: admission policies that make an API server refuse honest mistakes
#
# Rule of this package: its names, kinds and annotations come from the other packages, written as CEL; it asks no
# cluster. An update that does not change the pod templates is never refused, so that no controller is stopped half-way;
# nor are objects that a controller made, except pods. The host's API server is not trusted
# (docs/explanation/threat-model.md): only the sealed policy in the VM protects.


def _make_policies(options: Namespace) -> tuple[tuple[Json, ...], tuple[Finding, ...]]:
    """Return the policies, each with its binding, and the role of exceptions, in the order to apply them."""
    kinds, findings = configured_kinds(options.config)
    guarded = find_guarded(kinds)
    objects: list[Json] = []
    for admission_policy, parameters in (
        (sealed_pods(guarded), None),
        (sealed_containers(guarded), SELECTOR),
        (confidential_namespaces(guarded), None),
    ):
        objects += [admission_policy, binding(admission_policy, parameters, warn=options.warn)]
    return (*objects, role_of_exceptions()), (*findings, *guarded.findings)


def _make_config_maps(options: Namespace) -> tuple[tuple[Json, ...], tuple[Finding, ...]]:
    if not is_dns_subdomain(options.name):
        return (), (finding("CC1372", name=options.name),)
    kinds, problems = configured_kinds(options.config)
    inputs = read_inputs(options.sealed)
    output = parse_output(with_kinds(inputs.resources, kinds))
    workloads = [
        workload
        for resource, root, _, value in output.objects()
        for workload in workloads_of(value, root, reference(value), resource)
    ]
    objects = config_maps(workloads, options.name)
    nothing = () if objects else (finding("CC1371"),)
    return objects, (*problems, *inputs.findings, *output.findings, *nothing)


# --- The policy for namespaces with the label: every pod is confidential, or has an authorised exception
#
# Rule: an exception is an annotation of the pod or its template, with its reason, and RBAC decides who may write one.
# An object that had the same exceptions before may keep them, whoever changes it.
#
#     a pod in a namespace with guard.contrast-krm.dev/pods: confidential        answer
#     names a class of Contrast's                                                the policy `sealed-pods` decides
#     has no annotation guard.contrast-krm.dev/plain, or an empty one            refused
#     has one, and the object had the same before, in a plain pod                admitted
#     has one, and a controller of Kubernetes makes the pod                      admitted: its template was judged
#     has one, and the author may `create plainpods.guard.contrast-krm.dev`      admitted
#     has one, otherwise                                                         refused


RESOURCE, VERB = "plainpods", "create"  # the resource for RBAC
LETTER = r"[\pL\pN]"  # blanks and invisible characters are no reason, and no policy
EXCEPTION = f"p.?metadata.?annotations[?{text(PLAIN)}]"
IS_EXCEPTED = is_text(EXCEPTION, f"t.matches({text(LETTER)})")
MAY = f'authorizer.group("{DOMAIN}").resource("{RESOURCE}").namespace(request.namespace).check("{VERB}").allowed()'


def confidential_namespaces(guarded: Guarded) -> Json:
    """Return the policy."""
    reasons = f'.map(p, {is_text(CLASS, IS_CONTRAST)} ? "" : {EXCEPTION}.orValue(""))'  # those that count
    variables = {
        **pod_variables(guarded),
        "plain": f"variables.judged ? variables.pods.filter(p, !{is_text(CLASS, IS_CONTRAST)}) : []",
        "open": f"variables.plain.filter(p, !{IS_EXCEPTED})",
        "excepted": f"variables.plain.filter(p, {IS_EXCEPTED})",
        "isKept": f'request.operation == "UPDATE" && variables.pods{reasons} == variables.before{reasons}',
        "mayExcept": f"variables.isKept || {OF_KUBERNETES} || {MAY}",
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
            *(USER, "request.namespace"),
        ),
    ]
    matched = {"namespaceSelector": {"matchLabels": {LABEL: CONFIDENTIAL}}, "resourceRules": rules(guarded.pods)}
    return policy("confidential-namespaces", matched, variables, validations)


def role_of_exceptions() -> Json:
    """Return the role that allows exceptions, without a binding."""
    rule = {"apiGroups": [DOMAIN], "resources": [RESOURCE], "verbs": [VERB]}
    metadata = {"name": f"{RESOURCE}.{DOMAIN}"}
    api_version = "rbac.authorization.k8s.io/v1"
    return {"apiVersion": api_version, "kind": "ClusterRole", "metadata": metadata, "rules": [rule]}


# --- The policy for pods of a class of Contrast's: they must be sealed
#
# Rule: a refused pod could not start, and the sentence names the missing step.
#
#     in an object with pods                                              refused
#     a name of Contrast's that is not a handler of a known platform      as a placeholder
#     the same, or a handler, in a kind whose pods are never sealed       with the reason and the way out
#     a handler, and no initdata                                          as not sealed
#     a handler and initdata, and an image without digest                 as changed after it was sealed
#     initdata and no class, or after an update no class of Contrast's    as a sealed pod outside of a VM
#     a handler, and an ephemeral container put into the pod              as in no sealed policy
#     of a pod that is there, another image or policy, also by binding    as not what its VM was started with


STEPS: Mapping[Host, str] = {
    "gitops": "Argo CD or Flux applied it without the step contrast-krm",
    "kpt": "kpt applied it without contrast-krm as its last mutator (kpt fn render --allow-exec)",
    "helm": "Helm ran without --post-renderer contrast-krm",
    "kubectl": "it was applied without a render (contrast-krm generate, or kustomize build with --enable-alpha-plugins "
    "--enable-exec)",
}
SEALED = f"p.?metadata.?annotations[?{text(INITDATA)}]"
IS_SEALED = is_text(SEALED, f"t.matches({text(LETTER)})")
UNPINNED = f"!{is_text('c.?image', 't.matches(' + text('@sha256:[0-9a-f]{64}$') + ')')}"
IN_VM = is_text(CLASS, f't != "" && ({IS_CONTRAST} || !variables.wasConfidential)')


def containers(pod: str) -> str:
    """Write the init containers and containers of a pod."""
    init, running = (a_list(field(pod, ("spec", name))) for name in ("initContainers", "containers"))
    return f"({init} + {running})"


def classes(maps: str, path: str, condition: str) -> str:
    """Write the class names of a list of maps for which a condition holds."""
    return f'{maps}.map(p, {path}.orValue("")).filter(t, type(t) == string && {condition})'


def sealed_pods(guarded: Guarded) -> Json:
    """Return the policy."""
    judged = "variables.judged ? "
    unpinned = f"{containers('p')}.exists(c, {UNPINNED})"
    variables = {
        **pod_variables(guarded),
        "unresolved": f"{judged}{classes('variables.pods', CLASS, IS_UNRESOLVED)} : []",
        "asked": classes(maps_at("variables.it", guarded.classes), "p.?runtimeClassName", IS_CONTRAST),
        "askedBefore": 'request.operation == "CREATE" ? [] : '
        + classes(maps_at("variables.was", guarded.classes), "p.?runtimeClassName", IS_CONTRAST),
        "inVain": "variables.asked.filter(t, !(t in variables.askedBefore))",
        "confidential": f"{judged}variables.pods.filter(p, {is_text(CLASS, IS_HANDLER)}) : []",
        "unsealed": f"variables.confidential.filter(p, !{IS_SEALED})",
        "unpinned": f"variables.confidential.filter(p, {IS_SEALED} && {unpinned})",
        "wasConfidential": f"variables.before.exists(p, {is_text(CLASS, IS_HANDLER)})",
        "opened": f"{judged}variables.pods.filter(p, {IS_SEALED} && !{IN_VM}) : []",
        "changed": f"[variables.kind].filter(k, {_write_change()})",
        "debugged": f"variables.confidential.filter(p, {a_list('p.?spec.?ephemeralContainers')}.size() > 0)",
        "step": _write_step(),
        "reason": _write_reason(guarded),
    }
    matched = [*rules((*guarded.pods, *guarded.classes), "*"), *changes_of_pods()]
    return policy("sealed-pods", {"resourceRules": matched}, variables, _make_validations())


def _write_change() -> str:
    """Write whether a pod gets another policy, or a sealed pod other images, after it was created."""
    states = [
        (field(pod, ("metadata", "annotations", INITDATA)), f"{containers(pod)}.map(c, c.?image.orValue(''))")
        for pod in ("variables.was", "variables.it")
    ]
    (was_sealed, images_before), (sealed, images) = states
    return (
        f'k == "/Binding" ? {sealed}.hasValue() : k == "/Pod" && variables.wasConfidential && '
        f"({sealed}.orValue('') != {was_sealed}.orValue('') || {images} != {images_before})"
    )


def _make_validations() -> list[Json]:
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
            "an image has no sha256 digest, so no sealed policy lists it",
            "container {} has an image without sha256 digest, so no sealed policy lists it: it was added or changed "
            "after the render; change the input, and render again",
            container,
        ),
        refuse(
            "opened",
            f"a pod with annotation {INITDATA} has no class of Contrast's, so it runs outside of a VM",
            f"a pod has annotation {INITDATA} and no class of Contrast's, so it runs outside of a VM with what was "
            "sealed: write the class again, or remove the annotation",
        ),
        refuse(
            "changed",
            "the policy and the images of a sealed pod do not change after it was created, as its VM keeps the policy",
            "a sealed pod keeps its policy and its images: its VM refuses others; change the input, and render again",
        ),
        refuse(
            "debugged",
            "an ephemeral container is in no sealed policy, so its VM refuses it",
            "an ephemeral container is in no sealed policy, so its VM refuses it: read the logs, or put the container "
            "into the input, and render again",
        ),
    ]


def _write_step() -> str:
    """Write the missing step, by the marks of hosts in the objects that they apply."""
    cases = [
        f"variables.it.metadata.?{where}.orValue({{}}).exists(k, k == {text(key)}) ? {text(STEPS[host])} : "
        for where, key, host in MARKS
    ]
    return "".join(cases) + text(STEPS["kubectl"])


def _write_reason(guarded: Guarded) -> str:
    """Write why no render seals the pods of a refused kind, and the way out."""
    return by_kind({key: text(reason) for key, reason in guarded.reasons.items()}, '""')


# --- The policy on the containers of a sealed pod, and the ConfigMaps that list them
#
# Rule: CEL cannot read a sealed policy, so the names and digests of rendered output are written beside it, under the
# end of the pod's initdata, which has the checksum of its gzip. A pod whose initdata is not listed is not judged: it is
# of an earlier render, or of another release.
#
#     guard --sealed rendered.yaml     a ConfigMap for each namespace, with lines `name sha256:…` below END
#     a pod with initdata …END         each of its containers has a line, or it is refused by name


SELECTOR = {f"{DOMAIN}/sealed-containers": "true"}  # the labels of the ConfigMaps
END = 40  # characters of initdata, 8 bytes of which are checksum and size
LEAST = 64  # shorter ones have no policy
REPLACED: dict[str, str | int | None] = {"+": "-", "/": "_", "=": "."}  # what a key of a ConfigMap cannot have
MOST = 200_000  # bytes of a ConfigMap, below what `kubectl apply` writes into an annotation
PARAMETERS = {"apiVersion": "v1", "kind": "ConfigMap"}
KEY = f"t.substring(t.size() - {END})" + "".join(
    f".replace({text(word)}, {text(str(new))})" for word, new in REPLACED.items()
)
LINES = f'variables.sealed[{KEY}].split("\\n")'  # one list for all containers, as CEL counts what each text costs
DIGEST = '(string(c.image).contains("@") ? string(c.image).split("@", 2)[1] : "")'
IS_STRANGE = f'!(string(c.name) + " " + {DIGEST} in lines)'


def config_maps(workloads: Iterable[Workload], name: str) -> tuple[Json, ...]:
    """Return the ConfigMaps about sealed workloads: by namespace, of at most MOST bytes each."""
    by_namespace: dict[str, dict[str, str]] = {}
    for workload in workloads:
        initdata = workload.annotations.get(INITDATA)
        if isinstance(initdata, str) and len(initdata) >= LEAST:
            images = ((entry.name, str(entry.container.get("image", ""))) for entry in workload.all_containers)
            lines = (f"{name} {image.partition('@')[2]}\n" for name, image in images)
            key = initdata[-END:].translate(str.maketrans(REPLACED))
            by_namespace.setdefault(workload.ref.namespace, {})[key] = "".join(dict.fromkeys(lines))
    return tuple(
        _make_config_map(f"{name}-{number}" if number else name, namespace, part)
        for namespace, data in sorted(by_namespace.items())
        for number, part in enumerate(_split_parts(data))
    )


def _split_parts(data: dict[str, str]) -> list[dict[str, str]]:
    parts: list[dict[str, str]] = [{}]
    size = 0
    for key, lines in sorted(data.items()):
        size += len(key) + len(lines)
        if size > MOST and parts[-1]:
            parts.append({})
            size = len(key) + len(lines)
        parts[-1][key] = lines
    return parts


def _make_config_map(name: str, namespace: str, data: dict[str, str]) -> Json:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), "labels": dict(SELECTOR)}
    return {**PARAMETERS, "metadata": metadata, "data": data}


def sealed_containers(guarded: Guarded) -> Json:
    """Return the policy. Its parameters are the ConfigMaps of the object's namespace, one after the other."""
    has_lines = is_text(SEALED, f"t.size() >= {LEAST} && {KEY} in variables.sealed")
    strange = f"[{LINES}].exists(lines, {containers('p')}.exists(c, {IS_STRANGE}))"
    names = f"[{LINES}].map(lines, {containers('p')}.filter(c, {IS_STRANGE}).map(c, c.name).join(' '))[0]"
    variables = {
        **pod_variables(guarded),
        "sealed": "params.?data.orValue({})",
        "listed": f"variables.judged ? variables.pods.filter(p, {is_text(CLASS, IS_HANDLER)} && {has_lines}) : []",
        "strange": f"variables.listed.filter(p, {is_text(SEALED, strange)})",
        "names": f"variables.strange.map(p, [string({SEALED}.orValue(''))].map(t, {names})[0])",
    }
    validation = refuse(
        "strange",
        "a container is not among those that were sealed",
        "not among the sealed containers of this pod, or with another image: {}. Undo the change, keep the webhook "
        "that adds it away from the pod, or change the input, and render again",
        "variables.names[0]",
    )
    return policy("sealed-containers", {"resourceRules": rules(guarded.pods)}, variables, [validation], PARAMETERS)
