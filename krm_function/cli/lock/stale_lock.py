"""What `lock --check` says of a lock: whether `lock` on the same resources would leave it as it is.

    an image of the resources                      finding
    has no digest                                  CC1216.tag     whatever the lock has: pods have to name the digest
    is no entry of the lock                        CC1216.absent
    is an entry without passwd or group            CC1216.silent
    is an entry without sizes that are wanted      CC1216.unsized
    is an entry whose tag nobody has looked up     CC0510, a warning, which `lock` repeats
    an entry that no image of the resources uses   CC1217, with --prune

Rule of this file: nothing is fetched and nothing is written. Entries are compared by the whole reference, as a render
looks them up.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.cli.lock.lock_file import known_entries
from krm_function.cli.lock.task import Task, lacks
from krm_function.cli.lock.upgrade import doubtful_tags
from krm_function.findings import Finding, finding
from krm_function.lock import silent
from krm_function.model.image import Image


def check_lock(task: Task, *, prune: bool) -> list[Finding]:
    """Compare the lock with what `lock` would write: no finding if it is the same."""
    entries = known_entries([task.file.lock] if task.file.lock else [])[0]
    lock = task.file.path
    findings = [
        use.place(finding(problem, image=str(image), lock=lock))
        for image, use in task.images.items()
        if (problem := _problem(image, entries, sizes=task.sizes))
    ]
    findings += doubtful_tags(task.images, entries)
    if prune:
        used = {str(image) for image in task.images}
        findings += [finding("CC1217", file=lock, lock=lock, image=name) for name in entries if name not in used]
    return findings


def _problem(image: Image, entries: Mapping[str, dict[str, Any]], *, sizes: bool) -> str:
    """Return the code of what is wrong with the lock about one image, or ""."""
    if not image.pinned:
        return "CC1216.tag"
    entry = entries.get(str(image))
    if entry is None:
        return "CC1216.absent"
    if silent(entry):
        return "CC1216.silent"
    return "CC1216.unsized" if lacks(entry, sizes=sizes) else ""
