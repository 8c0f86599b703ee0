"""The output of generate and uninject: one stream, the same files, or the restored files."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.cli.inputs import InputFile, Inputs
from krm_function.config.document import is_config
from krm_function.findings import Finding, finding
from krm_function.hosts.files import FileProblem, read_file, same_file
from krm_function.hosts.functions import DecodedList, encode_list
from krm_function.hosts.stream import Stream, decode_stream, encode_stream
from krm_function.hosts.write_files import NewFile, sweep, write_files
from krm_function.kubernetes.resource import Resource
from krm_function.render.read import read
from krm_function.render.rendered import Rendered
from krm_function.report.findings import krm_results
from krm_function.text.errors import LIMITS, YamlError
from krm_function.text.parse import parse

# --- The files of `generate --in-place`: those that change, and one for new objects
#
# Rule: nothing is written here; only a file from an earlier render is ever replaced.


NEW_OBJECTS = "contrast-manifest.yaml"


def changed_files(inputs: Inputs, rendered: Rendered, paths: Sequence[str]) -> dict[str, bytes]:
    """Return path -> bytes of the files that changed; new objects go to their own file beside the first path.

    Raises FileProblem if that file exists and holds anything but generated objects.
    """
    beside = new_objects_file(paths)
    written: dict[str, bytes] = {}
    added = rendered.added
    for source in inputs.sources:
        objects = added if added and same_file(beside, [source.file]) and isinstance(source.decoded, Stream) else ()
        data = _encode(source, rendered, objects)
        if data != source.data:
            written[source.file] = data
        if objects:
            added = ()
    if beside in written:
        written[beside] = written.pop(beside)  # with the manifest, which vouches for the others
    if added:
        if os.path.lexists(beside) and not _is_generated(beside):
            raise FileProblem(beside, "exists and contains more than an earlier render wrote", writing=True)
        written[beside] = encode_stream(Stream((), bom=False), (), added)
    return written


def new_objects_file(paths: Sequence[str]) -> str:
    """Return the file for new objects, beside the first path."""
    directory = paths[0] if os.path.isdir(paths[0]) else os.path.dirname(paths[0])
    return os.path.join(directory, NEW_OBJECTS)


def _is_generated(path: str) -> bool:
    try:
        resources = decode_stream(read_file(path, os.path.dirname(path) or ".")).resources
    except YamlError:
        return False
    read_again, findings = read(resources, ())
    return not findings and all(resource.state == "added" for resource in read_again)


def _encode(source: InputFile, rendered: Rendered, added: Sequence[Any]) -> bytes:
    texts = rendered.texts[source.start : source.end]
    if isinstance(source.decoded, DecodedList):
        return encode_list(source.decoded, texts, (), ())
    return encode_stream(source.decoded, texts, added)


# --- The output of `generate`: all documents in one stream, or the ResourceList that was read
#
# Rule: a stream for a cluster contains no configuration objects. Documents of several files become one stream that can
# be applied at the first try: Namespaces and RuntimeClasses come first. All other documents, and those of one file or
# of standard input, keep their order.


FIRST = {"Namespace": 0, "RuntimeClass": 1}  # other objects need these, and they need no others


def one_stream(inputs: Inputs, rendered: Rendered) -> bytes:
    """Put everything into one stream, or into one ResourceList if the input is one."""
    if len(inputs.sources) == 1 and isinstance(inputs.sources[0].decoded, DecodedList):
        results = krm_results(rendered.findings)
        return encode_list(inputs.sources[0].decoded, rendered.texts, rendered.added, results)
    texts: list[str] = []
    starts = {source.start for source in inputs.sources}
    previous = -1
    for index, text in _sort_documents(inputs, rendered):
        joined = previous >= 0 and (index != previous + 1 or index in starts)  # they were not adjacent in one file
        if joined and not texts[-1].endswith("\n"):
            texts[-1] += "\n"
        texts.append(f"---\n{text}" if joined and not text.startswith("---") else text)
        previous = index
    first = inputs.sources[0].decoded if inputs.sources else None
    return encode_stream(Stream((), isinstance(first, Stream) and first.bom), texts, rendered.added)


def too_large(size: int) -> list[Finding]:
    """Return CC1005 for a stream of more bytes than `check`, `manifest` and `uninject` read (they report CC0103)."""
    return [finding("CC1005", size=size, limit=LIMITS.bytes)] if size > LIMITS.bytes else []


def open_ends(inputs: Inputs, rendered: Rendered) -> list[Finding]:
    """Report files whose last string would change if text followed: a block scalar without a line end."""
    findings: list[Finding] = []
    lists = [range(source.start, source.end) for source in inputs.sources if isinstance(source.decoded, DecodedList)]
    ordered = _sort_documents(inputs, rendered)
    for number, (index, text) in enumerate(ordered, 1):
        followed = rendered.added or number < len(ordered)
        if not followed or text.endswith("\n") or any(index in of_list for of_list in lists):
            continue
        if parse(text).value != parse(text + "\n").value:
            findings.append(finding("CC0108.open-end", file=inputs.resources[index].file))
    return findings


def _sort_documents(inputs: Inputs, rendered: Rendered) -> list[tuple[int, str]]:
    """Return the documents of a stream in its order, each with its position in the input."""
    documents = [
        (index, text)
        for index, text in enumerate(rendered.texts)
        if text and not is_config(inputs.resources[index].api_version)
    ]
    if len(inputs.sources) > 1:
        documents.sort(key=lambda pair: FIRST.get(inputs.resources[pair[0]].kind, len(FIRST)))
    return documents


# --- The files of `uninject --in-place`: those that an earlier render changed, restored
#
# Rule: a file is removed only if a render has added every object in it, as `generate --in-place` does with new objects;
# all others are written first.


def write_restored(inputs: Inputs, restored: Mapping[str, bytes], resources: Sequence[Resource]) -> None:
    """Write or remove the files that change. Raises FileProblem.

    restored: path -> bytes. resources: of the input, `dropped` if a render had added them.
    """
    sweep(source.file for source in inputs.sources)
    added = [source.file for source in inputs.sources if _is_all_added(source, resources)]
    changed = [
        source.file for source in inputs.sources if source.file not in added and restored[source.file] != source.data
    ]
    write_files(NewFile(file, restored[file]) for file in changed)
    for file in added:
        try:
            os.unlink(file)
        except OSError as problem:
            raise FileProblem(file, problem.strerror or "cannot be removed", writing=True) from problem


def _is_all_added(source: InputFile, resources: Sequence[Resource]) -> bool:
    mine = resources[source.start : source.end]
    return isinstance(source.decoded, Stream) and bool(mine) and all(resource.dropped for resource in mine)
