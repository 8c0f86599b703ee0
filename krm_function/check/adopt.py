"""Adopt an application: find all that a configuration can do for its pods, in one round."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

from krm_function.adapt.gpu_names import gpu_choices
from krm_function.adapt.least_vcpus import vcpu_choices
from krm_function.adapt.moved_annotations import annotation_choices
from krm_function.adapt.pod_memory import memory_choices
from krm_function.check.assess import Judged, judge
from krm_function.config.collect import Config
from krm_function.config.document import ConfigDocument
from krm_function.config.edit import with_spec
from krm_function.config.generate import GENERATE, Generate, naming, parse_generate
from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import Reference, References, namespace_of, references_of
from krm_function.config.release import chosen_profile
from krm_function.contrast.gpus import wants_gpu
from krm_function.contrast.platforms import PLATFORMS
from krm_function.findings import Cause, Finding, Path, Ref, finding
from krm_function.kubernetes.address import address_of, parse_address
from krm_function.kubernetes.objects import dig, fits, hook_of, mapping, maps
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.resource import Resource, with_kinds
from krm_function.kubernetes.workload import Workload
from krm_function.policy.chosen_programs import reads_code_from_variables, steered_by
from krm_function.policy.container_process import must_not_open
from krm_function.policy.open_variables import opened_keys
from krm_function.record import NamedTuple
from krm_function.render.copies import add_copies
from krm_function.render.memory import check_memory
from krm_function.render.read import read, read_values
from krm_function.render.select import select
from krm_function.render.stages import list_passed_gpus
from krm_function.render.volume_rules import explain_refusals, offer_volume_rules
from krm_function.schema.table import read_value

# --- The decisions of the caller: confidential and plain workloads, accepted choices, and keys of objects
#
# Rule: records, and how an address selects workloads.


ALL = "all"
Key = tuple[str, str]  # kind and name of a ConfigMap or Secret
NO_KEYS: Mapping[Key, tuple[str, ...]] = MappingProxyType({})


class Request(NamedTuple):
    """A call. confidential: addresses, whose names may have *, or `all`. plain: address -> reason.

    yes: names of choices. keys: of objects that only the cluster has, for envFrom. owner_image: of the init container
    that gives encrypted volumes to the fsGroup of their pods, "" for that of the configuration.
    """

    confidential: tuple[str, ...] = ()
    plain: Mapping[str, str] = MappingProxyType({})
    yes: frozenset[str] = frozenset()
    keys: Mapping[Key, tuple[str, ...]] = NO_KEYS
    owner_image: str = ""


def selects(text: str, ref: Ref) -> bool:
    """Tell whether an address selects an object."""
    if text == ALL:
        return True
    address = parse_address(text)
    return (
        address is not None
        and address.kind == ref.kind
        and address.namespace in ("", ref.namespace)
        and fits(address.name, ref.name)
    )


def find_unused(texts: Sequence[str], refs: Sequence[Ref]) -> list[str]:
    """Return the addresses that select no object."""
    return [text for text in texts if text != ALL and not any(selects(text, ref) for ref in refs)]


# --- Tell whether a part of `spec` is valid in a ContrastGenerate
#
# Rule: names come from pods whose author may write anything, so a part that a configuration could not hold is not
# proposed.


def is_valid(part: dict[str, Any]) -> bool:
    """Tell whether a part of `spec` has no fault."""
    _, faults = read_value(GENERATE, part)
    return not faults


# --- Propose entries of spec.policy.externalSources for references of the pods to objects that the input does not have
#
# Rule: an entry is as narrow as the references: the object, its keys, and the names of the variables. A reference that
# a policy refuses open gets no entry:
#
#   reference to an object that is not in the input      proposed
#   the configuration opens it already                   no: nothing is missing
#   optional                                             no: without an entry the variable is left out, and that renders
#   of a variable that steers a program (CC0602.steers)  no
#   of one that another text contains (CC0602.expanded)  no
#   all of an object (envFrom), keys not named           no: only the owner of the object can name its keys


class Missing(NamedTuple):
    """A reference that has no value. namespace: of the workload in the input, "" for none."""

    reference: Reference
    namespace: str


class Proposed(NamedTuple):
    """entries: the whole list, including present ones. unknown: objects whose keys the user has to name."""

    entries: tuple[dict[str, Any], ...] = ()
    unknown: tuple[Key, ...] = ()


def propose_sources(
    workloads: Iterable[Workload],
    references: References,
    present: Sequence[dict[str, Any]],
    keys: Mapping[Key, tuple[str, ...]],
    images: Mapping[str, ImageFacts],
) -> Proposed:
    """Propose the list of entries.

    present: those that are written. keys: those that the user named. images: known facts, by reference.
    """
    needed: dict[tuple[str, str, str], tuple[set[str], set[str]]] = {}
    unknown: dict[Key, None] = {}
    for missing in chain.from_iterable(_find_missing(workload, references, images) for workload in workloads):
        reference = missing.reference
        keys_of_reference = (reference.key,) if reference.key else keys.get((reference.kind, reference.name), ())
        if not keys_of_reference:
            unknown[reference.kind, reference.name] = None
        variables = [reference.variable or reference.prefix + key for key in keys_of_reference]
        if not keys_of_reference or any(map(steered_by, variables)):
            continue
        parts = needed.setdefault((reference.kind, reference.name, missing.namespace), (set(), set()))
        parts[0].update(keys_of_reference)
        parts[1].update(variables)
    entries = list(map(dict, present))
    for (kind, name, namespace), (of_keys, of_variables) in needed.items():
        ref = {"kind": kind, "name": name, "namespace": namespace}
        index, entry = _make_entry(entries, ref, sorted(of_keys), sorted(of_variables))
        if is_valid({"policy": {"externalSources": [entry]}}):  # else no cluster has an object or a key of this name
            entries[index : index + 1] = [entry]
    return Proposed(tuple(entries), tuple(unknown))


def _find_missing(workload: Workload, references: References, images: Mapping[str, ImageFacts]) -> Iterator[Missing]:
    namespace = namespace_of(workload)
    for container in workload.all_containers:
        facts = images.get(str(container.container.get("image")))
        named_only = reads_code_from_variables(container.container, facts.config if facts else {})
        optional = set(_find_optional(container.container))
        for reference in references_of(container.container):
            variable = reference.variable or reference.prefix
            kind, name, key = reference.kind, reference.name, reference.key
            if (kind, name, key, variable) in optional or references.known(kind, namespace, name):
                continue
            opened = opened_keys(references, namespace, kind, name, key, variable, named_only=named_only)
            refused = must_not_open(reference.variable, container.container)
            if refused is None and (opened is None or isinstance(opened, Cause)):
                yield Missing(reference, workload.ref.namespace)


def _find_optional(container: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, name, key and variable of the references of `env` that are optional."""
    for entry in maps(container.get("env")):
        source = mapping(entry.get("valueFrom"))
        for field, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
            selector = mapping(source.get(field))
            if selector.get("optional"):
                yield kind, str(selector.get("name", "")), str(selector.get("key", "")), str(entry.get("name", ""))
    for entry in maps(container.get("envFrom")):
        for field, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            selector = mapping(entry.get(field))
            if selector.get("optional"):
                yield kind, str(selector.get("name", "")), "", str(entry.get("prefix") or "")


