"""`contrast-krm release runtime-classes`: the RuntimeClass objects of a release, for the one who owns the cluster.

Rule of this file: they are those that a render checks pods against, made by the same function; each is complete, so
that one file with one owner says where confidential pods may run.
"""

from argparse import Namespace

from krm_function.cli.arguments.options import add_config, add_findings
from krm_function.cli.arguments.parser import Parser

DESCRIPTION = (
    "One object for each platform of the ContrastRelease, with the scheduling of the ContrastGenerate. They have no "
    "namespace and belong to the whole cluster: apply them once, in place of those in the release's own files."
)


def add_arguments(parser: Parser) -> None:
    """Add configuration and findings."""
    add_config(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the RuntimeClass objects as YAML documents."""
    from krm_function.api import collect
    from krm_function.cli.configuration import from_files
    from krm_function.cli.messages import print_findings
    from krm_function.cli.streams import write_out
    from krm_function.findings import finding, has_errors
    from krm_function.hosts.stream import Stream, encode_stream
    from krm_function.model.platforms import PLATFORMS
    from krm_function.stages.runtime_classes import runtime_classes

    documents, problems = from_files(options.config, options.config_from)
    config, unmet = collect(documents)
    findings = [*problems, *unmet]
    if config is not None and not has_errors(findings):
        release, generate = config.release, config.generate._replace(runtime_classes="emit")
        classes = runtime_classes(generate, release, [PLATFORMS[name] for name in release.platforms], ())
        findings += [found for found in classes.findings if found.code != "CC0307"]
        findings += [] if classes.added else [finding("CC0909.no-platform", option="--config")]
        if not has_errors(findings):
            values = [{**one, "metadata": {"name": one["metadata"]["name"]}} for one in classes.added]
            write_out(encode_stream(Stream(()), (), values))
    return print_findings(findings, options.format, options.report)
