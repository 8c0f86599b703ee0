"""Adopt: what the pods of an application need of the configuration, what of it was chosen, and what is left.

Rule of this file: the configuration that is tried is the one that would be written, as data. No file is opened.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.adoption.choices import SOURCES, Choice, choices, merged, opened_wholly, unknown_keys
from krm_function.adoption.decisions import Key, Request, unused
from krm_function.adoption.selection import plain_workloads, proposed_entries
from krm_function.api.contrast_generate import parse_generate
from krm_function.api.document import ConfigDocument
from krm_function.api.records import Config
from krm_function.assessment.refusals import Judged, judged
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.address import address_of
from krm_function.model.lookup import mapping
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.wiring.generate_spec import with_spec

ROUNDS = 3  # a choice may show what the next one is for
REFUSED_OPEN = ("CC0670", "CC0671")
NOT_IN_INPUT = ("CC0602", "CC0672")


class AdoptedPod(NamedTuple):
    """A confidential pod template. place: path of its pod spec in the object. before, after: its errors."""

    ref: Ref
    place: Path
    before: tuple[Finding, ...]
    after: tuple[Finding, ...]


class Adoption(NamedTuple):
    """What there is to write, and what is left.

    spec: of the ContrastGenerate. offered: choices that nobody has taken; taken: those in `spec` now. selected:
    entries of spec.workloads that are new. plain: workloads that are neither confidential nor named. keys: objects of
    which only who has them knows the keys. left: errors about the input as a whole. findings: those of the request,
    and of an input that cannot be judged; with one, there is nothing to write.
    """

    spec: dict[str, Any]
    pods: tuple[AdoptedPod, ...] = ()
    offered: tuple[Choice, ...] = ()
    taken: tuple[Choice, ...] = ()
    selected: tuple[dict[str, Any], ...] = ()
    plain: tuple[Ref, ...] = ()
    keys: tuple[Key, ...] = ()
    left: tuple[Finding, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def refused(self) -> tuple[AdoptedPod, ...]:
        """The pods that a render with this configuration refuses."""
        return tuple(pod for pod in self.pods if pod.after)


def adopt(resources: Sequence[Resource], document: ConfigDocument, config: Config, request: Request) -> Adoption:
    """Find what the pods need. document: the ContrastGenerate; config: the configuration that it belongs to."""
    spec = mapping(mapping(document.value).get("spec"))
    plain = plain_workloads(resources, config.generate)
    refs = [one.ref for one in plain]
    wrong = _unused(request, refs)
    entries = proposed_entries(plain, request, config.generate.platform)
    selected = _with_entries(spec, entries)
    trial = _Trial(resources, document, config)
    before = trial(selected)
    now, taken, offered = before, list[Choice](), list[Choice]()
    new = selected
    for _ in range(ROUNDS):
        found = choices(now, trial.config(new), new, request)
        offered = [one for one in found if one.name not in request.yes]
        chosen = [one for one in found if one.name in request.yes]
        if not chosen:
            break
        taken += chosen
        for one in chosen:
            new = merged(new, one.spec)
        now = trial(new)
    why = _refused_open(trial, now, new, request) if SOURCES in request.yes else {}
    errors = tuple(found for found in now.findings if found.severity == "error")
    named = {(entry["kind"], entry["name"], entry.get("namespace", "")) for entry in entries}
    return Adoption(
        new,
        tuple(_pods(before, now, why)),
        tuple(offered),
        tuple(_joined(taken)),
        tuple(entries),
        tuple(dict.fromkeys(ref for ref in refs if (ref.kind, ref.name, ref.namespace) not in named)),
        unknown_keys(now, trial.config(new), request),
        () if now.stopped else errors,
        (*wrong, *errors) if now.stopped else tuple(wrong),
    )


def _unused(request: Request, refs: Sequence[Ref]) -> list[Finding]:
    """Return what is wrong with the addresses of a request."""
    known = ", ".join(sorted({address_of(ref) for ref in refs})) or "none"
    options = {"--confidential": request.confidential, "--plain": tuple(request.plain)}
    return [
        finding("CC0909.selects-none", option=option, address=text, known=known)
        for option, texts in options.items()
        for text in unused(texts, refs)
    ]


def config_with(config: Config, document: ConfigDocument, spec: dict[str, Any]) -> Config:
    """Return a configuration with another spec of its ContrastGenerate. Raises ValueError for one that is wrong."""
    value = with_spec(document.value, spec)
    generate, problems = parse_generate(document._replace(value=value, locate=None))
    if generate is None:
        raise ValueError(problems[0].message)
    return config._replace(generate=generate)


class _Trial:
    """Judges the input under a spec of the ContrastGenerate."""

    def __init__(self, resources: Sequence[Resource], document: ConfigDocument, config: Config) -> None:
        self._resources = resources
        self._document = document
        self._config = config

    def config(self, spec: dict[str, Any]) -> Config:
        """Return the configuration with this spec."""
        return config_with(self._config, self._document, spec)

    def __call__(self, spec: dict[str, Any]) -> Judged:
        return judged(self._resources, self.config(spec))


def _with_entries(spec: dict[str, Any], entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the spec with more entries of `workloads`."""
    if not entries:
        return spec
    present = spec.get("workloads")
    before = present if isinstance(present, list) else [] if present is None else [present]
    return {**spec, "workloads": [*before, *entries]}


def _joined(taken: Sequence[Choice]) -> list[Choice]:
    """Return one choice of each name, as the last round has it, for the workloads of all rounds."""
    by_name: dict[str, Choice] = {}
    for one in taken:
        earlier = by_name.get(one.name)
        by_name[one.name] = earlier.joined(one) if earlier else one
    return list(by_name.values())


def _refused_open(trial: _Trial, now: Judged, spec: dict[str, Any], request: Request) -> Mapping[Any, tuple[Any, ...]]:
    """Return, by pod, why some of its references stay closed: what a policy says if they are opened."""
    config = trial.config(spec)
    entries = opened_wholly(now, config, spec, request)
    if not entries:
        return {}
    tried = trial(merged(spec, {"policy": {SOURCES: entries}}))
    return {
        pod: tuple(found for found in errors if found.code in REFUSED_OPEN)
        for pod, errors in tried.errors.items()
        if any(found.code in REFUSED_OPEN for found in errors)
    }


def _pods(before: Judged, now: Judged, why: Mapping[Any, tuple[Finding, ...]]) -> list[AdoptedPod]:
    """Return all pods with their errors. why: as `_refused_open` says; it stands in the place of "not in the input"."""
    pods = []
    for one in now.workloads:
        pod = (*one.workload.place, one.workload.template)
        after = now.errors[pod]
        if why.get(pod):
            paths = {found.path for found in why[pod]}
            kept = [found for found in after if found.code not in NOT_IN_INPUT]
            after = (*kept, *(found for found in why[pod] if found.path in paths))
        place = (*one.workload.template, "spec")
        pods.append(AdoptedPod(one.workload.ref, place, before.errors.get(pod, ()), after))
    return pods
