"""Choose the user and group that an injected container states, so that it runs as its image says in every pod.

The kubelet gives a container without runAsUser, runAsGroup and runAsNonRoot those of the pod. They are meant for the
containers of the pod's author; the injected ones were built for the user of their own image.

    the pod sets                               the injected container states
    none of the three                          nothing
    what the image has anyway                  nothing
    another user or group                      runAsUser and runAsGroup of the image
    runAsNonRoot: true, and the image is root  these, and runAsNonRoot: false: the kubelet refuses it otherwise
    runAsNonRoot: true, and the image has a    these: the kubelet refuses a user of unknown number
    user by name, and the pod no runAsUser

Rule of this file: numbers only, of the image's configuration; what it does not say comes from the image's accounts.
supplementalGroups and fsGroup have no field in a container, so the pod's hold for injected containers as well.
Source: docs/facts/kubernetes.md#security-context.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.api.records import ImageFacts
from krm_function.findings import Finding, finding
from krm_function.model.lookup import mapping
from krm_function.model.pods import sets_user
from krm_function.model.workload import Workload
from krm_function.policy.effective_user import HIGHEST, effective_identity
from krm_function.policy.identity import Accounts, Identity
from krm_function.policy.passwd import UnreadableError, numeric, users
from krm_function.record import NamedTuple

ROOT = (0, 0)


class ImageUser(NamedTuple):
    """The user and group that an image's configuration says. named: whether it says the user by name."""

    uid: int
    gid: int
    named: bool


def image_user(image: ImageFacts) -> ImageUser | None:
    """Return the user and group of an image: root without a User; None if a number is not known or out of range.

    The group is the one after the colon; without it, that of the user in /etc/passwd; 0 if there is no such user.
    """
    user, _, group = str(image.config.get("User") or "").partition(":")
    number = numeric(user) if user else 0
    try:
        known = users(image.passwd or "")
    except UnreadableError:
        return None
    account = known.by_name.get(user) if number is None else known.by_uid.get(number)
    if account is not None:
        number = account.uid
    gid = account.gid if account is not None else 0
    if group:
        named_group = numeric(group)
        found = Accounts(None, image.group).gid_named(group) if named_group is None else named_group
        if found is None:
            return None
        gid = found
    elif image.passwd is None and number != 0:
        return None
    if number is None or not 0 <= number <= HIGHEST or not 0 <= gid <= HIGHEST:
        return None
    return ImageUser(number, gid, named=numeric(user) is None and bool(user))


def with_user(
    container: dict[str, Any], workload: Workload, images: Mapping[str, ImageFacts], *, always: bool
) -> tuple[dict[str, Any], str, tuple[Finding, ...]]:
    """Return an injected container with the user that it states, what to add to the reason of its edit, and CC0813.

    images: by the reference exactly as the pod names it. always: as for `stated_user`.
    """
    pod, image = mapping(workload.pod_spec.get("securityContext")), container["image"]
    facts = images.get(image)
    own = image_user(facts) if facts else None
    if facts is None or own is None:
        where = (*workload.spec_path, "securityContext")
        code = "CC0813.user" if facts else "CC0813.lock"
        unknown = finding(code, workload.ref, where, container=container["name"], image=image)
        return container, "", (unknown,) if sets_user(pod) else ()
    stated = stated_user(own, facts, pod, always=always)
    if not stated:
        return container, "", ()
    said = f"; it runs as user {own.uid} and group {own.gid} of its image"
    said += ", not as the pod's securityContext says" if sets_user(pod) else ""
    return {**container, "securityContext": {**container["securityContext"], **stated}}, said, ()


def stated_user(own: ImageUser, image: ImageFacts, pod: Mapping[str, Any], *, always: bool) -> dict[str, Any]:
    """Return what an injected container adds to its securityContext; {} if it runs as its image says without it.

    own: the user of `image`. pod: the pod's securityContext. always: the policy profile takes no user other than root
    that the pod does not state (kata-4.1).
    """
    ids = (own.uid, own.gid)
    if not (always and ids != ROOT):
        if not sets_user(pod):
            return {}
        found = effective_identity(image, {}, pod)
        same = isinstance(found, Identity) and (found.uid, found.gid) == ids
        unknown = own.named and pod.get("runAsUser") is None
        if same and not (pod.get("runAsNonRoot") and (own.uid == 0 or unknown)):
            return {}
    stated: dict[str, Any] = {"runAsUser": own.uid, "runAsGroup": own.gid}
    return stated if own.uid else {**stated, "runAsNonRoot": False}
