"""`contrast-krm policy settings`: the settings of the policies of a configuration, as `--settings` takes them."""

import json
from argparse import Namespace

from krm_function.cli.configuration import from_files
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_config, add_findings
from krm_function.cli.streams import write_out
from krm_function.config.collect import collect
from krm_function.config.release import chosen_profile
from krm_function.findings import has_errors
from krm_function.policy.settings import choose_settings, document_of

DESCRIPTION = "A genpolicy-settings.json document: the profile's or the given one, with the rules of policy.requests."


def add_arguments(parser: Parser) -> None:
    """Add configuration and findings."""
    add_config(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the settings as JSON. Raises FileProblem."""
    documents, problems = from_files(options.config, options.config_from)
    config, unmet = collect(documents)
    findings = (*problems, *unmet)
    if config is not None and not has_errors(findings):
        profile, problems = chosen_profile(config.generate.policy.profile, config.release, config.generate.name)
        chosen, faults = choose_settings(config, profile) if profile else (None, ())
        findings += (*problems, *faults)
        if chosen is not None:
            write_out(f"{json.dumps(document_of(chosen), indent=2, ensure_ascii=False)}\n".encode())
    return print_findings(findings, options.format, options.report)
