"""`$(NAME)` in texts of a pod: variables that the kubelet expands, values of the running pod, bounds."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from krm_function.findings import Finding, Path
from krm_function.kubernetes.pod_names import HASH, MINUTES, NUMBER, RANDOM
from krm_function.policy.pod_metadata import PodMetadata, escape_regex, problem

# --- Bound what `$(NAME)` makes of the texts of a container, before any of it is built
#
# Rule: a length is computed from the lengths of the parts. Variables that name each other twice double
# with each line, so that 1 KB of them stands for gigabytes. Text without a reference is as long as the input and has no
# bound here. A single string of a process may have 128 KiB on Linux (execve(2), MAX_ARG_STRLEN).


LONGEST_VALUE = 64 * 1024  # characters of one variable or argument, or of the pattern that stands for it
LONGEST_CONTAINER = 1024 * 1024  # characters of all that is expanded in one container
EXPANSION = r"\$(?:\$|\(([^)]*)\))"


class Room:
    """The characters that one container may still expand to."""

    __slots__ = ("left", "refused")

    def __init__(self) -> None:
        self.left = LONGEST_CONTAINER
        self.refused: set[str] = set()

    def refuses(self, size: int) -> tuple[str, int] | None:
        """Take `size` characters. Without enough room, take none and return the variant of CC0604 and the limit."""
        if size > LONGEST_VALUE:
            return "CC0604.long-expansion", LONGEST_VALUE
        if size > self.left:
            return "CC0604.long-expansions", LONGEST_CONTAINER
        self.left -= size
        return None


def expanded_size(text: str, variables: Mapping[str, str]) -> int:
    """Return how many characters `expand` makes of a text.

    >>> expanded_size("$(A)$(A) $$ $(B)", {"A": "12345"})
    17
    """
    size = len(text)
    for match in re.finditer(EXPANSION, text):
        name = match[1]
        if name is None:
            size -= 1
        elif name in variables:
            size += len(variables[name]) - len(name) - 3
    return size


# --- Handle `$(NAME)`: variables that the kubelet expands, and tokens that the rules replace by values of the running
# pod
#
# Rule: text of the user and tokens of the rules never mix. A token travels as a marker that no YAML text
# and no process can contain and becomes `$(name)` only at the very end; a `$(name)` in the user's text is refused,
# since the rules would accept any value in its place.
#
# Kata's rules support a token as a whole value only. Text around one, and values without a token, become a pattern:
# `$(text-pattern)` and an anchored regex, which only the native rules support; Kata's match nothing with it.


# fieldPath of an environment variable -> token that the rules replace (docs/facts/kata.md#environment)
FIELDS = {
    "metadata.name": "sandbox-name",
    "metadata.uid": "pod-uid",
    "status.hostIP": "host-ip",
    "status.podIP": "pod-ip",
    "spec.nodeName": "node-name",
}
LISTS = {"status.hostIPs": "host-ips", "status.podIPs": "pod-ips"}
ANY_KIND = ""
INDEX = "batch.kubernetes.io/job-completion-index"  # an annotation as well
# labels that Kubernetes gives pods by itself (docs/facts/kubernetes.md#labels-of-pods): kind, key -> text with markers,
# and {name} for the name of the object
CONTROLLED = {
    ("StatefulSet", "statefulset.kubernetes.io/pod-name"): "\0sandbox-name\0",
    ("StatefulSet", "apps.kubernetes.io/pod-index"): "\0pod-index\0",
    ("StatefulSet", "controller-revision-hash"): "{name}-\0template-hash\0",
    ("DaemonSet", "controller-revision-hash"): "\0template-hash\0",
    ("Deployment", "pod-template-hash"): "\0template-hash\0",
    **{
        (kind, prefix + key): text
        for kind, name in (("Job", "{name}"), ("CronJob", "{name}-\0minutes\0"))
        for prefix in ("", "batch.kubernetes.io/")
        for key, text in (("job-name", name), ("controller-uid", "\0pod-uid\0"))
    },
    ("Job", INDEX): "\0pod-index\0",
    ("CronJob", INDEX): "\0pod-index\0",
    (ANY_KIND, "topology.kubernetes.io/zone"): "\0node-label\0",  # the binding to a node overwrites these two
    (ANY_KIND, "topology.kubernetes.io/region"): "\0node-label\0",
}
WHOLE = (*FIELDS.values(), "sandbox-namespace", "host-name", "resource-field", "todo-annotation")
PATTERN = "text-pattern"
# The value of an open variable, of which the cluster alone has the value. As a pattern, nothing fits it: text after the
# end. The rules in rules/external-sources.rego look for it.
EXTERNAL = "external-source"
OPEN = f"$({PATTERN})$({EXTERNAL})"
TOKENS = (*WHOLE, PATTERN)

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IP = rf"(?:{_OCTET}(?:\.{_OCTET}){{3}}|[0-9a-f]{{0,4}}(?::[0-9a-f]{{0,4}}){{2,7}})"
# token -> its regex inside a pattern; the rules substitute the first two
PATTERNS = {
    "sandbox-name": "$(sandbox-name)",
    "sandbox-namespace": "$(sandbox-namespace)",
    "pod-uid": "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "host-ip": _IP,
    "pod-ip": _IP,
    "host-ips": f"{_IP}(?:,{_IP})*",
    "pod-ips": f"{_IP}(?:,{_IP})*",
    "node-name": "[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?",
    "resource-field": "[0-9]+",
    "pod-index": NUMBER.pattern(),
    "completion-index": NUMBER.pattern(),
    "template-hash": HASH.pattern(),
    "generated": RANDOM.pattern(),
    "minutes": MINUTES.pattern(),
    "node-label": "(?:[A-Za-z0-9](?:[-._A-Za-z0-9]{0,61}[A-Za-z0-9])?)?",  # empty on a node without it
    "controller-hash": "[0-9a-z]+",
    "controller-digest": "[0-9A-V]+",
}
# Patterns as text, of which few pods need any: `re` compiles each at its first use. The variables of a Service
# (kubelet, envvars.go): end of the name -> value
_SERVICES = (
    (r"_SERVICE_HOST\Z|_PORT_[0-9]+_(?:TCP|UDP|SCTP)_ADDR\Z", _IP),
    (r"_SERVICE_PORT(?:_[A-Z0-9_]+)?\Z|_PORT_[0-9]+_(?:TCP|UDP|SCTP)_PORT\Z", "[0-9]{1,5}"),
    (r"_PORT_[0-9]+_(?:TCP|UDP|SCTP)_PROTO\Z", "(?:tcp|udp|sctp)"),
    (r"_PORT(?:_[0-9]+_(?:TCP|UDP|SCTP))?\Z", rf"(?:tcp|udp|sctp)://(?:{_IP}|\[{_IP}\]):[0-9]{{1,5}}"),
)
_SERVICE = r"[A-Z0-9][A-Z0-9_]*_(?:SERVICE_HOST|SERVICE_PORT|PORT)(?:_[A-Z0-9_]+)?\Z"
_HAND_WRITTEN = r"\$\((" + "|".join(TOKENS) + r")\)"
_MARKER = "\0([a-z-]+|[A-Z0-9][A-Z0-9_]*)\0"


def controlled_text(pod: PodMetadata, key: str) -> str | None:
    """Return the text, with markers, of a label that Kubernetes gives a pod; None for others, or of an unknown name."""
    kind = pod.ref.kind if pod.ref.api_version in ("apps/v1", "batch/v1") else ANY_KIND
    text = CONTROLLED.get((kind, key), CONTROLLED.get((ANY_KIND, key)))
    is_known = any(form.parts[1:2] != (RANDOM,) for form in pod.names)  # not by a generateName
    return None if text is None or ("{name}" in text and not is_known) else text.replace("{name}", pod.ref.name)


def token_marker(token: str) -> str:
    """Return the marker of a token."""
    return f"\0{token}\0"


def without_markers(text: str) -> str:
    """Replace markers by `$(name)`, the form of policy_data."""
    return re.sub(_MARKER, lambda match: f"$({match[1]})", text) if "\0" in text else text


def without_own_tokens(text: str) -> str:
    """Return what is not ours of a variable or argument: no markers, and no pattern, whose texts are escaped."""
    return re.sub(_MARKER, "?", text.partition(token_marker(PATTERN))[0]) if "\0" in text else text


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Expand `$(NAME)` as the kubelet does: unknown names stay, `$$` is a dollar.

    >>> expand("$(A) $(B) $$(A) $A", {"A": "x"})
    'x $(B) $(A) $A'
    """
    if "$" not in text:
        return text
    return re.sub(EXPANSION, lambda match: "$" if match[1] is None else variables.get(match[1], match[0]), text)


