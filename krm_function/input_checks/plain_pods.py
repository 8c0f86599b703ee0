"""Name the pods that run outside of a VM, and warn where they are all but the coordinator.

Rule of this file: a pod is plain because nobody has said otherwise, which is no error; but nobody may believe that it
is protected. `generate`, `check` and `plan` name the plain pods, and an input whose only confidential pod is the
coordinator is a warning: its application has not been made confidential. Output that has none at all, and is checked
with the configuration of a render, is an error: a chart may have lost its runtimeClassName.
"""

from collections.abc import Iterable, Sequence

from krm_function.api.records import Generate
from krm_function.findings import Finding, Ref, finding
from krm_function.model.listed_names import listed
from krm_function.model.workload import Workload


def plain_line(plain: Iterable[Ref]) -> str:
    """Write `not confidential: Deployment/shop/a, ... and 3 more` as a line, "" if there is none."""
    names = _names(plain)
    return f"not confidential: {names}\n" if names else ""


def only_the_coordinator(workloads: Sequence[Workload], plain: Sequence[Ref]) -> tuple[Finding, ...]:
    """Return CC0242 if coordinators are the only confidential pods, and others are plain."""
    if not plain or not workloads or not all(workload.is_coordinator for workload in workloads):
        return ()
    return (finding("CC0242", names=_names(plain)),)


def none_confidential(plain: Sequence[Ref], generate: Generate) -> tuple[Finding, ...]:
    """Return CC0291 if nobody has said of a pod that it is plain on purpose. plain: all pods of an input are so."""
    if not generate.workloads:
        return (finding("CC0291", names=_names(plain)),) if plain else ()
    from krm_function.api.workload_entries import naming

    def on_purpose(ref: Ref) -> bool:
        return any(entry.plain for _, entry in naming(generate.workloads, ref, generate.namespace))

    unsaid = [ref for ref in plain if not on_purpose(ref)]
    return (finding("CC0291", names=_names(unsaid)),) if unsaid else ()


def _names(plain: Iterable[Ref]) -> str:
    from krm_function.model.address import address_of

    return listed(list(dict.fromkeys(map(address_of, plain))))
