"""The conditions of sealed rules: as text, as questions to an engine, and with the field that each is about."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Literal

from krm_function.record import NamedTuple

# --- The definitions and conditions of sealed rules, as they are written
#
# Rule: an explanation asks the conditions of the policy itself. So they are cut out of its text and never written a
# second time. Rules in another layout than that of `opa fmt` are not found: then only the verdict is known.


# a line that begins a definition with a condition: `name(parameters) if {`, `Name := {…} if {`, or all of it
HEAD = re.compile(r"([A-Za-z_]\w*)(?:\(([^()]*)\))?(?: := (.*))? if (.+)")
ANY = re.compile(r"(default )?([A-Za-z_]\w*)(?:[(:= \[].*)?")
EVERY = re.compile(r"every (\w+)(?:, (\w+))? in (.+?) \{(.*)\}", re.DOTALL)
SOME = re.compile(r"some (\w+(?:, \w+)*) in .*", re.DOTALL)
ASSIGNED = re.compile(r"(\w+) := .*", re.DOTALL)
CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
VALUE = "contrast_krm_value"
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


class Body(NamedTuple):
    """A definition with conditions. parameters: names, each `_` with a number appended.

    The last statement is its value if that is not true, as it may be undefined.
    """

    name: str
    parameters: tuple[str, ...]
    statements: tuple[str, ...]


def bodies(rules: str) -> Mapping[str, tuple[Body, ...]]:
    """Return by name the definitions with conditions; none for a name that also has others, its default aside."""
    by_name: dict[str, list[Body]] = {}
    for head, block in _find_blocks(rules):
        names = [name.strip() for name in (head[2] or "").split(",") if name.strip()]
        parameters = tuple(f"unused_{index}" if name == "_" else name for index, name in enumerate(names))
        value = [] if head[3] in (None, "true") else [f"{VALUE} := {head[3]}"]
        by_name.setdefault(head[1], []).append(Body(head[1], parameters, (*statements(block), *value)))
    counted = definitions(rules)
    return {name: tuple(several) for name, several in by_name.items() if len(several) == counted[name]}


def _find_blocks(rules: str) -> Iterator[tuple[re.Match[str], str]]:
    head, held = None, [""]
    for line in rules.split("\n"):
        if head and line == "}":
            yield head, "\n".join(held)
            head = None
        elif head and (not line or line[0] in "\t #"):
            held.append(line)
        else:
            head, held = HEAD.fullmatch(line), []
            if head and head[4] != "{":
                yield head, head[4]
                head = None


def definitions(rules: str) -> Counter[str]:
    """Return the number of definitions of each name, defaults aside."""
    counted: Counter[str] = Counter()
    for line in rules.split("\n"):
        if match := ANY.fullmatch(line):
            counted[match[2]] += not match[1]
    return counted


def statements(block: str) -> Iterator[str]:
    """Yield the statements of a block: its lines, joined while a bracket is open; without comments."""
    held: list[str] = []
    depth = 0
    for line in block.splitlines():
        if line.strip().startswith("#") or not line.strip():
            continue
        held.append(line.strip())
        depth += _count_open(line)[-1]
        if depth <= 0:
            yield "\n".join(held)
            held, depth = [], 0
    if held:
        yield "\n".join(held)


def arguments(text: str) -> list[str]:
    """Return the arguments of a call, as they are written."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in OPENING) - (character in CLOSING)
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def is_balanced(text: str) -> bool:
    """Tell whether the text closes each bracket that it opens, and no other."""
    depths = _count_open(text)
    return min(depths) == 0 == depths[-1]


def words(text: str) -> frozenset[str]:
    """Return the names in a text, except for those in quotes."""
    return frozenset(re.findall(r"(?<![.\w])[A-Za-z_]\w*", _empty_quotes(text)))


def _count_open(text: str) -> list[int]:
    """Return how many brackets are open at the beginning, and after each character outside of quotes."""
    steps = ((character in OPENING) - (character in CLOSING) for character in _empty_quotes(text))
    return [*accumulate(steps, initial=0)]


def _empty_quotes(line: str) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"|`[^`]*`', '""', line)


# --- The table of conditions: the field of a request, how it is compared, and the field of the pod that decides it
#
# Rule: a row is found by the function of the rules and the beginning of its condition, as the sealed policy has it; the
# table explains conditions and never judges by them. A condition without a row is shown as its own text. New rules need
# a row here; tests/replay/test_conditions.py lists the conditions that have none.
#
# Source of the conditions: docs/facts/kata-rules.md#create-container, docs/facts/contrast-node.md#rules.


