"""The definitions and conditions of sealed rules, as they are written.

Rule of this file: an explanation asks the conditions that the policy itself has. So they are cut out of its text and
never written a second time. Rules in another layout than that of `opa fmt` are not found: only the verdict is known.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from krm_function.record import NamedTuple

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
    """A definition with conditions. parameters: names, each `_` with a number behind it.

    The last of the statements is its value, if that is another one than true, as it may be undefined.
    """

    name: str
    parameters: tuple[str, ...]
    statements: tuple[str, ...]


def bodies(rules: str) -> Mapping[str, tuple[Body, ...]]:
    """Return the definitions with conditions by their name; none of a name that has others, its default aside."""
    by_name: dict[str, list[Body]] = {}
    for head, block in _blocks(rules):
        names = [name.strip() for name in (head[2] or "").split(",") if name.strip()]
        parameters = tuple(f"unused_{index}" if name == "_" else name for index, name in enumerate(names))
        value = [] if head[3] in (None, "true") else [f"{VALUE} := {head[3]}"]
        by_name.setdefault(head[1], []).append(Body(head[1], parameters, (*statements(block), *value)))
    counted = definitions(rules)
    return {name: tuple(several) for name, several in by_name.items() if len(several) == counted[name]}


def _blocks(rules: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each head of a definition with its conditions."""
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
    """Return how many definitions each name has; of one that has a default alone there are none."""
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
        depth += _opened(line)
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
    """Tell whether no bracket closes that was not opened in the text."""
    depth = 0
    for character in _unquoted(text):
        depth += (character in OPENING) - (character in CLOSING)
        if depth < 0:
            return False
    return depth == 0


def words(text: str) -> frozenset[str]:
    """Return the names in a text, those in quotes aside."""
    return frozenset(re.findall(r"(?<![.\w])[A-Za-z_]\w*", _unquoted(text)))


def _opened(line: str) -> int:
    """Return how many brackets a line leaves open."""
    bare = _unquoted(line)
    return sum((one in OPENING) - (one in CLOSING) for one in bare)


def _unquoted(line: str) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"|`[^`]*`', '""', line)
