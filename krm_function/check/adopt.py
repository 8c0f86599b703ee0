"""Adopt an application: all that a configuration can do for its pods, in one round."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from krm_function.adapt.gpu_names import gpu_choices
from krm_function.adapt.least_vcpus import vcpu_choices
from krm_function.adapt.moved_annotations import annotation_choices
from krm_function.check.assess import Judged, judged
from krm_function.config.collect import Config
from krm_function.config.document import ConfigDocument
from krm_function.config.edit import with_spec
from krm_function.config.generate import GENERATE, Generate, naming, parse_generate
from krm_function.config.references import References
from krm_function.config.release import chosen_profile
from krm_function.contrast.gpus import wants_gpu
from krm_function.contrast.platforms import PLATFORMS
from krm_function.findings import Cause, Finding, Path, Ref, finding
from krm_function.kubernetes.address import address_of, parse_address
from krm_function.kubernetes.lookup import dig, fits, mapping, maps
from krm_function.kubernetes.resource import Resource, with_kinds
from krm_function.kubernetes.workload import Workload
from krm_function.policy.chosen_programs import steered_by
from krm_function.policy.expansion import expand
from krm_function.policy.open_variables import Reference, namespace_of, opened_keys, references_of
from krm_function.record import NamedTuple
from krm_function.render.copies import add_copies
from krm_function.render.memory import offer_memory_rule
from krm_function.render.read import read, read_values
from krm_function.render.select import select
from krm_function.render.stages import list_passed_gpus
from krm_function.render.volume_rules import offer_volume_rules
from krm_function.schema.table import read_value

# --- What who calls has decided: which workloads are confidential or plain, which choices are taken, which keys are
# meant
#
# Rule: records, and how an address selects workloads.


ALL = "all"
Key = tuple[str, str]  # kind and name of a ConfigMap or Secret
NO_KEYS: Mapping[Key, tuple[str, ...]] = MappingProxyType({})


class Request(NamedTuple):
    """One call. confidential: addresses, whose names may have *, or `all`. plain: address -> reason.

    yes: names of choices. keys: of objects that only the cluster has, for envFrom.
    """

    confidential: tuple[str, ...] = ()
    plain: Mapping[str, str] = MappingProxyType({})
    yes: frozenset[str] = frozenset()
    keys: Mapping[Key, tuple[str, ...]] = NO_KEYS


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


def unused(texts: Sequence[str], refs: Sequence[Ref]) -> list[str]:
    """Return the addresses that select none of some objects."""
    return [text for text in texts if text != ALL and not any(selects(text, ref) for ref in refs)]


# --- Tell whether a part of `spec` may stand in a ContrastGenerate
#
# Rule: names come from pods whose author may write anything, so what a configuration could not hold is not
# proposed.


def is_valid(part: dict[str, Any]) -> bool:
    """Tell whether a part of `spec` has no fault."""
    _, faults = read_value(GENERATE, part)
    return not faults


# --- Propose entries of spec.policy.externalSources for what the pods refer to and the input does not have
#
# Rule: an entry is as narrow as the references: the object, its keys, and the names of the variables. What
# an entry would not help is left out, because a policy refuses it open:
#
#   reference to an object that is not in the input      proposed
#   the configuration opens it already                   no: nothing is missing
#   optional                                             no: without an entry the variable is left out, and that renders
#   of a variable that steers a program (CC0670)         no
#   of a variable that another field expands (CC0671)    no
#   all of an object (envFrom), keys not named           no: only who has the object knows its keys


class Missing(NamedTuple):
    """A reference that has no value. namespace: that of the workload in the input, "" for none."""

    reference: Reference
    namespace: str


class Proposed(NamedTuple):
    """entries: the whole list, with what is there already. unknown: objects whose keys somebody has to name."""

    entries: tuple[dict[str, Any], ...] = ()
    unknown: tuple[Key, ...] = ()


def proposed_sources(
    workloads: Iterable[Workload],
    references: References,
    present: Sequence[dict[str, Any]],
    keys: Mapping[Key, tuple[str, ...]],
    *,
    refused_too: bool = False,
) -> Proposed:
    """Propose the list of entries.

    present: the entries as they are written. keys: those that were named. refused_too: also what a policy refuses open,
    so that a trial says why.
    """
    wanted: dict[tuple[str, str, str], tuple[set[str], set[str]]] = {}
    unknown: dict[Key, None] = {}
    for one in (each for workload in workloads for each in _missing(workload, references, refused_too)):
        reference = one.reference
        named = (reference.key,) if reference.key else keys.get((reference.kind, reference.name), ())
        if not named:
            unknown[reference.kind, reference.name] = None
        variables = [reference.variable or reference.prefix + key for key in named]
        if not named or (any(map(steered_by, variables)) and not refused_too):
            continue
        found = wanted.setdefault((reference.kind, reference.name, one.namespace), (set(), set()))
        found[0].update(named)
        found[1].update(variables)
    entries = [dict(one) for one in present]
    for (kind, name, namespace), (of_keys, of_variables) in wanted.items():
        before = list(entries)
        _add(entries, {"kind": kind, "name": name, "namespace": namespace}, sorted(of_keys), sorted(of_variables))
        if not is_valid({"policy": {"externalSources": entries}}):
            entries = before  # no cluster has an object or a key of this name
    return Proposed(tuple(entries), tuple(unknown))


def _missing(workload: Workload, references: References, refused_too: bool) -> Iterator[Missing]:
    namespace = namespace_of(workload)
    for each in workload.all_containers:
        optional = set(_optional(each.container))
        for one in references_of(each.container):
            name = one.variable or one.prefix
            if (one.kind, one.name, one.key, name) in optional or references.known(one.kind, namespace, one.name):
                continue
            opened = opened_keys(references, namespace, one.kind, one.name, one.key, name)
            if (opened is None or isinstance(opened, Cause)) and (
                refused_too or not _is_expanded(one.variable, each.container)
            ):
                yield Missing(one, workload.ref.namespace)


def _optional(container: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
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


def _is_expanded(variable: str, container: dict[str, Any]) -> bool:
    """Tell whether a command, an argument or another variable expands a variable."""
    texts = [*(container.get("command") or ()), *(container.get("args") or ())]
    texts += [entry.get("value") for entry in maps(container.get("env"))]
    return any(isinstance(text, str) and expand(text, {variable: "\0"}) != expand(text, {}) for text in texts)


def _add(entries: list[dict[str, Any]], of: dict[str, str], keys: list[str], variables: list[str]) -> None:
    """Add what an object needs to the entry of its name, or as an entry of its own."""
    for index, entry in enumerate(entries):
        if entry.get("name") == of["name"] and _is_about(entry, of):
            entries[index] = {
                **entry,
                **({"keys": _union(entry["keys"], keys)} if entry.get("keys") else {}),
                **({"variables": _union(entry["variables"], variables)} if entry.get("variables") else {}),
            }
            return
    entries.append({key: value for key, value in of.items() if value} | {"keys": keys, "variables": variables})


def _is_about(entry: dict[str, Any], of: dict[str, str]) -> bool:
    return entry.get("kind") == of["kind"] and (entry.get("namespace") or of["namespace"]) == of["namespace"]


def _union(old: list[str], new: list[str]) -> list[str]:
    return [*old, *(one for one in new if one not in old)]


# --- What a configuration can do for the pods that a render refuses: the choices, each with its consequence
#
# Rule: a choice is one name, one part of `spec` and one sentence about what follows. Whether it is taken
# is not decided here. What a rule would change is asked of the rule itself.


SOURCES = "externalSources"
SOURCES_OPEN = "the host can read each of these variables, and give it any value; the policy fixes their names alone"


# What stands in spec for a value of a rule. A rule with a list has one value for each of its entries.
PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "moveAnnotations": lambda value: {"objectAnnotations": value},
    "renameGPUs": lambda value: {"gpus": {"rename": value}},
    "leastVCPUs": lambda value: {"vcpus": {"minimum": value}},
    "splitSubPaths": lambda value: {"volumes": {"splitSubPaths": value}},
    "securePV": lambda value: {"volumes": {"securePV": {"claims": [value]}}},
    "imageVolumes": lambda value: {"volumes": {"imageVolumes": value}},
    "memory": lambda value: {"memory": value},
    "hostPathCaches": lambda value: {"volumes": {"hostPathCaches": {"paths": [value]}}},
}
# Rules whose values are chosen one by one, with what stands for a value: what is on a node may be no cache.
APART = {"hostPathCaches": "PATH"}


class Choice(NamedTuple):
    """spec: what stands in the ContrastGenerate with it. workloads: whom it is for. consequences: a sentence each."""

    name: str
    spec: Mapping[str, Any]
    consequences: tuple[str, ...]
    workloads: tuple[Ref, ...]

    def joined(self, later: "Choice") -> "Choice":
        """Return the choice of two rounds."""
        workloads = dict.fromkeys((*self.workloads, *later.workloads))
        said = dict.fromkeys((*self.consequences, *later.consequences))
        return Choice(self.name, merged(self.spec, later.spec), tuple(said), tuple(workloads))


def choice_names() -> tuple[str, ...]:
    """Return the name of every choice that there is; of one that is taken value by value, with what stands for it."""
    return (SOURCES, *(f"{name}={APART[name]}" if name in APART else name for name in PLACES))


def is_choice(text: str) -> bool:
    """Tell whether a text names a choice."""
    name, equals, value = text.partition("=")
    if name in APART:
        return bool(value)
    return not equals and name in (SOURCES, *PLACES)


def choices(judged: Judged, config: Config, spec: Mapping[str, Any], request: Request) -> list[Choice]:
    """Return the choices that would change something. spec: of the ContrastGenerate as it is written."""
    offered: dict[str, Choice] = {}
    for ref, rule, value, consequence in _by_rules(judged, config):
        part = PLACES[rule](value)
        if merged(spec, part) != spec and is_valid(part):
            name = f"{rule}={value}" if rule in APART else rule
            choice = Choice(name, part, (consequence,), (ref,))
            offered[name] = offered[name].joined(choice) if name in offered else choice
    return [*_sources(judged, config, spec, request), *offered.values()]


def _by_rules(judged: Judged, config: Config) -> Iterator[tuple[Ref, str, Any, str]]:
    """Yield what the rules of the configuration would do for each workload: rule, value, consequence."""
    known, passed = config._replace(images=judged.images), list_passed_gpus(config)
    for workload in judged.given:
        for one in (
            *annotation_choices(workload),
            *gpu_choices(workload, passed),
            *vcpu_choices(workload),
            *offer_volume_rules(workload, known, judged.read),
        ):
            yield workload.ref, one.rule, one.value, one.consequence
    for workload in judged.workloads:
        for choice in offer_memory_rule(workload, workload.memory) if workload.memory else ():
            yield workload.ref, choice.rule, choice.value, choice.consequence


def merged(spec: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec with more in it: maps are joined, lists keep what they have, any other value that is set stays.

    The list of external sources that is added holds what was there.
    """
    out = dict(spec)
    for key, value in more.items():
        present = out.get(key)
        if isinstance(value, Mapping) and isinstance(present, dict | None):
            out[key] = merged(mapping(present), value)
        elif key == SOURCES or present is None:
            out[key] = value
        elif isinstance(value, list) and isinstance(present, list):
            out[key] = [*present, *(one for one in value if one not in present)]
    return out


