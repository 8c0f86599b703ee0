"""`contrast-krm uninject`: rendered output back to its input.

Rule of this file: everything needed is in the output itself (`contrast-krm.dev/original`), so no configuration is read;
a record that would change more than a render does is an error. One that takes a namespace away is a warning, because
only the configuration of the render could prove it: `--namespace` says what that was.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from krm_function.cli.arguments.options import add_findings, add_paths
from krm_function.cli.arguments.parser import Parser

if TYPE_CHECKING:
    from krm_function.cli.files.inputs import InputFile
    from krm_function.yamltext import Document

DESCRIPTION = "Needs no configuration."


def add_arguments(parser: Parser) -> None:
    """Add inputs, the namespace of the render, findings."""
    add_paths(parser, what="rendered output")
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        help="the namespace that the render gave to workloads which named none; only this one is taken away again",
    )
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the input of an earlier render."""
    from krm_function.cli.files.inputs import read_inputs
    from krm_function.cli.messages import print_findings
    from krm_function.cli.streams import write_out
    from krm_function.findings import has_errors
    from krm_function.model.inverse import any_image
    from krm_function.stages.prove import prove, taken_namespaces
    from krm_function.stages.read import read

    inputs = read_inputs(options.paths)
    restored = read(inputs.resources, ())
    findings = inputs.findings + restored.findings
    findings += prove(inputs.resources, restored.documents, restored.claims, any_image)
    if not has_errors(findings):
        findings += taken_namespaces(inputs.resources, restored.documents, restored.claims, options.namespace)
    if has_errors(findings):
        return print_findings(findings, options.format, options.report)
    texts: list[str | None] = [resource.text for resource in inputs.resources]
    for index, document in restored.documents.items():
        texts[index] = _without_additions(document)
    for index in restored.emitted:
        texts[index] = None
    emitted = {index: document.value for index, document in restored.emitted.items()}
    write_out(b"".join(_encode(source, texts, emitted) for source in inputs.sources))
    return print_findings(findings, options.format, options.report)


def _without_additions(document: "Document") -> str:
    """Drop from a restored `kind: List` what a render had added and a host has moved into it. Returns the text."""
    from krm_function.model.objects import emitted_objects
    from krm_function.yamltext import Change, splice

    roots = sorted((root for root, _ in emitted_objects(document.value) if root), reverse=True)
    return splice(document, [Change(root, "remove") for root in roots]).text if roots else document.text


def _encode(source: "InputFile", texts: Sequence[str | None], emitted: Mapping[int, Any]) -> bytes:
    from krm_function.hosts.emitted_annotations import without_added_line_end, without_added_separator
    from krm_function.hosts.resource_list import DecodedList, encode_list
    from krm_function.hosts.stream import encode_stream

    decoded, mine = source.decoded, texts[source.start : source.end]
    gone = {index - source.start: value for index, value in emitted.items()}
    if isinstance(decoded, DecodedList):
        data = encode_list(decoded, mine, (), ())
    else:
        data = encode_stream(decoded, without_added_separator(mine, gone))
    return without_added_line_end(data, mine, gone)