def with_services(text: str, variables: Mapping[str, str], *, links: bool) -> Mapping[str, str]:
    """Add markers for the variables of Services that `text` refers to, whose values only the kubelet knows.

    links: whether of all Services; else of the Service `kubernetes` only.
    """
    if "_SERVICE_" not in text and "_PORT" not in text:
        return variables
    service_names = {name for name in re.findall(EXPANSION, text) if name not in variables and re.match(_SERVICE, name)}
    names = {
        name
        for name in service_names
        if (links or name.startswith("KUBERNETES_")) and any(re.search(ends, name) for ends, _ in _SERVICES)
    }
    return {**variables, **{name: token_marker(name) for name in names}} if names else variables


def expanded(
    text: str, variables: Mapping[str, str], pod: PodMetadata, at: Path, findings: list[Finding], room: Room
) -> str:
    """Expand a text of the pod spec; "" and a finding if it has a hand-written token before or after, or no room."""
    if not has_no_tokens((text,), pod, at, findings):
        return ""
    if "$" not in text:
        return text
    links = pod.spec.get("enableServiceLinks") is not False
    variables = with_services(text, variables, links=links)
    if not fits(text, variables, pod, at, findings, room):
        return ""
    out = expand(text, variables)
    if token_marker(EXTERNAL) in out:
        findings.append(problem(pod, at, "CC0671", variable=_first_open_name(text, variables)))
        return ""
    if out is not text:
        has_no_tokens((re.sub(_MARKER, "?", out),), pod, at, findings)
    return out