def _make_entry(
    entries: Sequence[dict[str, Any]], ref: dict[str, str], keys: list[str], variables: list[str]
) -> tuple[int, dict[str, Any]]:
    """Return the entry for an object, and its position: that of one with names, which it extends, or the end."""
    for index, entry in enumerate(entries):
        if entry.get("name") == ref["name"] and entry.get("variables") and _is_for(entry, ref):
            extended = {"keys": _unite(entry["keys"], keys)} if entry.get("keys") else {}
            return index, {**entry, **extended, "variables": _unite(entry["variables"], variables)}
    new = {key: value for key, value in ref.items() if value} | {"keys": keys, "variables": variables}
    return len(entries), new


def _is_for(entry: dict[str, Any], ref: dict[str, str]) -> bool:
    return entry.get("kind") == ref["kind"] and (entry.get("namespace") or ref["namespace"]) == ref["namespace"]


def _unite(old: list[str], new: list[str]) -> list[str]:
    return [*old, *(item for item in new if item not in old)]


# --- The choices of a configuration for the pods that a render refuses, each with its consequence
#
# Rule: a choice is one name, one part of `spec` and one sentence about the consequence. The caller decides whether to
# accept it. Each rule itself tells its changes.


SOURCES = "externalSources"
SOURCES_OPEN = "the host can read each of these variables, and give it any value; the policy fixes their names alone"


