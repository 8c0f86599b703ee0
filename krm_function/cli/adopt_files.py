"""The configuration and the lock that `adopt` writes, and its questions on a terminal."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from krm_function.check.adopt import Adoption, Request, replace_spec
from krm_function.cli.configuration import from_files_and_resources
from krm_function.cli.lock_look_up import LookedUp, look_up
from krm_function.cli.lock_task import LockFile, known_entries, needed, open_lock, task_of, wants_sizes
from krm_function.config.collect import Config, collect
from krm_function.config.document import API_VERSION, ConfigDocument
from krm_function.config.edit import KIND, generate_with_spec
from krm_function.config.image_lock import KIND as IMAGE_LOCK
from krm_function.config.image_lock import KIND as LOCK
from krm_function.config.image_lock import parse_image_lock
from krm_function.findings import Finding, Ref, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.hosts.write_files import NewFile
from krm_function.kubernetes.address import address_of
from krm_function.kubernetes.objects import mapping
from krm_function.kubernetes.resource import Resource
from krm_function.lock.resolve import LockLimits
from krm_function.lock.sources import SourceOption
from krm_function.record import NamedTuple
from krm_function.report.adoption import choice_lines
from krm_function.report.findings import on_one_line

# --- The configuration that `adopt` writes into: which file has the ContrastGenerate, and which one the lock
#
# Rule: the ContrastGenerate is in a file that the operator has named. A lock goes where one is already,
# else beside it.


NEW_LOCK = "images.yaml"


class Configured(NamedTuple):
    """A configuration. generate: its ContrastGenerate, in a file. documents: all of it."""

    config: Config
    generate: ConfigDocument
    documents: tuple[ConfigDocument, ...]

    @property
    def lock(self) -> str:
        """The file for the lock."""
        return next(
            (one.file for one in self.documents if _is(one, LOCK) and one.file),
            os.path.join(os.path.dirname(self.generate.file), NEW_LOCK),
        )

    def replace_spec(self, spec: dict[str, Any]) -> Config:
        """Return the configuration with this spec of the ContrastGenerate."""
        return replace_spec(self.config, self.generate, spec)

    def changed(self, spec: dict[str, Any]) -> list[NewFile]:
        """Return the file of the ContrastGenerate with this spec; none if it has it. Raises FileProblem, YamlError."""
        before = read_file(self.generate.file)
        data = generate_with_spec(before, spec)
        return [NewFile(self.generate.file, data)] if data != before else []


def configured(
    paths: Sequence[str], resources: Sequence[Resource], variable: str
) -> tuple[Configured | None, tuple[Finding, ...]]:
    """Read the configuration. Parameters as of `from_files_and_resources`."""
    documents, findings = from_files_and_resources(paths, resources, variable)
    config, problems = collect(documents)
    findings += problems
    if has_errors(findings) or config is None:
        return None, findings
    generates = [one for one in documents if _is(one, KIND) and one.file]
    files = {os.path.realpath(one.file) for one in generates}
    if len(files) != 1:
        code = "CC0909.generates" if files else "CC0909.no-generate"
        return None, (*findings, finding(code, option="--config"))
    return Configured(config, generates[0], tuple(documents)), findings


def _is(document: ConfigDocument, kind: str) -> bool:
    return bool(mapping(document.value).get("kind") == kind)


# --- The lock of an adoption: the images of all pods that ask, also of those that something else is wrong with
#
# Rule: what is known is not fetched again, as with `lock`.


class AdoptedImages(NamedTuple):
    """file: where the lock goes. config: the configuration with what is known of the images now."""

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
    """Look up what the lock lacks. config: with all that was chosen. Raises FileProblem."""
    file, findings = open_lock(options.output)
    documents = [*configured.documents, *([file.lock] if file.lock else [])]
    entries, problems = known_entries(documents)
    findings += problems
    needs = needed(resources, config, refused_too=True)
    if has_errors(findings) or not needs.images:
        return AdoptedImages(file, LookedUp({}), config, tuple(findings))
    task = task_of(
        needs,
        entries,
        file,
        resources,
        config.generate.policy.profile,
        sizes=wants_sizes(options, config),
    )
    found = look_up(options, task, sources, limits)
    if has_errors(found.findings):
        return AdoptedImages(file, found, config, (*findings, *found.findings))
    spec = {"images": {**entries, **found.entries}}
    made = {"apiVersion": API_VERSION, "kind": IMAGE_LOCK, "metadata": {"name": "images"}, "spec": spec}
    images, wrong = parse_image_lock(ConfigDocument(made))
    config = config._replace(images={**(config.images or {}), **(images or {})})
    return AdoptedImages(file, found, config, (*findings, *found.findings, *wrong))


# --- The questions of `adopt` on a terminal: the same decisions as its options, one after the other
#
# Rule: nothing is assumed. An answer that is not understood is asked for again; without one, the answer is
# no. What is asked is printed on standard error, because standard output has the report.


Ask = Callable[[str], str]


def ask(question: str) -> str:
    """Print a question, and return the line that answers it; "" at the end of standard input."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def ask_workloads(request: Request, plain: tuple[Ref, ...], asked: Ask = ask) -> Request:
    """Ask which pods that do not ask for Contrast are to be confidential, and why others are plain."""
    confidential, reasons = list(request.confidential), dict(request.plain)
    for ref in plain:
        name = on_one_line(address_of(ref))
        question = f"{name} does not ask for Contrast: confidential, plain, leave it, or leave all others? [c/p/L/q] "
        answer = _answer(question, "cpql", asked)
        if answer == "q":
            break
        if answer == "c":
            confidential.append(address_of(ref))
        elif answer == "p" and (reason := asked(f"why is {name} plain? ")):
            reasons[address_of(ref)] = reason
    return request._replace(confidential=tuple(confidential), plain=reasons)


def ask_choices(request: Request, adoption: Adoption, known: set[str], asked: Ask = ask) -> Request:
    """Ask for each choice that is offered, and for keys. known: what was asked before; it is added to."""
    keys = dict(request.keys)
    for kind, name in adoption.keys:
        if f"{kind}/{name}" not in known:
            known.add(f"{kind}/{name}")
            answer = asked(f"keys of {kind} {on_one_line(name)}, of which envFrom takes all (KEY,KEY): ")
            if named := tuple(key for one in answer.split(",") if (key := one.strip())):
                keys[kind, name] = named
    yes = set(request.yes)
    for choice in adoption.offered:
        if choice.name not in known:
            known.add(choice.name)
            sys.stderr.write("".join(f"{line}\n" for line in choice_lines(choice)))
            if _answer(f"{on_one_line(choice.name)}? [y/N] ", "yn", asked) == "y":
                yes.add(choice.name)
    return request._replace(yes=frozenset(yes), keys=keys)


def _answer(question: str, letters: str, asked: Ask) -> str:
    """Return the first letter of an answer; the last of `letters` without one."""
    for answer in _answers(question, asked):
        if answer[:1].lower() in letters:
            return answer[:1].lower() or letters[-1]
    return letters[-1]


def _answers(question: str, asked: Ask) -> Iterator[str]:
    while True:
        yield asked(question)