def fits(
    text: str, variables: Mapping[str, str], pod: PodMetadata, at: Path, findings: list[Finding], room: Room
) -> bool:
    """Tell whether the container has room for what a text expands to, which is not built.

    Appends a finding if not, one of a kind for each container.
    """
    refusal = room.refuses(expanded_size(text, variables))
    if refusal and refusal[0] not in room.refused:
        room.refused.add(refusal[0])
        findings.append(problem(pod, at, refusal[0], limit=refusal[1]))
    return not refusal


def _first_open_name(text: str, variables: Mapping[str, str]) -> str:
    names = (match[1] for match in re.finditer(EXPANSION, text) if match[1])
    return next(name for name in names if variables.get(name) == token_marker(EXTERNAL))


def has_no_tokens(texts: Iterable[str], pod: PodMetadata, at: Path, findings: list[Finding]) -> bool:
    """Tell whether no text has a hand-written token or a NUL, which no process can have; the first adds a finding."""
    for text in texts:
        match = re.search(_HAND_WRITTEN, text) if "$(" in text else None
        if match or "\0" in text:
            token = match[1] if match else ""
            findings.append(problem(pod, at, "CC0604.token" if match else "CC0604.nul", token=token))
            return False
    return True


def matchable_variable(name: str, value: str, pod: PodMetadata, at: Path, findings: list[Finding]) -> str:
    """Return the value of a variable in a form that the rules can match."""
    for form in _find_tokens(value):
        if form != "sandbox-namespace" and (value != token_marker(form) or form not in WHOLE):
            return _build_pattern(value, pod, at, name, findings)
    return value


def matchable_argument(arg: str, pod: PodMetadata, at: Path, findings: list[Finding]) -> str:
    """Return an argument in a form that the rules can match."""
    for form in _find_tokens(arg):
        if form != "sandbox-name" and arg != token_marker("node-name"):
            return _build_pattern(arg, pod, at, "", findings)
    return escaped_argument(arg)


def _build_pattern(text: str, pod: PodMetadata, at: Path, variable: str, findings: list[Finding]) -> str:
    """Build the pattern of a text with tokens. variable: its name, "" for an argument."""
    pieces = re.split(_MARKER, text)  # text, token, text, ... text
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            pieces[index] = escape_regex(piece)
        elif piece.isupper():
            value = next(value for ends, value in _SERVICES if re.search(ends, piece))
            # without such a Service the text stays as it is
            pieces[index] = f"(?:{value}|{escape_regex(f'$({piece})')})"
        elif piece in PATTERNS:
            pieces[index] = PATTERNS[piece]
        else:
            code = "CC0601.token-variable" if variable else "CC0601.token"
            findings.append(problem(pod, at, code, variable=variable, token=piece))
    if sum(map(len, pieces)) > LONGEST_VALUE:
        findings.append(problem(pod, at, "CC0604.long-pattern", limit=LONGEST_VALUE))
        return ""
    return f"{token_marker(PATTERN)}^{''.join(pieces)}$"


