"""`contrast-krm plan`: what a render would do, one line a workload; no resource is written.

Rule of this file: the plan is the render's own record; nothing is computed a second time.
"""

from argparse import Namespace
from collections.abc import Callable
from functools import partial

from krm_function.cli.generate import rendered_inputs
from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.cli.nodes import KnownNodes, known_nodes
from krm_function.cli.plan_output import form_and_file
from krm_function.cli.say import complain
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import find, same_file, write_file
from krm_function.model.located import placed
from krm_function.pipeline import Planned, Rendered
from krm_function.placement.place import Placement, place
from krm_function.report.plan import Plan, make_plan
from krm_function.yamltext import parse


def run_plan(options: Namespace) -> int:
    """Print the plan or write it to a file; findings go to standard error as in a render."""
    form, file = form_and_file(options.output)
    inputs = read_inputs(options.paths)
    named = [path for path in options.nodes if path != "-"]
    if file and same_file(file, [*find(options.config), *find(named), *(one.file for one in inputs.sources)]):
        wrong = finding("CC0909.input", option="--output")
        return complain([wrong], options.format, options.report)
    known = known_nodes(options, inputs)
    if has_errors(known.findings):
        return complain(known.findings, options.format, options.report)
    rendered = rendered_inputs(options, inputs)
    placements, found = _place(rendered, known, inputs)
    plan = make_plan(rendered, known.nodes, placements, found, known.source)
    text = _render(form)(plan).encode("utf-8")
    if file:
        write_file(file, text)
    else:
        write_out(text)
    return complain([*rendered.findings, *found], options.format, options.report)


def _render(form: str) -> Callable[[Plan], str]:
    """What writes a plan in this form."""
    match form:
        case "json":
            from krm_function.report.plan_json import plan_json

            return plan_json
        case "mermaid":
            from krm_function.report.plan_mermaid import plan_mermaid

            return plan_mermaid
        case "html":
            from krm_function.report.plan_html import plan_html

            return plan_html
        case _:
            from krm_function.report.plan_text import plan_text

            return plan_text


def _place(rendered: Rendered, known: KnownNodes, inputs: Inputs) -> tuple[dict[int, Placement], list[Finding]]:
    """Ask the nodes about every workload that got its runtime class, by position in the plan."""
    if known.nodes is None:
        return {}, []
    broken = {found.ref for found in rendered.findings if found.severity == "error"}
    placements: dict[int, Placement] = {}
    findings: list[Finding] = []
    for index, planned in enumerate(rendered.plan):
        if planned.workload is None or (planned.scheduled is None and planned.ref in broken):
            continue
        answer = place(planned.workload, planned.scheduled, known.nodes)
        placements[index] = answer.placement
        findings += map(partial(_located, planned, inputs), answer.findings)
    return placements, findings


def _located(planned: Planned, inputs: Inputs, found: Finding) -> Finding:
    """The finding with its line in the input."""
    resource = inputs.resources[planned.resource]
    return placed(found, resource, parse(resource.text, line=resource.line), planned.workload)
