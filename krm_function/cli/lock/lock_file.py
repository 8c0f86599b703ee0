"""Read and update the file that `lock` writes.

Rule of this file: everything in it but new and dropped entries stays as it is, other documents included; and a file
that holds anything but a lock is never taken for one. Several runs may write the same file at once: each reads it anew
and adds to what it finds, one after the other.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from krm_function.api.document import ConfigDocument
from krm_function.api.image_lock import KIND, parse_image_lock
from krm_function.cli.configuration import from_files
from krm_function.cli.lock.directory_lock import DirectoryLock, locked
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.hosts.stream import decode_stream, encode_stream
from krm_function.hosts.streams_by_path import is_stream
from krm_function.hosts.write_together import NewFile, write_files
from krm_function.lock import new_lock, updated_lock
from krm_function.model.lookup import dig, mapping
from krm_function.record import NamedTuple

Entries = dict[str, dict[str, Any]]
IMAGES = ("spec", "images")


class LockFile(NamedTuple):
    """Where the lock goes ("": standard output) and, if there is one already, its document."""

    path: str
    lock: ConfigDocument | None = None


def open_lock(path: str) -> tuple[LockFile, list[Finding]]:
    """Read what is there. A file that does not exist or is empty is fine; raises FileProblem like `read_file`."""
    if not path or not os.path.exists(path) or is_stream(path) or not read_file(path):
        return LockFile(path), []
    documents, findings = from_files([path])
    locks = [document for document in documents if _is_lock(document)]
    if len(locks) != 1 and not has_errors(findings):
        code = "CC0909.locks" if locks else "CC0909.no-lock"
        return LockFile(path), [finding(code, option="--output", count=len(locks), file=path)]
    return LockFile(path, locks[0] if locks else None), list(findings)


def known_entries(documents: Iterable[ConfigDocument]) -> tuple[Entries, list[Finding]]:
    """Return entries of all locks by reference, as they are written there."""
    entries: Entries = {}
    findings: list[Finding] = []
    for document in documents:
        if _is_lock(document):
            images, problems = parse_image_lock(document)
            findings += problems
            written = mapping(dig(document.value, IMAGES))
            entries |= {name: written[name] for name in images or {}}
    return entries, findings


class WrittenLock(NamedTuple):
    """kept: entries that no resource needs. waited: seconds for other runs. With an error, nothing was written."""

    kept: int = 0
    waited: float = 0
    findings: tuple[Finding, ...] = ()


def write_lock(
    file: LockFile, entries: Mapping[str, Mapping[str, Any]], others: Sequence[NewFile] = (), *, prune: bool
) -> WrittenLock:
    """Write the lock: to what the file has by now, the entries that it lacks are added.

    others: files to write after it. prune: drop the entries that the file had when it was read and that no resource
    needs; an entry that another run has added since stays.
    Raises FileProblem, and YamlError for a document that cannot be edited.
    """
    if not file.path:
        write_out(new_lock(entries).encode("utf-8"))
        write_files(others)
        return WrittenLock()
    if is_stream(file.path):
        write_files([NewFile(file.path, new_lock(entries).encode("utf-8")), *others])
        return WrittenLock()
    before = _names(file)
    with locked(os.path.dirname(file.path) or ".") as lock:
        if lock.timed_out:
            return WrittenLock(waited=lock.waited, findings=(_timed_out(file.path, lock),))
        now, findings = open_lock(file.path)
        if has_errors(findings):
            return WrittenLock(waited=lock.waited, findings=tuple(findings))
        if lock.unguarded:
            findings.append(finding("CC1213", file=file.path, lock=file.path, problem=lock.unguarded))
        dropped = [name for name in before if name not in entries] if prune else ()
        write_files([*_changed(now, entries, dropped), *others])
    kept = 0 if prune else sum(name not in entries for name in before)
    return WrittenLock(kept, lock.waited, tuple(findings))


def _changed(file: LockFile, entries: Mapping[str, Mapping[str, Any]], dropped: Collection[str]) -> list[NewFile]:
    """Return the lock's file, if it changes."""
    if file.lock is None:
        return [NewFile(file.path, new_lock(entries).encode("utf-8"))]
    before = read_file(file.path)
    stream = decode_stream(before, file.path)
    texts = [
        updated_lock(resource.text, entries, dropped) if resource.line == file.lock.line else resource.text
        for resource in stream.resources
    ]
    data = encode_stream(stream, texts)
    return [NewFile(file.path, data)] if data != before else []


def _timed_out(path: str, lock: DirectoryLock) -> Finding:
    return finding("CC1212", file=path, lock=path, seconds=f"{lock.waited:.0f}")


def _names(file: LockFile) -> Iterable[str]:
    return mapping(dig(file.lock.value, IMAGES)) if file.lock else ()


def _is_lock(document: ConfigDocument) -> bool:
    return bool(mapping(document.value).get("kind") == KIND)
