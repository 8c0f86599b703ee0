"""Differences between two policies, and the comparators of mounts, images and processes."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal

from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.policy.expansion import OPEN, WIDER, bound_argument, bound_value, unlimited, unlimited_value
from krm_function.policy.image_storage import digest_suffix, images, is_bound, misshapen, without_images
from krm_function.record import NamedTuple

# --- Define one difference between two policies, and the comparators of the kinds of values that a policy has
#
# Rule: a policy is weaker than another when the host may do more under it, or when the process is isolated
# less from the rest of the VM. A comparator yields nothing for equal values; a value of a shape that it does not expect
# counts as weaker, because its effect is unknown. No value of a variable is ever part of a difference.


Verdict = Literal["weaker", "stronger", "different"]
Op = Literal["added", "removed", "changed"]

WEAKER: Verdict = "weaker"
STRONGER: Verdict = "stronger"
DIFFERENT: Verdict = "different"
CANNOT_TELL = "its effect cannot be determined"
LONGEST = 64  # characters of one value
ARROW = " -> "


class Difference(NamedTuple):
    """One difference between two policies: op, what changed, verdict and why.

    field: of the pod spec; a comparator names one only where it is more specific than its rule's. container: "" for
    the whole pod.
    """

    op: Op
    what: str
    verdict: Verdict
    why: str
    field: str = ""
    container: str = ""


Compare = Callable[[Any, Any], Iterator[Difference]]  # of two values that differ
FieldRule = tuple[str, Compare]
"""The name of a field in a pod spec, and the comparator of its values."""


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


def truncated(text: str) -> str:
    """Truncate each value of a line to LONGEST characters."""
    return ARROW.join(f"{part[:LONGEST]}…" if len(part) > LONGEST else part for part in text.split(ARROW))


def unknown_value(old: Any, new: Any) -> Iterator[Difference]:
    """Compare a field of unknown effect: any difference counts as weaker. Values are not shown."""
    if not equal_json(old, new):
        yield Difference("added" if old is None else "removed" if new is None else "changed", "", WEAKER, CANNOT_TELL)


def expecting(expected: Callable[[Any], bool]) -> Callable[[Compare], Compare]:
    """Call a comparator only for values of the expected shape; the effect of any other is unknown."""

    def guarded(compare: Compare) -> Compare:
        return lambda old, new: compare(old, new) if expected(old) and expected(new) else unknown_value(old, new)

    return guarded


def absent_or(kind: type) -> Callable[[Any], bool]:
    """Expect a value of a type, or none."""
    return lambda value: value is None or isinstance(value, kind)


def list_of(kind: type) -> Callable[[Any], bool]:
    """Expect a list of values of a type, or none."""
    return lambda value: value is None or (isinstance(value, list) and all(isinstance(entry, kind) for entry in value))


def is_number(value: Any) -> bool:
    """Expect a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def unmatched(old: list[Any], new: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the entries that only one side has, sorted, as a multiset difference in both directions."""
    old_texts, new_texts = Counter(map(canonical_json, old)), Counter(map(canonical_json, new))
    by_text = {canonical_json(entry): entry for entry in (*old, *new)}
    gone, came = sorted((old_texts - new_texts).elements()), sorted((new_texts - old_texts).elements())
    return [by_text[text] for text in gone], [by_text[text] for text in came]


def setting(old: Any, new: Any) -> Iterator[Difference]:
    """Compare a field of the settings like an unknown one, but show its values, since none is a variable's."""
    text = both_texts(old, new) if old is not None and new is not None else as_text(new if old is None else old)
    yield from (change._replace(what=text) for change in unknown_value(old, new))


def exact(why: str) -> Compare:
    """Compare a value that the host must match exactly: another value is neither weaker nor stronger."""
    return lambda old, new: iter([Difference("changed", both_texts(old, new), DIFFERENT, why)])


def _compare_order(
    expected: Callable[[Any], bool],
    allows_more: Callable[[Any, Any], bool],
    weaker: str,
    stronger: str,
    read: Callable[[Any], Any] = lambda value: value,
) -> Compare:
    """Compare ordered values. allows_more: whether the new one does. read: maps a value to its meaning."""

    @expecting(expected)
    def compare(old: Any, new: Any) -> Iterator[Difference]:
        old_value, new_value = read(old), read(new)
        if old_value != new_value:
            verdict, why = (WEAKER, weaker) if allows_more(old_value, new_value) else (STRONGER, stronger)
            yield Difference("changed", both_texts(old_value, new_value), verdict, why)

    return compare


def flag(weaker: bool, opens: str, closes: str) -> Compare:
    """Compare a boolean, false when absent. weaker: the value that allows more."""
    return _compare_order(absent_or(bool), lambda _, new: bool(new == weaker), opens, closes, bool)


def ranked(weakest_last: tuple[str, ...], weaker: str, stronger: str) -> Compare:
    """Compare one of a few words in a known order."""
    rank = weakest_last.index
    return _compare_order(weakest_last.__contains__, lambda old, new: rank(new) > rank(old), weaker, stronger)


def bits(if_more: str, if_fewer: str) -> Compare:
    """Compare a number whose bits are each allowed or not."""
    return _compare_order(is_number, lambda old, new: bool(new & ~old), if_more, if_fewer)


def unordered_list(if_more: Verdict, added: str, removed: str, name: Callable[[Any], str] = as_text) -> Compare:
    """Compare a list whose order does not matter. if_more: the verdict on a policy that has more entries."""
    fewer = WEAKER if if_more == STRONGER else STRONGER

    @expecting(absent_or(list))
    def compare(old: Any, new: Any) -> Iterator[Difference]:
        gone, came = unmatched(old or [], new or [])
        yield from (Difference("removed", name(value), fewer, removed) for value in gone)
        yield from (Difference("added", name(value), if_more, added) for value in came)

    return compare


def pairs(added: str, removed: str, changed: str) -> Compare:
    """Compare a map of what is allowed, by name; another value for a name counts as weaker."""

    @expecting(absent_or(dict))
    def compare(old: Any, new: Any) -> Iterator[Difference]:
        old_map, new_map = old or {}, new or {}
        for key in sorted(old_map.keys() | new_map.keys()):
            if key not in new_map:
                yield Difference("removed", as_text(key), STRONGER, removed)
            elif key not in old_map:
                yield Difference("added", as_text(key), WEAKER, added)
            elif not equal_json(old_map[key], new_map[key]):
                text = f"{as_text(key)}: {both_texts(old_map[key], new_map[key])}"
                yield Difference("changed", text, WEAKER, changed)

    return compare


def worst(verdicts: list[Verdict]) -> Verdict:
    """Combine the verdicts on several parts of one value: weaker if any is, stronger only if all are."""
    if WEAKER in verdicts:
        return WEAKER
    return STRONGER if verdicts and all(verdict == STRONGER for verdict in verdicts) else DIFFERENT


# --- Compare the images of two container policies: the storages that bind them, and their names
#
# A policy names a container's image in an annotation, which no rule compares, and may bind it with an image storage.
#
# Rule: a storage that binds an image is compared; the image's name is, where it differs from the
# storage's.


Json = dict[str, Any]

NAME = "io.kubernetes.cri.image-name"
IMAGE_UNBOUND = "nothing binds the image any more: the host may have any image pulled"
IMAGE_BOUND = "the image is bound to its digest"
BOUND_SANDBOX = "the sandbox's image is the VM's own"
ANY = "nothing binds the image: without a digest any image will do"


def compare_images(old: Json, new: Json, *, sandbox: bool) -> Iterator[Difference]:
    """Yield the changes of a container's image. sandbox: whether it is the pause container."""
    old_storages, new_storages = images(old.get("storages")), images(new.get("storages"))
    if not equal_json(old_storages, new_storages):
        yield _compare_storages(old_storages, new_storages, sandbox=sandbox)
    annotations = [dig(entry, ("OCI", "Annotations")) for entry in (old, new)]
    if not all(entry_annotations is None or isinstance(entry_annotations, dict) for entry_annotations in annotations):
        return  # `compare_annotations` compares them as a whole
    names = [mapping(entry_annotations).get(NAME) for entry_annotations in annotations]
    sources = [[storage.get("source") for storage in storages] for storages in (old_storages, new_storages)]
    if not equal_json(*names) and not equal_json(sources, [[name] for name in names]):
        yield _compare_names(*names)


def without_image(entry: Json) -> Json:
    """Return a container's policy without the parts that `compare_images` compares."""
    out = dict(entry)
    if isinstance(entry.get("storages"), list):
        out["storages"] = without_images(entry["storages"])
    notes = dig(entry, ("OCI", "Annotations"))
    if isinstance(notes, dict) and NAME in notes:
        out["OCI"] = {**entry["OCI"], "Annotations": {key: notes[key] for key in notes if key != NAME}}
    return out


def _compare_storages(old: list[Json], new: list[Json], *, sandbox: bool) -> Difference:
    """Compare two lists of image storages that are not equal.

    old             new             verdict
    any             none            weaker
    any             malformed       weaker: two storages, or one with a member that no node sends
    any             no digest       weaker
    malformed       bound           weaker
    none            bound           stronger
    no digest       bound           stronger
    bound           bound           different: another image, or another name of the same
    """
    op: Op = "changed" if old and new else "removed" if old else "added"
    text = ARROW.join(filter(None, (_join_sources(old), _join_sources(new))))
    if not new:
        return Difference(op, text, WEAKER, IMAGE_UNBOUND)
    if not _are_well_formed(new) or (old and not _are_well_formed(old)):
        return Difference(op, text, WEAKER, CANNOT_TELL)
    if not is_bound(new[0], sandbox=sandbox):
        return Difference(op, text, WEAKER, ANY if not sandbox else CANNOT_TELL)
    if not old or not is_bound(old[0], sandbox=sandbox):
        return Difference(op, text, STRONGER, BOUND_SANDBOX if sandbox else IMAGE_BOUND)
    if digest_suffix(old[0]["source"]) == digest_suffix(new[0]["source"]):
        return Difference(op, text, DIFFERENT, "the same image under another name")
    return Difference(op, text, DIFFERENT, "another image")


def _are_well_formed(storages: list[Json]) -> bool:
    return len(storages) == 1 and not misshapen(storages[0])


def _join_sources(storages: list[Json]) -> str:
    return ", ".join(as_text(storage.get("source")) for storage in storages)


def _compare_names(old: Any, new: Any) -> Difference:
    if new is None:
        return Difference("removed", as_text(old), WEAKER, "the policy no longer names an image")
    if old is None:
        return Difference("added", as_text(new), STRONGER, "the policy names an image")
    return Difference("changed", both_texts(old, new), DIFFERENT, "another image")


# --- Compare the mounts, storages and annotations of two container policies
#
# Rule: what the host controls is weaker than what is in the VM; unless a change is known to be stronger, it
# is weaker.


# option -> the verdict on a mount that gains it
OPTIONS: dict[str, Verdict] = {
    **dict.fromkeys(("ro", "nosuid", "noexec", "nodev"), STRONGER),
    **dict.fromkeys(("rw", "shared", "rshared", "suid", "exec", "dev"), WEAKER),
    **dict.fromkeys(("private", "rprivate"), STRONGER),
}
OPPOSITE: dict[Verdict, Verdict] = {WEAKER: STRONGER, STRONGER: WEAKER, DIFFERENT: DIFFERENT}
# the other half of a change that is already reported by its first half: `ro` to `rw` is one change
_HALVES = (("rw", "ro"), ("rprivate", "rshared"), ("private", "shared"))
INSTEAD = {**dict(_HALVES), **{second: first for first, second in _HALVES}}

HOST_SHARED = ("$(sfprefix)", "$(cpath)", "^$(cpath)", "^/run/kata-containers/shared/")
IN_MEMORY = "^/run/kata-containers/sandbox/ephemeral/"

NAMESPACE = "io.kubernetes.cri.sandbox-namespace"
POD_NAME = "io.kubernetes.cri.sandbox-name"
RUNTIME = ("io.kubernetes.cri.", "io.katacontainers.pkg.oci.", "nerdctl/")  # all others are the pod's own
UNCHECKED = ("io.katacontainers.pkg.oci.bundle_path",)  # no rule reads it: docs/facts/kata-rules.md#create-container


def _is_mount(value: dict[str, Any]) -> bool:
    options = value.get("options")
    texts = (value.get("destination"), value.get("source", ""))
    return isinstance(options, list) and all(isinstance(text, str) for text in (*texts, *options))


@expecting(lambda value: list_of(dict)(value) and all(map(_is_mount, value or ())))
def compare_mounts(old: Any, new: Any) -> Iterator[Difference]:
    """Compare OCI.Mounts by destination; a host may omit each (docs/facts/kata-rules.md#mounts-and-storages)."""
    gone, came = unmatched(maps(old), maps(new))
    for destination in sorted({mount["destination"] for mount in (*gone, *came)}):
        old_mounts = [mount for mount in gone if mount["destination"] == destination]
        new_mounts = [mount for mount in came if mount["destination"] == destination]
        for old_mount, new_mount in zip(old_mounts, new_mounts, strict=False):
            yield _compare_mount(old_mount, new_mount)
        for _ in old_mounts[len(new_mounts) :]:
            yield Difference("removed", as_text(destination), STRONGER, "the host may mount one item fewer")
        for _ in new_mounts[len(old_mounts) :]:
            yield Difference("added", as_text(destination), WEAKER, "the host may mount one more item")


def _describe_volume(storage: dict[str, Any]) -> str:
    options = storage.get("driver_options")
    encrypted = isinstance(options, list) and any(str(text).startswith("encryption_key=") for text in options)
    kind = "encrypted " if encrypted else ""
    place = as_text(storage.get("mount_point") or "an unknown place")
    return f"{kind}{as_text(storage.get('fstype') or 'volume')} at {place}"


# the volumes that the agent mounts for a container; image storages are compared in `_images`
compare_storages = expecting(list_of(dict))(
    unordered_list(
        WEAKER, "the host may attach one more volume", "the host may attach one volume fewer", _describe_volume
    )
)


@expecting(absent_or(dict))
def compare_annotations(old: Any, new: Any) -> Iterator[Difference]:
    """Compare OCI.Annotations: keys are allowed, values of the pod's own are not compared by the guest.

    Source: docs/facts/kata-rules.md#create-container.
    """
    old_map, new_map = old or {}, new or {}
    for key in sorted(old_map.keys() | new_map.keys()):
        if equal_json(old_map.get(key), new_map.get(key)):
            continue
        if key in {POD_NAME, NAMESPACE}:
            yield _compare_pod_identity(key, old_map.get(key) or "", new_map.get(key) or "")
        elif key in UNCHECKED:
            yield Difference("changed", as_text(key), DIFFERENT, "no rule reads it")
        elif key.startswith(RUNTIME):
            yield Difference("changed", as_text(key), WEAKER, CANNOT_TELL)
        elif key not in old_map:
            yield Difference("added", as_text(key), WEAKER, "the host may set one more annotation")
        elif key not in new_map:
            yield Difference("removed", as_text(key), STRONGER, "the host may no longer set the annotation")
        else:
            yield Difference("changed", as_text(key), DIFFERENT, "the guest does not compare its value")


def _compare_pod_identity(key: str, old: Any, new: Any) -> Difference:
    # A policy without a name or namespace allows any
    field = "pod name" if key == POD_NAME else "namespace"
    if not new:
        return Difference("removed", as_text(old), WEAKER, f"any {field} is allowed", field)
    if not old:
        return Difference("added", as_text(new), STRONGER, f"only this {field} is allowed", field)
    if key == NAMESPACE:
        return Difference("changed", both_texts(old, new), DIFFERENT, "another namespace", field)
    if _is_narrower(new, old):
        return Difference("changed", both_texts(old, new), STRONGER, "only names that a cluster generates", field)
    why = "any letters and digits" if _is_narrower(old, new) else "the patterns cannot be compared"
    return Difference("changed", both_texts(old, new), WEAKER, why, field)


def _is_narrower(pattern: Any, replaced: Any) -> bool:
    """Tell whether a pattern of pod names is another one with exact letters, in the number that can occur.

    genpolicy or an earlier version wrote the pattern that is replaced; there, the index of a Job may be left out.
    """
    index = unlimited("-[0-9]{1,10}")
    names = [text.replace("\\.", ".").replace("\\-", "-") for text in (unlimited(str(pattern)), str(replaced))]
    wider = {names[1].replace(f"({index})?", part) for part in ("", index)}
    return pattern != replaced and names[0] in wider


def _compare_mount(old: dict[str, Any], new: dict[str, Any]) -> Difference:
    parts: list[tuple[Verdict, str]] = []
    summary = as_text(old["destination"])
    for key in sorted(old.keys() | new.keys()):
        if equal_json(old.get(key), new.get(key)):
            continue
        summary += f", {as_text(key)} {both_texts(old.get(key), new.get(key))}"
        if key == "source":
            parts.append(_compare_sources(old.get(key) or "", new.get(key) or ""))
        elif key == "options":
            parts += _compare_options(old[key], new[key])
        else:
            parts.append((WEAKER, f"{as_text(key)}: {CANNOT_TELL}"))
    if not parts:
        parts.append((DIFFERENT, "the options have another order"))
    verdict = worst([verdict_of_part for verdict_of_part, _ in parts])
    why = next(text for verdict_of_part, text in parts if verdict in {verdict_of_part, DIFFERENT})
    return Difference("changed", summary, verdict, why)


def _compare_sources(old: str, new: str) -> tuple[Verdict, str]:
    shared = [text.startswith(HOST_SHARED) for text in (old, new)]
    inside = [not text or text.startswith(IN_MEMORY) for text in (old, new)]
    if shared[1] and inside[0]:
        return WEAKER, "the content comes from the host"
    if shared[0] and inside[1]:
        return STRONGER, "the content no longer comes from the host"
    if all(shared) or all(inside):
        return DIFFERENT, "another volume"
    return WEAKER, f"source: {CANNOT_TELL}"


def _compare_options(old: list[str], new: list[str]) -> list[tuple[Verdict, str]]:
    came, gone = [option for option in new if option not in old], [option for option in old if option not in new]
    parts = [(OPTIONS.get(option, WEAKER), f"it is now mounted {as_text(option)}") for option in came]
    parts += [
        (OPPOSITE[OPTIONS.get(option, STRONGER)], f"it is no longer mounted {as_text(option)}")
        for option in gone
        if INSTEAD.get(option) not in came
    ]
    return parts


# --- Compare the processes of two container policies: command, variables, user, capabilities
#
# Rule: variables are named and never quoted. A command is compared as a whole, since a host must send
# it exactly.


# a token that a rule replaces by a value of the host; the two excluded ones are the pod's (docs/facts/kata.md#tokens)
_TOKEN = re.compile(r"\$\((?!sandbox-name\)|sandbox-namespace\))[a-z][a-z0-9_-]*\)")
VALUE_BOUND = "the value is bound by its format"
_ANY = "the host may choose from more values"
_IPV6 = "an IPv6 address is allowed too"
_IPV4 = "an IPv6 address is no longer allowed"
_texts = list_of(str)
_CAPABILITY_SETS = ("Ambient", "Bounding", "Effective", "Inheritable", "Permitted")


@expecting(_texts)
def compare_command(old: Any, new: Any) -> Iterator[Difference]:
    """Compare Process.Args in order; a `$(node-name)` in a word allows any value."""
    old_words, new_words = old or [], new or []
    if old_words == new_words:
        return
    free = [index for index, word in enumerate(new_words) if _TOKEN.search(word)]
    fixed = [index for index in free if index >= len(old_words) or not _TOKEN.search(old_words[index])]
    verdict, why = DIFFERENT, "another program or other arguments run"
    if list(map(bound_argument, old_words)) == new_words:
        verdict, why = STRONGER, VALUE_BOUND
    elif list(map(bound_argument, new_words)) == old_words:
        verdict, why = WEAKER, "the host may choose any text"
    elif fixed:
        verdict, why = WEAKER, f"the host chooses argument {fixed[0]}"
    yield Difference("changed", both_texts(old_words, new_words), verdict, why)


@expecting(_texts)
def compare_variables(old: Any, new: Any) -> Iterator[Difference]:
    """Compare Process.Env, a set of allowed `NAME=value`; a host may leave each out (docs/facts/kata-rules.md#process).

    a value more for a name    weaker       a value fewer for a name               stronger
    another literal value      different    the host's choice for a literal one    weaker, the reverse stronger
    any value at all           weaker than each other choice of the host
    a token of Kata            weaker than the form of its value
    any number of digits       weaker than as many as there can be
    """
    old_values, new_values = _values_by_name(old or []), _values_by_name(new or [])
    for name in sorted(old_values.keys() | new_values.keys()):
        had, has = old_values.get(name, set()), new_values.get(name, set())
        gone, came = had - has, has - had
        if (bound := _compare_forms(gone, came)) is not None:
            yield Difference("changed", as_text(name), *bound)
            continue
        free, was_free = any(map(_TOKEN.search, came)), any(map(_TOKEN.search, gone))
        any_value, was_any = OPEN in came, OPEN in gone
        if gone and came:
            open_ended = any_value or (free and not was_any) or len(came) > len(gone)
            verdict: Verdict = WEAKER if open_ended else STRONGER if was_free else DIFFERENT
            if_weaker = "any value is allowed" if any_value else _ANY
            if_stronger = "not every value is allowed any more" if free else "the host no longer chooses the value"
            whys = {WEAKER: if_weaker, STRONGER: if_stronger}
            yield Difference("changed", as_text(name), verdict, whys.get(verdict, "the variable has another value"))
        elif came:
            has_name = name in old_values
            why = "one more value is allowed" if has_name else "the host may set one more variable"
            if any_value:
                why = "any value is allowed" if has_name else "the host may set one more variable, to any value"
            yield Difference("changed" if has_name else "added", as_text(name), WEAKER, why)
        elif gone:
            has_name = name in new_values
            why = "one value fewer is allowed" if has_name else "the host may no longer set the variable"
            yield Difference("changed" if has_name else "removed", as_text(name), STRONGER, why)


def _compare_forms(gone: set[str], came: set[str]) -> tuple[Verdict, str] | None:
    """Compare the values of a variable where one side has the forms of the other's; None where it does not."""
    if gone and set(map(bound_value, gone)) == came:
        return (WEAKER, _IPV6) if came & WIDER else (STRONGER, VALUE_BOUND)
    if came and set(map(bound_value, came)) == gone:
        return (STRONGER, _IPV4) if gone & WIDER else (WEAKER, _ANY)
    unlimited_values = set(map(unlimited_value, gone))
    if gone and unlimited_values == set(map(unlimited_value, came)):
        return (STRONGER, VALUE_BOUND) if gone == unlimited_values else (WEAKER, _ANY)
    return None


@expecting(lambda value: isinstance(value, dict))
def compare_user(old: Any, new: Any) -> Iterator[Difference]:
    """Compare Process.User, whose members are numbers; 0 is root."""
    for key, root in (("UID", "root"), ("GID", "the root group")):
        old_id, new_id = old.get(key), new.get(key)
        if not is_number(old_id) or not is_number(new_id):
            yield from (change._replace(field=f"user {key}") for change in unknown_value(old_id, new_id))
        elif old_id != new_id:
            verdict: Verdict = WEAKER if new_id == 0 else STRONGER if old_id == 0 else DIFFERENT
            why = {WEAKER: f"the process is {root}", STRONGER: f"the process is no longer {root}"}
            text = why.get(verdict, "the process runs as someone else")
            yield Difference("changed", f"{key} {old_id} -> {new_id}", verdict, text)
    groups = [value.get("AdditionalGids") or [] for value in (old, new)]
    if not all(isinstance(value, list) and all(map(is_number, value)) for value in groups):
        yield from (change._replace(field="user AdditionalGids") for change in unknown_value(*groups))
    else:
        for number in sorted(set(groups[0]) ^ set(groups[1])):
            if number in groups[1]:
                yield Difference("added", f"group {number}", WEAKER, "the process is in one more group")
            else:
                yield Difference("removed", f"group {number}", STRONGER, "the process is in one group fewer")
    for key in sorted((old.keys() | new.keys()) - {"UID", "GID", "AdditionalGids"}):
        yield from (change._replace(field=f"user {key}") for change in unknown_value(old.get(key), new.get(key)))


def _are_capabilities(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() <= set(_CAPABILITY_SETS) and all(map(_texts, value.values()))


@expecting(_are_capabilities)
def compare_capabilities(old: Any, new: Any) -> Iterator[Difference]:
    """Compare Process.Capabilities, tokens expanded: one line per capability, with the sets that gained or lost it."""
    old_sets, new_sets = _sets_by_capability(old), _sets_by_capability(new)
    changes: tuple[tuple[Op, Verdict, str, dict[str, list[str]], dict[str, list[str]]], ...] = (
        ("removed", STRONGER, "the process may do less", old_sets, new_sets),
        ("added", WEAKER, "the process may do more", new_sets, old_sets),
    )
    for op, verdict, why, present, counterpart in changes:
        for capability, names in sorted(present.items()):
            if sets := [name for name in names if name not in counterpart.get(capability, ())]:
                yield Difference(op, f"{as_text(capability)} ({', '.join(sets)})", verdict, why)


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


def _sets_by_capability(value: dict[str, Any]) -> dict[str, list[str]]:
    # The rules compare capabilities without CAP_ (docs/facts/kata-rules.md#process)
    out: dict[str, list[str]] = {}
    for name in _CAPABILITY_SETS:
        for capability in {text.removeprefix("CAP_") for text in value.get(name) or ()}:
            out.setdefault(capability, []).append(name)
    return out


def _values_by_name(entries: list[str]) -> dict[str, set[str]]:
    out: dict[str, set[str]] = {}
    for entry in entries:
        name, _, value = entry.partition("=")
        out.setdefault(name, set()).add(value)
    return out
