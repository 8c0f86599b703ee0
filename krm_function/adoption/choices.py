"""What a configuration can do for the pods that a render refuses: the choices, each with its consequence.

Rule of this file: a choice is one name, one part of `spec` and one sentence about what follows. Whether it is taken is
not decided here. What a rule would change is asked of the rule itself.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.adoption.decisions import Request
from krm_function.adoption.sources import proposed_sources
from krm_function.adoption.valid import is_valid
from krm_function.api.profile_of_version import chosen_profile
from krm_function.api.records import Config
from krm_function.assessment.refusals import Judged
from krm_function.findings import Ref
from krm_function.model.lookup import dig, mapping
from krm_function.model.workload import Workload
from krm_function.pipeline.memory import memory_choices
from krm_function.pipeline.volume_rules import volume_choices
from krm_function.pipeline.workload import passed_gpus
from krm_function.policy.references import References
from krm_function.record import NamedTuple
from krm_function.stages.least_vcpus import vcpu_choices
from krm_function.stages.move_annotations import annotation_choices
from krm_function.stages.read import read, read_values
from krm_function.stages.rename_gpus import gpu_choices

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
    known, passed = config._replace(images=judged.images), passed_gpus(config)
    for workload in judged.given:
        for one in (
            *annotation_choices(workload),
            *gpu_choices(workload, passed),
            *vcpu_choices(workload),
            *volume_choices(workload, known, judged.read),
        ):
            yield workload.ref, one.rule, one.value, one.consequence
    for sized in judged.workloads:
        for one in memory_choices(sized.workload, sized.memory) if sized.memory else ():
            yield sized.workload.ref, one.rule, one.value, one.consequence


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
    workloads = [one.workload for one in judged.workloads]

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
    workloads = [one.workload for one in judged.workloads]
    return proposed_sources(workloads, references(judged, config), (), request.keys).unknown


def opened_wholly(judged: Judged, config: Config, spec: Mapping[str, Any], request: Request) -> list[dict[str, Any]]:
    """Return the entries that would open everything, also what a policy refuses open: for a trial that says why."""
    workloads = [one.workload for one in judged.workloads]
    known = references(judged, config)
    return list(proposed_sources(workloads, known, _present(spec), request.keys, refused_too=True).entries)