def _find_tokens(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(_MARKER, text))) if "\0" in text else []


def escaped_argument(text: str) -> str:
    """Escape the dollars of an argument: the rules replace two by one."""
    return text.replace("$", "$$") if "$$" in text or "$\0" in text else text


# --- Bind values that only the running pod has: the host may choose them within their form, and no further
#
# Kata's rules take any text for such a value where it is all of a variable or of an argument; only the patterns that
# text around a value is given are narrow. So the data say that pattern here too, and no rule has to change.
#
#     all of it is         a variable              an argument
#     pod-uid              a UUID                  a pattern already
#     node-name            a DNS subdomain         a DNS subdomain
#     resource-field       digits                  a pattern already
#     sandbox-name         the pod's name          exact by the rules
#     pod-ip, host-ip      an IPv4 or IPv6 address a pattern already
#     sandbox-namespace    exact by the rules      a pattern already
#
# Rule: one table of forms, that of policy/expansion.py. Rules that know no patterns keep Kata's tokens,
# and what they leave open is listed by policy/open_variables.py.


_WHOLE = ("sandbox-name", "pod-uid", "node-name", "resource-field", "pod-ip", "host-ip")
# token as policy_data have it -> the pattern of its form
FORMS = {f"$({token})": f"$({PATTERN})^{PATTERNS[token]}$" for token in _WHOLE}
# forms that take more than Kata's rules take for their token: an address of IPv6, too
WIDER = frozenset(FORMS[token] for token in ("$(pod-ip)", "$(host-ip)"))
_NODE = "$(node-name)"
_ABSENT = "$(todo-annotation)"


def bound_variable(entry: str) -> str:
    """Return `NAME=VALUE` with the form of its value, if that is one token; else the same text.

    >>> bound_variable("CPUS=$(resource-field)")
    'CPUS=$(text-pattern)^[0-9]+$'
    """
    name, equals, value = entry.partition("=")
    return f"{name}{equals}{bound_value(value)}"


def bound_value(value: str) -> str:
    """Return the form of a value that is one token; else the same text."""
    return FORMS.get(value, value)


def bound_argument(text: str) -> str:
    """Return the form of an argument that is the name of the node; else the same text."""
    return FORMS[_NODE] if text == _NODE else text


def as_bound(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a container of policy data in a form that all generators share.

    genpolicy, and contrast-krm before 0.2, write tokens, even for an annotation that the pod template lacks. Indexes
    and hashes once had any number of digits and letters.
    """
    process = entry["OCI"]["Process"]
    env = [as_bound_variable(text) for text in process.get("Env", ())]
    bound = _bind_container({**entry, "OCI": {**entry["OCI"], "Process": {**process, "Env": env}}})
    process = bound["OCI"]["Process"]
    texts = {key: [unlimited_value(text) for text in process.get(key, ())] for key in ("Env", "Args")}
    return {**bound, "OCI": {**bound["OCI"], "Process": {**process, **texts}}}


def unlimited(text: str) -> str:
    """Return a pattern with any number of digits and letters in place of as many as there can be.

    >>> unlimited("^web-[0-9]{1,10}$")
    '^web-[0-9]+$'
    """
    letters = f"[{RANDOM.alphabet}]+"
    digits = f"[{NUMBER.alphabet}]+"
    for limited, wide in ((NUMBER, digits), (MINUTES, digits), (HASH, letters), (RANDOM, letters)):
        text = text.replace(limited.pattern(), wide)
    return text


def unlimited_value(text: str) -> str:
    """Return a variable or an argument with its pattern unlimited, if it is one."""
    return unlimited(text) if PATTERN in text else text


def as_bound_variable(entry: str) -> str:
    """Return one variable's entry as the generator writes it today."""
    return entry.removesuffix(_ABSENT) if entry.endswith(f"={_ABSENT}") else bound_variable(entry)


def bound_containers(containers: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return containers of policy data with all such values bound. Those that have none are the same objects."""
    return [_bind_container(entry) for entry in containers]


def _bind_container(entry: dict[str, Any]) -> dict[str, Any]:
    process = entry["OCI"]["Process"]
    env = [bound_variable(text) if text.endswith(")") else text for text in process.get("Env", ())]
    args = [bound_argument(text) for text in process.get("Args", ())]
    changed = {key: texts for key, texts in (("Env", env), ("Args", args)) if texts != process.get(key, [])}
    return {**entry, "OCI": {**entry["OCI"], "Process": {**process, **changed}}} if changed else entry
