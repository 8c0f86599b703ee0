"""Inputs of the benchmarks, generated: as many Contrast workloads as asked for, made from examples/quickstart.

Rule of this file: deterministic, and real: every workload has a service mesh, an ID block and a policy.
"""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QUICKSTART = os.path.join(ROOT, "examples", "quickstart")


def resource_list(workloads: int) -> str:
    """A ResourceList with that many Contrast workloads (one is the coordinator), the release, the lock and options."""
    web, coordinator, settings = (_documents("resources", name) for name in ("web", "coordinator", "settings"))
    deployment = next(document for document in web if "kind: Deployment" in document)
    copies = [deployment.replace("name: web\n", f"name: web{number}\n", 1) for number in range(workloads - 1)]
    items = [*copies, *coordinator, *settings, *_documents("config", "release"), *_documents("config", "images")]
    (options,) = _documents("config", "contrast")
    options = re.sub(r"(?ms)^    policies:.*", "", options)  # names a workload that is not in this list
    listed = "".join(_indented(item, "- ") for item in items)
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
    return f"{head}{listed}functionConfig:\n{_indented(options, '  ')}"


def _documents(*path: str) -> list[str]:
    """The documents of one file of the quickstart, without comments."""
    with open(os.path.join(QUICKSTART, *path) + ".yaml", encoding="utf-8") as file:
        text = file.read()
    bare = [re.sub(r"(?m)^\s*(#.*)?\n", "", document) for document in re.split(r"(?m)^---\n", text)]
    return [document for document in bare if document.strip()]


def _indented(text: str, first: str) -> str:
    lines = text.rstrip("\n").split("\n")
    return first + "".join(f"{line}\n" if index == 0 else f"  {line}\n" for index, line in enumerate(lines))
