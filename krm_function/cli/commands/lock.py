"""`contrast-krm lock`: write into an ImageLock what the policies need from each image.

Rule of this file: a lock is written whole or not at all, and an existing lock keeps what people wrote into it.
"""

import os
from argparse import Namespace
from collections.abc import Iterator

from krm_function.cli.lock_look_up import add_look_up, check_lock, look_up, look_up_flags
from krm_function.cli.lock_task import WrittenLock, read_task, write_lock
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_config, add_findings, add_output_file, add_paths
from krm_function.findings import Finding, finding, has_errors
from krm_function.kubernetes.image import Image, parse_image
from krm_function.kubernetes.resource import yaml_finding
from krm_function.text.errors import YamlError

DESCRIPTION = "Uses the network, unless --from names files only. On an error nothing is printed or written."
WRITERS = ("write_kustomize", "write_values", "write_files")


def add_arguments(parser: Parser) -> None:
    """Add inputs, the lock, the sources of images, limits, findings."""
    add_paths(parser, content="resources")
    add_output_file(
        parser, "the lock: a new file, or one whose entries and comments are kept (default: standard output)"
    )
    parser.add_argument("--prune", action="store_true", help="drop entries of images that the resources do not use")
    parser.add_argument(
        "--check",
        action="store_true",
        help="fetch and write nothing: an error for each image that the lock of -o lacks and, with --prune, for each "
        "of its entries that nothing uses; without -o, the lock of --config",
    )
    add_config(parser)
    add_look_up(parser)
    parser.add_argument(
        "--upgrade",
        metavar="IMAGE",
        nargs="*",
        help="look tags up again although the images have digests: for these images (names or globs, such as "
        "web or 'shop/*'), or for all",
    )
    add_findings(parser)


def run(options: Namespace) -> int:
    """Lock the images of some resources."""
    sources, limits, misused = look_up_flags(options)
    misused += _find_contradictions(options)
    if misused:
        return print_findings(misused, options.format, options.report)
    task, findings = read_task(options)
    if not task.needs.images and not has_errors(findings):
        findings.append(finding("CC1210"))
    if has_errors(findings) or not task.needs.images:
        return print_findings(findings, options.format, options.report)
    if options.check:
        findings += check_lock(task, prune=options.prune)
        done = "" if has_errors(findings) else f"all images of the input are in {task.file.path}\n"
        return print_findings(findings, options.format, options.report, done)
    looked_up = look_up(options, task, sources, limits)
    findings += looked_up.findings
    summary = ""
    if not has_errors(findings):
        try:
            written = write_lock(task.file, looked_up.entries, looked_up.pinned.files, prune=options.prune)
            findings += written.findings
            if not has_errors(findings):
                summary = looked_up.pinned.summary + _make_summary(looked_up.total, looked_up.fetched, written)
        except YamlError as problem:
            findings.append(yaml_finding(problem, options.output))
    return print_findings(findings, options.format, options.report, summary)


def _make_summary(count: int, fetched: int, written: WrittenLock) -> str:
    """Return the closing line: the number of images, and other results."""
    text = f"{count} image{'' if count == 1 else 's'}: {fetched} fetched, {count - fetched} known already"
    if written.unused:
        text += f", {written.unused} that nothing uses any more kept (--prune drops them)"
    if written.waited >= 1:
        text += f", after {written.waited:.0f} s of waiting for another run that writes into the same directory"
    return f"{text}\n"


def _find_contradictions(options: Namespace) -> Iterator[Finding]:
    if options.prune and not options.output and not options.check:
        yield finding("CC0909.prune", option="--prune")
    for path in options.paths:
        if ":" in path and isinstance(parse_image(path), Image) and not os.path.exists(path):
            yield finding("CC0909.image", option=path)
    for option in ("source", *WRITERS, "upgrade") if options.check else ():
        value = getattr(options, option)
        if value or (option == "upgrade" and value is not None):
            yield finding("CC0909.check", option=f"--{option.replace('source', 'from').replace('_', '-')}")
