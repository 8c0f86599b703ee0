"""`contrast-krm lock`: what the policies have to know of each image, written into an ImageLock.

Rule of this file: the only verb with network. A lock is written whole or not at all, an existing one keeps what people
wrote into it, and what it knows is never fetched again; an entry without passwd or group is looked up for these two.
"""

import gc
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from krm_function.api import collect
from krm_function.cli.configuration import from_files_and_resources
from krm_function.cli.inputs import read_inputs
from krm_function.cli.lock_file import LockFile, Written, known, open_lock, write_lock
from krm_function.cli.lock_images import Use, needed
from krm_function.cli.say import complain
from krm_function.findings import Finding, finding, has_errors
from krm_function.lock import FORMS, Limits, Place, Problem, open_sources, parse_place, resolve_all, silent
from krm_function.model.image import HOST, Image
from krm_function.model.located import yaml_finding
from krm_function.pipeline import NO_RELEASE
from krm_function.record import NamedTuple
from krm_function.yamltext import YamlError

UNITS = {"": 1, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}


def run_lock(options: Namespace) -> int:
    """Lock the images of some resources."""
    sources, limits, wrong = _flags(options)
    if wrong:
        return complain(wrong, options.format, options.report)
    task, findings = _task(options)
    if not task.images and not has_errors(findings):
        findings.append(finding("CC1210"))
    if has_errors(findings) or not task.images:
        return complain(findings, options.format, options.report)
    try:
        opened = open_sources(sources, options.insecure_registry, options.jobs)
    except Problem as problem:
        return complain([*findings, problem.finding("")], options.format, options.report)
    gc.enable()  # which the command line switches off for renders; this may take minutes
    with _progress(len(task.images)) as progress:
        run = resolve_all(list(task.images), opened, task.known, limits, options.jobs, progress)
    for use, said in zip(task.images.values(), run.findings, strict=True):
        findings += [use.place(found) for found in said]
    summary = ""
    if not has_errors(findings):
        try:
            written = write_lock(task.file, _completed(run.entries, task.partial), prune=options.prune)
            findings += written.findings
            if not has_errors(findings):
                summary = _summary(len(run.entries), run.fetched, written)
        except YamlError as problem:
            findings.append(yaml_finding(problem, options.output))
    return complain(findings, options.format, options.report, summary)


class Task(NamedTuple):
    """What is to be done: images with their first use, and where the lock goes.

    known: entries by digest. partial: by reference, those that do not say what passwd or group is.
    """

    images: dict[Image, Use]
    known: dict[str, dict[str, Any]]
    partial: dict[str, dict[str, Any]]
    file: LockFile


def _task(options: Namespace) -> tuple[Task, list[Finding]]:
    """Read resources, configuration and lock. Without a release nothing is injected, which is worth a word."""
    inputs = read_inputs(options.paths)
    documents, problems = from_files_and_resources(options.config, inputs.resources)
    file, more = open_lock(options.output)
    config, unmet = collect(documents)
    entries, wrong = known([*documents, *([file.lock] if file.lock else [])])
    findings = [*inputs.findings, *problems, *more, *unmet, *wrong]
    if not inputs.findings and not any(resource.kind or not resource.certain for resource in inputs.resources):
        findings.append(finding("CC0108.no-document"))  # the command before failed
    findings = [finding("CC1211") if found.code == NO_RELEASE else found for found in dict.fromkeys(findings)]
    full = {entry["digest"]: entry for entry in entries.values() if not silent(entry)}
    partial = {name: entry for name, entry in entries.items() if silent(entry)}
    if has_errors(findings):
        return Task({}, full, partial, file), findings
    wanted = needed(inputs.resources, config)
    return Task(wanted.images, full, partial, file), [*findings, *wanted.findings]


def _completed(found: dict[str, dict[str, Any]], partial: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The entries as they were found; of those that were known in part, what people wrote counts."""
    return {
        name: {**entry, **{key: value for key, value in partial.get(name, {}).items() if value is not None}}
        for name, entry in found.items()
    }


def _summary(count: int, fetched: int, written: Written) -> str:
    text = f"{count} image{'' if count == 1 else 's'}: {fetched} fetched, {count - fetched} known already"
    if written.kept:
        text += f", {written.kept} that nothing uses any more kept (--prune drops them)"
    if written.waited >= 1:
        text += f", after {written.waited:.0f} s of waiting for another run that writes into the same directory"
    return f"{text}\n"


def _flags(options: Namespace) -> tuple[list[Place], Limits, list[Finding]]:
    """The sources and limits of one call, and what is wrong with its flags."""
    wrong: list[Finding] = []

    def refuse(code: str, option: str, **values: Any) -> None:
        wrong.append(finding(code, option=option, **values))

    sources = []
    for text in options.source or ["registry"]:
        source = parse_place(text)
        if source is None:
            refuse("CC0909.source", "--from", known=", ".join(FORMS[:-1]), last=FORMS[-1])
        else:
            sources.append(source)
    for host in options.insecure_registry:
        if not re.fullmatch(rf"{HOST}(?::[0-9]{{1,5}})?", host):
            refuse("CC0909.registry", "--insecure-registry")
    size = re.fullmatch(r"([1-9][0-9]{0,12})(Ki|Mi|Gi)?", options.max_layer_size)
    if size is None:
        refuse("CC0909.layer-size", "--max-layer-size")
    if not 1 <= options.jobs <= 64:
        refuse("CC0909.jobs", "--jobs")
    if not 1 <= options.timeout <= 86_400:
        refuse("CC0909.timeout", "--timeout")
    if options.prune and not options.output:
        refuse("CC0909.prune", "--prune")
    limit = int(size[1]) * UNITS[(size[2] or "").lower()] if size else 0
    return sources, Limits(limit, float(options.timeout)), wrong


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], object]]:
    """A bar on standard error if that is a terminal; yields what to call with the number of images done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc="images", unit="image", leave=False, file=sys.stderr) as bar:

        def step(count: int) -> None:
            bar.update(count)
            bar.refresh()  # so that the clock goes on while a large layer arrives

        yield step
