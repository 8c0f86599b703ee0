"""An assessment as text: a headline with counts, and the pods by state, the most important first; and as JSON.

Rule of this file: text names every pod; a misplaced or blocked pod has its reasons and remedies. Version 1 of the JSON
only ever gains fields.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from krm_function.check.assess import AssessedPod, Assessment, PodState
from krm_function.findings import dotted
from krm_function.kubernetes.address import address_of
from krm_function.report.findings import Paint, object_data, on_one_line, plain, problem_data

MEANINGS: dict[PodState, str] = {
    "misplaced": "asks for Contrast where nothing reads it, and runs outside of a VM",
    "blocked": "cannot be sealed as it is",
    "plain": "does not ask for Contrast, and runs outside of a VM",
    "confidential": "asks for Contrast, and nothing prevents it",
}
COUNTED: tuple[PodState, ...] = ("confidential", "plain", "blocked", "misplaced")
HOW = (
    "to make a pod confidential, write runtimeClassName: contrast-cc into its pod spec, or name it under spec.workloads"
)
UNKNOWN = "kinds whose controllers may create pods, which then run outside of a VM"
GUARD = (
    "where contrast-krm guard is applied, the API server refuses plain pods there. That is for honest mistakes: it is "
    "the host's, which nobody has to trust, and it makes no pod confidential"
)


def headline(assessment: Assessment) -> str:
    """Write `confidential 2, plain 1, blocked 0, misplaced 0`."""
    return ", ".join(f"{state} {len(assessment.of(state))}" for state in COUNTED)


def assessment_text(assessment: Assessment, paint: Paint = plain) -> str:
    """Write the report. paint: colours for a terminal."""
    return "".join(f"{line}\n" for line in _lines(assessment, paint))


def _lines(assessment: Assessment, paint: Paint) -> Iterator[str]:
    yield headline(assessment)
    templates = Counter(pod.ref for pod in assessment.pods)
    for state, meaning in MEANINGS.items():
        pods = assessment.of(state)
        if pods:
            yield ""
            yield f"{paint(state, 'error' if state in ('misplaced', 'blocked') else 'place')}: {meaning}"
        hints: dict[str, str] = {}
        for pod in pods:
            place = f" {dotted(pod.place)}" if templates[pod.ref] > 1 else ""
            note = ": sealed" if pod.is_sealed else f": {pod.reason}" if pod.reason else ""
            yield f"  {on_one_line(address_of(pod.ref) + place + note)}"
            for problem in pod.findings:
                field = dotted(problem.path)
                yield f"    {problem.code} {on_one_line(f'{field}: {problem.message}' if field else problem.message)}"
                hints.setdefault(problem.hint, problem.code)
        for hint, code in hints.items():
            yield f"  hint for {code}: {on_one_line(hint)}"
    if any(not pod.reason for pod in assessment.of("plain")):
        yield ""
        yield HOW
    if assessment.unknown:
        yield ""
        yield f"unknown: {UNKNOWN}: {on_one_line(', '.join(assessment.unknown))}"
    if assessment.guarded:
        yield ""
        yield f"guarded: {on_one_line(', '.join(assessment.guarded))}: {GUARD}"


def assessment_json(assessment: Assessment) -> str:
    """Write `{"version": 1, "totals": {state: count}, "pods": [...]}`.

    A pod has apiVersion, kind, namespace, name, the path of its pod spec, its state and findings: code, field, message,
    hint.
    """
    data = {
        "version": 1,
        "totals": {state: len(assessment.of(state)) for state in COUNTED},
        "pods": [_pod_data(pod) for pod in assessment.pods],
        **({"unknownKinds": list(assessment.unknown)} if assessment.unknown else {}),
        **({"guardedNamespaces": list(assessment.guarded)} if assessment.guarded else {}),
    }
    return json.dumps(data, indent=2) + "\n"


def _pod_data(pod: AssessedPod) -> dict[str, Any]:
    return {
        **object_data(pod.ref),
        "podSpec": dotted(pod.place),
        "state": pod.state,
        **({"sealed": True} if pod.is_sealed else {}),
        **({"reason": pod.reason} if pod.reason else {}),
        "findings": [{**problem_data(problem), "line": problem.line} for problem in pod.findings],
    }
