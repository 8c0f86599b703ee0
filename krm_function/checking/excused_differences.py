"""Decide whether two objects are the same although a host or an API server has rewritten one of them.

Rule of this file: each excuse is one that a real host or Kubernetes' own defaulting needs, and a test has that host.
A render keeps what it does not own, so most of what they write stands on both sides; what is left:

- undo records hold bytes of the text that was edited; compared is what each does: its operation, address and value;
- initdata are compared as what is packed, because another zlib packs to other bytes;
- a quantity is its value (the API server writes 1024Mi as 1Gi);
- in what a render puts in anew: defaults of the API server, and only those values (DEFAULTS).
"""

import json
from typing import Any

from krm_function.findings import Path
from krm_function.model.lookup import dig
from krm_function.model.objects import reference
from krm_function.model.pod_kinds import SHIPPED, Kinds
from krm_function.model.quantity import equal
from krm_function.model.workload import INITDATA, ORIGINAL
from krm_function.policy import from_annotation
from krm_function.yamltext import Change, YamlError, apply, same
from krm_function.yamltext.comparison import ABSENT, Alike
from krm_function.yamltext.edit.undo_records import read_raw

DEFAULTS: dict[Path, tuple[Any, ...]] = {  # what the API server writes there
    ("initContainers", "[]", "terminationMessagePath"): ("/dev/termination-log",),
    ("initContainers", "[]", "terminationMessagePolicy"): ("File",),
    ("initContainers", "[]", "imagePullPolicy"): ("IfNotPresent", "Always"),
    ("ports", "[]", "protocol"): ("TCP",),
    ("startupProbe", "timeoutSeconds"): (1,),
    ("startupProbe", "successThreshold"): (1,),
    ("volumeClaimTemplate", "metadata"): ({},),
}
QUANTITIES = ("limits", "requests", "podFixed")


def _is_default(values: tuple[Any, ...]) -> Alike:
    """Make an excuse for values of the input that a render leaves out."""
    return lambda first, second: second is ABSENT and any(same(first, value) for value in values)


EXCUSES: dict[Path, Alike] = {  # first: of the input; second: of a render
    **{("**", *path): _is_default(values) for path, values in DEFAULTS.items()},
    **{("**", name, "*"): equal for name in QUANTITIES},
}


def comparable(value: Any, kinds: Kinds = SHIPPED) -> Any:
    """Decode the undo record and initdata of an object, so that their content is compared. Paths stay the same."""
    changes = []
    records: Path = ("metadata", "annotations", ORIGINAL)
    if isinstance(text := dig(value, records), str):
        changes.append(Change(records, "set", _records(text)))
    for template in kinds.paths(reference(value), value):
        initdata: Path = (*template, "metadata", "annotations", INITDATA)
        if isinstance(text := dig(value, initdata), str):
            changes.append(Change(initdata, "set", _initdata(text)))
    return apply(value, changes)


def _records(text: str) -> Any:
    """Decode what undo records do, in an order that does not depend on the order of keys in the text."""
    try:
        return sorted(json.dumps(_record(*record), sort_keys=True) for record in json.loads(text))
    except (ValueError, TypeError, YamlError):
        return text


def _record(operation: str, address: str, value: Any = None, *_: Any) -> list[Any]:
    """Return operation, address and value. `~` counts as `=` with its bytes; the number behind `-` is left out."""
    match operation:
        case "-":
            return ["-", address]
        case "~":
            return ["=", address, read_raw(value)]
        case _:
            return [operation, address, value]


def _initdata(text: str) -> Any:
    """Decode the document inside of initdata; return the text where there is none."""
    import tomllib

    try:
        packed = from_annotation(text)
    except ValueError:
        return text
    try:
        return {**tomllib.loads(packed.decode()), "": packed.decode()}
    except (ValueError, RecursionError):
        return {"": packed.decode("utf-8", "replace")}
