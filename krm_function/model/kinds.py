"""The eight kinds whose pod templates Contrast reads, and the path from an object to its template.

Source: docs/facts/contrast.md#selection.

Rule of this file: this is their only list, and nothing is imported, so that a stream without any of them is recognised
before anything else is loaded.
"""

# kind -> accepted apiVersion, path from the object to its pod template. A Pod is its own template.
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
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
