"""The policy that knows which containers a sealed pod has, and the ConfigMaps that tell it.

Rule of this file: CEL cannot read a sealed policy, so the names and digests of rendered output are written beside it,
under the end of the pod's initdata, which has the checksum of its gzip. A pod whose initdata is not listed is not
judged: it is of an earlier render, or of another release.

    guard --sealed rendered.yaml     a ConfigMap for each namespace, with lines `name sha256:…` below END
    a pod with initdata …END         each of its containers has a line, or it is refused by name
"""

from collections.abc import Iterable

from krm_function.guard.cel import is_text, text
from krm_function.guard.class_names import IS_HANDLER
from krm_function.guard.pod_templates import Guarded, rules
from krm_function.guard.policy_objects import CLASS, Json, pod_variables, policy, refuse
from krm_function.guard.sealed_pods import SEALED, containers
from krm_function.model.guarded_namespaces import DOMAIN
from krm_function.model.workload import INITDATA, Workload

SELECTOR = {f"{DOMAIN}/sealed-containers": "true"}  # the labels of the ConfigMaps
END = 40  # characters of initdata, 8 bytes of which are checksum and size
LEAST = 64  # shorter ones have no policy
REPLACED: dict[str, str | int | None] = {"+": "-", "/": "_", "=": "."}  # what a key of a ConfigMap cannot have
MOST = 200_000  # bytes of a ConfigMap, below what `kubectl apply` writes into an annotation
PARAMETERS = {"apiVersion": "v1", "kind": "ConfigMap"}
KEY = f"t.substring(t.size() - {END})" + "".join(
    f".replace({text(one)}, {text(str(new))})" for one, new in REPLACED.items()
)
LINES = f'variables.sealed[{KEY}].split("\\n")'  # one list for all containers, as CEL counts what each text costs
DIGEST = '(string(c.image).contains("@") ? string(c.image).split("@", 2)[1] : "")'
IS_STRANGE = f'!(string(c.name) + " " + {DIGEST} in lines)'


def key_of(initdata: str) -> str:
    """Return the key of a pod's initdata."""
    return initdata[-END:].translate(str.maketrans(REPLACED))


def line_of(name: str, image: str) -> str:
    """Return the line of a container."""
    return f"{name} {image.partition('@')[2]}\n"


def config_maps(workloads: Iterable[Workload], name: str) -> tuple[Json, ...]:
    """Return the ConfigMaps about sealed workloads: by namespace, of at most MOST bytes each."""
    by_namespace: dict[str, dict[str, str]] = {}
    for workload in workloads:
        initdata = workload.annotations.get(INITDATA)
        if isinstance(initdata, str) and len(initdata) >= LEAST:
            lines = [line_of(one.name, str(one.container.get("image", ""))) for one in workload.all_containers]
            data = by_namespace.setdefault(workload.ref.namespace, {})
            data[key_of(initdata)] = "".join(dict.fromkeys(lines))
    return tuple(
        _config_map(f"{name}-{number}" if number else name, namespace, part)
        for namespace, data in sorted(by_namespace.items())
        for number, part in enumerate(_parts(data))
    )


def _parts(data: dict[str, str]) -> list[dict[str, str]]:
    parts: list[dict[str, str]] = [{}]
    size = 0
    for key, lines in sorted(data.items()):
        size += len(key) + len(lines)
        if size > MOST and parts[-1]:
            parts.append({})
            size = len(key) + len(lines)
        parts[-1][key] = lines
    return parts


def _config_map(name: str, namespace: str, data: dict[str, str]) -> Json:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), "labels": dict(SELECTOR)}
    return {**PARAMETERS, "metadata": metadata, "data": data}


def sealed_containers(known: Guarded) -> Json:
    """Return the policy. Its parameters are the ConfigMaps of the object's namespace, one after the other."""
    has_lines = is_text(SEALED, f"t.size() >= {LEAST} && {KEY} in variables.sealed")
    strange = f"[{LINES}].exists(lines, {containers('p')}.exists(c, {IS_STRANGE}))"
    names = f"[{LINES}].map(lines, {containers('p')}.filter(c, {IS_STRANGE}).map(c, c.name).join(' '))[0]"
    variables = {
        **pod_variables(known),
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
    return policy("sealed-containers", {"resourceRules": rules(known.pods)}, variables, [validation], PARAMETERS)