# how to describe a difference: operations/replay.py
Says = Literal[
    "another", "arguments", "capabilities", "devices", "elements", "mounts", "paths", "plain", "required", "role",
    "state", "storages", "used", "value", "values",
]  # fmt: skip

NODE = "the node sends this, not the pod: the policy is for another runtime, release or profile than the node has"
AGAIN = "render again with the values that the cluster really uses"
WEBHOOK = "if an admission webhook or a controller adds it, add it to the input and render again"
STARTED = "the state of the VM: an earlier request has set it; nothing in the pod decides it"


class Condition(NamedTuple):
    """One row. field: dotted, of the request and of its container in policy_data. pod: below the pod template.

    In `pod`, {container} is the container of the request, as `spec.containers[name=app]`. follows: it is left out if an
    earlier condition of the same function does not hold either, which is more precise. state: the name in the state.
    """

    function: str
    statement: str
    field: str
    pod: str
    says: Says
    remedy: str = AGAIN
    follows: bool = False
    state: str = ""


_MATCH = "container_permitted"
_RUN = "process_permitted"
_LINUX = "linux_permitted"
_STORAGES = "storages_permitted"
_CREATE = "CreateContainerRequest"
_SANDBOX = "CreateSandboxRequest"
_EXEC = "ExecProcessRequest"
_CONTEXT = "{container}.securityContext"
_ANNOTATIONS = "OCI.Annotations"
_NAME, _NAMESPACE, _ID = (f'{_ANNOTATIONS}["io.kubernetes.cri.sandbox-{name}"]' for name in ("name", "namespace", "id"))
_ENV = "OCI.Process.Env"
_ARGS = "{container}.command, args"

