"""`contrast-krm explain KIND/NAME`: why each edit of one workload, or why there is none; nothing is written.

Rule of this file: findings about the workload are part of the explanation; those about anything else go to standard
error.
"""

from argparse import Namespace

from krm_function.cli.options import add_config, add_findings, add_namespace, add_output_format, add_paths
from krm_function.cli.parser import Parser

DESCRIPTION = "Every edit in order, with its rule, its reason and where that is documented."


def add_arguments(parser: Parser) -> None:
    """The workload, inputs, output, findings."""
    what = "the workload: KIND/NAME or KIND/NAMESPACE/NAME, such as deploy/web or Deployment/shop/web"
    parser.add_argument("address", metavar="KIND/NAME", nargs="?", default="", help=what)
    add_paths(parser)
    add_output_format(parser)
    add_config(parser)
    add_namespace(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the explanation of one workload."""
    if not options.address:
        options.parser.error("name a workload as KIND/NAME")

    from krm_function.cli.exits import exit_code
    from krm_function.cli.inputs import read_inputs
    from krm_function.cli.messages import print_findings
    from krm_function.cli.rendered import render_inputs
    from krm_function.cli.streams import write_out
    from krm_function.findings import Finding
    from krm_function.model.address import find_by_address
    from krm_function.report.explain import explain_json, explain_text

    rendered = render_inputs(options, read_inputs(options.paths))
    ref = find_by_address(options.address, [line.ref for line in rendered.plan])
    if isinstance(ref, Finding):
        unplanned = rendered.failed and not any(not line.skipped for line in rendered.plan)
        printed = rendered.findings if unplanned else (ref,)  # what could not be read explains why it is not there
        return print_findings(printed, options.format, options.report)
    form = explain_text if options.output == "text" else explain_json
    write_out(form(rendered, ref).encode("utf-8"))
    print_findings([found for found in rendered.findings if found.ref != ref], options.format, options.report)
    return exit_code(rendered.findings)
