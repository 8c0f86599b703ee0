"""`contrast-krm generate`: files and directories in, one stream or the same files out.

Rule of this file: nothing is written before everything is known, and the manifest is written last (it vouches for the
files). Our own configuration never leaves in a stream that is meant for a cluster.
"""

import os
from argparse import Namespace
from typing import Any

from krm_function.api import collect, is_config
from krm_function.cli.configuration import from_files, from_resources
from krm_function.cli.exits import FINDINGS
from krm_function.cli.flags import apply_flags
from krm_function.cli.inputs import Inputs, Source, read_inputs
from krm_function.cli.say import complain, write_out
from krm_function.findings import finding, has_errors
from krm_function.hosts.files import same_file, write_file
from krm_function.hosts.resource_list import DecodedList, encode_list
from krm_function.hosts.stream import Stream, encode_stream
from krm_function.pipeline import Rendered, render
from krm_function.report.krm import krm_results


def rendered_inputs(options: Namespace, inputs: Inputs) -> Rendered:
    """Render everything that was read, under the configuration of one call."""
    documents, findings = from_files(options.config) if options.config else ([], ())
    more, problems = from_resources(inputs.resources)
    config, unmet = collect(_once(documents + more))
    if config is not None and hasattr(options, "reference_values"):
        config, wrong = apply_flags(config, options)
        problems += wrong
    return render(inputs.resources, config, inputs.findings + findings + problems + unmet)


def _once(documents: list[Any]) -> list[Any]:
    """A configuration file inside a rendered directory is read once, also if --config names it again."""
    return list({(os.path.realpath(one.file), one.line) if one.file else index: one for index, one in enumerate(documents)}.values())


def run_generate(options: Namespace) -> int:
    """Render files."""
    inputs = read_inputs(options.paths)
    if options.in_place and not any(source.file for source in inputs.sources):
        return complain([finding("CC0909", option="--in-place", problem="there is no file to rewrite", remedy="name one")])
    rendered = rendered_inputs(options, inputs)
    found = list(rendered.findings)
    if options.output and same_file(options.output, [source.file for source in inputs.sources]):
        remedy = "name another file, or use --in-place"
        found.append(finding("CC0909", option="--output", problem="is one of the inputs", remedy=remedy))
    if has_errors(found):
        return complain(found, options.format, options.report)
    if options.manifest and not rendered.manifest:
        found.append(finding("CC0909", option="--manifest", problem="no manifest was made", remedy="see manifest.emit"))
        complain(found, options.format, options.report)
        return FINDINGS
    if options.in_place:
        _write_in_place(inputs, rendered, options)
    elif options.output:
        write_file(options.output, _one_stream(inputs, rendered))
    else:
        write_out(_one_stream(inputs, rendered))
    if options.manifest:
        write_file(options.manifest, rendered.manifest)
    return complain(found, options.format, options.report)


def _one_stream(inputs: Inputs, rendered: Rendered) -> bytes:
    """Everything in one stream, or in one ResourceList if that is what came in."""
    if len(inputs.sources) == 1 and isinstance(inputs.sources[0].decoded, DecodedList):
        results = krm_results(rendered.findings)
        return encode_list(inputs.sources[0].decoded, rendered.texts, rendered.added, results)
    texts: list[str | None] = []
    for source in inputs.sources:
        mine = [
            None if is_config(inputs.resources[index].api_version) else rendered.texts[index]
            for index in range(source.start, source.end)
        ]
        kept = [text for text in mine if text is not None]
        if kept and texts and not kept[0].startswith("---"):
            kept[0] = "---\n" + kept[0]
        if kept and texts and texts[-1] and not texts[-1].endswith("\n"):
            texts[-1] += "\n"
        texts += kept
    return encode_stream(Stream((), bom=False), texts, rendered.added)


def _write_in_place(inputs: Inputs, rendered: Rendered, options: Namespace) -> None:
    """Rewrite the files that changed; new objects go to a file of their own beside the first path."""
    for source in inputs.sources:
        data = _encode(source, rendered)
        if data != source.data and source.file:
            write_file(source.file, data)
    if rendered.added:
        first = options.paths[0]
        directory = first if os.path.isdir(first) else os.path.dirname(first)
        path = os.path.join(directory, "contrast-manifest.yaml")
        write_file(path, encode_stream(Stream((), bom=False), (), rendered.added))


def _encode(source: Source, rendered: Rendered) -> bytes:
    texts = rendered.texts[source.start : source.end]
    if isinstance(source.decoded, DecodedList):
        return encode_list(source.decoded, texts, (), ())
    return encode_stream(source.decoded, texts)
