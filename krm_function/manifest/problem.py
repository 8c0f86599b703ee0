"""What is wrong with a manifest, and where.

Rule of this file: a problem names a field and a rule, and quotes a value only where the value is one of a few names.
"""

from collections.abc import Iterable
from typing import Any

from krm_function.record import NamedTuple
from krm_function.schema.check import Fault
from krm_function.schema.kinds import Choice, Path, Record

_LONGEST_QUOTE = 64
RENAMED = dict.fromkeys(("MinimumTeeTcbSvn", "MinimumQeSvn", "MinimumPceSvn"), "MinTCBEvaluationDataNumber")
"""Fields of TDX entries of older manifests, and the one that has taken their place."""


class ManifestProblem(NamedTuple):
    """One thing wrong with one field. path: from the manifest, or from the part that was checked."""

    path: Path
    problem: str  # lower case, no full stop
    # a value that only the platform operator can fill in (docs/facts/contrast-manifest.md#manifest-rules)
    missing: bool = False

    @property
    def field(self) -> str:
        """The path as people write it: `ReferenceValues.snp[0].MinimumTCB.TEEVersion`."""
        text = ""
        for part in self.path:
            text += f"[{part}]" if isinstance(part, int) else f".{short(part)}" if text else short(part)
        return text


class FieldProblem(ValueError):
    """A ManifestProblem that leaves no result."""

    def __init__(self, problem: ManifestProblem) -> None:
        """Keep the problem as `self.problem`; the message is `field: problem`."""
        super().__init__(f"{problem.field}: {problem.problem}" if problem.path else problem.problem)
        self.problem = problem


def problem_of(fault: Fault, value: Any = None) -> ManifestProblem:
    """Return the problem of a fault that the tables find. value: the one at fault, for a choice of names."""
    if fault.kind == "unknown" and isinstance(fault.spec, Record):
        return ManifestProblem(fault.path, fault.problem + meant(str(fault.path[-1]), fault.spec.fields))
    if isinstance(fault.spec, Choice):
        choices = fault.spec.values
        return ManifestProblem(
            fault.path, _no_choice(value, choices) if fault.kind == "value" else f"must be a string, not {fault.found}"
        )
    return ManifestProblem(fault.path, fault.problem)


def short(text: str) -> str:
    """Cut a text of the user's to what a message may quote, printable whatever it holds."""
    cut = text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."
    return cut if cut.isprintable() else ascii(cut)[1:-1]


def _no_choice(value: Any, choices: tuple[str, ...]) -> str:
    """Say what the value could have been."""
    text = str(value)
    if "insecure" in text.casefold():
        return "insecure platforms are not supported"
    known = " or ".join(choice or "empty" for choice in choices)
    return f"must be {known}, not {short(text) or 'empty'}{meant(text, filter(None, choices))}"


def meant(name: str, known: Iterable[str]) -> str:
    """Write `, did you mean X?` if a known name is similar, or that it is X now; else the empty string."""
    from krm_function.schema.nearest import nearest

    names = tuple(known)
    if RENAMED.get(name) in names:
        return f", it is {RENAMED[name]} now"
    close = nearest(name, names)
    return f", did you mean {close}?" if close else ""
