"""Compare the processes of two container policies: command, variables, user, capabilities.

Rule of this file: variables are named and never quoted. A command is compared as a whole, since a host must send
it exactly.
"""

import re
from collections.abc import Iterator
from typing import Any

from krm_function.policy.bound_values import WIDER, bound_argument, bound_value, unlimited_value
from krm_function.policy.compare.difference import (
    DIFFERENT,
    STRONGER,
    WEAKER,
    FieldChange,
    Verdict,
    as_text,
    both_texts,
    expecting,
    is_number,
    list_of,
    unknown_value,
)
from krm_function.policy.variable_expansion import OPEN

# a token that a rule replaces by a value of the host; the two excluded ones are the pod's (docs/facts/kata.md#tokens)
_TOKEN = re.compile(r"\$\((?!sandbox-name\)|sandbox-namespace\))[a-z][a-z0-9_-]*\)")
BOUND = "the value is bound by its form"
_ANY = "the host may choose from more values"
_IPV6 = "an address of IPv6 is allowed, too"
_IPV4 = "an address of IPv6 is no longer allowed"
_texts = list_of(str)
_CAPABILITY_SETS = ("Ambient", "Bounding", "Effective", "Inheritable", "Permitted")


@expecting(_texts)
def compare_command(old: Any, new: Any) -> Iterator[FieldChange]:
    """Compare Process.Args in order; a `$(node-name)` in a word allows any value."""
    before, after = old or [], new or []
    if before == after:
        return
    if list(map(bound_argument, before)) == after:
        yield FieldChange("changed", both_texts(before, after), STRONGER, BOUND)
        return
    if list(map(bound_argument, after)) == before:
        yield FieldChange("changed", both_texts(before, after), WEAKER, "the host may choose any text")
        return
    free = [index for index, word in enumerate(after) if _TOKEN.search(word)]
    fixed = [index for index in free if index >= len(before) or not _TOKEN.search(before[index])]
    if fixed:
        yield FieldChange("changed", both_texts(before, after), WEAKER, f"the host chooses argument {fixed[0]}")
    else:
        yield FieldChange("changed", both_texts(before, after), DIFFERENT, "another program or other arguments run")


@expecting(_texts)
def compare_variables(old: Any, new: Any) -> Iterator[FieldChange]:
    """Compare Process.Env, a set of allowed `NAME=value`; a host may leave each out (docs/facts/kata-rules.md#process).

    a value more for a name    weaker       a value fewer for a name               stronger
    another literal value      different    the host's choice for a literal one    weaker, the reverse stronger
    any value at all           weaker than each other choice of the host
    a token of Kata            weaker than the form of its value
    any number of digits       weaker than as many as there can be
    """
    before, after = _by_name(old or []), _by_name(new or [])
    for name in sorted(before.keys() | after.keys()):
        gone, came = before.get(name, set()) - after.get(name, set()), after.get(name, set()) - before.get(name, set())
        if gone and set(map(bound_value, gone)) == came:
            wider = bool(came & WIDER)
            yield FieldChange("changed", as_text(name), WEAKER if wider else STRONGER, _IPV6 if wider else BOUND)
            continue
        if came and set(map(bound_value, came)) == gone:
            narrower = bool(gone & WIDER)
            yield FieldChange("changed", as_text(name), STRONGER if narrower else WEAKER, _IPV4 if narrower else _ANY)
            continue
        if gone and set(map(unlimited_value, gone)) == set(map(unlimited_value, came)):
            was_unlimited = gone == set(map(unlimited_value, gone))
            yield FieldChange(
                "changed", as_text(name), STRONGER if was_unlimited else WEAKER, BOUND if was_unlimited else _ANY
            )
            continue
        free, was_free = any(map(_TOKEN.search, came)), any(map(_TOKEN.search, gone))
        any_value, was_any = OPEN in came, OPEN in gone
        if gone and came:
            open_ended = any_value or (free and not was_any) or len(came) > len(gone)
            verdict: Verdict = WEAKER if open_ended else STRONGER if was_free else DIFFERENT
            more = "any value is allowed" if any_value else _ANY
            fewer = "not every value is allowed any more" if free else "the host no longer chooses the value"
            whys = {WEAKER: more, STRONGER: fewer}
            yield FieldChange("changed", as_text(name), verdict, whys.get(verdict, "the variable has another value"))
        elif came:
            known = name in before
            why = "one more value is allowed" if known else "the host may set one more variable"
            if any_value:
                why = "any value is allowed" if known else "the host may set one more variable, to any value"
            yield FieldChange("changed" if known else "added", as_text(name), WEAKER, why)
        elif gone:
            known = name in after
            why = "one value less is allowed" if known else "the host may no longer set the variable"
            yield FieldChange("changed" if known else "removed", as_text(name), STRONGER, why)


