"""Compute the identity of a container on a Contrast node, where what the pod omits comes from the image.

The kubelet passes a user to containerd, and a group only if the pod names one. containerd looks both up in the image:

    runAsUser   User of the image   user that containerd gets
    1000        any                 1000
    none        1000, 1000:2000     1000    the image's group is ignored
    none        web, web:www        web     of the image's passwd; one that it does not have is an error
    none        none, :2000         0

    runAsGroup   group of the process
    2000         2000
    none         that of the user in the image's passwd, else 0

    supplementalGroupsPolicy   supplementary groups
    Merge                      the group of the process, supplementalGroups, fsGroup, and every group of the image's
                               group file that lists the user's name, the group of that name left out
    Strict                     the same without those of the image

Rule of this file: the result is containerd's, or the reason why it is uncertain. Ids are numbers from 0 to 2^31-1;
versions of containerd treat others differently, so they are refused.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from krm_function.api.image_lock import unknown_accounts
from krm_function.api.records import ImageFacts
from krm_function.findings import Cause, Finding, finding
from krm_function.policy.identity import Identity, explicit_groups, security_value
from krm_function.policy.passwd import UnreadableError, memberships, numeric, users
from krm_function.policy.pod_metadata import PodMetadata

HIGHEST = 2**31 - 1


def effective_identity(image: ImageFacts, container: Mapping[str, Any], pod: Mapping[str, Any]) -> Identity | Cause:
    """Return the identity of a workload container, or why it has none: CC0604 with a variant.

    container and pod: their securityContext. Files that the image does not have are "" or None.
    """
    run_as_user = security_value("runAsUser", container, pod)
    user = _user_of(image) if run_as_user is None else run_as_user
    if isinstance(user, int) and not 0 <= user <= HIGHEST:
        if run_as_user is None:
            return _out_of_range("CC0604.image-user-range", image.config["User"])
        return _out_of_range("CC0604.user-range", user)
    group = security_value("runAsGroup", container, pod)
    try:
        if isinstance(user, int):
            uid, gid = user, _gid_of(user, image) if group is None else group
        else:
            named = users(image.passwd or "").by_name.get(user)
            if named is None:
                return Cause("CC0604.user-name", {"user": image.config["User"]})
            uid, gid = named.uid, named.gid if group is None else group
        strict = pod.get("supplementalGroupsPolicy") == "Strict"
        implied = frozenset() if strict else _groups_of(user, image)
    except UnreadableError as problem:
        return Cause("CC0604.accounts", {"error": str(problem), "accounts": str(problem).split()[0]})
    if not 0 <= uid <= HIGHEST:
        return _out_of_range("CC0604.implied-user-range", uid)
    if not 0 <= gid <= HIGHEST:
        return _out_of_range("CC0604.implied-group-range" if group is None else "CC0604.group-range", gid)
    explicit = explicit_groups(pod)
    for groups, code in ((explicit, "CC0604.groups-range"), (implied, "CC0604.implied-groups-range")):
        wrong = _first_out_of_range(groups)
        if wrong is not None:
            return _out_of_range(code, wrong)
    return Identity(uid, gid, tuple(sorted({gid, *explicit, *implied})))


def unknown_users(pod: PodMetadata, images: Mapping[str, ImageFacts]) -> list[Finding]:
    """Return CC0508 for every container whose identity depends on accounts that its entry of the ImageLock lacks.

    images: by the reference exactly as the pod names it; references without an entry are ignored here.
    """
    context = pod.spec.get("securityContext") or {}
    findings = []
    for key in ("initContainers", "containers"):
        for index, container in enumerate(pod.spec.get(key) or ()):
            image = images.get(container["image"])
            missing = unknown_accounts(image) if image else ""
            if missing and not _is_explicit(container.get("securityContext") or {}, context):
                at = (*pod.spec_path, key, index, "image")
                findings.append(finding("CC0508", pod.ref, at, image=container["image"], missing=missing))
    return findings


def _is_explicit(container: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """Tell whether the pod spec alone determines the identity."""
    named = all(security_value(key, container, pod) is not None for key in ("runAsUser", "runAsGroup"))
    return named and pod.get("supplementalGroupsPolicy") == "Strict"


def _user_of(image: ImageFacts) -> int | str:
    """Return the user of the image's configuration as the kubelet passes it on: a number or a name, 0 if absent."""
    user = (image.config.get("User") or "").partition(":")[0]
    number = numeric(user) if user else 0
    return user if number is None else number


def _gid_of(uid: int, image: ImageFacts) -> int:
    """Return the primary group of a uid, 0 if it has none."""
    user = users(image.passwd or "").by_uid.get(uid)
    return user.gid if user else 0


def _groups_of(user: int | str, image: ImageFacts) -> frozenset[int]:
    """Return the groups of the image that list a user. A number has the name of its first line in passwd."""
    if isinstance(user, int):
        found = users(image.passwd or "").by_uid.get(user)
        if found is None:
            return frozenset()
        user = found.name
    return memberships(image.group or "").get(user, frozenset())


def _first_out_of_range(groups: Iterable[int]) -> int | None:
    return next((gid for gid in sorted(groups) if not 0 <= gid <= HIGHEST), None)


def _out_of_range(code: str, number: int | str) -> Cause:
    return Cause(code, {"number": number, "limit": HIGHEST})
