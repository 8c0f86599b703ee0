"""`workloads` of ContrastGenerate: which pod templates of the input are confidential, and which are plain on purpose.

Rule of this file: what a user writes, and which objects an entry names. An entry names an object by kind, namespace and
name alone: nothing else that an author of the input writes makes it match, or keeps it from matching.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from krm_function.api.document import NAMESPACE
from krm_function.api.policy_options import NAME_PATTERN
from krm_function.findings import Ref
from krm_function.model.kinds import CATALOGUED, KINDS
from krm_function.model.labels import LONGEST_SUBDOMAIN
from krm_function.model.platforms import PLATFORMS
from krm_function.model.runtime_class_names import BARE, placeholder
from krm_function.record import Annotated, NamedTuple
from krm_function.schema.kinds import Choice, Field, Path, Problems, Text
from krm_function.schema.nearest import nearest
from krm_function.schema.table import table

REQUIRED = "required"


class WorkloadEntry(NamedTuple):
    """An entry that names workloads. namespace: "" for any. platform: "" for the bare placeholder.

    plain: why they run outside of a VM, "" if they are confidential.
    """

    kind: Annotated[str, Field(Text("a kind, such as Deployment", "[A-Z][A-Za-z0-9]*", 63), "of the object")]
    name: Annotated[  # as model.glob_pattern reads it
        str,
        Field(
            Text("a name with * for any text", NAME_PATTERN, LONGEST_SUBDOMAIN, "web-*"),
            "of the whole name; * stands for any text",
        ),
    ]
    namespace: Annotated[str, Field(NAMESPACE, "absent: any, none included")] = ""
    platform: Annotated[
        str, Field(Choice(tuple(PLATFORMS), fold=True), "absent: the bare placeholder contrast-cc, as pods write it")
    ] = ""
    plain: Annotated[
        str,
        Field(
            Text("a reason, on one line", r"\S(?:[^\r\n]*\S)?", 300, "reads host metrics"),
            "why they are not confidential; in place of platform",
        ),
    ] = ""

    @property
    def placeholder(self) -> str:
        """The runtimeClassName that it stands for, "" for a plain one."""
        if self.plain:
            return ""
        return placeholder(PLATFORMS[self.platform]) if self.platform else BARE

    @property
    def text(self) -> str:
        """The entry in a sentence: what it names."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


Workloads = Sequence[WorkloadEntry | str]
"""What `spec.workloads` holds: entries, and the word `required`."""


def _check(entry: dict[str, Any]) -> Problems:
    if entry.get("plain") is not None and entry.get("platform") is not None:
        return (((), "has a platform and is plain; leave one of the two out"),)
    return ()


def kind_problems(workloads: Any, configured: Iterable[str]) -> Problems:
    """Return what is wrong with the kinds of entries: no pods of them are sealed. configured: by spec.podTemplates."""
    known = (*KINDS, *CATALOGUED, *configured)
    problems: list[tuple[Path, str]] = []
    entries = workloads if isinstance(workloads, list) else [workloads]
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or entry.get("plain") is not None or entry["kind"] in known:
            continue
        near = nearest(entry["kind"], known)
        path = ("workloads", index, "kind") if isinstance(workloads, list) else ("workloads", "kind")
        wanted = f"did you mean {near}?" if near else f"{', '.join(KINDS)}, and those of spec.podTemplates"
        problems.append((path, f"is no kind whose pods are sealed: {wanted}"))
    return tuple(problems)


ENTRY = table(WorkloadEntry, _check)


def names(entry: WorkloadEntry, ref: Ref, namespace: str) -> bool:
    """Tell whether an entry names an object. namespace: what an object that names none is given, "" for nothing."""
    from krm_function.model.glob_pattern import fits

    return (
        entry.kind == ref.kind
        and entry.namespace in ("", ref.namespace or namespace)
        and bool(ref.name)
        and fits(entry.name, ref.name)
    )


def naming(workloads: Workloads, ref: Ref, namespace: str) -> list[tuple[int, WorkloadEntry]]:
    """Return the entries that name an object, each with its position."""
    return [
        (index, entry)
        for index, entry in enumerate(workloads)
        if not isinstance(entry, str) and names(entry, ref, namespace)
    ]
