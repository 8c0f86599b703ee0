"""Why a pod does not start, as text and JSON: the pod with its state, and a block for each cause.

    Pod shop/web-7c5ddbdf54-x2v9k: Pending, web CreateContainerError

    CC1164 the policy denies CreateContainerRequest of container web
      remedy: the findings beside this one say by which field; render again with what the cluster really runs

Rule of this file: names and words come from the cluster, so their control characters are made visible.
"""

import json
from collections.abc import Sequence

from krm_function.findings import Finding, Ref, dotted
from krm_function.report.order import on_one_line


def diagnosis_text(ref: Ref, state: str, causes: Sequence[Finding]) -> str:
    """Write a heading, and each cause with its remedy."""
    lines = [f"{ref.kind} {ref}: {state}"]
    for cause in causes:
        where = f" [{dotted(cause.path)}]" if cause.path and cause.path != ("status",) else ""
        lines += ["", f"{cause.code}{where} {cause.message}"]
        lines += [f"  remedy: {cause.hint}"] if cause.hint else []
    return "".join(f"{on_one_line(line)}\n" for line in lines)


def diagnosis_json(ref: Ref, state: str, causes: Sequence[Finding]) -> str:
    """Write `{"version": 1, "pod": {...}, "state": ..., "causes": [{"code", "message", "remedy", "path"}]}`."""
    told = [
        {"code": one.code, "message": on_one_line(one.message), "remedy": one.hint, "path": dotted(one.path)}
        for one in causes
    ]
    pod = {"kind": ref.kind, "namespace": ref.namespace, "name": on_one_line(ref.name)}
    return json.dumps({"version": 1, "pod": pod, "state": on_one_line(state), "causes": told}, indent=2) + "\n"
