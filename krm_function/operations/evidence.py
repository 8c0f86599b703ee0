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


API_SERVER = ("default", "kubernetes")  # its Service gives variables to every pod


class Evidence(NamedTuple):
    """The objects and events about a pod that does not start.

    pod: None if only its owners are left. owners: nearest first. pod_events, owner_events: the latest first. objects:
    all of them.
    """

    ref: Ref
    pod: Any
    owners: tuple[Any, ...]
    pod_events: tuple[Event, ...]
    owner_events: tuple[Event, ...]
    objects: tuple[Any, ...]

    def manifests(self) -> Iterator[Mapping[str, Any]]:
        """Yield the manifests among the objects, decoded."""
        for value in self.objects:
            text = read_emitted_manifest(value) if reference(value).kind == "ConfigMap" else None
            if text is not None:
                try:
                    yield decode(text.encode("utf-8"))
                except ManifestError:
                    continue


def gather(objects: Sequence[Any], address: str, namespace: str) -> Evidence | Finding:
    """Return the evidence about KIND/NAME, or a finding. namespace: of the call, "" for any."""
    kind, group, space, name = parse_address(address, namespace)
    if not kind:
        return finding("CC1172.address", address=address)
    all_events = tuple(events(objects))
    matches = [value for value in objects if _has_address(value, kind, space, name, group)]
    pod_events = [
        event
        for event in all_events
        if (event.kind, event.name) == (kind, name) and (not space or event.namespace in ("", space))
    ]
    spaces = sorted({reference(match).namespace for match in matches} | {event.namespace for event in pod_events})
    if len(spaces) > 1:
        return finding("CC1172.several", address=address, namespaces=", ".join(spaces))
    if not spaces:
        return finding("CC1172.absent", address=address)
    if not matches:
        pod_events.sort(key=lambda event: event.time, reverse=True)
        ref = Ref("v1" if kind == "Pod" else "", kind, spaces[0], name)
        return Evidence(ref, None, (), tuple(pod_events), (), tuple(objects))
    controllers = index_controllers(objects)
    pod = value = matches[0]
    children = []
    if kind != "Pod":
        children = [child for child in objects if value in list_owners(child, controllers)]
        pod = _choose_pod([child for child in children if reference(child).kind == "Pod"])
    owners = [*children, value] if pod is None else list_owners(pod, controllers)
    owner_events = [event for owner in owners for event in about(owner, all_events)]
    pod_events = [] if pod is None else about(pod, all_events)
    ref = reference(value if pod is None else pod)
    return Evidence(ref, pod, tuple(owners), tuple(pod_events), tuple(owner_events), tuple(objects))


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


def _has_address(value: Any, kind: str, namespace: str, name: str, group: str) -> bool:
    ref = reference(value)
    address = ((namespace, ref.namespace), (name, ref.name), (group, ref.api_version.rpartition("/")[0]))
    return ref.kind == kind and all(text in ("", actual) for text, actual in address)


def _choose_pod(pods: Sequence[Any]) -> Any:
    """Prefer a pod that is not ready and not being deleted, then the newest. None for none."""
    newest = sorted(pods, key=lambda pod: str(dig(pod, ("metadata", "creationTimestamp")) or ""), reverse=True)
    return min(newest, key=lambda pod: (is_ready(pod), bool(dig(pod, ("metadata", "deletionTimestamp")))), default=None)


def is_ready(pod: Any) -> bool:
    """Tell whether a pod serves, or has done its work."""
    phase, conditions = (dig(pod, ("status", key)) for key in ("phase", "conditions"))
    states = {condition.get("type"): condition.get("status") for condition in maps(conditions)}
    return bool(phase == "Succeeded" or (phase == "Running" and states.get("Ready") == "True"))
