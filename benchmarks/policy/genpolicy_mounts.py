"""Which differences of mounts come from what genpolicy writes for volumes: docs/facts/kata.md#options-of-mounts."""

from typing import Any

from benchmarks.policy.genpolicy_place import Place
from krm_function.check.drift import are_equivalent_mounts, map_volume_kinds
from krm_function.kubernetes.objects import dig, maps
from krm_function.policy.pod_metadata import pod_metadata

Json = dict[str, Any]
CLAIM = "^/run/kata-containers/shared/containers/$(bundle-id)-"  # where genpolicy looks for claims of a StatefulSet


def _mounts_at(entry: Json, destination: str) -> list[Json]:
    return [one for one in maps(dig(entry, ("OCI", "Mounts"))) if one["destination"] == destination]


def _is_mount_of_a_volume(place: Place) -> bool:
    places = {str(one.get("mountPath")) for one in maps(place.written.get("volumeMounts"))}
    return place.line.field == "mounts" and _destination(place) in places


def _destination(place: Place) -> str:
    return place.line.what.partition(", ")[0]


def _sources_differ(place: Place) -> bool:
    """Whether no mount of theirs at this destination has the source of ours."""
    mounts = (_mounts_at(each, _destination(place)) for each in (place.theirs, place.ours))
    theirs, ours = ({one["source"] for one in each} for each in mounts)
    return not theirs & ours


def claim_templates(place: Place) -> bool:
    """Whether it is a claim of a StatefulSet's volumeClaimTemplates, which genpolicy looks for in one place alone."""
    pod, _ = pod_metadata(place.workload)
    theirs = {one["source"] for one in _mounts_at(place.theirs, _destination(place))}
    claimed = {
        one["mountPath"] for one in maps(place.written.get("volumeMounts")) if one["name"] in pod.claim_templates
    }
    return _is_mount_of_a_volume(place) and _destination(place) in claimed and any(map(_is_claim, theirs))


def _is_claim(source: str) -> bool:
    return source.startswith(CLAIM)


def escaped(place: Place) -> bool:
    """Whether the sources are the same text, of which one has its dots escaped."""
    mounts = (_mounts_at(each, _destination(place)) for each in (place.theirs, place.ours))
    theirs, ours = ({one["source"].replace("\\", "") for one in each} for each in mounts)
    return _is_mount_of_a_volume(place) and _sources_differ(place) and bool(theirs & ours)


def slash(place: Place) -> bool:
    """Whether a downwardAPI volume is mounted at a path that ends in a slash: genpolicy takes what is after it."""
    pod, _ = pod_metadata(place.workload)
    kind = map_volume_kinds(pod, place.written).get(_destination(place))
    return _is_mount_of_a_volume(place) and kind == "downwardAPI" and _destination(place).endswith("/")


def variants(place: Place) -> bool:
    """Whether genpolicy writes the options of a volume whatever the pod says, or leaves the runtime's mount there."""
    if not _is_mount_of_a_volume(place) or _sources_differ(place):
        return False
    pod, _ = pod_metadata(place.workload)
    where = map_volume_kinds(pod, place.written)
    sides = [
        [(one["destination"], one["type_"], *one["options"]) for one in _mounts_at(each, _destination(place))]
        for each in (place.ours, place.theirs)
    ]
    return are_equivalent_mounts(sides[0], sides[1], where, propagates=place.profile.propagates)
