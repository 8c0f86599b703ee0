"""The eight kinds whose pod templates Contrast reads, and the paths from an object to its templates.

Source: docs/facts/contrast.md#selection.

Rule of this file: this is their only list, and nothing is imported, so that a stream without any of them is recognised
before anything else is loaded. A kind may have any number of templates; these eight have one each.
"""

Pattern = tuple[str, ...]  # "*" stands for each entry of a list

# kind -> accepted apiVersion, and the paths from the object to its pod templates. A Pod is its own template.
KINDS: dict[str, tuple[str, Pattern, *tuple[Pattern, ...]]] = {
    "Pod": ("v1", ()),
    "ReplicationController": ("v1", ("spec", "template")),
    "Deployment": ("apps/v1", ("spec", "template")),
    "DaemonSet": ("apps/v1", ("spec", "template")),
    "StatefulSet": ("apps/v1", ("spec", "template")),
    "ReplicaSet": ("apps/v1", ("spec", "template")),
    "Job": ("batch/v1", ("spec", "template")),
    "CronJob": ("batch/v1", ("spec", "jobTemplate", "spec", "template")),
}

EDITED = frozenset((*KINDS, "RuntimeClass"))  # a render writes to these
KINDS_BY_CONTENT = frozenset(("List", "RuntimeClass"))  # a render reads them to find out whether they concern it


def template_paths(kind: str, value: object) -> list[tuple[str | int, ...]]:
    """Return the path of each pod template of an object of one of these kinds, present or not; [] for other kinds."""
    patterns = KINDS[kind][1:] if kind in KINDS else ()
    return [path for pattern in patterns for path in _expand(pattern, value)]


def _expand(pattern: Pattern, value: object) -> list[tuple[str | int, ...]]:
    """Return the paths that a pattern stands for in a value: one for each entry of its lists."""
    if "*" not in pattern:
        return [pattern]
    size = pattern.index("*")
    for part in pattern[:size]:
        value = value.get(part) if isinstance(value, dict) else None
    entries = value if isinstance(value, list) else []
    return [
        (*pattern[:size], index, *rest)
        for index, entry in enumerate(entries)
        for rest in _expand(pattern[size + 1 :], entry)
    ]
