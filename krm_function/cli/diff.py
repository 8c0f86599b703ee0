"""`contrast-krm diff`: what a render would change, as unified diffs; nothing is written.

Rule of this file: without errors the diff goes to standard output; with errors there is none, as there would be no
output. So with --exit-code an exit code of 1 and an empty standard output is an error, never a change.
"""

import os
import sys
from argparse import Namespace

from krm_function.cli.exits import FINDINGS
from krm_function.cli.generate import rendered_inputs
from krm_function.cli.inputs import read_inputs
from krm_function.cli.say import complain
from krm_function.cli.streams import write_out
from krm_function.report.diff import changed_documents, diff_text


def run_diff(options: Namespace) -> int:
    """Print the diff of every document that would change."""
    inputs = read_inputs(options.paths)
    rendered = rendered_inputs(options, inputs)
    if rendered.failed:
        return complain(rendered.findings, options.format, options.report)
    documents = changed_documents(inputs.resources, rendered)
    write_out(diff_text(documents, colour=_colour()).encode("utf-8"))
    code = complain(rendered.findings, options.format, options.report)
    return FINDINGS if documents and options.exit_code else code


def _colour() -> bool:
    """Whether a person looks at it: a terminal that can paint, and nobody has said no (NO_COLOR)."""
    return bool(
        sys.stdout and sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
