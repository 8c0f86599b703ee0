"""`contrast-krm generate`: files and directories in, one stream or the same files out.

Rule of this file: nothing is written before everything is known, and the manifest is written last (it vouches for the
files). Our own configuration never leaves in a stream that is meant for a cluster.
"""

import itertools
import os
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from krm_function.api import collect, is_config
from krm_function.cli.configuration import from_files_and_resources
from krm_function.cli.flags import apply_flags
from krm_function.cli.inputs import Inputs, Source, read_inputs
from krm_function.cli.say import complain
from krm_function.cli.streams import write_out, write_out_first
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import FileProblem, find, read_file, same_file
from krm_function.hosts.leftovers import sweep
from krm_function.hosts.resource_list import DecodedList, encode_list
from krm_function.hosts.staging import must_be_regular
from krm_function.hosts.stream import Stream, decode_stream, encode_stream
from krm_function.hosts.writing import NewFile, staged, write_files
from krm_function.pipeline import Rendered, render
from krm_function.policy.genpolicy import Engine
from krm_function.report.krm import krm_results
from krm_function.stages.read import read
from krm_function.yamltext import YamlError, parse

NEW_OBJECTS = "contrast-manifest.yaml"


def rendered_inputs(
    options: Namespace, inputs: Inputs, engine: Engine | None = None, wrong: tuple[Finding, ...] = ()
) -> Rendered:
    """Render everything that was read, under the configuration of one call.

    engine, wrong: as `genpolicy.engine` gives them.
    """
    documents, findings = from_files_and_resources(options.config, inputs.resources)
    config, unmet = collect(_once(documents))
    if config is not None and hasattr(options, "reference_values"):
        config, problems = apply_flags(config, options)
        findings += problems
    return render(inputs.resources, config, inputs.findings + findings + unmet + wrong, engine)


def _once(documents: list[Any]) -> list[Any]:
    """A configuration file inside a rendered directory is read once, also if --config names it again."""
    places = [(os.path.realpath(one.file), one.line) if one.file else index for index, one in enumerate(documents)]
    return list(dict(zip(places, documents, strict=True)).values())


def run_generate(options: Namespace, engine: Engine | None, wrong: tuple[Finding, ...]) -> int:
    """Render files. engine, wrong: as `genpolicy.engine` gives them."""
    if options.in_place and (not options.paths or "-" in options.paths):
        found = [finding("CC0909.stdin-in-place", option="--in-place")]
        return complain(found, options.format, options.report)
    if options.manifest:
        must_be_regular(options.manifest)
    inputs = read_inputs(options.paths)
    rendered = rendered_inputs(options, inputs, engine, wrong)
    found = list(rendered.findings)
    if options.output and same_file(options.output, [*find(options.config), *(one.file for one in inputs.sources)]):
        found.append(finding("CC0909.input-in-place", option="--output"))
    if options.manifest and not rendered.manifest and not has_errors(found):
        found.append(finding("CC0909.no-manifest", option="--manifest"))
    if options.output and options.manifest and os.path.realpath(options.output) == os.path.realpath(options.manifest):
        found.append(finding("CC0909.manifest-too", option="--output"))
    if not options.in_place:
        found += _open_ends(inputs, rendered)
    in_place = _in_place(inputs, rendered, options.paths) if options.in_place and not has_errors(found) else {}
    if has_errors(found):
        return complain(found, options.format, options.report)
    manifest = [NewFile(options.manifest, rendered.manifest)] if options.manifest else []
    if options.in_place:
        sweep(one.file for one in inputs.sources)
        write_files([*itertools.starmap(NewFile, in_place.items()), *manifest])
    elif options.output:
        write_files([NewFile(options.output, _one_stream(inputs, rendered)), *manifest])
    else:
        _print(_one_stream(inputs, rendered), manifest)
    return complain(found, options.format, options.report)


def _print(data: bytes, manifest: list[NewFile]) -> None:
    """Write standard output, then the manifest; no manifest if writing fails or the pipe is closed."""
    if not manifest:
        write_out(data)
        return
    with staged(manifest) as put:
        write_out_first(data, manifest[0].path)
        put()


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
    first = inputs.sources[0].decoded if inputs.sources else None
    return encode_stream(Stream((), isinstance(first, Stream) and first.bom), texts, rendered.added)


def _open_ends(inputs: Inputs, rendered: Rendered) -> list[Finding]:
    """Files whose last string would change if anything followed: a block scalar without a line end has none in it."""
    found: list[Finding] = []
    for number, source in enumerate(inputs.sources, 1):
        followed = rendered.added or number < len(inputs.sources)
        text = rendered.texts[source.end - 1] if source.end > source.start else None
        if not followed or not text or text.endswith("\n") or isinstance(source.decoded, DecodedList):
            continue
        if parse(text).value != parse(text + "\n").value:
            found.append(finding("CC0108.open-end", file=source.file))
    return found


def _in_place(inputs: Inputs, rendered: Rendered, paths: Sequence[str]) -> dict[str, bytes]:
    """What to write to which file: those that changed; new objects go to a file of their own beside the first path.

    Raises FileProblem when that file exists and holds anything else: nobody asked for it to be replaced.
    """
    directory = paths[0] if os.path.isdir(paths[0]) else os.path.dirname(paths[0])
    beside = os.path.join(directory, NEW_OBJECTS)
    written: dict[str, bytes] = {}
    added = rendered.added
    for source in inputs.sources:
        here = added if added and same_file(beside, [source.file]) and isinstance(source.decoded, Stream) else ()
        data = _encode(source, rendered, here)
        if data != source.data:
            written[source.file] = data
        if here:
            added = ()
    if beside in written:
        written[beside] = written.pop(beside)  # with the manifest, which vouches for the others
    if added:
        if os.path.lexists(beside) and not _ours(beside):
            raise FileProblem(beside, "exists and holds more than an earlier render wrote", writing=True)
        written[beside] = encode_stream(Stream((), bom=False), (), added)
    return written


def _ours(path: str) -> bool:
    """Whether every document of a file was added by a render."""
    try:
        resources = decode_stream(read_file(path)).resources
    except YamlError:
        return False
    known = read(resources, ())
    return len(known.emitted) == len(resources) and not known.findings


def _encode(source: Source, rendered: Rendered, added: Sequence[Any]) -> bytes:
    texts = rendered.texts[source.start : source.end]
    if isinstance(source.decoded, DecodedList):
        return encode_list(source.decoded, texts, (), ())
    return encode_stream(source.decoded, texts, added)