CONDITIONS = (
    Condition("ordinary_container", "cgroup_permitted", "OCI.Linux.CgroupsPath", "", "plain", NODE),
    Condition("ordinary_container", "", "", "", "plain", NODE),
    Condition(_MATCH, "p.sandbox_pidns", "sandbox_pidns", "spec.shareProcessNamespace", "value"),
    Condition(_MATCH, "version_permitted", "OCI.Version", "", "value", NODE),
    Condition(
        _MATCH, "propagation_permitted", "OCI.Linux.RootfsPropagation", "{container}.volumeMounts[].mountPropagation",
        "another",
    ),
    Condition(_MATCH, "p.OCI.Root.Readonly", "OCI.Root.Readonly", f"{_CONTEXT}.readOnlyRootFilesystem", "value"),
    Condition(_MATCH, "p.OCI.Process.Terminal", "OCI.Process.Terminal", "{container}.tty", "value"),
    Condition(_MATCH, "role_permitted", _ANNOTATIONS, "", "role", NODE),
    Condition(
        _MATCH, "namespace_permitted", _NAMESPACE, "metadata.namespace", "value",
        "a policy is for one namespace: render for the one the pod runs in",
    ),
    Condition(
        _MATCH, "name_permitted", _NAME, "metadata.name", "value",
        "a policy is for the pods of one workload: replay the log with the workload this pod is of",
    ),
    Condition(_MATCH, "matches(p.OCI.Annotations", _ID, "", "plain", NODE),
    Condition(_MATCH, "bundle_id", "OCI.Root.Path", "", "plain", NODE),
    Condition(_MATCH, "identified", "container_id", "", "plain", NODE),
    Condition("identified", "", "container_id", "", "plain", NODE),
    Condition("annotations_permitted", "every", _ANNOTATIONS, "metadata.annotations", "elements", WEBHOOK),
    Condition(_RUN, "p.Cwd", "OCI.Process.Cwd", "{container}.workingDir", "value"),
    Condition(
        _RUN, "p.NoNewPrivileges", "OCI.Process.NoNewPrivileges", f"{_CONTEXT}.allowPrivilegeEscalation", "value",
        WEBHOOK,
    ),
    Condition(_RUN, "p.User.UID", "OCI.Process.User.UID", f"{_CONTEXT}.runAsUser", "value", WEBHOOK),
    Condition(_RUN, "p.User.GID", "OCI.Process.User.GID", f"{_CONTEXT}.runAsGroup", "value", WEBHOOK),
    Condition(
        _RUN, "{gid", "OCI.Process.User.AdditionalGids", "spec.securityContext.supplementalGroups", "values", WEBHOOK
    ),
    Condition(_RUN, "every variable", _ENV, "{container}.env", "elements", WEBHOOK),
    Condition("arguments_permitted", "count", "OCI.Process.Args", _ARGS, "arguments"),
    Condition("arguments_permitted", "every", "OCI.Process.Args", _ARGS, "arguments", AGAIN, True),
    *(
        Condition(
            "capabilities_permitted", f"capability_set_permitted(wanted.{name}", f"OCI.Process.Capabilities.{name}",
            f"{_CONTEXT}.capabilities", "capabilities", WEBHOOK,
        )
        for name in ("Ambient", "Bounding", "Effective", "Inheritable", "Permitted")
    ),
    Condition(
        _LINUX, "given == wanted", "OCI.Linux.Namespaces", "spec.hostNetwork, hostPID, hostIPC, shareProcessNamespace",
        "plain",
    ),
    *(
        Condition(
            _LINUX, f"count({{path | path := p.OCI.Linux.{name}", f"OCI.Linux.{name}",
            f"{_CONTEXT}.privileged, procMount", "required",
        )
        for name in ("MaskedPaths", "ReadonlyPaths")
    ),
    Condition(
        _LINUX, "count({path | path := input.OCI.Linux.Devices", "OCI.Linux.Devices", "{container}.volumeDevices",
        "paths",
    ),
    Condition(_LINUX, "", "OCI.Linux.Sysctl", "spec.securityContext.sysctls", "elements"),
    Condition("devices_permitted", "every", "devices", "{container}.volumeDevices", "devices"),
    Condition(
        "devices_permitted", "gpus_permitted", "devices", "{container}.resources.limits", "devices",
        "GPUs of the request and of the pod differ in number, or are not announced in annotations cdi.k8s.io/vfio…",
    ),
    Condition("mounts_permitted", "every", "OCI.Mounts", "{container}.volumeMounts", "mounts", WEBHOOK),
    Condition("mounts_permitted", "", "OCI.Mounts", "{container}.volumeMounts", "used", WEBHOOK, True),
    Condition(_STORAGES, "count", "storages", "spec.volumes", "storages"),
    Condition(_STORAGES, "every storage", "storages", "{container}.image", "storages"),
    Condition(_STORAGES, "every wanted", "storages", "spec.volumes", "storages", AGAIN, True),
    Condition(_MATCH, "complete", "", "", "required", WEBHOOK),
    Condition("complete", "regex", _NAME, "", "plain", NODE),
    Condition("complete", "own_cgroup", "OCI.Linux.CgroupsPath", "", "plain", NODE),
    Condition("complete", "not is_pinned", "container_id", "", "state", STARTED),
    Condition(
        "variables_complete", "count(given)", _ENV, "{container}.env", "plain",
        "a variable is there twice, or one has no name",
    ),
    Condition("variables_complete", "", _ENV, "{container}.env", "required", WEBHOOK),
    Condition("mounts_complete", "count(given)", "OCI.Mounts", "{container}.volumeMounts", "plain", NODE),
    Condition("mounts_complete", "", "OCI.Mounts", "{container}.volumeMounts", "required", WEBHOOK),
    Condition("volumes_apart", "", "OCI.Mounts", "spec.volumes", "plain", NODE),
    Condition("devices_complete", "", "devices", "{container}.volumeDevices", "devices"),
    Condition(_CREATE, "count(candidates)", "", "", "plain", "two containers of the policy fit this request"),
    *(
        Condition(function, statement, field, "", "state", STARTED, state=name)
        for function, statement, field, name in (
            (_CREATE, "name_ops", _NAME, "sandbox_name"),
            (_CREATE, "namespace_ops", _NAMESPACE, "namespace"),
            (_CREATE, "network_ops", "OCI.Linux.Namespaces", "network_namespace"),
            (_CREATE, "id_ops", "container_id", ""),
            (_CREATE, "sandbox_ops", _ID, "sandbox_id"),
            (_CREATE, "ops", "container_id", ""),
            ("StartContainerRequest", "", "container_id", ""),
            ("RemoveContainerRequest", "", "container_id", ""),
            (_SANDBOX, "ops", "sandbox_id", "sandbox_id"),
            (_EXEC, "p :=", "container_id", ""),
        )
    ),
    Condition(_EXEC, "is_null(input.process.Capabilities)", "process.Capabilities", "", "plain", NODE),
    Condition(
        _EXEC, "command_permitted", "process.Args",
        "{container}.livenessProbe, readinessProbe, startupProbe, lifecycle", "arguments",
        "a command in a running container is allowed if a probe or hook of the pod has it; `kubectl exec` is not",
    ),
    Condition(_EXEC, "is_null", "string_user", "", "plain", NODE),
    Condition(_EXEC, "input.process", "process", "", "plain", NODE),
    Condition(_SANDBOX, "input.sandbox_pidns", "sandbox_pidns", "spec.shareProcessNamespace", "plain"),
    Condition(_SANDBOX, "every storage", "storages", "", "elements", NODE),
    Condition(_SANDBOX, "", "", "", "plain", NODE),
)  # fmt: skip

