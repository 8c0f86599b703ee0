"""The plan as a Mermaid flowchart, for a README or a pull request: a box for each node pool, a red edge for a conflict.

Rule of this file: what comes from the input stands in a quoted label, every character of it that Mermaid or Markdown
could read is an entity, and identifiers are numbers.
"""

from krm_function.report.order import on_one_line
from krm_function.report.plan import Plan, PlanEntry, counted
from krm_function.report.pools import Pool

HARMLESS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ./,:=-")
CLASSES = (
    "classDef conflict fill:#fde8e8,stroke:#c81e1e,stroke-width:2px,color:#771d1d",
    "classDef node fill:#f3f4f6,stroke:#6b7280,color:#111827",
)


def plan_mermaid(plan: Plan) -> str:
    """Draw a flowchart: workloads on the left, node pools on the right, an edge to each pool that takes the pod."""
    lines = ["flowchart LR"]
    lines += [f'  w{index}["{_workload(line)}"]' for index, line in enumerate(plan.lines)]
    for number, pool in enumerate(plan.pools):
        lines += [f'  subgraph p{number}["{_pool(pool)}"]']
        lines += [f'    p{number}n{index}["{mermaid_label(name)}"]' for index, name in enumerate(pool.nodes)]
        lines += [f'    p{number}n0["any such node"]'] if not pool.nodes else []
        lines += ["  end"]
    edges = [(index, f"p{number}") for number, pool in enumerate(plan.pools) for index in pool.workloads]
    placed = {index for index, _ in edges}
    lost = [index for index in range(len(plan.lines)) if index not in placed]
    lines += ['  nowhere{{"no node"}}'] if lost else []
    lines += [f"  w{index} --> {pool}" for index, pool in sorted(edges)]
    lines += [f'  w{index} -- "{_why(plan.lines[index])}" --x nowhere' for index in lost]
    red = range(len(edges), len(edges) + len(lost))
    lines += [f"  linkStyle {','.join(map(str, red))} stroke:#c81e1e,stroke-width:2px"] if lost else []
    failed = [f"w{index}" for index, line in enumerate(plan.lines) if line.failed]
    lines += [f"  {text}" for text in CLASSES]
    lines += [f"  class {','.join([*failed, *(['nowhere'] if lost else [])])} conflict"] if failed or lost else []
    inner = [f"p{number}n{index}" for number, pool in enumerate(plan.pools) for index in range(len(pool.nodes) or 1)]
    lines += [f"  class {','.join(inner)} node"] if inner else []
    return "\n".join(lines) + "\n"


def _workload(line: PlanEntry) -> str:
    planned = line.planned
    second = ", ".join(filter(None, (planned.platform, counted(planned.vcpus, "vCPU") if planned.vcpus else "")))
    return "<br/>".join(mermaid_label(text) for text in (f"{line.ref.kind} {line.ref}", second) if text)


def _pool(pool: Pool) -> str:
    labels = ", ".join(f"{key}={value}" for key, value in pool.labels.items()) or "no label that is asked for"
    taints = f"taints: {', '.join(pool.taints)}" if pool.taints else ""
    return "<br/>".join(mermaid_label(text) for text in (labels, taints, "cordoned" if pool.cordoned else "") if text)


def _why(line: PlanEntry) -> str:
    codes = dict.fromkeys(found.code for found in line.findings if found.severity == "error")
    return mermaid_label(", ".join(codes) or "not placed")


def mermaid_label(text: str) -> str:
    """Write `text` as the inside of a quoted Mermaid label."""
    return "".join(char if char in HARMLESS else f"#{ord(char)};" for char in on_one_line(text))
