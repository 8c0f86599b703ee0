"""Measure an object as `kubectl apply` keeps it in an annotation, and as etcd stores it.

Rule of this file: a warning from nine tenths of a limit on, and one for each object: of the larger limit that it comes
near. kubectl writes the object as Go writes JSON, with `<`, `>` and `&` as six characters each; etcd gets less than
that, so its limit is met a little later than here. Source: docs/facts/kubernetes.md#limits.
"""

import json
from collections.abc import Iterator
from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.annotations import TOTAL, annotations_size
from krm_function.model.lookup import dig, mapping

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
STORED = 3 << 19  # bytes of a request that etcd takes, unless it is told otherwise
NEARLY = 90  # per cent
ESCAPED = "<>&\u2028\u2029"  # which Go writes as six characters


def size_findings(ref: Ref, path: Path, value: Any) -> Iterator[Finding]:
    """Yield CC0715 if an object comes near a limit. path: of its metadata, in its document."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    size = len(text.encode("utf-8", "replace"))
    name = f"{ref.kind}/{ref.name}"
    if size * 100 >= STORED * NEARLY:
        yield finding("CC0715.etcd", ref, path, name=name, size=size, limit=STORED)
        return
    size += sum((6 - len(one.encode("utf-8"))) * text.count(one) for one in ESCAPED) + len("\n")
    annotations = mapping(dig(value, ("metadata", "annotations")))
    size += annotations_size({**annotations, LAST_APPLIED: ""})
    if size * 100 >= TOTAL * NEARLY:
        yield finding("CC0715.apply", ref, path, name=name, size=size, limit=TOTAL)
