"""The pod in question among some objects, the objects that belong to it, and the events about it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.contrast.manifest import ManifestError, decode
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.kinds import CATALOGUED, KINDS
from krm_function.kubernetes.objects import dig, mapping, maps, reference
from krm_function.record import NamedTuple
from krm_function.render.copies import index_controllers, list_owners
from krm_function.render.make_manifest import read_emitted_manifest

# --- An event of a cluster, of either version of the API, and the events about an object
#
# Source: docs/facts/pod-status.md#events.
#
# Rule: an event keeps only what a message needs, on one line and cut; without an object it does not count.


LONGEST = 16_384  # characters of a message that are read; the API server takes 1 KiB


class Event(NamedTuple):
    """kind, namespace, name, uid: of the object it is about; uid may be "". time: as text, which sorts."""

    kind: str
    namespace: str
    name: str
    uid: str
    reason: str
    message: str
    time: str


def events(objects: Iterable[Any]) -> Iterator[Event]:
    """Yield the events among some objects."""
    for value in objects:
        if not isinstance(value, dict) or value.get("kind") != "Event":
            continue
        about = mapping(value.get("involvedObject") or value.get("regarding"))
        if not about.get("name"):
            continue
        message = str(value.get("message") or value.get("note") or "")
        series = mapping(value.get("series"))
        times = (series.get("lastObservedTime"), value.get("lastTimestamp"), value.get("deprecatedLastTimestamp"))
        first = (value.get("eventTime"), mapping(value.get("metadata")).get("creationTimestamp"))
        yield Event(
            str(about.get("kind") or ""),
            str(about.get("namespace") or ""),
            str(about["name"]),
            str(about.get("uid") or ""),
            str(value.get("reason") or ""),
            " ".join(message[:LONGEST].split()),
            str(next((time for time in (*times, *first) if time), "")),
        )


def about(value: Any, all_events: Iterable[Event]) -> list[Event]:
    """Return the events about an object, the latest first; without those about an earlier object of the same name."""
    metadata = mapping(mapping(value).get("metadata"))
    names = (value.get("kind"), metadata.get("namespace") or "", metadata.get("name"))
    uid = metadata.get("uid")
    chosen = [
        event
        for event in all_events
        if (event.kind, event.namespace or names[1], event.name) == names
        and (not uid or not event.uid or event.uid == uid)
    ]
    return sorted(chosen, key=lambda event: event.time, reverse=True)


# --- Find the pod in question among some objects, and what belongs to it: its owners, their events, its namespace
#
# Rule: a name means one object, or it is a finding; only the manifest may be in another namespace.


# as kubectl shortens them
SHORT = {
    "po": "Pod",
    "deploy": "Deployment",
    "sts": "StatefulSet",
    "ds": "DaemonSet",
    "rs": "ReplicaSet",
    "cj": "CronJob",
    "rc": "ReplicationController",
    "lws": "LeaderWorkerSet",
}


class Evidence(NamedTuple):
    """The objects and events about a pod that does not start.

    pod: None if only its owners are left. owners: nearest first. pod_events, owner_events: the latest first. services:
    of its namespace. manifests: decoded. coordinators: the pods that have this role.
    """

    ref: Ref
    pod: Any
    owners: tuple[Any, ...]
    pod_events: tuple[Event, ...]
    owner_events: tuple[Event, ...]
    services: tuple[Any, ...] = ()
    manifests: tuple[Mapping[str, Any], ...] = ()
    objects: tuple[Any, ...] = ()


def gather(objects: Sequence[Any], address: str, namespace: str) -> Evidence | Finding:
    """Return the evidence about KIND/NAME, or a finding. namespace: of the call, "" for any."""
    kind, group, space, name = parse_address(address, namespace)
    if not kind:
        return finding("CC1172.address", address=address)
    all_events = tuple(events(objects))
    matches = [value for value in objects if _has_address(value, kind, space, name, group)]
    spaces = sorted(
        {reference(match).namespace for match in matches}
        | {event.namespace for event in _select_events(all_events, kind, space, name)}
    )
    if len(spaces) > 1:
        return finding("CC1172.several", address=address, namespaces=", ".join(spaces))
    if not matches and not spaces:
        return finding("CC1172.absent", address=address)
    if not matches:
        told = sorted(_select_events(all_events, kind, space, name), key=lambda event: event.time, reverse=True)
        ref = Ref("v1" if kind == "Pod" else "", kind, spaces[0], name)
        return _add_surroundings(Evidence(ref, None, (), tuple(told), ()), objects)
    controllers = index_controllers(objects)
    value = matches[0]
    if kind != "Pod":
        below = [
            event
            for event in objects
            if _has_address(event, "Pod", "", "") and value in list_owners(event, controllers)
        ]
        pod = _choose_pod(below)
        if pod is None:
            children = [pod for pod in objects if value in list_owners(pod, controllers)]
            parts = (*children, value)
            told = [event for part in parts for event in about(part, all_events)]
            return _add_surroundings(Evidence(reference(value), None, parts, (), tuple(told)), objects)
        value = pod
    owners = tuple(list_owners(value, controllers))
    told = [event for owner in owners for event in about(owner, all_events)]
    evidence = Evidence(reference(value), value, owners, tuple(about(value, all_events)), tuple(told))
    return _add_surroundings(evidence, objects)


def _add_surroundings(evidence: Evidence, objects: Sequence[Any]) -> Evidence:
    space = evidence.ref.namespace
    services = [
        service
        for service in objects
        if reference(service).kind == "Service"
        and (
            reference(service).namespace in ("", space)
            or (reference(service).namespace, reference(service).name) == _API_SERVER
        )
    ]
    return evidence._replace(
        services=tuple(services), manifests=tuple(_find_manifests(objects)), objects=tuple(objects)
    )


_API_SERVER = ("default", "kubernetes")


def _find_manifests(objects: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    for value in objects:
        text = read_emitted_manifest(value) if reference(value).kind == "ConfigMap" else None
        if text is not None:
            try:
                yield decode(text.encode("utf-8"))
            except ManifestError:
                continue


def parse_address(address: str, namespace: str) -> tuple[str, str, str, str]:
    """Return kind, group, namespace and name of `pod/NAME` or `pod/NAMESPACE/NAME`; kind "" for anything else.

    The group is that of `deployment.apps/NAME`, "" for any.
    """
    kinds = {kind.lower(): kind for kind in (*KINDS, *CATALOGUED)}
    kinds |= {f"{short}s": kind for short, kind in kinds.items()} | SHORT
    word, *names = address.split("/")
    short, _, group = word.lower().partition(".")
    match names:
        case [name] if short in kinds and name:
            return kinds[short], group, namespace, name
        case [space, name] if short in kinds and space and name:
            return kinds[short], group, space, name
        case _:
            return "", "", "", ""


def _has_address(value: Any, kind: str, namespace: str, name: str, group: str = "") -> bool:
    ref = reference(value)
    address = ((namespace, ref.namespace), (name, ref.name), (group, ref.api_version.rpartition("/")[0]))
    return ref.kind == kind and all(text in ("", actual) for text, actual in address)


def _select_events(all_events: Sequence[Event], kind: str, namespace: str, name: str) -> list[Event]:
    return [
        event
        for event in all_events
        if (event.kind, event.name) == (kind, name) and (not namespace or event.namespace in ("", namespace))
    ]


def _choose_pod(pods: Sequence[Any]) -> Any:
    """Prefer a pod that is not ready and not being deleted, then the newest. None for none."""
    newest = sorted(pods, key=lambda pod: str(dig(pod, ("metadata", "creationTimestamp")) or ""), reverse=True)
    return min(newest, key=lambda pod: (is_ready(pod), bool(dig(pod, ("metadata", "deletionTimestamp")))), default=None)


def is_ready(pod: Any) -> bool:
    """Tell whether a pod serves, or has done its work."""
    status = mapping(mapping(pod).get("status"))
    conditions = {condition.get("type"): condition.get("status") for condition in maps(status.get("conditions"))}
    return status.get("phase") == "Succeeded" or (
        status.get("phase") == "Running" and conditions.get("Ready") == "True"
    )
