"""Define one difference between two policies, and the comparators of the kinds of values that a policy has.

Rule of this file: a policy is weaker than another when the host may do more under it, or when the process is isolated
less from the rest of the VM. A comparator yields nothing for equal values; a value of a shape that it does not expect
counts as weaker, because its effect is unknown. No value of a variable is ever part of a difference.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal

from krm_function.record import NamedTuple

Verdict = Literal["weaker", "stronger", "different"]
Op = Literal["added", "removed", "changed"]

WEAKER: Verdict = "weaker"
STRONGER: Verdict = "stronger"
DIFFERENT: Verdict = "different"
CANNOT_TELL = "nobody can tell what it allows"
LONGEST = 64  # characters of one value
ARROW = " -> "


class Difference(NamedTuple):
    """One line of output: container ("" for the whole pod), field, kind of change, which policy is weaker, and why."""

    container: str
    field: str
    op: Op
    what: str
    verdict: Verdict
    why: str


class FieldChange(NamedTuple):
    """A difference within one field. field: a more specific name than the rule's, or ""."""

    op: Op
    what: str
    verdict: Verdict
    why: str
    field: str = ""


Compare = Callable[[Any, Any], Iterator[FieldChange]]  # of two values that differ


class FieldRule(NamedTuple):
    """The name of a field in a pod spec, and the comparator of its values."""

    field: str
    compare: Compare


def canonical_json(value: Any) -> str:
    """Serialise a value to JSON with sorted keys, so that equal texts are equal values; True, 1 and "1" differ."""
    return json.dumps(value, sort_keys=True)


def equal_json(old: Any, new: Any) -> bool:
    """Tell whether two values are equal, including their types."""
    return canonical_json(old) == canonical_json(new)


def as_text(value: Any) -> str:
    """Format a value for a line, in full; a command as its words. `truncated` shortens it once all lines are known."""
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return " ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def both_texts(old: Any, new: Any) -> str:
    """Format both values of a field."""
    return f"{as_text(old)}{ARROW}{as_text(new)}"


def truncated(what: str) -> str:
    """Truncate each value of a line to LONGEST characters."""
    return ARROW.join(f"{part[:LONGEST]}…" if len(part) > LONGEST else part for part in what.split(ARROW))


def unknown_value(old: Any, new: Any) -> Iterator[FieldChange]:
    """Compare a field of unknown effect: any difference counts as weaker. Values are not shown."""
    if not equal_json(old, new):
        yield FieldChange("added" if old is None else "removed" if new is None else "changed", "", WEAKER, CANNOT_TELL)


def expecting(expected: Callable[[Any], bool]) -> Callable[[Compare], Compare]:
    """Make a comparator see only values of the shape that it expects; if a side has another, its effect is unknown."""

    def guarded(compare: Compare) -> Compare:
        return lambda old, new: compare(old, new) if expected(old) and expected(new) else unknown_value(old, new)

    return guarded


def absent_or(kind: type) -> Callable[[Any], bool]:
    """Expect a value of a type, or none."""
    return lambda value: value is None or isinstance(value, kind)


def list_of(kind: type) -> Callable[[Any], bool]:
    """Expect a list of values of a type, or none."""
    return lambda value: value is None or (isinstance(value, list) and all(isinstance(one, kind) for one in value))


def is_number(value: Any) -> bool:
    """Expect a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def unmatched(old: list[Any], new: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the entries that only one side has, sorted, as a multiset difference in both directions."""
    before, after = Counter(map(canonical_json, old)), Counter(map(canonical_json, new))
    by_text = {canonical_json(one): one for one in (*old, *new)}
    gone, came = sorted((before - after).elements()), sorted((after - before).elements())
    return [by_text[text] for text in gone], [by_text[text] for text in came]


def setting(old: Any, new: Any) -> Iterator[FieldChange]:
    """Compare a field of the settings like an unknown one, but show its values, since none is a variable's."""
    what = both_texts(old, new) if old is not None and new is not None else as_text(new if old is None else old)
    yield from (change._replace(what=what) for change in unknown_value(old, new))


def exact(why: str) -> Compare:
    """Compare a value that the host must match exactly: another value is neither weaker nor stronger."""
    return lambda old, new: iter([FieldChange("changed", both_texts(old, new), DIFFERENT, why)])


def _in_order(
    expected: Callable[[Any], bool],
    allows_more: Callable[[Any, Any], bool],
    weaker: str,
    stronger: str,
    read: Callable[[Any], Any] = lambda value: value,
) -> Compare:
    """Compare values of which one allows more. allows_more: whether the new one does. read: what a value stands for."""

    @expecting(expected)
    def compare(old: Any, new: Any) -> Iterator[FieldChange]:
        before, after = read(old), read(new)
        if before != after:
            verdict, why = (WEAKER, weaker) if allows_more(before, after) else (STRONGER, stronger)
            yield FieldChange("changed", both_texts(before, after), verdict, why)

    return compare


def flag(weaker: bool, opens: str, closes: str) -> Compare:
    """Compare a boolean, false when absent. weaker: the value that allows more."""
    return _in_order(absent_or(bool), lambda _, new: bool(new == weaker), opens, closes, bool)


def ranked(weakest_last: tuple[str, ...], weaker: str, stronger: str) -> Compare:
    """Compare one of a few words in a known order."""
    rank = weakest_last.index
    return _in_order(weakest_last.__contains__, lambda old, new: rank(new) > rank(old), weaker, stronger)


def bits(more: str, fewer: str) -> Compare:
    """Compare a number whose bits are each allowed or not."""
    return _in_order(is_number, lambda old, new: bool(new & ~old), more, fewer)


def unordered_list(more: Verdict, added: str, removed: str, name: Callable[[Any], str] = as_text) -> Compare:
    """Compare a list whose order does not matter. more: the verdict on a policy that has more entries."""
    fewer = WEAKER if more == STRONGER else STRONGER

    @expecting(absent_or(list))
    def compare(old: Any, new: Any) -> Iterator[FieldChange]:
        gone, came = unmatched(old or [], new or [])
        yield from (FieldChange("removed", name(value), fewer, removed) for value in gone)
        yield from (FieldChange("added", name(value), more, added) for value in came)

    return compare


def pairs(added: str, removed: str, changed: str) -> Compare:
    """Compare a map of what is allowed, by name; another value for a name counts as weaker."""

    @expecting(absent_or(dict))
    def compare(old: Any, new: Any) -> Iterator[FieldChange]:
        before, after = old or {}, new or {}
        for key in sorted(before.keys() | after.keys()):
            if key not in after:
                yield FieldChange("removed", as_text(key), STRONGER, removed)
            elif key not in before:
                yield FieldChange("added", as_text(key), WEAKER, added)
            elif not equal_json(before[key], after[key]):
                yield FieldChange("changed", f"{as_text(key)}: {both_texts(before[key], after[key])}", WEAKER, changed)

    return compare


def worst(verdicts: list[Verdict]) -> Verdict:
    """Combine the verdicts on several parts of one value: weaker if any is, stronger only if all are."""
    if WEAKER in verdicts:
        return WEAKER
    return STRONGER if verdicts and all(one == STRONGER for one in verdicts) else DIFFERENT
