"""Compare the mounts, storages and annotations of two container policies.

Rule of this file: what the host controls is weaker than what is in the VM; what is not known to be stronger is weaker.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.model.lookup import maps
from krm_function.policy.bound_values import unlimited
from krm_function.policy.compare.difference import (
    CANNOT_TELL,
    DIFFERENT,
    STRONGER,
    WEAKER,
    FieldChange,
    Verdict,
    absent_or,
    as_text,
    both_texts,
    equal_json,
    expecting,
    list_of,
    unmatched,
    unordered_list,
    worst,
)

# option -> the verdict on a mount that gains it
OPTIONS: dict[str, Verdict] = {
    **dict.fromkeys(("ro", "nosuid", "noexec", "nodev"), STRONGER),
    **dict.fromkeys(("rw", "shared", "rshared", "suid", "exec", "dev"), WEAKER),
    **dict.fromkeys(("private", "rprivate"), STRONGER),
}
OPPOSITE: dict[Verdict, Verdict] = {WEAKER: STRONGER, STRONGER: WEAKER, DIFFERENT: DIFFERENT}
# the other half of a change that is already reported by its first half: `ro` to `rw` is one change
INSTEAD = {
    "rw": "ro",
    "ro": "rw",
    "rprivate": "rshared",
    "rshared": "rprivate",
    "private": "shared",
    "shared": "private",
}

HOST_SHARED = ("$(sfprefix)", "$(cpath)", "^$(cpath)", "^/run/kata-containers/shared/")
IN_MEMORY = "^/run/kata-containers/sandbox/ephemeral/"

NAMESPACE = "io.kubernetes.cri.sandbox-namespace"
POD_NAME = "io.kubernetes.cri.sandbox-name"
RUNTIME = ("io.kubernetes.cri.", "io.katacontainers.pkg.oci.", "nerdctl/")  # all others are the pod's own
UNCHECKED = ("io.katacontainers.pkg.oci.bundle_path",)  # no rule reads it: docs/facts/kata-rules.md#create-container


def _is_mount(one: dict[str, Any]) -> bool:
    options = one.get("options")
    texts = (one.get("destination"), one.get("source", ""))
    return isinstance(options, list) and all(isinstance(text, str) for text in (*texts, *options))


@expecting(lambda value: list_of(dict)(value) and all(map(_is_mount, value or ())))
def compare_mounts(old: Any, new: Any) -> Iterator[FieldChange]:
    """Compare OCI.Mounts by destination; a host may omit each (docs/facts/kata-rules.md#mounts-and-storages)."""
    gone, came = unmatched(maps(old), maps(new))
    for destination in sorted({one["destination"] for one in (*gone, *came)}):
        before = [one for one in gone if one["destination"] == destination]
        after = [one for one in came if one["destination"] == destination]
        for one, other in zip(before, after, strict=False):
            yield _changed_mount(one, other)
        for _ in before[len(after) :]:
            yield FieldChange("removed", as_text(destination), STRONGER, "the host may mount one thing less")
        for _ in after[len(before) :]:
            yield FieldChange("added", as_text(destination), WEAKER, "the host may mount one thing more")


def _volume(one: dict[str, Any]) -> str:
    """Describe a storage: its kind and its mount point."""
    options = one.get("driver_options")
    encrypted = isinstance(options, list) and any(str(text).startswith("encryption_key=") for text in options)
    kind = "encrypted " if encrypted else ""
    return f"{kind}{as_text(one.get('fstype') or 'volume')} at {as_text(one.get('mount_point') or 'an unknown place')}"


# the volumes that the agent mounts for a container; image storages are compared in images.py
compare_storages = expecting(list_of(dict))(
    unordered_list(WEAKER, "the host may attach one volume more", "the host may attach one volume less", _volume)
)


@expecting(absent_or(dict))
def compare_annotations(old: Any, new: Any) -> Iterator[FieldChange]:
    """Compare OCI.Annotations: keys are allowed, values of the pod's own are not compared by the guest.

    Source: docs/facts/kata-rules.md#create-container.
    """
    before, after = old or {}, new or {}
    for key in sorted(before.keys() | after.keys()):
        if equal_json(before.get(key), after.get(key)):
            continue
        if key in {POD_NAME, NAMESPACE}:
            yield _pod_identity(key, before.get(key) or "", after.get(key) or "")
        elif key in UNCHECKED:
            yield FieldChange("changed", as_text(key), DIFFERENT, "no rule reads it")
        elif key.startswith(RUNTIME):
            yield FieldChange("changed", as_text(key), WEAKER, CANNOT_TELL)
        elif key not in before:
            yield FieldChange("added", as_text(key), WEAKER, "the host may set one more annotation")
        elif key not in after:
            yield FieldChange("removed", as_text(key), STRONGER, "the host may no longer set the annotation")
        else:
            yield FieldChange("changed", as_text(key), DIFFERENT, "the guest does not compare its value")


def _pod_identity(key: str, old: Any, new: Any) -> FieldChange:
    """Compare a pod's name or namespace; without one in the policy the pod may have any."""
    field = "pod name" if key == POD_NAME else "namespace"
    if not new:
        return FieldChange("removed", as_text(old), WEAKER, f"any {field} is allowed", field)
    if not old:
        return FieldChange("added", as_text(new), STRONGER, f"only this {field} is allowed", field)
    if key == NAMESPACE:
        return FieldChange("changed", both_texts(old, new), DIFFERENT, "another namespace", field)
    if _is_narrower(new, old):
        return FieldChange("changed", both_texts(old, new), STRONGER, "only names that a cluster makes", field)
    why = "any letters and digits" if _is_narrower(old, new) else "one pattern cannot be measured by another"
    return FieldChange("changed", both_texts(old, new), WEAKER, why, field)


def _is_narrower(one: Any, other: Any) -> bool:
    """Tell whether a pattern of pod names is the other one with exact letters, as many as there can be.

    The other one is of genpolicy or of an earlier version; there, the index of a Job may be left out.
    """
    index = unlimited("-[0-9]{1,10}")
    names = [text.replace("\\.", ".").replace("\\-", "-") for text in (unlimited(str(one)), str(other))]
    wider = {names[1].replace(f"({index})?", part) for part in ("", index)}
    return one != other and names[0] in wider


def _changed_mount(old: dict[str, Any], new: dict[str, Any]) -> FieldChange:
    """Compare two mounts of one destination; the verdict is the worst over all members that differ."""
    parts: list[tuple[Verdict, str]] = []
    what = as_text(old["destination"])
    for key in sorted(old.keys() | new.keys()):
        if equal_json(old.get(key), new.get(key)):
            continue
        what += f", {as_text(key)} {both_texts(old.get(key), new.get(key))}"
        if key == "source":
            parts.append(_source(old.get(key) or "", new.get(key) or ""))
        elif key == "options":
            parts += _options(old[key], new[key])
        else:
            parts.append((WEAKER, f"{as_text(key)}: {CANNOT_TELL}"))
    if not parts:
        parts.append((DIFFERENT, "the options have another order"))
    verdict = worst([one for one, _ in parts])
    why = next(text for one, text in parts if verdict in {one, DIFFERENT})
    return FieldChange("changed", what, verdict, why)


def _source(old: str, new: str) -> tuple[Verdict, str]:
    shared = [text.startswith(HOST_SHARED) for text in (old, new)]
    inside = [not text or text.startswith(IN_MEMORY) for text in (old, new)]
    if shared[1] and inside[0]:
        return WEAKER, "the content comes from the host"
    if shared[0] and inside[1]:
        return STRONGER, "the content no longer comes from the host"
    if all(shared) or all(inside):
        return DIFFERENT, "another volume"
    return WEAKER, f"source: {CANNOT_TELL}"


def _options(old: list[str], new: list[str]) -> list[tuple[Verdict, str]]:
    came, gone = [one for one in new if one not in old], [one for one in old if one not in new]
    parts = [(OPTIONS.get(one, WEAKER), f"it is now mounted {as_text(one)}") for one in came]
    parts += [
        (OPPOSITE[OPTIONS.get(one, STRONGER)], f"it is no longer mounted {as_text(one)}")
        for one in gone
        if INSTEAD.get(one) not in came
    ]
    return parts
