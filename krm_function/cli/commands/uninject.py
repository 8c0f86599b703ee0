"""`contrast-krm uninject`: turn rendered output back into its input.

Rule of this file: the output itself has all it needs (`contrast-krm.dev/original`). The only configuration to read is
where custom resources have their pods, if only `spec.podTemplates` of the render had that. A record that would change
more than a render does is an error. Removing a namespace is a warning, because only the configuration of the render
could prove it: `--namespace` names it. Removing a runtime class is a warning too: only the configuration makes these
pods confidential again.
"""

from argparse import Namespace
from collections.abc import Sequence

from krm_function.cli.configuration import configured_kinds
from krm_function.cli.inputs import InputFile, read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.outputs import write_restored
from krm_function.cli.parser import Parser, add_config, add_findings, add_output_file, add_paths
from krm_function.cli.streams import write_out
from krm_function.contrast.owned import emitted_objects
from krm_function.findings import finding, has_errors
from krm_function.hosts.emitted import without_added_line_end, without_added_separator
from krm_function.hosts.functions import DecodedList, encode_list
from krm_function.hosts.stream import encode_stream
from krm_function.hosts.write_files import write_file
from krm_function.kubernetes.resource import Resource, with_kinds
from krm_function.render.pipeline import find_unproven
from krm_function.render.proof import check_removed_classes, check_removed_namespaces
from krm_function.render.read import read
from krm_function.text.changes import Change
from krm_function.text.splice import splice

DESCRIPTION = (
    "Prints one stream, unless -o or --in-place is given. Needs a configuration only for the kinds of its "
    "spec.podTemplates."
)


def add_arguments(parser: Parser) -> None:
    """Add inputs, the namespace of the render, findings."""
    add_paths(parser, content="rendered output")
    where = parser.add_mutually_exclusive_group()
    add_output_file(where, "write everything to this file")
    where.add_argument(
        "--in-place",
        action="store_true",
        help="rewrite the files that change, and remove files that contain only objects added by a render",
    )
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        help="the namespace that the render added to workloads that named none; only this one is removed",
    )
    add_config(parser, variable=False)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the input of an earlier render."""
    if options.in_place and (not options.paths or "-" in options.paths):
        return print_findings([finding("CC0909.stdin-in-place", option="--in-place")], options.format, options.report)
    inputs = read_inputs(options.paths)
    kinds, configured = configured_kinds(options.config)
    resources, findings = read(with_kinds(inputs.resources, kinds), ())
    findings = (*inputs.findings, *configured, *findings)
    findings += find_unproven(resources, None, rendered=False, seals=False, taken_back=True)
    if not has_errors(findings):
        findings += (*check_removed_namespaces(resources, options.namespace), *check_removed_classes(resources))
    if has_errors(findings):
        return print_findings(findings, options.format, options.report)
    restored = tuple(map(_drop_additions, resources))
    files = [(source.file, _encode(source, restored)) for source in inputs.sources]
    if options.in_place:
        write_restored(inputs, dict(files), restored)
    elif options.output:
        write_file(options.output, b"".join(data for _, data in files))
    else:
        write_out(b"".join(data for _, data in files))
    return print_findings(findings, options.format, options.report)


def _drop_additions(resource: Resource) -> Resource:
    """Drop what a render had added to a restored resource, including where a host moved it into a List.

    A resource that was added as a whole is dropped.
    """
    document = resource.document
    if document is None or resource.state == "added":
        return resource._replace(dropped=resource.state == "added")
    roots = sorted((root for root, _ in emitted_objects(document.value) if root), reverse=True)
    text = splice(document, [Change(root, "remove") for root in roots]).text if roots else document.text
    return resource._replace(rendered=text)


def _encode(source: InputFile, resources: Sequence[Resource]) -> bytes:
    decoded, mine = source.decoded, resources[source.start : source.end]
    if isinstance(decoded, DecodedList):
        data = encode_list(decoded, [resource.output for resource in mine], (), ())
    else:
        data = encode_stream(decoded, [resource.output for resource in without_added_separator(mine)])
    return without_added_line_end(data, mine)
