"""Make questions of the conditions of sealed rules: rules of the same package that hold where one condition holds.

    process_permitted(p, process, …) if {            probe_3(p, process, …) if { p.Cwd == process.Cwd }
        p.Cwd == process.Cwd                    ->    probe_4(p, process, …) := [key | some key, variable in process.Env
        every variable in process.Env { … }               not probe_5(p, process, …, variable)]

Rule of this file: a condition is asked as it is written, with the assignments before it that it needs. A call of a
function with one body is asked as a whole and taken apart, so that nothing which it refuses stays without a reason.
"""

from collections.abc import Iterable, Mapping

from krm_function.record import NamedTuple
from krm_function.replay.rule_text import ASSIGNED, CALL, EVERY, SOME, Body, arguments, is_balanced, words

PACKAGE = "data.agent_policy."
PREFIX = "contrast_krm_"  # of every name that is added to the package
HEAD = "package agent_policy\n\nimport future.keywords.every\nimport future.keywords.if\nimport future.keywords.in\n"
DEEPEST = 5
CONTAINER = "container_permitted"


class Probe(NamedTuple):
    """One condition. term: what is asked. keys: whether the answer lists the elements that it does not hold for.

    needs: numbers, among the probes beside it, of those without which it cannot hold. inner: the conditions of the
    function that it calls.
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
    """Return the conditions of an entry point. container: the one of policy_data that a request is about, if any."""
    maker = _Maker(rules, container)
    probes = maker.of(body, 0)
    return Probes(HEAD + "".join(maker.rules), tuple(_qualified(probe) for probe in probes))


def terms(probes: Iterable[Probe]) -> tuple[str, ...]:
    """Return what is asked, in the order of the tree."""
    return tuple(term for probe in probes for term in (probe.term, *terms(probe.inner)))


def _qualified(probe: Probe) -> Probe:
    return probe._replace(term=PACKAGE + probe.term, inner=tuple(_qualified(one) for one in probe.inner))


class _Maker:
    """Writes the rules; the names of each are its own."""

    def __init__(self, rules: Mapping[str, tuple[Body, ...]], container: int | None) -> None:
        self.rules: list[str] = []
        self._known = rules
        self._container = container

    def of(self, body: Body, depth: int) -> tuple[Probe, ...]:
        """Return the conditions of a body, each a call with the body's parameters."""
        probes: list[Probe] = []
        before: list[tuple[int, str, frozenset[str]]] = []  # number, statement, the names that it gives a value
        chosen: set[str] = set()  # names of `some`
        for number, statement in enumerate(body.statements):
            needed = _needed(statement, before)
            prelude = [text for _, text, _ in needed]
            needs = tuple(index for index, _, _ in needed)
            if every := EVERY.fullmatch(statement):
                probe = Probe(body.name, statement, self._every(body, prelude, every.groups()), True, needs, ())
            else:
                term = self._rule(body, [*prelude, statement])
                probe = Probe(body.name, statement, term, False, needs, self._inner(body, prelude, statement, depth))
            probes.append(probe)
            if assigned := ASSIGNED.fullmatch(statement):
                before.append((number, statement, frozenset((assigned[1],))))
            elif some := SOME.fullmatch(statement):
                names = frozenset(some[1].split(", "))
                chosen |= names
                before.append((number, statement, names))
            elif words(statement) & chosen and "(" not in statement:
                before.append((number, statement, words(statement) & chosen))
        return tuple(probes)

    def _inner(self, body: Body, prelude: list[str], statement: str, depth: int) -> tuple[Probe, ...]:
        """Return the conditions of the one body that a statement calls, as calls with the parameters of `body`."""
        call = self._called(statement)
        chosen = sum(text.startswith("some ") for text in prelude)
        if call is None or depth == DEEPEST or chosen * 2 > len(prelude):
            return ()  # of values that nothing chooses between, a rule would have several
        name, values = call
        (callee,) = self._known[name]
        if len(values) != len(callee.parameters):
            return ()
        return tuple(self._wrapped(body, prelude, probe, values) for probe in self.of(callee, depth + 1))

    def _called(self, statement: str) -> tuple[str, list[str]] | None:
        """Return the function with one body that a statement is a call of, and the arguments."""
        if self._container is not None and f"; {CONTAINER}(" in statement and len(self._known.get(CONTAINER, ())) == 1:
            inside = statement.split(f"; {CONTAINER}(", 1)[1]
            values = arguments(inside[: inside.rindex(")")])
            return CONTAINER, [f"policy_data.containers[{self._container}]", *values[1:]]
        call = CALL.fullmatch(statement)
        name, values = (call[1], arguments(call[2])) if call and is_balanced(call[2]) else (statement, [])
        return (name, values) if len(self._known.get(name, ())) == 1 else None

    def _wrapped(self, body: Body, prelude: list[str], probe: Probe, values: list[str]) -> Probe:
        name = probe.term.partition("(")[0]
        called = f"{name}({', '.join(values)})" if values else name
        term = self._rule(body, [*prelude, f"{PREFIX}found := {called}"], f"{PREFIX}found")
        inner = tuple(self._wrapped(body, prelude, one, values) for one in probe.inner)
        return probe._replace(term=term, inner=inner)

    def _every(self, body: Body, prelude: list[str], parts: tuple[str, ...]) -> str:
        first, second, domain, block = parts
        key, value = (first, second) if second else ("_", first)
        key = f"{PREFIX}key" if key == "_" else key
        each = self._rule(body._replace(parameters=(*body.parameters, key, value)), [*prelude, *block.split("\n")])
        listed = f"[{key} | some {key}, {value} in {domain}; not {each}]"
        # a list that is not there is no empty one: then the condition is undefined as well
        exists = f"{PREFIX}domain := {domain}"
        return self._rule(body, [*prelude, exists, f"{PREFIX}found := {listed}"], f"{PREFIX}found")

    def _rule(self, body: Body, lines: list[str], value: str = "") -> str:
        """Write a rule with the parameters of a body; how it is called with them."""
        called = f"{PREFIX}{len(self.rules)}"
        if body.parameters:
            called += f"({', '.join(body.parameters)})"
        inside = "".join(f"\t{line}\n" for line in lines if line.strip())
        self.rules.append(f"\n{called}{f' := {value}' if value else ''} if {{\n{inside}}}\n")
        return called


def _needed(statement: str, before: list[tuple[int, str, frozenset[str]]]) -> list[tuple[int, str, frozenset[str]]]:
    """Return the statements before one whose values it needs, in their order."""
    names_used, seen = set(words(statement)), 0
    while len(names_used) > seen:
        seen = len(names_used)
        for _, text, names in before:
            if names & names_used:
                names_used |= words(text)
    return [one for one in before if one[2] & names_used]
