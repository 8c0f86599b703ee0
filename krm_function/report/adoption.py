"""An adoption as text: the choices, the written files, the remaining errors with their reasons; and as JSON.

Rule of this file: every choice is listed with its consequence and its configuration. Version 1 of the JSON only ever
gains fields.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.check.adopt import Adoption, Choice
from krm_function.findings import Finding, Ref, dotted
from krm_function.kubernetes.address import address_of
from krm_function.report.findings import Paint, on_one_line, plain, problem_data
from krm_function.text.writer import dump


def headline(adoption: Adoption) -> str:
    """Write `12 pods ask for Contrast: 7 were refused, 2 are now`."""
    count, refused = len(adoption.pods), sum(bool(pod.before) for pod in adoption.pods)
    asks = "pod asks" if count == 1 else "pods ask"
    return f"{count} {asks} for Contrast: {refused} refused before, {len(adoption.refused)} with this configuration"


def adoption_text(adoption: Adoption, written: Sequence[str], paint: Paint = plain) -> str:
    """Write the report. written: a line for each file. paint: colours for a terminal."""
    return "".join(f"{line}\n" for line in _lines(adoption, written, paint))


def _lines(adoption: Adoption, written: Sequence[str], paint: Paint) -> Iterator[str]:
    yield headline(adoption)
    if adoption.accepted or adoption.selected:
        yield ""
        yield f"{paint('chosen', 'place')}:"
        for entry in adoption.selected:
            yield f"  {_describe_entry(entry)}"
        for choice in adoption.accepted:
            yield from choice_lines(choice)
    if adoption.offered:
        yield ""
        names = on_one_line(",".join(choice.name for choice in adoption.offered))
        yield f"{paint('not chosen', 'warning')}, each with --yes-to (--yes-to {names} for all):"
        for choice in adoption.offered:
            yield from choice_lines(choice)
    if written:
        yield ""
        yield from map(on_one_line, written)
    if adoption.refused or adoption.errors:
        yield ""
        yield f"{paint('left', 'error')}: a render refuses these"
        yield from _list_refused(adoption)
    if adoption.plain:
        yield ""
        yield f"{paint('plain', 'place')}: these do not ask; --confidential KIND/NAME or --plain KIND/NAME=REASON"
        yield from (f"  {on_one_line(address_of(ref))}" for ref in adoption.plain)


def choice_lines(choice: Choice) -> Iterator[str]:
    """Describe a choice: its pods, its consequence, and the configuration to write."""
    count, names = len(choice.workloads), ", ".join(map(address_of, choice.workloads))
    yield on_one_line(f"  {choice.name}, for {count} workload{'' if count == 1 else 's'}: {names}")
    yield from (f"    consequence: {on_one_line(consequence)}" for consequence in choice.consequences)
    yield from (f"    {line}" for line in dump({"spec": dict(choice.spec)}).splitlines())


def _describe_entry(entry: dict[str, Any]) -> str:
    address = "/".join(str(entry[key]) for key in ("kind", "namespace", "name") if entry.get(key))
    as_what = f"plain: {entry['plain']}" if entry.get("plain") else f"confidential {entry.get('platform', '')}".strip()
    return on_one_line(f"{address} is {as_what}")


def _list_refused(adoption: Adoption) -> Iterator[str]:
    hints: dict[str, str] = {}
    for problem in adoption.errors:
        yield f"  {_write_sentence(problem, with_object=True)}"
        hints.setdefault(problem.hint, problem.code)
    for pod in adoption.refused:
        several = sum(pod_of_all.ref == pod.ref for pod_of_all in adoption.pods) > 1
        yield f"  {on_one_line(address_of(pod.ref) + (f' {dotted(pod.place)}' if several else ''))}"
        for problem in pod.after:
            yield f"    {_write_sentence(problem)}"
            hints.setdefault(problem.hint, problem.code)
    for hint, code in hints.items():
        yield f"  hint for {code}: {on_one_line(hint)}"


def _write_sentence(problem: Finding, *, with_object: bool = False) -> str:
    place = dotted(problem.path)
    text = f"{place}: {problem.message}" if place else problem.message
    of = f"{address_of(problem.ref)} " if with_object and problem.ref else ""
    return f"{problem.code} {on_one_line(of + text)}"


def adoption_json(adoption: Adoption, written: Sequence[str]) -> str:
    """Write `{"version": 1, "totals": {...}, "chosen": [...], "offered": [...], "pods": [...], ...}`.

    A pod has apiVersion, kind, namespace, name, podSpec, and the findings before and after: code, field, message, hint.
    """
    data = {
        "version": 1,
        "totals": {
            "asking": len(adoption.pods),
            "refusedBefore": sum(bool(pod.before) for pod in adoption.pods),
            "refused": len(adoption.refused),
            "plain": len(adoption.plain),
        },
        "chosen": [_choice_data(choice) for choice in adoption.accepted],
        "offered": [_choice_data(choice) for choice in adoption.offered],
        "selected": list(adoption.selected),
        "keys": [{"kind": kind, "name": name} for kind, name in adoption.keys],
        "written": list(written),
        "left": list(map(problem_data, adoption.errors)),
        "plain": [_object_data(ref) for ref in adoption.plain],
        "pods": [
            {
                **_object_data(pod.ref),
                "podSpec": dotted(pod.place),
                "before": list(map(problem_data, pod.before)),
                "after": list(map(problem_data, pod.after)),
            }
            for pod in adoption.pods
        ],
    }
    return json.dumps(data, indent=2) + "\n"


def _choice_data(choice: Choice) -> dict[str, Any]:
    return {
        "name": choice.name,
        "consequences": list(choice.consequences),
        "spec": dict(choice.spec),
        "workloads": [address_of(ref) for ref in choice.workloads],
    }


def _object_data(ref: Ref) -> dict[str, str]:
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
