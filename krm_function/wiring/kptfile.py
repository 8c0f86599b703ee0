"""Kptfile: the function as the last mutator.

Rule of this file: as for a kustomization, the list is only appended to. Release and lock need no entry: kpt hands every
file of the package to a function (docs/facts/kpt.md#kptfile).
"""

import os
from typing import Any

from krm_function.findings import Finding, dotted, finding
from krm_function.krm.kube_object import LOCAL_CONFIG
from krm_function.model.lookup import dig, mapping, maps
from krm_function.wiring.wired import Files, Wired
from krm_function.yamltext import Change, parse
from krm_function.yamltext.edit.splice import splice
from krm_function.yamltext.writer import dump

KPTFILE = "Kptfile"
PROGRAM = "contrast-krm"


def wire_kptfile(text: str, files: Files, name: str) -> Wired:
    """Add the mutator. name: of the package, for a new file. Raises YamlError."""
    text = text if text.strip() else _new(name)
    document = parse(text)
    problem = _problem(document.value)
    if problem:
        return Wired(text, findings=(problem,))
    pipeline, mutators = mapping(document.value).get("pipeline"), dig(document.value, ("pipeline", "mutators"))
    present = [index for index, mutator in enumerate(maps(mutators)) if _is_ours(mutator)]
    if present:
        late = present[-1] != len(mutators) - 1
        return Wired(
            text, findings=(finding("CC1312", what=f"mutator {PROGRAM}", after="another mutator"),) if late else ()
        )
    mutator = {"exec": PROGRAM, "configPath": files.generate}
    if not pipeline:
        change = Change(("pipeline",), "set", {"mutators": [mutator]})
    elif not mutators:
        change = Change(("pipeline", "mutators"), "set", [mutator])
    else:
        change = Change(("pipeline", "mutators", len(mutators)), "insert", mutator)
    return Wired(splice(document, [change]).text, (f"mutator: exec {PROGRAM}, configPath {files.generate}",))


def _new(name: str) -> str:
    metadata = {"name": name, "annotations": {LOCAL_CONFIG: "true"}}
    return dump({"apiVersion": "kpt.dev/v1", "kind": KPTFILE, "metadata": metadata})


def _is_ours(mutator: dict[str, Any]) -> bool:
    """Tell whether a mutator is this function, as a program or as an image."""
    words = str(mutator.get("exec") or "").split()
    image = str(mutator.get("image") or "").partition("@")[0].rpartition("/")[2].partition(":")[0]
    return PROGRAM in {image, *(os.path.basename(word) for word in words[:1])}


def _problem(value: Any) -> Finding | None:
    """Return why a file cannot be wired, if so."""
    if mapping(value).get("kind") != KPTFILE:
        return finding("CC1311.kptfile")
    for path, kind in ((("pipeline",), dict), (("pipeline", "mutators"), list)):
        if not isinstance(dig(value, path), kind | None):
            return finding("CC1311.map" if kind is dict else "CC1311.list", path=path, field=dotted(path))
    return None
