"""Index the ConfigMaps and Secrets of a render by name, for env values.

Rule of this file: values are passed only to the generator; no finding ever contains one. An object of the input counts
with its value, whatever the configuration declares about objects that only the cluster has.
"""

from binascii import Error, a2b_base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.config.generate import ExternalSource
from krm_function.krm.group_version import plain_api_version
from krm_function.kubernetes.objects import ORDINARY, Hook, mapping, maps, read_hook
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple

PREVIOUS_NAMES = "internal.config.kubernetes.io/previousNames"


class Undecodable(ValueError):
    """Data of a ConfigMap or Secret that are not text. code: CC0604 with a variant; key: of the data, never a value."""

    def __init__(self, code: str, key: str) -> None:
        super().__init__(code)
        self.code = code
        self.key = key


_IN_ENV = (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret"))
_IN_ENV_FROM = (("configMapRef", "ConfigMap"), ("secretRef", "Secret"))


class Reference(NamedTuple):
    """A reference of a container to a ConfigMap or Secret. variable, prefix: "" for envFrom and env, respectively."""

    kind: str
    name: str
    key: str = ""
    variable: str = ""
    prefix: str = ""


class References:
    """The ConfigMaps and Secrets among some objects, and those that only the cluster has. Other objects are ignored.

    A name is looked up in the workload's namespace first. If one of the two has no namespace (kustomize sets it later,
    kubectl from its context), the name is enough, and must be unique. Of a hook and an ordinary object of one
    name, a pod gets the values of the one that is there when it starts.
    """

    __slots__ = ("_aliases", "_names", "external", "openable")

    def __init__(
        self, objects: Iterable[Any] = (), external: Sequence[ExternalSource] = (), *, openable: bool = True
    ) -> None:
        """Index `objects`, plain data of documents.

        external: spec.policy.externalSources. openable: whether this render could have open variables.
        """
        self.external = external
        self.openable = openable
        self._names: dict[tuple[str, str], list[tuple[str, Mapping[str, Any]]]] = {}
        self._aliases: dict[tuple[str, str], list[tuple[str, Mapping[str, Any]]]] = {}
        for value in objects:
            if not isinstance(value, Mapping) or value.get("kind") not in ("ConfigMap", "Secret"):
                continue
            kind = value["kind"]
            metadata = value.get("metadata")
            if plain_api_version(str(value.get("apiVersion"))) != "v1" or not isinstance(metadata, Mapping):
                continue
            entry = (str(metadata.get("namespace") or ""), value)
            self._names.setdefault((kind, str(metadata.get("name"))), []).append(entry)
            annotations = metadata.get("annotations")
            previous = annotations.get(PREVIOUS_NAMES) if isinstance(annotations, Mapping) else None
            for name in dict.fromkeys(previous.split(",")) if isinstance(previous, str) else ():
                self._aliases.setdefault((kind, name), []).append(entry)

    def find(self, kind: str, namespace: str, name: str, pod: Hook = ORDINARY) -> dict[str, str] | None:
        """Return the pairs of a ConfigMap or Secret, sorted by key; None without exactly one candidate.

        pod: when it starts. Raises Undecodable.
        """
        source = self._choose(kind, namespace, name, pod)
        return None if source is None else _read_pairs(source)

    def is_late(self, kind: str, namespace: str, name: str, pod: Hook) -> bool:
        """Tell whether a pod starts before Helm or Argo CD has applied the object that `find` reads."""
        source = self._choose(kind, namespace, name, pod) if pod.early else None
        return source is not None and not pod.follows(read_hook(source))

    def _choose(self, kind: str, namespace: str, name: str, pod: Hook) -> Mapping[str, Any] | None:
        for candidates in self._candidates(kind, namespace, name, pod):
            if len(candidates) == 1:
                return candidates[0]
        return None

    def known(self, kind: str, namespace: str, name: str) -> bool:
        """Tell whether the input has at least one object that could have this name."""
        return any(self._candidates(kind, namespace, name, ORDINARY))

    def _candidates(self, kind: str, namespace: str, name: str, pod: Hook) -> Iterator[list[Mapping[str, Any]]]:
        """Yield the objects that have the name now, then those that had it before a transformer renamed them."""
        for table in (self._names, self._aliases):
            entries = table.get((kind, name), [])
            exact = [value for where, value in entries if where == namespace]
            without_namespace = [value for where, value in entries if not (namespace and where)]
            yield _present(exact, pod)[:1] or _present(without_namespace, pod)


def _present(values: list[Mapping[str, Any]], pod: Hook) -> list[Mapping[str, Any]]:
    """Leave out the hooks that are not there when a pod starts, and what they replace, if anything is left."""
    if len(values) < 2:
        return values
    hooks = [(read_hook(value), value) for value in values]
    first = [value for hook, value in hooks if pod.follows(hook)]
    return first or [value for hook, value in hooks if not hook.events] or values


def _read_pairs(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the data as text, without a ConfigMap's binaryData, which an environment cannot hold."""
    data = value.get("data")
    pairs = {str(key): entry for key, entry in data.items()} if isinstance(data, Mapping) else {}
    if value["kind"] == "Secret":
        pairs = {key: _decode(key, entry) for key, entry in pairs.items()}
        plain = value.get("stringData")
        if isinstance(plain, Mapping):
            pairs.update({str(key): entry for key, entry in plain.items()})
    for key, entry in pairs.items():
        if entry is None:
            pairs[key] = ""
        elif not isinstance(entry, str):
            raise Undecodable("CC0604.data-type", key)
    return dict(sorted(pairs.items()))


def _decode(key: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Undecodable("CC0604.data-type", key)
    try:
        # Go's decoder skips only line breaks
        return a2b_base64(value.replace("\n", "").replace("\r", ""), strict_mode=True).decode() if value else ""
    except (Error, UnicodeError):
        pass
    raise Undecodable("CC0604.data-base64", key)


def namespace_of(workload: Workload) -> str:
    """Return a workload's present namespace, "" without one; its ref has the namespace of the input."""
    return str(mapping(workload.object.get("metadata")).get("namespace") or "")


def references_of(container: Any) -> Iterator[Reference]:
    """Yield what env and envFrom of a container refer to, as far as they have the shape of a reference."""
    for entry in maps(mapping(container).get("env")):
        for key, kind in _IN_ENV:
            selector = mapping(mapping(entry.get("valueFrom")).get(key))
            if selector:
                name, key_of = str(selector.get("name", "")), str(selector.get("key", ""))
                yield Reference(kind, name, key_of, str(entry.get("name", "")))
    for entry in maps(mapping(container).get("envFrom")):
        for key, kind in _IN_ENV_FROM:
            selector = mapping(entry.get(key))
            if selector:
                yield Reference(kind, str(selector.get("name", "")), prefix=str(entry.get("prefix") or ""))
