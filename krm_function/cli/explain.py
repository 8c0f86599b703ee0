"""`contrast-krm explain KIND/NAME`: why each edit of one workload, or why there is none; nothing is written.

Rule of this file: findings about the workload are part of its story; those about anything else go to standard error.
"""

from argparse import Namespace

from krm_function.cli.generate import rendered_inputs
from krm_function.cli.inputs import read_inputs
from krm_function.cli.say import complain, exit_code
from krm_function.cli.streams import write_out
from krm_function.findings import Finding
from krm_function.model.address import find
from krm_function.report.explain import explain_json, explain_text


def run_explain(options: Namespace) -> int:
    """Print the story of one workload."""
    rendered = rendered_inputs(options, read_inputs(options.paths))
    ref = find(options.address, [line.ref for line in rendered.plan])
    if isinstance(ref, Finding):
        unplanned = rendered.failed and not any(not line.skipped for line in rendered.plan)
        said = rendered.findings if unplanned else (ref,)  # what could not be read explains why it is not there
        return complain(said, options.format, options.report)
    form = explain_text if options.output == "text" else explain_json
    write_out(form(rendered, ref).encode("utf-8"))
    complain([found for found in rendered.findings if found.ref != ref], options.format, options.report)
    return exit_code(rendered.findings)
