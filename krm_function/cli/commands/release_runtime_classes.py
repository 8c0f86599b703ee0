"""`contrast-krm release runtime-classes`: the RuntimeClass objects of a release, for the owner of the cluster.

Rule of this file: a render checks pods against the same objects, made by the same function. Each is complete, so that
one file with one owner determines where confidential pods may run.
"""

from argparse import Namespace

from krm_function.cli.configuration import from_files
from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.outputs import one_stream
from krm_function.cli.parser import Parser, add_config, add_findings
from krm_function.cli.streams import write_out
from krm_function.config.collect import collect
from krm_function.findings import finding, has_errors
from krm_function.kubernetes.resource import yaml_finding
from krm_function.render.cluster_objects import complete_cluster_objects
from krm_function.render.rendered import Rendered
from krm_function.text.errors import YamlError

DESCRIPTION = (
    "One object for each platform of the ContrastRelease, with the scheduling of the ContrastGenerate. "
    "They have no namespace and belong to the whole cluster: apply them once, instead of the ones in the "
    "release's own files. Given these files, runtime-*.yml, it prints them with the scheduling of each "
    "platform added to its RuntimeClass and its node installer."
)


def add_arguments(parser: Parser) -> None:
    """Add the release's own files, configuration and findings."""
    parser.add_argument("paths", metavar="FILE", nargs="*", help="files runtime-*.yml of the release (default: none)")
    add_config(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the RuntimeClass objects as YAML documents. Raises FileProblem."""
    documents, problems = from_files(options.config, options.config_from)
    config, unmet = collect(documents)
    inputs = read_inputs(options.paths) if options.paths else Inputs((), ())
    findings = [*problems, *unmet, *inputs.findings]
    if config is not None and not has_errors(findings):
        try:
            completed = complete_cluster_objects(inputs.resources, config)
        except YamlError as problem:
            return print_findings([*findings, yaml_finding(problem, "")], options.format, options.report)
        findings += completed.findings
        findings += [] if config.release.platforms else [finding("CC0909.no-platform", option="--config")]
        if not has_errors(findings):
            values = [{**value, "metadata": {"name": value["metadata"]["name"]}} for value in completed.added]
            write_out(one_stream(inputs, Rendered(completed.texts, tuple(values))))
    return print_findings(findings, options.format, options.report)
