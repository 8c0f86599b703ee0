"""`contrast-krm post-render`: the post-renderer of Helm 3 and Helm 4, with options.

Rule of this file: the post-renderer itself is in post_renderer.py, which a call without options runs too.
"""

from argparse import Namespace

from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_attest, add_findings, add_render
from krm_function.cli.post_renderer import post_render
from krm_function.cli.streams import read_in

DESCRIPTION = (
    "On an error nothing is printed. Helm hides the warnings of a post-renderer: without --report, those of pods "
    "outside of a VM are errors."
)


def add_arguments(parser: Parser) -> None:
    """Add the configuration, the statement, the findings."""
    add_render(parser, variable=False, strict=True)
    add_attest(parser)
    add_findings(parser, variable=False)


def run(options: Namespace) -> int:
    """Render the stream on standard input."""
    attest = None
    if options.attest:
        from krm_function.cli.attest import Attest, wrong_place

        attest, misplaced = Attest(options, "post-render"), wrong_place(options)
        if misplaced:
            return print_findings(misplaced, options.format, options.report)
    strict = options.warnings_as_errors
    return post_render(
        read_in(), options.config, options.format, options.report, options.namespace, attest, strict=strict
    )
