"""The plan as one HTML page: a picture of the node pools with the workloads in them, and the details of each.

Rule of this file: the page is self-contained. No script, no font, no request: its policy (CSP) allows only its own
style sheet, by digest. The template engine always escapes text from the input.
"""

import os
from binascii import b2a_base64
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import jinja2
from markupsafe import Markup

from krm_function import __version__
from krm_function.contrast.platforms import PLATFORMS
from krm_function.findings import Ref, dotted
from krm_function.kubernetes.placement import amount_text, first_and_more
from krm_function.kubernetes.resource import Edit
from krm_function.report.findings import grouped, on_one_line, position, sentence
from krm_function.report.plan import (
    NOTHING,
    Plan,
    PlanEntry,
    changes_of,
    counted,
    memory_cell,
    memory_legend,
    memory_sentence,
    memory_sum,
    plan_totals,
)
from krm_function.report.plan_text import nodes_of, wanted_nodes
from krm_function.report.policy_text import allowed

HERE = os.path.dirname(os.path.abspath(__file__))
ID_BLOCK = "CC0607"
# class of the style sheet -> meaning of the left edge of such a card
LOOKS = {
    "snp": "AMD SEV-SNP",
    "snp gpu": "AMD SEV-SNP with GPU",
    "tdx": "Intel TDX",
    "tdx gpu": "Intel TDX with GPU",
    "none": "platform not known",
}


def plan_html(plan: Plan) -> str:
    """Write the page. The same plan gives the same bytes: no date, no random identifier."""

    def visible(value: Any) -> Any:
        """Make control characters visible; jinja2 escapes markup."""
        return value if isinstance(value, Markup) else on_one_line(str(value))

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        finalize=visible,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    with open(os.path.join(HERE, "plan.css"), encoding="utf-8") as file:
        css = file.read()
    digest = b2a_base64(sha256(css.encode()).digest(), newline=False).decode()
    page = environment.get_template("plan.html.jinja")
    lines = [_line(index, line, plan) for index, line in enumerate(plan.lines)]
    memory = memory_legend(line.workload for line in plan.lines)
    return page.render(
        css=Markup(css),  # noqa: S704 - our own file
        digest=digest,
        version=__version__,
        headline=headline(plan),
        result=result(plan),
        look=_choose_result_look(plan),
        totals=plan_totals(plan),
        plan=plan,
        lines=lines,
        legend=[(look, text) for look, text in LOOKS.items() if any(view["look"] == look for view in lines)],
        findings=_findings(plan),
        lost=[index for index in range(len(plan.lines)) if not any(index in pool.workloads for pool in plan.pools)],
        counted=counted,
        listed=first_and_more,
        parts=_split_name,
        memory_legend=memory,
        sized=memory != NOTHING,
        memory_of=lambda pool: memory_sum(
            [plan.lines[index].workload for index in pool.workloads], len(pool.nodes) or 1
        ),
    )


def headline(plan: Plan) -> str:
    """Count the workloads: `4 protected, 1 plain, 0 blocked`. The render fails for blocked ones.

    With `policy.engine: none`, also those that get no policy: `0 protected, 4 without a policy, 1 plain, 0 blocked`.
    """
    blocked = sum(line.broken for line in plan.lines)
    plain = sum(workload.is_plain for workload in plan.skipped)
    unsealed = 0 if plan.failed else sum(not line.workload.digest and not line.broken for line in plan.lines)
    without = f"{unsealed} without a policy, " if unsealed else ""
    return f"{len(plan.lines) - blocked - unsealed} protected, {without}{plain} plain, {blocked} blocked"


def result(plan: Plan) -> str:
    """Summarise the result in a few words."""
    conflicts = sum(line.failed for line in plan.lines)
    if conflicts:
        return f"{conflicts} of {counted(len(plan.lines), 'workload')} in conflict"
    if plan.failed:
        return "The render fails"
    if not plan.lines:
        return "No Contrast workload here"
    told = "Ready to render" if plan.nodes is None else "Every Contrast workload has a node"
    warnings = len(grouped(plan.problems))
    return f"{told}, {counted(warnings, 'warning')}" if warnings else told


def _choose_result_look(plan: Plan) -> str:
    """Return the class of the headline: bad for errors, warned for anything that needs a look."""
    severities = {finding.severity for finding in plan.problems}
    return "bad" if "error" in severities else "warned" if severities else "good"


def _split_name(ref: Ref) -> tuple[str, str]:
    """Return the namespace with its slash, and the rest of the name: a line may break between them."""
    space = f"{ref.namespace}/" if ref.namespace else ""
    return space, str(ref).removeprefix(space)


def _findings(plan: Plan) -> list[dict[str, Any]]:
    """Return every cause of errors and warnings, with its places: the workload's position, and the address."""
    lines: dict[Ref | None, int] = {line.ref: index for index, line in enumerate(plan.lines)}
    return [
        {
            "found": group.first,
            "said": sentence(group.first),
            "places": [
                {"ref": finding.ref, "at": position(finding), "line": lines.get(finding.ref)}
                for finding in (group.first, *group.rest)
            ],
        }
        for group in grouped(plan.problems)
    ]


def _line(index: int, line: PlanEntry, plan: Plan) -> dict[str, Any]:
    workload, placement = line.workload, line.placement
    row = PLATFORMS.get(workload.platform)
    pods = "one pod on each node" if line.one_a_node else ""
    if placement is not None and placement.replicas is not None:
        pods = counted(placement.replicas, "pod")
    requests = sorted(placement.requests.items()) if placement is not None else []
    return {
        "id": f"w{index}",
        "line": line,
        "workload": workload,
        "look": "none" if row is None else f"{row.tee} gpu" if row.gpu else row.tee,
        "vcpus": counted(workload.vcpus, "vCPU") if workload.vcpus else "",
        "memory": memory_sentence(workload.memory) if workload.memory is not None else "",
        "memory_cell": memory_cell(workload),
        "pods": pods,
        "nodes": nodes_of(placement) if placement else "in error" if line.broken else wanted_nodes(workload),
        "refusals": placement.refusals if placement is not None else (),
        "changes": "" if line.broken else changes_of(workload),
        "requests": [(name, amount_text(name, amount)) for name, amount in requests if amount],
        "containers": allowed(workload),
        "said": [
            (number, group.first)
            for number, group in enumerate(grouped(plan.problems))
            if any(finding in line.findings for finding in (group.first, *group.rest))
        ],
        "edits": _edits(workload.edits),
    }


def _edits(edits: Sequence[Edit]) -> list[dict[str, str]]:
    """List the edits, those that write the ID blocks as one: code, operation, place, reason."""
    blocks = [edit for edit in edits if edit.code == ID_BLOCK]
    shown = []
    for edit in edits:
        if edit.code != ID_BLOCK:
            shown.append({"code": edit.code, "op": edit.op, "field": dotted(edit.path), "reason": edit.reason})
        elif edit is blocks[0]:
            reasons = "; ".join(dict.fromkeys(block.reason for block in blocks))
            op = counted(len(blocks), "ID block annotation")
            shown.append({"code": ID_BLOCK, "op": op, "field": "", "reason": reasons})
    return shown