@expecting(lambda value: isinstance(value, dict))
def compare_user(old: Any, new: Any) -> Iterator[FieldChange]:
    """Compare Process.User, whose members are numbers; 0 is root."""
    for key, who in (("UID", "root"), ("GID", "the root group")):
        before, after = old.get(key), new.get(key)
        if not is_number(before) or not is_number(after):
            yield from (change._replace(field=f"user {key}") for change in unknown_value(before, after))
        elif before != after:
            verdict: Verdict = WEAKER if after == 0 else STRONGER if before == 0 else DIFFERENT
            why = {WEAKER: f"the process is {who}", STRONGER: f"the process is no longer {who}"}
            text = why.get(verdict, "the process runs as someone else")
            yield FieldChange("changed", f"{key} {before} -> {after}", verdict, text)
    groups = [value.get("AdditionalGids") or [] for value in (old, new)]
    if not all(isinstance(value, list) and all(map(is_number, value)) for value in groups):
        yield from (change._replace(field="user AdditionalGids") for change in unknown_value(*groups))
    else:
        for number in sorted(set(groups[0]) ^ set(groups[1])):
            if number in groups[1]:
                yield FieldChange("added", f"group {number}", WEAKER, "the process is in one more group")
            else:
                yield FieldChange("removed", f"group {number}", STRONGER, "the process is in one group less")
    for key in sorted((old.keys() | new.keys()) - {"UID", "GID", "AdditionalGids"}):
        yield from (change._replace(field=f"user {key}") for change in unknown_value(old.get(key), new.get(key)))


def _are_capabilities(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() <= set(_CAPABILITY_SETS) and all(map(_texts, value.values()))


@expecting(_are_capabilities)
def compare_capabilities(old: Any, new: Any) -> Iterator[FieldChange]:
    """Compare Process.Capabilities, tokens expanded: one line per capability, with the sets that gained or lost it."""
    came: dict[str, list[str]] = {}
    went: dict[str, list[str]] = {}
    for name in _CAPABILITY_SETS:
        before, after = ({_plain(one) for one in value.get(name) or ()} for value in (old, new))
        for capability in after - before:
            came.setdefault(capability, []).append(name)
        for capability in before - after:
            went.setdefault(capability, []).append(name)
    for capability, sets in sorted(went.items()):
        yield FieldChange("removed", f"{as_text(capability)} ({', '.join(sets)})", STRONGER, "the process may do less")
    for capability, sets in sorted(came.items()):
        yield FieldChange("added", f"{as_text(capability)} ({', '.join(sets)})", WEAKER, "the process may do more")


def expanded_capabilities(value: Any, common: Any) -> Any:
    """Replace `$(default_caps)` and `$(privileged_caps)` in capabilities by the lists of the same policy."""
    if not isinstance(value, dict) or not isinstance(common, dict):
        return value
    lists = {f"$({key})": entries for key, entries in common.items() if isinstance(entries, list)}
    return {
        name: lists.get(entries[0], entries)
        if isinstance(entries, list) and _texts(entries) and len(entries) == 1
        else entries
        for name, entries in value.items()
    }


def _plain(capability: str) -> str:
    """Return a capability's name without its prefix, as the rules compare it (docs/facts/kata-rules.md#process)."""
    return capability.removeprefix("CAP_")


def _by_name(entries: list[str]) -> dict[str, set[str]]:
    out: dict[str, set[str]] = {}
    for entry in entries:
        name, _, value = entry.partition("=")
        out.setdefault(name, set()).add(value)
    return out
