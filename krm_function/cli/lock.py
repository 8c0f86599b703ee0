"""`contrast-krm lock`: what the policies have to know of each image, written into an ImageLock.

Rule of this file: the only verb with network. A lock is written whole or not at all, an existing one keeps what people
wrote into it, and what it knows is never fetched again.
"""

import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from krm_function.api import ConfigDocument, collect, parse_image_lock
from krm_function.api.image_lock import KIND
from krm_function.cli.configuration import from_files, from_files_and_resources
from krm_function.cli.inputs import read_inputs
from krm_function.cli.lock_images import needed
from krm_function.cli.say import complain, write_out
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file, write_file
from krm_function.hosts.stream import Stream, decode_stream, encode_stream
from krm_function.lock import FORMS, Limits, Place, Problem, new_lock, open_sources, parse_place, resolve_all
from krm_function.lock import updated_lock as updated
from krm_function.model.image import HOST
from krm_function.model.workload import dig, mapping
from krm_function.yamltext import YamlError

NO_RELEASE = "CC0903"
UNITS = {"": 1, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}


def run_lock(options: Namespace) -> int:
    """Lock the images of some resources."""
    sources, limits, wrong = _flags(options)
    if wrong:
        return complain(wrong, options.format, options.report)
    inputs = read_inputs(options.paths)
    documents, problems = from_files_and_resources(options.config, inputs.resources)
    holds = bool(options.output) and os.path.exists(options.output) and os.path.getsize(options.output) > 0
    mine, more = from_files([options.output]) if holds else ([], ())
    config, unmet = collect(documents)
    findings = [*inputs.findings, *problems, *more, *_about_release(unmet)]
    known, wrong = _known([*documents, *mine])
    findings += wrong
    stream = _stream(options.output) if holds else Stream(())
    if holds and not has_errors(findings):
        findings += _not_one_lock(mine, options.output)
    if has_errors(findings):
        return complain(findings, options.format, options.report)
    wanted = needed(inputs.resources, config)
    findings += wanted.findings
    if not wanted.workloads and not has_errors(findings):
        findings.append(finding("CC1210"))
    if has_errors(findings) or not wanted.workloads:
        return complain(findings, options.format, options.report)
    try:
        opened = open_sources(sources, options.insecure_registry, options.jobs)
    except Problem as problem:
        return complain([*findings, problem.finding("")], options.format, options.report)
    with _progress(len(wanted.images)) as done:
        run = resolve_all(wanted.images, opened, _by_digest(known), limits, options.jobs, done)
    findings += run.findings
    if has_errors(findings):
        return complain(findings, options.format, options.report)
    kept = _write(options, stream, mine, run.entries)
    count = len(run.entries)
    summary = f"{count} image{'' if count == 1 else 's'}: {run.fetched} fetched, {count - run.fetched} known already"
    summary += f", {kept} that nothing uses any more kept (--prune drops them)" if kept else ""
    return complain(findings, options.format, options.report, f"{summary}\n")


# --- what was asked for


def _flags(options: Namespace) -> tuple[list[Place], Limits, list[Finding]]:
    """The sources and limits of one call, and what is wrong with its flags."""
    wrong: list[Finding] = []

    def refuse(option: str, problem: str, remedy: str) -> None:
        wrong.append(finding("CC0909", option=option, problem=problem, remedy=remedy))

    sources = []
    for text in options.source or ["registry"]:
        source = parse_place(text)
        if source is None:
            refuse("--from", "names no source", f"use {', '.join(FORMS[:-1])} or {FORMS[-1]}")
        else:
            sources.append(source)
    for host in options.insecure_registry:
        if not re.fullmatch(rf"{HOST}(?::[0-9]{{1,5}})?", host):
            refuse("--insecure-registry", "is not host or host:port", "write it as in the image's name, no scheme")
    size = re.fullmatch(r"([1-9][0-9]{0,12})(Ki|Mi|Gi)?", options.max_layer_size)
    if size is None:
        refuse("--max-layer-size", "is not a number of bytes", "write a number, or one with Ki, Mi or Gi: 8Gi")
    if not 1 <= options.jobs <= 64:
        refuse("--jobs", "must be 1 to 64", "write a number between")
    if not 1 <= options.timeout <= 86_400:
        refuse("--timeout", "must be 1 to 86400 seconds", "write a number between")
    if options.prune and not options.output:
        refuse("--prune", "has no lock to drop entries from", "name it with -o")
    limit = int(size[1]) * UNITS[(size[2] or "").lower()] if size else 0
    return sources, Limits(limit, float(options.timeout)), wrong


def _about_release(unmet: Iterable[Finding]) -> list[Finding]:
    """What `collect` says, but that a release is missing is no error here."""
    return [finding("CC1211") if found.code == NO_RELEASE else found for found in unmet]


# --- what is known


def _known(documents: Sequence[ConfigDocument]) -> tuple[dict[str, dict[str, Any]], list[Finding]]:
    """Entries of all locks by reference, as they are written there."""
    known: dict[str, dict[str, Any]] = {}
    findings: list[Finding] = []
    for document in documents:
        if mapping(document.value).get("kind") == KIND:
            images, problems = parse_image_lock(document)
            findings += problems
            written = mapping(dig(document.value, ("spec", "images")))
            known |= {name: written[name] for name in images or {}}
    return known, findings


def _by_digest(known: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {entry["digest"]: entry for entry in known.values()}


def _stream(path: str) -> Stream:
    try:
        return decode_stream(read_file(path), path)
    except YamlError:  # which `from_files` has told already
        return Stream(())


def _not_one_lock(mine: Sequence[ConfigDocument], path: str) -> list[Finding]:
    locks = [document for document in mine if mapping(document.value).get("kind") == KIND]
    if len(locks) == 1:
        return []
    problem = f"the file has {len(locks) or 'no'} ImageLock{'s' if len(locks) > 1 else ''}"
    return [
        finding("CC0909", option="--output", problem=problem, remedy="name a file with one, or a new file", file=path)
    ]


# --- what is written


def _write(
    options: Namespace, stream: Stream, mine: Sequence[ConfigDocument], entries: Mapping[str, Mapping[str, Any]]
) -> int:
    """Write the lock, and answer how many entries in it nobody asked for."""
    if not mine:
        data = new_lock(entries).encode("utf-8")
        write_file(options.output, data) if options.output else write_out(data)
        return 0
    (lock,) = (document for document in mine if mapping(document.value).get("kind") == KIND)
    present = mapping(dig(lock.value, ("spec", "images")))
    unused = [name for name in present if name not in entries]
    texts = [
        updated(resource.text, entries, unused if options.prune else ())
        if resource.line == lock.line
        else resource.text
        for resource in stream.resources
    ]
    data = encode_stream(stream, texts)
    if data != read_file(options.output):
        write_file(options.output, data)
    return 0 if options.prune else len(unused)


@contextmanager
def _progress(total: int) -> Iterator[Any]:
    """A bar on standard error if that is a terminal; yields what to call after each image."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc="images", unit="image", leave=False, file=sys.stderr) as bar:
        yield bar.update