def references(judged: Judged, config: Config) -> References:
    """Index the ConfigMaps and Secrets of the input, with what the configuration opens."""
    objects = read(judged.read, ("ConfigMap", "Secret")).resources
    values = list(read_values(one for one in objects if one.state != "added"))
    return References(values, config.generate.policy.external_sources)


def _sources(judged: Judged, config: Config, spec: Mapping[str, Any], request: Request) -> Iterator[Choice]:
    if not may_open(config):
        return
    known = references(judged, config)
    present = _present(spec)
    workloads = judged.workloads

    def proposed(of: Sequence[Workload]) -> list[dict[str, Any]]:
        return list(proposed_sources(of, known, present, request.keys).entries)

    refs = [one.ref for one in workloads if proposed([one]) != present]
    if refs:
        yield Choice(SOURCES, {"policy": {SOURCES: proposed(workloads)}}, (SOURCES_OPEN,), tuple(dict.fromkeys(refs)))


def _present(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = dig(spec, ("policy", SOURCES))
    return [mapping(one) for one in entries] if isinstance(entries, list) else []


def may_open(config: Config) -> bool:
    """Tell whether this configuration could have open variables at all."""
    policy = config.generate.policy
    profile, _ = chosen_profile(policy.profile, config.release, config.generate.name)
    return policy.engine == "native" and not policy.rules and profile is not None and not profile.narrowed


def unknown_keys(judged: Judged, config: Config, request: Request) -> tuple[tuple[str, str], ...]:
    """Return the objects of envFrom whose keys somebody has to name."""
    if not may_open(config):
        return ()
    return proposed_sources(judged.workloads, references(judged, config), (), request.keys).unknown


def opened_wholly(judged: Judged, config: Config, spec: Mapping[str, Any], request: Request) -> list[dict[str, Any]]:
    """Return the entries that would open everything, also what a policy refuses open: for a trial that says why."""
    known = references(judged, config)
    return list(proposed_sources(judged.workloads, known, _present(spec), request.keys, refused_too=True).entries)


# --- Propose entries of spec.workloads for the pods that do not ask for Contrast
#
# Rule: an entry names one object, by its kind, its name and, if it says one, its namespace. What asks by
# itself, what an entry names already, and what a controller made of another object gets none.


GPU = "-gpu"


def plain_workloads(resources: Sequence[Resource], generate: Generate) -> list[Workload]:
    """Return the pod templates that are neither confidential nor named in the configuration."""
    known, _ = read(add_copies(with_kinds(resources, generate.kinds)), keep_plain=True)
    return [one for resource in known for one in _plain(resource, generate)]


def _plain(resource: Resource, generate: Generate) -> Iterator[Workload]:
    if resource.document is None or resource.state == "added":
        return
    for workload in select(resource.value, resource).skipped:
        if not workload.object or workload.owned or workload.runtime_class or workload.root in resource.copies:
            continue
        if not naming(generate.workloads, workload.ref, generate.namespace):
            yield workload


def proposed_entries(plain: Sequence[Workload], request: Request, platform: str) -> list[dict[str, Any]]:
    """Return the entries that a request asks for. platform: that of the bare placeholder, "" for none."""
    entries: dict[Ref, dict[str, Any]] = {}
    for one in plain:
        whole = one.ref._replace(part="")  # an entry names all templates of an object
        entry = {"kind": one.ref.kind, "name": one.ref.name}
        entry |= {"namespace": one.ref.namespace} if one.ref.namespace else {}
        reason = next((why for text, why in request.plain.items() if selects(text, one.ref)), "")
        if reason:
            entries[whole] = {**entry, "plain": reason}
        elif any(selects(text, one.ref) for text in request.confidential):
            with_gpu = wants_gpu(one.pod_spec) and f"{platform}{GPU}" in PLATFORMS
            if with_gpu or "platform" not in entries.get(whole, {}):
                entries[whole] = {**entry, **({"platform": f"{platform}{GPU}"} if with_gpu else {})}
    return [entry for entry in entries.values() if is_valid({"workloads": [entry]})]


# --- Adopt: what the pods of an application need of the configuration, what of it was chosen, and what is left
#
# Rule: the configuration that is tried is the one that would be written, as data. No file is opened.


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
        tuple(_by_name(taken)),
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


def _by_name(taken: Sequence[Choice]) -> list[Choice]:
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
    for workload in now.workloads:
        pod = (*workload.place, workload.template)
        after = now.errors[pod]
        if why.get(pod):
            paths = {found.path for found in why[pod]}
            kept = [found for found in after if found.code not in NOT_IN_INPUT]
            after = (*kept, *(found for found in why[pod] if found.path in paths))
        place = (*workload.template, "spec")
        pods.append(AdoptedPod(workload.ref, place, before.errors.get(pod, ()), after))
    return pods
