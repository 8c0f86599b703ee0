"""`contrast-krm adopt`: lists how a configuration can help the pods of an application, and writes the choices.

Rule of this file: the user names every choice; everything is known before anything is written, and a second run changes
nothing. The output is ordinary configuration.
"""

import os
import re
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import Any

from krm_function.check.adopt import Adoption, Request, adopt, is_choice, list_choice_names, replace_spec
from krm_function.cli.configuration import from_files_and_resources
from krm_function.cli.exits import FINDINGS
from krm_function.cli.inputs import read_inputs
from krm_function.cli.lock_look_up import LookedUp, add_look_up, look_up, look_up_flags
from krm_function.cli.lock_task import LockFile, Task, known_entries, needed, open_lock, wants_sizes, write_lock
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_config, add_findings, add_output_format, add_paths, coloured
from krm_function.cli.streams import write_out
from krm_function.config.collect import Config, collect
from krm_function.config.document import API_VERSION, ConfigDocument
from krm_function.config.edit import KIND, generate_with_spec
from krm_function.config.image_lock import KIND as LOCK
from krm_function.config.image_lock import parse_image_lock
from krm_function.findings import Finding, Ref, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.hosts.write_files import Changed, NewFile, write_files
from krm_function.kubernetes.address import address_of
from krm_function.kubernetes.image import is_pinned
from krm_function.kubernetes.objects import mapping
from krm_function.kubernetes.resource import Resource
from krm_function.lock.resolve import LockLimits
from krm_function.lock.sources import SourceOption
from krm_function.record import NamedTuple
from krm_function.report.adoption import adoption_json, adoption_text, choice_lines
from krm_function.report.findings import ansi, on_one_line, plain

LONGEST_REASON = 300  # characters, as the configuration takes it
KEY = "[-._A-Za-z0-9]{1,253}"
MEMORY = "memory"  # the choice that requires the sizes of all layers
DESCRIPTION = (
    "Finds everything that a render would refuse, offers the settings that allow it, and writes your "
    "choices into the ContrastGenerate of --config. On a terminal it asks; otherwise it takes only the "
    "choices that the options name. Exit code 1 if a render would still refuse a pod."
)


