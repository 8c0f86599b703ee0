"""`contrast-krm fn`: the KRM function of kustomize and kpt, with options.

Rule of this file: the function itself is in function.py, which a call without options runs without argparse.
"""

from argparse import Namespace

from krm_function.cli.function import run_function
from krm_function.cli.parser import Parser, add_findings, add_render

DESCRIPTION = "On an error the items are printed unchanged, with results."


def add_arguments(parser: Parser) -> None:
    """Add the configuration and the findings."""
    add_render(parser, variable=False, strict=True)
    add_findings(parser, variable=False)


def run(options: Namespace) -> int:
    """Render the ResourceList on standard input."""
    return run_function(
        options.config, options.format, options.report, options.namespace, strict=options.warnings_as_errors
    )
