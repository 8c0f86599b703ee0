"""What `uninject --in-place` writes: the files that an earlier render changed, as they were before it.

Rule of this file: a file is removed only if a render has added every object in it, as `generate --in-place` does with
objects that are new; all others are written first.
"""

import os
from collections.abc import Mapping, Sequence

from krm_function.cli.files.inputs import InputFile, Inputs
from krm_function.hosts.files import FileProblem
from krm_function.hosts.stream import Stream
from krm_function.hosts.temporary_files import sweep
from krm_function.hosts.write_together import NewFile, write_files
from krm_function.model.resource import Resource


def write_restored(inputs: Inputs, restored: Mapping[str, bytes], resources: Sequence[Resource]) -> None:
    """Write or remove the files that change. Raises FileProblem.

    restored: path -> bytes. resources: those of the input, `dropped` where a render had added them.
    """
    sweep(one.file for one in inputs.sources)
    made = [one.file for one in inputs.sources if _is_made(one, resources)]
    changed = [one.file for one in inputs.sources if one.file not in made and restored[one.file] != one.data]
    write_files(NewFile(file, restored[file]) for file in changed)
    for file in made:
        try:
            os.unlink(file)
        except OSError as problem:
            raise FileProblem(file, problem.strerror or "cannot be removed", writing=True) from problem


def _is_made(source: InputFile, resources: Sequence[Resource]) -> bool:
    """Tell whether a render has added everything in a file."""
    mine = resources[source.start : source.end]
    return isinstance(source.decoded, Stream) and bool(mine) and all(one.dropped for one in mine)
