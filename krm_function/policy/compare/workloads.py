"""Compare the policies of two rendered outputs, workload by workload.

Rule of this file: pure, and closed: a workload has the same kind, namespace and name in both outputs, or it is new. A
new one counts as weaker, because the manifest trusts a policy that it did not trust before.
"""

from collections.abc import Collection, Iterable

from krm_function.findings import Finding, Ref
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy.compare.difference import STRONGER, WEAKER, Difference, Op, Verdict
from krm_function.policy.compare.identity import GivenAway, compare_identity
from krm_function.policy.compare.policy_data import compare_initdata
from krm_function.policy.configured_initdata import unreadable
from krm_function.policy.document import read_policy_data
from krm_function.policy.initdata import POLICY, Initdata, decode_toml, from_annotation
from krm_function.record import NamedTuple

WorkloadKey = tuple[str, str, str]


class WorkloadDifferences(NamedTuple):
    """A workload, and the differences of its policies."""

    ref: Ref
    lines: tuple[Difference, ...]


def workload_key(ref: Ref) -> WorkloadKey:
    """Return the key by which a workload is matched in two outputs."""
    return ref.kind, ref.namespace, f"{ref.name}#{ref.part}" if ref.part else ref.name


def compare_workloads(
    old: Iterable[Workload],
    new: Iterable[Workload],
    outside: Collection[WorkloadKey],
    given: tuple[GivenAway, GivenAway] | None = None,
) -> tuple[tuple[WorkloadDifferences, ...], tuple[Finding, ...]]:
    """Return the workloads whose policies differ, and the findings of unreadable policies (CC0610).

    outside: the workloads of the new output that run without Contrast's runtime class. given: what each output gives
    away (identity.py); None to compare policies alone.

        old        new                       verdict
        policy     policy                    compared field by field
        policy     without one, or outside   weaker
        policy     not there                 stronger
        nothing    policy                    weaker
        no policy  policy                    stronger
    """
    findings: list[Finding] = []
    before = {workload_key(one.ref): (one, _initdata(one, findings)) for one in old}
    found: list[WorkloadDifferences] = []
    seen: set[WorkloadKey] = set()
    for workload in new:
        key = workload_key(workload.ref)
        seen.add(key)
        after = _initdata(workload, findings)
        if key not in before:
            lines = _whole_workload("workload", "added", WEAKER, "the manifest trusts one policy more")
        elif before[key][1] is None:
            lines = () if after is None else _whole_workload("policy", "added", STRONGER, "it had no policy")
        elif after is None:
            lines = _whole_workload("policy", "removed", WEAKER, "nothing says what the host may do")
        else:
            lines = _compared(workload, before[key][1] or after, after, findings)
        if given and after is not None:
            lines += tuple(compare_identity(workload.ref, *given))
        if lines:
            found.append(WorkloadDifferences(workload.ref, lines))
    for key, (workload, initdata) in before.items():
        if key in outside and initdata is not None:
            found.append(
                WorkloadDifferences(
                    workload.ref, _whole_workload("policy", "removed", WEAKER, "it runs outside of a VM")
                )
            )
        elif key not in seen and initdata is not None:
            why = "the manifest trusts one policy less"
            found.append(WorkloadDifferences(workload.ref, _whole_workload("workload", "removed", STRONGER, why)))
    return (() if findings else tuple(found)), tuple(findings)


def _whole_workload(what: str, op: Op, verdict: Verdict, why: str) -> tuple[Difference, ...]:
    return (Difference("", what, op, "", verdict, why),)


def _compared(workload: Workload, old: Initdata, new: Initdata, findings: list[Finding]) -> tuple[Difference, ...]:
    """Return the differences of two policies; appends to `findings` if they cannot be compared."""
    try:
        return compare_initdata(old, new)
    except ValueError as problem:
        findings.append(unreadable(workload, problem))
        return ()


def _initdata(workload: Workload, findings: list[Finding]) -> Initdata | None:
    """Return the initdata of a workload, None if it has none; appends to `findings` if it cannot be read."""
    value = workload.annotations.get(INITDATA)
    if value is None:
        return None
    try:
        initdata = decode_toml(from_annotation(str(value)))
        read_policy_data(initdata.data.get(POLICY, ""))
    except ValueError as problem:
        findings.append(unreadable(workload, problem))
        return None
    return initdata
