"""`contrast-krm adopt`: what a configuration can do for the pods of an application, chosen and written in one round.

Rule of this file: nothing is chosen that nobody has named; everything is known before anything is written, and a second
run changes nothing. What is written is the ordinary configuration.
"""

import os
import sys
from argparse import ArgumentTypeError, Namespace

from krm_function.check.adopt import Adoption, Request, adopt, is_choice, list_choice_names
from krm_function.cli.adopt_files import (
    AdoptedImages,
    Configured,
    adopted_images,
    ask_choices,
    ask_workloads,
    configured,
)
from krm_function.cli.exits import FINDINGS
from krm_function.cli.inputs import read_inputs
from krm_function.cli.lock_task import write_lock
from krm_function.cli.look_up_options import add_look_up, look_up_flags
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_config, add_findings, add_output_format, add_paths, coloured
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.write_files import write_files
from krm_function.kubernetes.resource import Resource
from krm_function.report.adoption import adoption_json, adoption_text
from krm_function.report.findings import ansi, plain

LONGEST_REASON = 300  # characters, as the configuration takes it
LONGEST_KEY = 253
MEMORY = "memory"  # the choice that wants the sizes of all layers
DESCRIPTION = (
    "Finds what a render would refuse, offers what the configuration can do about it, and writes the choices into the "
    "ContrastGenerate of --config. On a terminal it asks; else only what the options name is chosen. Exit code 1 if a "
    "render would still refuse a pod."
)


