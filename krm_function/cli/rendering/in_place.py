"""What `generate --in-place` writes: the files that change, and one for the objects that are new.

Rule of this file: nothing is written here; a file that is not of an earlier render is never replaced.
"""

import os
from collections.abc import Sequence
from typing import Any

from krm_function.cli.files.inputs import InputFile, Inputs
from krm_function.hosts.files import FileProblem, read_file, same_file
from krm_function.hosts.resource_list import DecodedList, encode_list
from krm_function.hosts.stream import Stream, decode_stream, encode_stream
from krm_function.pipeline.result import Rendered
from krm_function.stages.read import read
from krm_function.yamltext import YamlError

NEW_OBJECTS = "contrast-manifest.yaml"


def changed_files(inputs: Inputs, rendered: Rendered, paths: Sequence[str]) -> dict[str, bytes]:
    """Return path -> bytes of the files that changed; new objects go to a file of their own beside the first path.

    Raises FileProblem if that file exists and holds anything but generated objects.
    """
    beside = new_objects_file(paths)
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
        if os.path.lexists(beside) and not _is_generated(beside):
            raise FileProblem(beside, "exists and holds more than an earlier render wrote", writing=True)
        written[beside] = encode_stream(Stream((), bom=False), (), added)
    return written


def new_objects_file(paths: Sequence[str]) -> str:
    """Return the file for new objects, beside the first path."""
    directory = paths[0] if os.path.isdir(paths[0]) else os.path.dirname(paths[0])
    return os.path.join(directory, NEW_OBJECTS)


def _is_generated(path: str) -> bool:
    """Tell whether every document of a file was added by a render."""
    try:
        resources = decode_stream(read_file(path, os.path.dirname(path) or ".")).resources
    except YamlError:
        return False
    read_again, findings = read(resources, ())
    return not findings and all(one.state == "added" for one in read_again)


def _encode(source: InputFile, rendered: Rendered, added: Sequence[Any]) -> bytes:
    texts = rendered.texts[source.start : source.end]
    if isinstance(source.decoded, DecodedList):
        return encode_list(source.decoded, texts, (), ())
    return encode_stream(source.decoded, texts, added)
