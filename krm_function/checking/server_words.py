"""Quote what an API server says of a pod, without anything of the pod that might be secret.

Rule of this file: a server repeats the values that it refuses, so the values of variables, long annotations and what it
quotes as a value are taken out; the rest is cut and on one line.
"""

import re
from collections.abc import Iterator
from typing import Any

from krm_function.checking.pod_as_created import name_prefix
from krm_function.model.lookup import mapping, maps
from krm_function.model.workload import Workload

MASK = "(masked)"
LONGEST = 600  # characters
LONG_ANNOTATION = 64  # characters, as everywhere
LEAST = 4  # characters of a value that is looked for: a shorter one would be found in other words
QUOTED = re.compile(r'((?:Invalid|Unsupported|Duplicate) value: )("(?:[^"\\]|\\.)*"?|\S+)')


def server_words(text: str, *workloads: Workload) -> str:
    """Return the words of a server. workloads: what was sent, whose values are masked."""
    values = sorted({value for one in workloads for value in _values(one)}, key=len, reverse=True)
    for value in values:
        text = text.replace(value, MASK)
    for one in workloads:  # the name that the server has given to the pod of a dry run
        text = re.sub(rf"\b{re.escape(name_prefix(one))}[a-z0-9]{{5}}\b", f"{name_prefix(one)}…", text)
    text = " ".join(QUOTED.sub(rf"\1{MASK}", text).split())
    return f"{text[:LONGEST]}…" if len(text) > LONGEST else text


def _values(workload: Workload) -> Iterator[str]:
    for each in workload.all_containers:
        for variable in maps(each.container.get("env")):
            yield from _long(variable.get("value"))
    for value in mapping(workload.pod_metadata.get("annotations")).values():
        if isinstance(value, str) and len(value) > LONG_ANNOTATION:
            yield value


def _long(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) >= LEAST:
        yield from (value, *(line for line in value.splitlines() if len(line) >= LEAST))