def add_arguments(parser: Parser) -> None:
    """Add inputs, the decisions, the lock, output, findings."""
    add_paths(parser, "PATH")
    add_config(parser)
    parser.add_argument(
        "--yes-to",
        metavar="CHOICE,...",
        type=_choices,
        action="append",
        help="take these choices, and ask nothing; the report names each with its consequence (repeatable)",
    )
    parser.add_argument(
        "--confidential",
        metavar="KIND/NAME",
        action="append",
        default=[],
        help="make this workload confidential, though it does not ask: an entry of spec.workloads; * in the name "
        "stands for any text, and the word all for every one (repeatable)",
    )
    parser.add_argument(
        "--plain",
        metavar="KIND/NAME=REASON",
        type=_reason,
        action="append",
        default=[],
        help="name this workload as plain, and why (repeatable)",
    )
    parser.add_argument(
        "--keys",
        metavar="KIND/NAME=KEY,...",
        type=_keys,
        action="append",
        default=[],
        help="the keys that a Secret or ConfigMap has in the cluster, where envFrom takes all of them (repeatable)",
    )
    lock = parser.add_mutually_exclusive_group()
    lock.add_argument(
        "--lock", metavar="FILE", default="", help="the lock (default: that of --config, else images.yaml beside it)"
    )
    lock.add_argument("--no-lock", action="store_true", help="look no image up, and leave the lock as it is")
    add_look_up(parser)
    parser.add_argument("--dry-run", action="store_true", help="write nothing and look no image up")
    add_output_format(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Adopt an application. Raises FileProblem."""
    sources, limits, wrong = look_up_flags(options)
    inputs = read_inputs(options.paths)
    found, problems = configured(options.config, inputs.resources, options.config_from)
    findings = [*wrong, *inputs.findings, *problems]
    if found is None or has_errors(findings):
        return print_findings(findings, options.format, options.report)
    asks = options.yes_to is None and not options.dry_run and "-" not in options.paths and _terminal()
    known: set[str] = set()
    request, adoption = _adopted(_request(options), found, inputs.resources, known if asks else None)
    images = None
    while not (adoption.findings or options.no_lock or options.dry_run):
        sized = options.sizes or MEMORY in request.yes
        named = Namespace(**{**vars(options), "output": options.lock or found.lock, "sizes": sized})
        images = adopted_images(named, found, found.replace_spec(adoption.spec), inputs.resources, sources, limits)
        if has_errors(images.findings):
            break
        found = found._replace(config=found.config._replace(images=images.config.images))
        request, adoption = _adopted(request, found, inputs.resources, known if asks else None)
        if sized or MEMORY not in request.yes:
            break  # else it was chosen by what the lock says now, and wants all sizes
    findings += images.findings if images else ()
    findings += adoption.findings
    findings += [finding("CC1341", kind=kind, name=name) for kind, name in adoption.keys]
    if has_errors(findings):
        return print_findings(findings, options.format, options.report)
    written, problems = _written(found, adoption, images, dry=options.dry_run)
    findings += problems
    if has_errors(findings):
        return print_findings(findings, options.format, options.report)
    _print(options, adoption, written)
    code = print_findings(findings, options.format, options.report)
    return code or (FINDINGS if adoption.refused or adoption.errors else 0)


def _adopted(
    request: Request, found: Configured, resources: tuple[Resource, ...], known: set[str] | None
) -> tuple[Request, Adoption]:
    """Adopt, and ask what is open. known: what was asked before, None to ask nothing."""
    adoption = adopt(resources, found.generate, found.config, request)
    if known is None or adoption.findings:
        return request, adoption
    if not known:
        known.add("")
        asked = ask_workloads(request, adoption.plain)
        if asked != request:
            request, adoption = asked, adopt(resources, found.generate, found.config, asked)
    asked = ask_choices(request, adoption, known)
    return (asked, adopt(resources, found.generate, found.config, asked)) if asked != request else (request, adoption)


def _written(
    found: Configured, adoption: Adoption, images: AdoptedImages | None, *, dry: bool
) -> tuple[list[str], tuple[Finding, ...]]:
    """Write what changes, all of it or nothing; return a line for each file, and findings. Raises FileProblem."""
    changed = found.changed(adoption.spec)
    would = "would be " if dry else ""
    lines = [f"{file.path}: {would}changed" for file in changed] or [f"{found.generate.file}: nothing to change"]
    if dry:
        return lines, ()
    if images is None or not images.looked_up.entries:
        write_files(changed)
        return lines, ()
    pinned = images.looked_up.pinned
    if os.path.realpath(images.file.path) == os.path.realpath(found.generate.file):
        write_files(changed)  # the lock is written into what stands there then
        changed = []
    written = write_lock(images.file, images.looked_up.entries, [*changed, *pinned.files], prune=False)
    count, fetched = images.looked_up.found, images.looked_up.fetched
    lines.append(f"{images.file.path}: {count} image{'' if count == 1 else 's'}, {fetched} of them fetched")
    return [*lines, *pinned.summary.splitlines()], written.findings


def _print(options: Namespace, adoption: Adoption, written: list[str]) -> None:
    if options.output == "json":
        text = adoption_json(adoption, written)
    else:
        text = adoption_text(adoption, written, ansi if coloured(options.color, sys.stdout) else plain)
    write_out(text.encode("utf-8"))


def _terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()


def _request(options: Namespace) -> Request:
    """Return what the options decide."""
    keys: dict[tuple[str, str], tuple[str, ...]] = {}
    for of, names in options.keys:
        keys[of] = (*keys.get(of, ()), *names)
    yes = frozenset(name for names in options.yes_to or () for name in names)
    return Request(tuple(options.confidential), dict(options.plain), yes, keys)


def _choices(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if not is_choice(name):
            raise ArgumentTypeError(f"there is no choice {name!r}, use {', '.join(list_choice_names())}")
    return names


def _reason(text: str) -> tuple[str, str]:
    address, _, reason = text.partition("=")
    if "/" not in address or not reason.strip() or not reason.isprintable() or len(reason) > LONGEST_REASON:
        raise ArgumentTypeError(f"write KIND/NAME=REASON, with a reason on one line of {LONGEST_REASON} characters")
    return address, reason.strip()


def _keys(text: str) -> tuple[tuple[str, str], tuple[str, ...]]:
    address, _, listed = text.partition("=")
    kind, _, name = address.partition("/")
    keys = tuple(key for one in listed.split(",") if (key := one.strip()))
    if kind not in ("Secret", "ConfigMap") or not name or not keys or not all(map(_is_key, keys)):
        raise ArgumentTypeError("write Secret/NAME=KEY,KEY or ConfigMap/NAME=KEY,KEY")
    return (kind, name), keys


def _is_key(text: str) -> bool:
    return text.isascii() and all(letter.isalnum() or letter in "-._" for letter in text) and len(text) <= LONGEST_KEY
