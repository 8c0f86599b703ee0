"""The text of an ImageLock: a new one, or an existing one with entries added, completed and removed.

Rule of this file: a person's text stays byte for byte (comments, order, quotes): the edits are spliced by the same
code that edits workloads. New entries follow the old ones, sorted. An old entry gets the ACCOUNTS that it lacks, its
layers where their sizes were unknown, loses `foundAs` once its tag was looked up and `pinnedOver` where another pin
contradicts it, and is not touched otherwise.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from krm_function.config.document import API_VERSION
from krm_function.config.image_lock import KIND
from krm_function.contrast.vm_size import is_sized
from krm_function.krm.kube_object import LOCAL_CONFIG
from krm_function.kubernetes.objects import mapping
from krm_function.text.changes import Change
from krm_function.text.parse import parse
from krm_function.text.splice import splice
from krm_function.text.writer import dump

ACCOUNTS = ("passwd", "group")
LAYERS = "layers"
FOUND_AS = "foundAs"  # another tag of the digest than the reference's
PINNED_OVER = "pinnedOver"  # the tag below the pin that `lock` wrote
TAGS = (FOUND_AS, PINNED_OVER)

HEAD = """# What the policies have to know of each image, named as rendered pods name it.
# Written by contrast-krm lock; review and commit it.
"""


def new_lock(entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Write a new document."""
    value = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": "images", "annotations": {LOCAL_CONFIG: "true"}},
        "spec": {"images": dict(sorted(entries.items()))},
    }
    return HEAD + dump(value)


def silent(entry: Mapping[str, Any]) -> bool:
    """Tell whether an entry lacks passwd or group; "" means that the image has none."""
    return any(entry.get(key) is None for key in ACCOUNTS)


def updated_lock(text: str, entries: Mapping[str, Mapping[str, Any]], dropped: Iterable[str]) -> str:
    """Add missing entries to a document, complete others and drop some.

    Return the same text if nothing changes. text: one document, an ImageLock. Raises YamlError if it cannot be edited.
    """
    document = parse(text)
    spec = mapping(mapping(document.value).get("spec"))
    present = mapping(spec.get("images"))
    changes = [Change(("spec", "images", name), "remove") for name in dropped if name in present]
    added = {name: entry for name, entry in sorted(entries.items()) if name not in present}
    if added and not present:
        return splice(document, [Change(("spec", "images"), "set", added)]).text
    for name, entry in sorted(entries.items()):
        old = mapping(present.get(name))
        lacking = [key for key in ACCOUNTS if old.get(key) is None] if name in present else []
        if name in present and is_sized(entry.get(LAYERS)) and not is_sized(old.get(LAYERS)):
            lacking.append(LAYERS)
        changes += [Change(("spec", "images", name, key), "set", entry[key]) for key in lacking]
        gone = [key for key in TAGS if key in old and key not in entry]
        changes += [Change(("spec", "images", name, key), "remove") for key in gone]
    changes += [Change(("spec", "images", name), "set", entry) for name, entry in added.items()]
    return splice(document, changes).text