SETTINGS = "the settings of the policy decide it: spec.policy.settings, request_defaults.{kind}"

# requests with more to explain than their conditions: field, remedy
KINDS = {
    "CopyFileRequest": ("path", "a file that the host puts into the VM: " + NODE),
    "UpdateInterfaceRequest": ("interface", "a network interface: " + NODE),
    "UpdateRoutesRequest": ("routes", "a route: " + NODE),
    "AddARPNeighborsRequest": ("neighbors", "a neighbour of the network: " + NODE),
    "ReadStreamRequest": ("", "`kubectl logs` needs it; " + SETTINGS),
    "WriteStreamRequest": ("", "`kubectl attach -i` and `exec -i` need it; " + SETTINGS),
    "CloseStdinRequest": ("", "`kubectl attach -i` and `exec -i` need it; " + SETTINGS),
    "GetDiagnosticDataRequest": ("", SETTINGS),
    "UpdateEphemeralMountsRequest": ("", SETTINGS),
    "UpdateContainerRequest": ("", "no policy of these rules allows it: resources of a running pod cannot change"),
    "PauseContainerRequest": ("", "no policy of these rules allows it: a confidential pod cannot be paused"),
    "SetPolicyRequest": ("", "no policy of these rules allows it: a policy cannot be replaced in a running VM"),
}


def condition_of(function: str, statement: str) -> Condition | None:
    """Return the row of a condition, None if the table has none."""
    return next((row for row in CONDITIONS if row.function == function and statement.startswith(row.statement)), None)


# --- Turn the conditions of sealed rules into questions: rules of the same package that hold if one condition holds
#
#   process_permitted(p, process, …) if {            probe_3(p, process, …) if { p.Cwd == process.Cwd }
#       p.Cwd == process.Cwd                    ->    probe_4(p, process, …) := [key | some key, variable in process.Env
#       every variable in process.Env { … }               not probe_5(p, process, …, variable)]
#
# Rule: a condition is asked as it is written, with the earlier assignments that it needs. A call of a function with one
# body is asked as a whole and taken apart, so that every refusal inside it has a reason.


PACKAGE = "data.agent_policy."
PREFIX = "contrast_krm_"  # of every name that is added to the package
PREAMBLE = (
    "package agent_policy\n\nimport future.keywords.every\nimport future.keywords.if\nimport future.keywords.in\n"
)
DEEPEST = 5
CONTAINER = "container_permitted"


class Probe(NamedTuple):
    """One condition. term: the question. keys: whether the answer lists the elements that it does not hold for.

    needs: indexes of the sibling probes without which it cannot hold. inner: the conditions of the function that it
    calls.
    """

    function: str
    statement: str
    term: str
    keys: bool
    needs: tuple[int, ...]
    inner: "tuple[Probe, ...]"


class Probes(NamedTuple):
    """The module to add to a policy, and its conditions as a tree."""

    module: str
    probes: tuple[Probe, ...]


def probes_of(body: Body, rules: Mapping[str, tuple[Body, ...]], container: int | None = None) -> Probes:
    """Return the conditions of an entry point. container: the index in policy_data of the request's, if any."""
    maker = _Maker(rules, container)
    probes = maker.of(body, 0)
    return Probes(PREAMBLE + "".join(maker.rules), probes)


def terms(probes: Iterable[Probe]) -> tuple[str, ...]:
    """Return the questions, in the order of the tree."""
    return tuple(term for probe in probes for term in (PACKAGE + probe.term, *terms(probe.inner)))


