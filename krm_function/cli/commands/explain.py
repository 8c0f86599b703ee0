"""`contrast-krm explain KIND/NAME`: the reason of each edit of one workload, or why there are none; writes nothing.

`contrast-krm explain CODE [WORD...] [--report FILE]`: the meaning of a finding, with an example and its remedy. Words,
or the report of an earlier call, choose among the problems of a code that has many.

Rule of this file: findings about the workload are part of the explanation; others go to standard error. An argument
that begins like a code is one: the name of a workload has a slash.
"""

import json
from argparse import Namespace

from krm_function.cli.exits import exit_code
from krm_function.cli.messages import file_finding, print_findings
from krm_function.cli.parser import Parser, add_findings, add_output_format, add_paths, add_render
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, finding, is_code, row, table
from krm_function.hosts.files import FileProblem, read_file
from krm_function.kubernetes.address import find_by_address
from krm_function.report.findings import Reported, read_report
from krm_function.schema.check import nearest

WIDEST = 100  # columns of a paragraph that is still easy to read
DESCRIPTION = (
    "For a workload it prints every edit in order, with its rule, its reason and a link to the "
    "documentation; for the code of a finding, such as CC0304, its meaning with an example and the remedy. "
    "If a code covers several problems, add words from your message in place of FILE, or name the report "
    "of an earlier call with --report."
)


def add_arguments(parser: Parser) -> None:
    """Add the workload, inputs, output, findings."""
    text = (
        "a workload as KIND/NAME or KIND/NAMESPACE/NAME, such as deploy/web or Deployment/shop/web, or the code of a "
        "finding, such as CC0304"
    )
    parser.add_argument("address", metavar="KIND/NAME|CODE", nargs="?", default="", help=text)
    add_paths(parser)
    add_output_format(parser)
    add_render(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the explanation of one workload, or of one code."""
    if not options.address:
        options.parser.error("name a workload as KIND/NAME, or the code of a finding")
    if options.address[:2].upper() == "CC" and options.address[2:3].isdecimal() and "/" not in options.address:
        return _explain_code(options)
    return _explain_workload(options)


def _explain_workload(options: Namespace) -> int:
    from krm_function.cli.inputs import read_inputs  # a code needs no part of a render
    from krm_function.cli.render_inputs import render_inputs
    from krm_function.report.explain_workload import explain_json, explain_text

    rendered = render_inputs(options, read_inputs(options.paths))
    ref = find_by_address(options.address, [line.ref for line in rendered.plan])
    if isinstance(ref, Finding):
        unplanned = rendered.failed and not any(not line.skipped for line in rendered.plan)
        printed = rendered.findings if unplanned else (ref,)  # unreadable input explains why it is missing
        return print_findings(printed, options.format, options.report)
    form = explain_text if options.output == "text" else explain_json
    write_out(form(rendered, ref).encode("utf-8"))
    print_findings([problem for problem in rendered.findings if problem.ref != ref], options.format, options.report)
    return exit_code(rendered.findings)


def _explain_code(options: Namespace) -> int:
    import shutil  # a workload needs neither

    from krm_function.report.explain_code import explanation_data, explanation_text, fitting

    code = options.address.upper()
    if not is_code(code):
        codes = list(table())
        numbered = len(code) == len(codes[0]) and code[2:].isdecimal()
        alike = [known_code for known_code in codes if known_code[:4] == code[:4]]
        near = nearest(code, alike or ([] if numbered else codes))
        unknown = finding("CC0909.no-code-near" if near else "CC0909.no-code", option="CODE", text=code, near=near)
        return print_findings([unknown], options.format)
    reported: tuple[Reported, ...] = ()
    if options.report:
        try:
            text = read_file(options.report).decode("utf-8", "replace")
            reported = read_report(text, code)
        except FileProblem as problem:
            return print_findings([file_finding(problem)], options.format)
        except ValueError:
            return print_findings([finding("CC0909.no-report", option="--report")], options.format)
        if not reported:
            return print_findings([finding("CC0909.not-in-report", option="--report", text=code)], options.format)
    about = row(code)
    if options.paths and not about.variants:
        options.parser.error(f"{code} has one problem, and takes no files and no words")
    about = fitting(about, reported, options.paths)
    if options.paths and not about.variants:
        missing = finding("CC0909.no-words", option="CODE", text=code, known=" ".join(options.paths))
        return print_findings([missing], options.format)
    if options.output == "json":
        text = f"{json.dumps(explanation_data(about, reported), indent=2)}\n"
    else:
        text = explanation_text(about, min(shutil.get_terminal_size().columns, WIDEST), reported)
    write_out(text.encode("utf-8"))
    return print_findings([], options.format)