# The part of spec for a value of a rule. A rule with a list has one value for each of its entries.
PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "moveAnnotations": lambda value: {"objectAnnotations": value},
    "renameGPUs": lambda value: {"gpus": {"rename": value}},
    "leastVCPUs": lambda value: {"vcpus": {"minimum": value}},
    "splitSubPaths": lambda value: {"volumes": {"splitSubPaths": value}},
    "securePV": lambda value: {"volumes": {"securePV": value}},
    "imageVolumes": lambda value: {"volumes": {"imageVolumes": value}},
    "memory": lambda value: {"memory": value},
    "hostPathCaches": lambda value: {"volumes": {"hostPathCaches": {"paths": [value]}}},
}
# Rules whose values are chosen one by one, with a placeholder for the value: a directory of a node need not be a cache.
APART = {"hostPathCaches": "PATH"}


class Choice(NamedTuple):
    """spec: its part of the ContrastGenerate. workloads: those that it helps. consequences: a sentence each."""

    name: str
    spec: Mapping[str, Any]
    consequences: tuple[str, ...]
    workloads: tuple[Ref, ...]

    def join(self, later: "Choice") -> "Choice":
        """Return the choice of two rounds."""
        workloads = dict.fromkeys((*self.workloads, *later.workloads))
        consequences = dict.fromkeys((*self.consequences, *later.consequences))
        return Choice(self.name, merge_spec(self.spec, later.spec), tuple(consequences), tuple(workloads))


def list_choice_names() -> tuple[str, ...]:
    """Return the name of every choice; with a placeholder for the value if values are accepted one by one."""
    return (SOURCES, *(f"{name}={APART[name]}" if name in APART else name for name in PLACES))


def is_choice(text: str) -> bool:
    """Tell whether a text names a choice."""
    name, equals, value = text.partition("=")
    if name in APART:
        return bool(value)
    return not equals and name in (SOURCES, *PLACES)


Offer = tuple[Ref, str, Any, str]  # workload, rule, value, consequence: "" if the workload forbids it


def find_choices(
    judged: Judged, offers: Sequence[Offer], config: Config, spec: Mapping[str, Any], request: Request
) -> list[Choice]:
    """Return the choices that would have an effect. spec: of the ContrastGenerate as written."""
    offered: dict[str, Choice] = {}
    refused = [(rule, value) for _, rule, value, consequence in offers if not consequence]
    for ref, rule, value, consequence in offers:
        part = PLACES[rule](value)
        if (rule, value) not in refused and merge_spec(spec, part) != spec and is_valid(part):
            name = f"{rule}={value}" if rule in APART else rule
            choice = Choice(name, part, (consequence,), (ref,))
            offered[name] = offered[name].join(choice) if name in offered else choice
    return [*_find_sources(judged, config, spec, request), *offered.values()]


def _ask_rules(judged: Judged, locked: Config) -> Iterator[Offer]:
    """Yield the offers of the rules for each workload. locked: with the images of `judged`."""
    passed = list_passed_gpus(locked)
    for workload in judged.originals:
        for choice in (
            *annotation_choices(workload),
            *gpu_choices(workload, passed),
            *vcpu_choices(workload),
            *offer_volume_rules(workload, locked, judged.read),
        ):
            yield workload.ref, choice.rule, choice.value, choice.consequence
    for workload in judged.workloads:
        memory = workload.memory
        for choice in memory_choices(workload, memory, check_memory(workload, memory)) if memory else ():
            yield workload.ref, choice.rule, choice.value, choice.consequence


