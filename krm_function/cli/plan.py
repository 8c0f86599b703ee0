"""`contrast-krm plan`: what a render would do, one line a workload; nothing is written.

Rule of this file: the plan is the render's own record; nothing is computed a second time.
"""

from argparse import Namespace

from krm_function.cli.generate import rendered_inputs
from krm_function.cli.inputs import read_inputs
from krm_function.cli.say import complain, write_out
from krm_function.report.plan import plan_json, plan_text


def run_plan(options: Namespace) -> int:
    """Print the plan; findings go to standard error as in a render."""
    rendered = rendered_inputs(options, read_inputs(options.paths))
    text = plan_text(rendered) if options.output == "text" else plan_json(rendered)
    write_out(text.encode("utf-8"))
    return complain(rendered.findings, options.format, options.report)
