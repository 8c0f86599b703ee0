"""Differences between policies as text and JSON: one line each, with a verdict and its reason.

    Deployment shop/web
      weaker    web: capabilities added NET_ADMIN (Bounding, Effective, Permitted): the process may do more

Rule of this file: names come from the input, so their control characters are made visible.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from krm_function.findings import REF_NAMES
from krm_function.policy.compare.difference import Difference
from krm_function.policy.compare.workloads import WorkloadDifferences
from krm_function.report.order import on_one_line

VERDICTS = ("weaker", "stronger", "different")


def policy_diff_text(compared: Sequence[WorkloadDifferences]) -> str:
    """Write one block per workload and a line with totals."""
    lines: list[str] = []
    for workload in compared:
        lines.append(on_one_line(f"{workload.ref.kind} {workload.ref}"))
        lines += [f"  {line.verdict:<9} {on_one_line(sentence(line))}" for line in workload.lines]
    counts = verdict_counts(compared)
    totals = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    return "".join(f"{line}\n" for line in (*lines, totals if lines else "no difference"))


def policy_diff_json(compared: Sequence[WorkloadDifferences]) -> str:
    """Write `{"version": 1, "workloads": [...], "totals": {...}}` with a final newline."""
    import json

    workloads = [{"resource": _resource(one), "differences": [_data(line) for line in one.lines]} for one in compared]
    return json.dumps({"version": 1, "workloads": workloads, "totals": verdict_counts(compared)}, indent=2) + "\n"


def sentence(line: Difference) -> str:
    """Write a difference without its verdict, such as `web: env added DEBUG: the host may set one more variable`."""
    return f"{changed(line)}: {line.why}"


def changed(line: Difference) -> str:
    """Write what differs: `web: env added DEBUG`."""
    where = f"{line.container}: " if line.container else ""
    return where + " ".join(filter(None, (line.field, line.op, line.what)))


def verdict_counts(compared: Sequence[WorkloadDifferences]) -> dict[str, int]:
    """Return how many lines have which verdict."""
    counts = Counter(line.verdict for one in compared for line in one.lines)
    return {verdict: counts[verdict] for verdict in VERDICTS}  # type: ignore[index]


def _resource(workload: WorkloadDifferences) -> dict[str, str]:
    return {name: on_one_line(value) for name, value in zip(REF_NAMES, workload.ref, strict=True) if value}


def _data(line: Difference) -> dict[str, Any]:
    parts = {**line._asdict(), "what": line.what}
    return {key: on_one_line(value) for key, value in parts.items() if value}