def merge_spec(spec: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a part into a spec: maps are joined, lists keep their items, any other present value stays.

    The list of external sources in the part includes the present ones.
    """
    out = dict(spec)
    for key, value in part.items():
        present = out.get(key)
        if isinstance(value, Mapping) and isinstance(present, dict | None):
            out[key] = merge_spec(mapping(present), value)
        elif key == SOURCES or present is None:
            out[key] = value
        elif isinstance(value, list) and isinstance(present, list):
            out[key] = [*present, *(item for item in value if item not in present)]
    return out


def index_references(judged: Judged, config: Config) -> References:
    """Index the ConfigMaps and Secrets of the input, with what the configuration opens."""
    objects = read(judged.read, ("ConfigMap", "Secret")).resources
    values = list(read_values(resource for resource in objects if resource.state != "added"))
    return References(values, config.generate.policy.external_sources)


def _find_sources(judged: Judged, config: Config, spec: Mapping[str, Any], request: Request) -> Iterator[Choice]:
    if not may_open(config):
        return
    index = index_references(judged, config)
    present = maps(dig(spec, ("policy", SOURCES)))
    workloads = judged.workloads

    def propose(pods: Sequence[Workload]) -> list[dict[str, Any]]:
        return list(propose_sources(pods, index, present, request.keys, judged.images).entries)

    refs = [workload.ref for workload in workloads if propose([workload]) != present]
    if refs:
        yield Choice(SOURCES, {"policy": {SOURCES: propose(workloads)}}, (SOURCES_OPEN,), tuple(dict.fromkeys(refs)))


def may_open(config: Config) -> bool:
    """Tell whether this configuration could have open variables at all."""
    policy = config.generate.policy
    profile, _ = chosen_profile(policy.profile, config.release, config.generate.name)
    return policy.engine == "native" and not policy.rules and profile is not None and not profile.narrowed


def find_unknown_keys(judged: Judged, config: Config, request: Request) -> tuple[tuple[str, str], ...]:
    """Return the objects of envFrom whose keys the user has to name."""
    if not may_open(config):
        return ()
    return propose_sources(judged.workloads, index_references(judged, config), (), request.keys, judged.images).unknown


# --- Propose entries of spec.workloads for the pods that do not ask for Contrast
#
# Rule: an entry names one object, by its kind, its name and, if it has one, its namespace. An object that asks by
# itself, that an entry names already, or that a controller made of another object gets none.


GPU = "-gpu"


def find_plain_workloads(resources: Sequence[Resource], generate: Generate) -> list[Workload]:
    """Return the pod templates that are neither confidential nor named in the configuration."""
    parsed, _ = read(add_copies(with_kinds(resources, generate.kinds)), keep_plain=True)
    return [workload for resource in parsed for workload in _select_plain(resource, generate)]


def _select_plain(resource: Resource, generate: Generate) -> Iterator[Workload]:
    if resource.document is None or resource.state == "added":
        return
    for workload in select(resource.value, resource).skipped:
        if not workload.object or workload.owned or workload.runtime_class or workload.root in resource.copies:
            continue
        if not naming(generate.workloads, workload.ref, generate.namespace):
            yield workload


def propose_entries(plain: Sequence[Workload], request: Request, platform: str) -> list[dict[str, Any]]:
    """Return the entries that a request asks for. platform: of the bare placeholder, "" for none."""
    entries: dict[Ref, dict[str, Any]] = {}
    for workload in plain:
        whole = workload.ref._replace(part="")  # an entry names all templates of an object
        entry: dict[str, Any] = {"kind": workload.ref.kind, "name": workload.ref.name}
        entry |= {"namespace": workload.ref.namespace} if workload.ref.namespace else {}
        entry |= {"optional": True} if hook_of(workload.object) else {}
        reason = next((reason for text, reason in request.plain.items() if selects(text, workload.ref)), "")
        if reason:
            entries[whole] = {**entry, "plain": reason}
        elif any(selects(text, workload.ref) for text in request.confidential):
            with_gpu = wants_gpu(workload.pod_spec) and f"{platform}{GPU}" in PLATFORMS
            if with_gpu or "platform" not in entries.get(whole, {}):
                entries[whole] = {**entry, **({"platform": f"{platform}{GPU}"} if with_gpu else {})}
    return [entry for entry in entries.values() if is_valid({"workloads": [entry]})]


# --- Adopt: the needs of an application's pods, the accepted choices, and the remaining errors
#
# Rule: the trial uses the configuration that would be written, as data. No file is opened.


ROUNDS = 3  # a choice may show the need for another


class AdoptedPod(NamedTuple):
    """A confidential pod template. place: path of its pod spec in the object. before, after: its errors."""

    ref: Ref
    place: Path
    before: tuple[Finding, ...]
    after: tuple[Finding, ...]


class Adoption(NamedTuple):
    """The spec to write, and the remaining problems.

    spec: of the ContrastGenerate. offered: choices that the user has not accepted; accepted: those in `spec` now.
    selected: new entries of spec.workloads. plain: workloads that are neither confidential nor named. keys: objects
    whose keys only their owner can name. errors: about the input as a whole. findings: of the request, and of an
    input that cannot be judged; with one, there is nothing to write.
    """

    spec: dict[str, Any]
    pods: tuple[AdoptedPod, ...] = ()
    offered: tuple[Choice, ...] = ()
    accepted: tuple[Choice, ...] = ()
    selected: tuple[dict[str, Any], ...] = ()
    plain: tuple[Ref, ...] = ()
    keys: tuple[Key, ...] = ()
    errors: tuple[Finding, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def refused(self) -> tuple[AdoptedPod, ...]:
        """The pods that a render with this configuration refuses."""
        return tuple(pod for pod in self.pods if pod.after)


def adopt(resources: Sequence[Resource], document: ConfigDocument, config: Config, request: Request) -> Adoption:
    """Find the needs of the pods. document: the ContrastGenerate; config: the configuration that it is part of."""
    spec = mapping(mapping(document.value).get("spec"))
    plain = find_plain_workloads(resources, config.generate)
    refs = [workload.ref for workload in plain]
    problems = _check_addresses(request, refs)
    entries = propose_entries(plain, request, config.generate.platform)
    selected = _add_entries(spec, entries)
    first = trial = _try(resources, document, config, request, selected)
    accepted, offered = list[Choice](), list[Choice]()
    new = selected
    for _ in range(ROUNDS):
        available = find_choices(trial.judged, trial.offers, trial.config, new, request)
        offered = [choice for choice in available if choice.name not in request.yes]
        chosen = [choice for choice in available if choice.name in request.yes]
        if not chosen:
            break
        accepted += chosen
        for choice in chosen:
            new = merge_spec(new, choice.spec)
        trial = _try(resources, document, config, request, new)
    stopped, findings = trial.judged.stopped, trial.judged.findings
    errors = tuple(problem for problem in findings if problem.severity == "error")
    chosen_names = {(entry["kind"], entry["name"], entry.get("namespace", "")) for entry in entries}
    return Adoption(
        new,
        tuple(_list_pods(first.judged, trial)),
        tuple(offered),
        tuple(_join_by_name(accepted)),
        tuple(entries),
        tuple(dict.fromkeys(ref for ref in refs if (ref.kind, ref.name, ref.namespace) not in chosen_names)),
        find_unknown_keys(trial.judged, trial.config, request),
        () if stopped else errors,
        (*problems, *errors) if stopped else tuple(problems),
    )


def _check_addresses(request: Request, refs: Sequence[Ref]) -> list[Finding]:
    candidates = ", ".join(sorted({address_of(ref) for ref in refs})) or "none"
    options = {"--confidential": request.confidential, "--plain": tuple(request.plain)}
    return [
        finding("CC0909.selects-none", option=option, address=text, known=candidates)
        for option, texts in options.items()
        for text in find_unused(texts, refs)
    ]


def replace_spec(config: Config, document: ConfigDocument, spec: dict[str, Any]) -> Config:
    """Return a configuration with another spec of its ContrastGenerate. Raises ValueError for an invalid one."""
    value = with_spec(document.value, spec)
    generate, problems = parse_generate(document._replace(value=value, locate=None))
    if generate is None:
        raise ValueError(problems[0].message)
    return config._replace(generate=generate)


class _Trial(NamedTuple):
    """The input under a spec. locked: its configuration with known or assumed images and the owner image of the call.

    offers: of the rules.
    """

    config: Config
    judged: Judged
    locked: Config
    offers: tuple[Offer, ...]


def _try(
    resources: Sequence[Resource], document: ConfigDocument, config: Config, request: Request, spec: dict[str, Any]
) -> _Trial:
    config = replace_spec(config, document, spec)
    judged, volumes = judge(resources, config), config.generate.volumes
    volumes = volumes._replace(owner_image=request.owner_image or volumes.owner_image)
    locked = config._replace(generate=config.generate._replace(volumes=volumes), images=judged.images)
    return _Trial(config, judged, locked, tuple(_ask_rules(judged, locked)))


def _add_entries(spec: dict[str, Any], entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    if not entries:
        return spec
    present = spec.get("workloads")
    old = present if isinstance(present, list) else [] if present is None else [present]
    return {**spec, "workloads": [*old, *entries]}


def _join_by_name(accepted: Sequence[Choice]) -> list[Choice]:
    by_name: dict[str, Choice] = {}
    for choice in accepted:
        by_name[choice.name] = by_name[choice.name].join(choice) if choice.name in by_name else choice
    return list(by_name.values())


def _list_pods(first: Judged, trial: _Trial) -> list[AdoptedPod]:
    """Return all pods with their errors, and why no rule helps."""
    current = trial.judged
    originals = {(*pod.place, pod.template): pod for pod in current.originals}
    forbidden = {value["claims"][0]: ref for ref, _, value, consequence in trial.offers if not consequence}
    pods = []
    for workload in current.workloads:
        pod = (*workload.place, workload.template)
        errors = current.errors[pod]
        if errors and not type_findings(originals[pod]):
            errors = explain_refusals(originals[pod], errors, trial.locked, current.read, forbidden)
        pods.append(AdoptedPod(workload.ref, (*workload.template, "spec"), first.errors.get(pod, ()), errors))
    return pods
