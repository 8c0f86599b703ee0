"""What is wrong with a manifest, and where.

Rule of this file: a Problem names a field and a rule, and quotes a value only where the value is one of a few names.
"""

from collections.abc import Iterable

from krm_function.record import NamedTuple

_LONGEST_QUOTE = 64


class Problem(NamedTuple):
    """One thing wrong with one field. `field` is a dotted path: `ReferenceValues.snp[0].MinimumTCB.TEEVersion`."""

    field: str
    problem: str  # lower case, no full stop
    # a value that only the platform operator can fill in (docs/facts/contrast-manifest.md#manifest-rules)
    missing: bool = False


class FieldProblem(ValueError):
    """A Problem that leaves no result."""

    def __init__(self, problem: Problem) -> None:
        """Keep the problem as `self.problem`; the message is `field: problem`."""
        super().__init__(f"{problem.field}: {problem.problem}" if problem.field else problem.problem)
        self.problem = problem


def step(path: str, key: str | int) -> str:
    """Extend a dotted path by a field name, a table key or an index."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    shown = short(key)
    return f"{path}.{shown}" if path else shown


def short(text: str) -> str:
    """Cut a text of the user's to what a message may quote, printable whatever it holds."""
    cut = text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."
    return cut if cut.isprintable() else ascii(cut)[1:-1]


def suggestion(name: str, known: Iterable[str]) -> str:
    """Make `, did you mean X?` if a known name is close, whatever the case of its letters; else the empty string."""
    from difflib import get_close_matches

    folded = {candidate.casefold(): candidate for candidate in known if candidate}
    close = get_close_matches(name[: 2 * _LONGEST_QUOTE].casefold(), folded, n=1)
    return f", did you mean {folded[close[0]]}?" if close else ""