class _Maker:
    """Writes the rules, each under its own names."""

    def __init__(self, rules: Mapping[str, tuple[Body, ...]], container: int | None) -> None:
        self.rules: list[str] = []
        self._known = rules
        self._container = container

    def of(self, body: Body, depth: int) -> tuple[Probe, ...]:
        """Return the conditions of a body, each a call with the body's parameters."""
        probes: list[Probe] = []
        earlier: list[tuple[int, str, frozenset[str]]] = []  # number, statement, the names that it gives a value
        chosen: set[str] = set()  # names of `some`
        for number, statement in enumerate(body.statements):
            needed = _find_needed(statement, earlier)
            prelude = [text for _, text, _ in needed]
            needs = tuple(index for index, _, _ in needed)
            inner: tuple[Probe, ...] = ()
            if quantifier := EVERY.fullmatch(statement):
                term = self._list_failing(body, prelude, quantifier.groups())
            else:
                term = self._write_rule(body, [*prelude, statement])
                inner = self._take_apart(body, prelude, statement, depth)
            probes.append(Probe(body.name, statement, term, bool(quantifier), needs, inner))
            if assigned := ASSIGNED.fullmatch(statement):
                earlier.append((number, statement, frozenset((assigned[1],))))
            elif some := SOME.fullmatch(statement):
                names = frozenset(some[1].split(", "))
                chosen |= names
                earlier.append((number, statement, names))
            elif words(statement) & chosen and "(" not in statement:
                earlier.append((number, statement, words(statement) & chosen))
        return tuple(probes)

    def _take_apart(self, body: Body, prelude: list[str], statement: str, depth: int) -> tuple[Probe, ...]:
        """Return the conditions of the only body that a statement calls, as calls with the parameters of `body`."""
        call = self._parse_call(statement)
        chosen = sum(text.startswith("some ") for text in prelude)
        if call is None or depth == DEEPEST or chosen * 2 > len(prelude):
            return ()  # without a choice between values, a rule would have several
        name, values = call
        (callee,) = self._known[name]
        if len(values) != len(callee.parameters):
            return ()
        return tuple(self._wrap(body, prelude, probe, values) for probe in self.of(callee, depth + 1))

    def _parse_call(self, statement: str) -> tuple[str, list[str]] | None:
        if self._container is not None and f"; {CONTAINER}(" in statement and len(self._known.get(CONTAINER, ())) == 1:
            inside = statement.split(f"; {CONTAINER}(", 1)[1]
            values = arguments(inside[: inside.rindex(")")])
            return CONTAINER, [f"policy_data.containers[{self._container}]", *values[1:]]
        call = CALL.fullmatch(statement)
        name, values = (call[1], arguments(call[2])) if call and is_balanced(call[2]) else (statement, [])
        return (name, values) if len(self._known.get(name, ())) == 1 else None

    def _wrap(self, body: Body, prelude: list[str], probe: Probe, values: list[str]) -> Probe:
        name = probe.term.partition("(")[0]
        called = f"{name}({', '.join(values)})" if values else name
        term = self._write_rule(body, [*prelude, f"{PREFIX}found := {called}"], f"{PREFIX}found")
        inner = tuple(self._wrap(body, prelude, condition, values) for condition in probe.inner)
        return probe._replace(term=term, inner=inner)

    def _list_failing(self, body: Body, prelude: list[str], parts: tuple[str, ...]) -> str:
        first, second, domain, block = parts
        key, value = (first, second) if second else ("_", first)
        key = f"{PREFIX}key" if key == "_" else key
        holds = self._write_rule(
            body._replace(parameters=(*body.parameters, key, value)), [*prelude, *block.split("\n")]
        )
        listed = f"[{key} | some {key}, {value} in {domain}; not {holds}]"
        # the condition is undefined for an absent list as well, which is not an empty one
        exists = f"{PREFIX}domain := {domain}"
        return self._write_rule(body, [*prelude, exists, f"{PREFIX}found := {listed}"], f"{PREFIX}found")

    def _write_rule(self, body: Body, lines: list[str], value: str = "") -> str:
        """Write a rule with the parameters of a body, and return its call."""
        called = f"{PREFIX}{len(self.rules)}"
        if body.parameters:
            called += f"({', '.join(body.parameters)})"
        inside = "".join(f"\t{line}\n" for line in lines if line.strip())
        self.rules.append(f"\n{called}{f' := {value}' if value else ''} if {{\n{inside}}}\n")
        return called


def _find_needed(
    statement: str, earlier: list[tuple[int, str, frozenset[str]]]
) -> list[tuple[int, str, frozenset[str]]]:
    """Return the earlier statements whose values a statement needs, in their order."""
    names_used, seen = set(words(statement)), 0
    while len(names_used) > seen:
        seen = len(names_used)
        for _, text, names in earlier:
            if names & names_used:
                names_used |= words(text)
    return [entry for entry in earlier if entry[2] & names_used]
