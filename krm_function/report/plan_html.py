"""The plan as one HTML page: a picture of the node pools with the workloads in them, and the details of each.

Rule of this file: the page needs nothing but itself. No script, no font, no request: its policy (CSP) allows its own
style sheet by digest and nothing else. Whatever comes from the input is escaped by the template engine, always.
"""

import os
from typing import Any

from krm_function import __version__
from krm_function.findings import dotted
from krm_function.model.platforms import PLATFORMS
from krm_function.placement.fit import amount_text
from krm_function.placement.place import first_and_more
from krm_function.report.order import on_one_line
from krm_function.report.plan import UNPLACED, Plan, PlanEntry, changes_of, counted, plan_totals
from krm_function.report.plan_groups import nodes_of
from krm_function.report.policy_summary import allowed
from krm_function.report.text import position

HERE = os.path.dirname(os.path.abspath(__file__))


def plan_html(plan: Plan) -> str:
    """The page. The same plan gives the same bytes: no date, no random identifier."""
    from binascii import b2a_base64
    from hashlib import sha256

    import jinja2
    from markupsafe import Markup

    def visible(value: Any) -> Any:
        """The text with control characters made visible; jinja2 escapes markup."""
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
    return page.render(
        css=Markup(css),  # noqa: S704 - our own file
        digest=digest,
        version=__version__,
        headline=headline(plan),
        good=not any(found.severity == "error" for found in plan.problems),
        totals=plan_totals(plan),
        plan=plan,
        lines=[_line(index, line) for index, line in enumerate(plan.lines)],
        findings=[
            {"found": found, "at": position(found), "line": _line_of(found.ref, plan)} for found in plan.problems
        ],
        lost=[index for index in range(len(plan.lines)) if not any(index in pool.workloads for pool in plan.pools)],
        counted=counted,
        listed=first_and_more,
        dotted=dotted,
    )


def headline(plan: Plan) -> str:
    """The result in a few words."""
    conflicts = sum(line.failed for line in plan.lines)
    if conflicts:
        return f"{conflicts} of {counted(len(plan.lines), 'workload')} in conflict"
    if plan.failed:
        return "The render fails"
    if not plan.lines:
        return "No Contrast workload here"
    return "Ready to render" if plan.nodes is None else "Every workload has a node"


def _line_of(ref: Any, plan: Plan) -> int | None:
    return next((index for index, line in enumerate(plan.lines) if line.ref == ref), None)


def _line(index: int, line: PlanEntry) -> dict[str, Any]:
    """The values of one workload for the template."""
    planned, placement = line.planned, line.placement
    platform = PLATFORMS.get(planned.platform)
    requests = sorted(placement.requests.items()) if placement is not None else []
    return {
        "id": f"w{index}",
        "line": line,
        "planned": planned,
        "tee": platform.tee if platform else "none",
        "pods": _pods(line),
        "nodes": nodes_of(placement) if placement is not None else "",
        "refusals": placement.refusals if placement is not None else (),
        "changes": "nothing" if line.broken else changes_of(planned),
        "requests": [(name, amount_text(name, amount)) for name, amount in requests if amount],
        "containers": allowed(planned.workload),
        "why": _why(line),
    }


def _pods(line: PlanEntry) -> str:
    if line.placement is None:
        return ""
    return "one on each node" if line.placement.replicas is None else counted(line.placement.replicas, "pod")


def _why(line: PlanEntry) -> list[str]:
    """Why the workload is in no pool, in short."""
    if line.placement is not None and any(found.code == UNPLACED for found in line.findings):
        return [f"not {refusal}" for refusal in line.placement.refusals[:2]]
    return list(dict.fromkeys(f"{found.code} {found.message}" for found in line.findings if found.severity == "error"))