def add_arguments(parser: Parser) -> None:
    """Add inputs, the decisions, the lock, output, findings."""
    add_paths(parser, "PATH")
    add_config(parser)
    parser.add_argument(
        "--yes-to",
        metavar="CHOICE,...",
        type=_parse_choices,
        action="append",
        help="make these choices without asking; the report lists each with its consequence (repeatable)",
    )
    parser.add_argument(
        "--confidential",
        metavar="KIND/NAME",
        action="append",
        default=[],
        help="make this workload confidential although its pods do not ask: an entry of spec.workloads; * in "
        "the name matches any text, all selects every workload (repeatable)",
    )
    parser.add_argument(
        "--plain",
        metavar="KIND/NAME=REASON",
        type=_parse_reason,
        action="append",
        default=[],
        help="declare this workload plain, with the reason (repeatable)",
    )
    parser.add_argument(
        "--keys",
        metavar="KIND/NAME=KEY,...",
        type=_parse_keys,
        action="append",
        default=[],
        help="the keys of a Secret or ConfigMap in the cluster that envFrom reads as a whole (repeatable)",
    )
    parser.add_argument(
        "--volume-owner",
        metavar="IMAGE",
        type=_parse_owner,
        help="the image, with its digest, of an init container that runs as root and gives an encrypted volume to the "
        "fsGroup of its pod; without it, securePV is not offered to pods that could not write to the volume",
    )
    lock = parser.add_mutually_exclusive_group()
    lock.add_argument(
        "--lock", metavar="FILE", default="", help="the lock (default: the one of --config, else images.yaml beside it)"
    )
    lock.add_argument("--no-lock", action="store_true", help="do not look images up, and leave the lock as it is")
    add_look_up(parser)
    parser.add_argument("--dry-run", action="store_true", help="write nothing and do not look images up")
    add_output_format(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Adopt an application; again, if another run has changed the configuration meanwhile. Raises FileProblem."""
    asks = options.yes_to is None and not options.dry_run and "-" not in options.paths and _has_terminal()
    while True:
        try:
            return _run_once(options, asks=asks)
        except Changed:
            if asks or "-" in options.paths:  # the answers were about other content, or the input is gone
                raise


def _run_once(options: Namespace, *, asks: bool) -> int:
    sources, limits, wrong_flags = look_up_flags(options)
    inputs = read_inputs(options.paths)
    config, problems = configured(options.config, inputs.resources, options.config_from)
    findings = [*wrong_flags, *inputs.findings, *problems]
    if config is None or has_errors(findings):
        return print_findings(findings, options.format, options.report)
    seen: set[str] = set()
    request, adoption = _adopt(_make_request(options), config, inputs.resources, seen if asks else None)
    images = None
    while not (adoption.findings or options.no_lock or options.dry_run):
        sized = options.sizes or MEMORY in request.yes
        options_of_lock = Namespace(**{**vars(options), "output": options.lock or config.lock, "sizes": sized})
        images = adopted_images(
            options_of_lock, config, config.replace_spec(adoption.spec), inputs.resources, sources, limits
        )
        if has_errors(images.findings):
            break
        config = config._replace(config=config.config._replace(images=images.config.images))
        request, adoption = _adopt(request, config, inputs.resources, seen if asks else None)
        if sized or MEMORY not in request.yes:
            break  # else the new lock entries caused the choice, which requires all sizes
    findings += adoption.findings
    findings += [finding("CC1341", kind=kind, name=name) for kind, name in adoption.keys]
    if has_errors(findings):
        return print_findings(findings, options.format, options.report)
    images_problems = images.findings if images else ()
    dry = options.dry_run or has_errors(images_problems)
    written, problems = _write_changes(config, adoption, images, dry=dry)
    findings += (*images_problems, *problems)
    if has_errors(problems):
        return print_findings(findings, options.format, options.report)
    _print(options, adoption, written)
    code = print_findings(findings, options.format, options.report)
    return code or (FINDINGS if adoption.refused or adoption.errors else 0)


# --- The configuration that `adopt` changes: the files of the ContrastGenerate and of the lock
#
# Rule: the ContrastGenerate is in a file that the operator has named. A lock goes into the existing lock file, else
# beside the ContrastGenerate.


NEW_LOCK = "images.yaml"


class Configured(NamedTuple):
    """A configuration. generate: its ContrastGenerate, in a file. documents: all documents. old: that file's bytes."""

    config: Config
    generate: ConfigDocument
    documents: tuple[ConfigDocument, ...]
    old: bytes

    @property
    def lock(self) -> str:
        """The file for the lock."""
        return next(
            (document.file for document in self.documents if _is_kind(document, LOCK) and document.file),
            os.path.join(os.path.dirname(self.generate.file), NEW_LOCK),
        )

    def replace_spec(self, spec: dict[str, Any]) -> Config:
        """Return the configuration with this spec of the ContrastGenerate."""
        return replace_spec(self.config, self.generate, spec)

    def changed(self, spec: dict[str, Any]) -> list[NewFile]:
        """Return the file of the ContrastGenerate with this spec; none if equal. Raises YamlError."""
        data = generate_with_spec(self.old, spec)
        return [NewFile(self.generate.file, data, old=self.old)] if data != self.old else []


def configured(
    paths: Sequence[str], resources: Sequence[Resource], variable: str
) -> tuple[Configured | None, tuple[Finding, ...]]:
    """Read the configuration. Parameters as for `from_files_and_resources`."""
    old: dict[str, bytes] = {}

    def read(path: str, root: str = "") -> bytes:
        return old.setdefault(path, read_file(path, root))

    documents, findings = from_files_and_resources(paths, resources, variable, read)
    config, problems = collect(documents)
    findings += problems
    if has_errors(findings) or config is None:
        return None, findings
    generates = [document for document in documents if _is_kind(document, KIND) and document.file]
    files = {os.path.realpath(document.file) for document in generates}
    if len(files) != 1:
        code = "CC0909.generates" if files else "CC0909.no-generate"
        return None, (*findings, finding(code, option="--config"))
    return Configured(config, generates[0], tuple(documents), read(generates[0].file)), findings


def _is_kind(document: ConfigDocument, kind: str) -> bool:
    return bool(mapping(document.value).get("kind") == kind)


# --- The lock of an adoption: the images of all pods that request Contrast, including pods with other errors
#
# Rule: known images are not fetched again, as with `lock`.


class AdoptedImages(NamedTuple):
    """file: where the lock goes. config: the configuration with all known image entries."""

    file: LockFile
    looked_up: LookedUp
    config: Config
    findings: tuple[Finding, ...] = ()


def adopted_images(
    options: Namespace,
    configured: Configured,
    config: Config,
    resources: tuple[Resource, ...],
    sources: list[SourceOption],
    limits: LockLimits,
) -> AdoptedImages:
    """Look up the images that the lock lacks. config: with all choices. Raises FileProblem."""
    file, findings = open_lock(options.output)
    documents = [*configured.documents, *([file.lock] if file.lock else [])]
    entries, problems = known_entries(documents)
    findings += problems
    needs = needed(resources, config, refused_too=True)
    if has_errors(findings) or not needs.images:
        return AdoptedImages(file, LookedUp({}), config, tuple(findings))
    task = Task(needs, entries, file, resources, config.generate.policy.profile, sizes=wants_sizes(options, config))
    looked_up = look_up(options, task, sources, limits)
    if has_errors(looked_up.findings):
        return AdoptedImages(file, looked_up, config, (*findings, *looked_up.findings))
    spec = {"images": {**entries, **looked_up.entries}}
    lock = {"apiVersion": API_VERSION, "kind": LOCK, "metadata": {"name": "images"}, "spec": spec}
    images, lock_problems = parse_image_lock(ConfigDocument(lock))
    config = config._replace(images={**(config.images or {}), **(images or {})})
    return AdoptedImages(file, looked_up, config, (*findings, *looked_up.findings, *lock_problems))


# --- The questions of `adopt` on a terminal: the same decisions as its options, one after the other
#
# Rule: nothing is assumed. After an unclear answer the question is repeated; no answer means no. Questions go to
# standard error, because standard output has the report.


def ask(question: str) -> str:
    """Print a question, and return the line with the answer; "" at the end of standard input."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def ask_workloads(request: Request, plain: tuple[Ref, ...]) -> Request:
    """Ask which pods without a Contrast class should be confidential, and why others are plain."""
    confidential, reasons = list(request.confidential), dict(request.plain)
    for ref in plain:
        name = on_one_line(address_of(ref))
        question = f"{name} does not ask for Contrast: confidential, plain, leave it, or leave all others? [c/p/L/q] "
        answer = _ask_letter(question, "cpql")
        if answer == "q":
            break
        if answer == "c":
            confidential.append(address_of(ref))
        elif answer == "p" and (reason := ask(f"why is {name} plain? ")):
            reasons[address_of(ref)] = reason
    return request._replace(confidential=tuple(confidential), plain=reasons)


def ask_choices(request: Request, adoption: Adoption, seen: set[str]) -> Request:
    """Ask about each choice, and for keys. seen: the questions so far, extended in place."""
    keys = dict(request.keys)
    for kind, name in adoption.keys:
        if f"{kind}/{name}" not in seen:
            seen.add(f"{kind}/{name}")
            answer = ask(f"keys of {kind} {on_one_line(name)}, of which envFrom takes all (KEY,KEY): ")
            if keys_named := tuple(key for word in answer.split(",") if (key := word.strip())):
                keys[kind, name] = keys_named
    yes = set(request.yes)
    for choice in adoption.offered:
        if choice.name not in seen:
            seen.add(choice.name)
            sys.stderr.write("".join(f"{line}\n" for line in choice_lines(choice)))
            if _ask_letter(f"{on_one_line(choice.name)}? [y/N] ", "yn") == "y":
                yes.add(choice.name)
    return request._replace(yes=frozenset(yes), keys=keys)


def _ask_letter(question: str, letters: str) -> str:
    """Return the first letter of an answer; the last of `letters` without an answer."""
    while (letter := ask(question)[:1].lower()) not in letters:
        pass
    return letter or letters[-1]


# --- A call of `adopt`


def _adopt(
    request: Request, config: Configured, resources: tuple[Resource, ...], seen: set[str] | None
) -> tuple[Request, Adoption]:
    """Adopt, and ask the open questions. seen: the questions so far, None to ask nothing."""
    adoption = adopt(resources, config.generate, config.config, request)
    if seen is None or adoption.findings:
        return request, adoption
    if not seen:
        seen.add("")
        asked = ask_workloads(request, adoption.plain)
        if asked != request:
            request, adoption = asked, adopt(resources, config.generate, config.config, asked)
    asked = ask_choices(request, adoption, seen)
    return (asked, adopt(resources, config.generate, config.config, asked)) if asked != request else (request, adoption)


def _write_changes(
    config: Configured, adoption: Adoption, images: AdoptedImages | None, *, dry: bool
) -> tuple[list[str], tuple[Finding, ...]]:
    """Write all changes or none; return a line for each file, and findings. Raises FileProblem."""
    changed = config.changed(adoption.spec)
    would = "would be " if dry else ""
    lines = [f"{file.path}: {would}changed" for file in changed] or [f"{config.generate.file}: nothing to change"]
    if dry:
        return lines, ()
    if images is None or not images.looked_up.entries:
        write_files(changed)
        return lines, ()
    pinned = images.looked_up.pinned
    if os.path.realpath(images.file.path) == os.path.realpath(config.generate.file):
        write_files(changed)  # the lock then goes into this new content
        changed = []
    written = write_lock(images.file, images.looked_up.entries, [*changed, *pinned.files], prune=False)
    count, fetched = images.looked_up.total, images.looked_up.fetched
    lines.append(f"{images.file.path}: {count} image{'' if count == 1 else 's'}, {fetched} of them fetched")
    return [*lines, *pinned.summary.splitlines()], written.findings


def _print(options: Namespace, adoption: Adoption, written: list[str]) -> None:
    if options.output == "json":
        text = adoption_json(adoption, written)
    else:
        text = adoption_text(adoption, written, ansi if coloured(options.color, sys.stdout) else plain)
    write_out(text.encode("utf-8"))


def _has_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()


def _make_request(options: Namespace) -> Request:
    keys: dict[tuple[str, str], tuple[str, ...]] = {}
    for of, names in options.keys:
        keys[of] = (*keys.get(of, ()), *names)
    yes = frozenset(name for names in options.yes_to or () for name in names)
    return Request(tuple(options.confidential), dict(options.plain), yes, keys, options.volume_owner or "")


def _parse_owner(text: str) -> str:
    if not is_pinned(text):
        raise ArgumentTypeError("write an image with its digest: IMAGE@sha256:...")
    return text


def _parse_choices(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if not is_choice(name):
            raise ArgumentTypeError(f"there is no choice {name!r}, use {', '.join(list_choice_names())}")
    return names


def _parse_reason(text: str) -> tuple[str, str]:
    address, _, reason = text.partition("=")
    if "/" not in address or not reason.strip() or not reason.isprintable() or len(reason) > LONGEST_REASON:
        raise ArgumentTypeError(f"write KIND/NAME=REASON, with a reason on one line of {LONGEST_REASON} characters")
    return address, reason.strip()


def _parse_keys(text: str) -> tuple[tuple[str, str], tuple[str, ...]]:
    address, _, listed = text.partition("=")
    kind, _, name = address.partition("/")
    keys = tuple(key for word in listed.split(",") if (key := word.strip()))
    if kind not in ("Secret", "ConfigMap") or not name or not keys or not all(re.fullmatch(KEY, key) for key in keys):
        raise ArgumentTypeError("write Secret/NAME=KEY,KEY or ConfigMap/NAME=KEY,KEY")
    return (kind, name), keys
