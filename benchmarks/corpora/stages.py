"""Judge the workloads of one application in three stages: as it is, with what `adopt` writes, and edited as hints say.

Rule of this file: `adopt` is the command's own function, with a yes to each choice and `--volume-owner`. A made-up key
stands for those that a person would name (a Secret of the cluster), and the workloads that needed it are counted.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpora.edits import edited
from benchmarks.corpora.plant import OWNER, Key, Planted, facts, key_of, planted
from krm_function.check.adopt import Request, adopt, list_choice_names, replace_spec
from krm_function.check.assess import judge
from krm_function.config.collect import Config, collect
from krm_function.config.document import ConfigDocument
from krm_function.findings import Finding
from krm_function.hosts.stream import decode_stream
from krm_function.kubernetes.resource import Resource
from tests.quick_yaml import safe_load_all

ROOT = Path(__file__).parents[2]
RELEASE = ROOT / "examples/quickstart/config/release.yaml"
LOCK = ROOT / "examples/quickstart/config/images.yaml"
API = "contrast-krm.dev/v1alpha1"
GENERATE: dict[str, Any] = {
    "apiVersion": API,
    "kind": "ContrastGenerate",
    "metadata": {"name": "contrast"},
    "spec": {"platform": "metal-qemu-snp", "runtimeClasses": "emit", "manifest": {"emit": "none"}},
}
ROUNDS = 6
CACHE = "cache|models|huggingface"  # paths on a node of which somebody would say that they are a cache
Errors = dict[Key, tuple[Finding, ...]]


class Staged(NamedTuple):
    """The errors of each workload by stage, () for one without. spec: what `adopt` wrote. keys: who needed some named.

    edited: the application after the edits. stopped: codes of what is wrong with the input as a whole.
    """

    planted: Planted
    first: Errors
    adopted: Errors
    last: Errors
    spec: dict[str, Any]
    edited: Planted
    keys: frozenset[Key]
    stopped: tuple[str, ...] = ()


def staged(text: str) -> Staged:
    """Judge an application. Raises YamlError for one that cannot be read."""
    before = planted(text, lambda _: True)
    resources = decode_stream(before.text.encode("utf-8")).resources
    config = configured(before)
    document = ConfigDocument(GENERATE)
    names = frozenset(name for name in list_choice_names() if "=" not in name)
    offered = adopt(resources, document, config, Request(yes=names, owner_image=OWNER))
    paths = (one.name for one in offered.offered if re.search(CACHE, one.name))
    request = Request(yes=frozenset((*names, *paths)), owner_image=OWNER)
    plain = adopt(resources, document, config, request)
    if plain.findings:
        codes = tuple(found.code for found in plain.findings)
        return Staged(before, {}, {}, {}, {}, before, frozenset(), codes)
    made = plain
    if plain.keys:
        made = adopt(resources, document, config, request._replace(keys=dict.fromkeys(plain.keys, ("KEY",))))
    first = {_key(one): one.before for one in made.pods}
    adopted = {_key(one): one.after for one in made.pods}
    needed = frozenset(_key(one) for one in plain.pods if one.after and not adopted[_key(one)])
    config = with_spec(config, made.spec)
    now, errors = before, adopted
    for _ in range(ROUNDS):
        changed = edited(now, {key: found for key, found in errors.items() if found})
        if changed is None or changed.text == now.text:
            break
        now = changed
        errors = _errors(decode_stream(now.text.encode("utf-8")).resources, with_images(config, now))
    last = {key: errors.get(key, ()) for key in adopted}
    return Staged(before, first, adopted, last, made.spec, now, needed)


def configured(application: Planted) -> Config:
    """Return the configuration of a new user, with a lock of all images."""
    documents = [GENERATE, *safe_load_all(RELEASE.read_text()), *safe_load_all(LOCK.read_text())]
    config, problems = collect([ConfigDocument(one) for one in documents])
    if config is None:
        raise ValueError(problems)
    return with_images(config, application)


def with_images(config: Config, application: Planted) -> Config:
    """Return a configuration that knows the images of an application."""
    return config._replace(images={**(config.images or {}), **facts(list(application.workloads.values()))})


def with_spec(config: Config, spec: Mapping[str, Any]) -> Config:
    """Return a configuration with another spec of the ContrastGenerate."""
    return replace_spec(config, ConfigDocument(GENERATE), dict(spec))


def _errors(resources: tuple[Resource, ...], config: Config) -> Errors:
    made = judge(resources, config)
    return {key_of(pod): made.errors[*pod.place, pod.template] for pod in made.workloads}


def _key(pod: Any) -> Key:
    return pod.ref.kind, pod.ref.namespace, pod.ref.name, ".".join(map(str, pod.place[:-1]))
