"""Compute user, group and supplementary groups of a container as genpolicy 4.1 does, for profile kata-4.1.

A container's runAsUser and runAsGroup replace the pod's before anything is derived from either, as in the kubelet.
genpolicy merges last and keeps groups that no host requests.

Rule of this file: with guest pull the host does not know the image's passwd, so an identity other than root that is not
spelled out in the pod is refused, as genpolicy does since 4.0. The finding names a sufficient securityContext.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from krm_function.api.records import ImageFacts
from krm_function.findings import Cause
from krm_function.record import NamedTuple


class Identity(NamedTuple):
    """The User block of a process."""

    uid: int
    gid: int
    groups: tuple[int, ...]

    @property
    def data(self) -> dict[str, Any]:
        """The JSON object of policy_data."""
        return {"UID": self.uid, "GID": self.gid, "AdditionalGids": list(self.groups), "Username": ""}


class Accounts:
    """The passwd and group files of an image. A file with one odd line counts as missing, as in genpolicy."""

    __slots__ = ("groups", "usable", "users")

    def __init__(self, passwd: str | None, group: str | None) -> None:
        """Parse both files; None is an absent one."""
        self.users = _table(passwd, 7, (2, 3))
        self.groups = _table(group, 4, (2,))
        self.usable = bool(self.users and self.groups)

    def uid_of(self, name: str) -> int | None:
        """Return the uid of a user name, None if there is none."""
        return next((int(row[2]) for row in self.users if row[0] == name), None)

    def gid_of(self, uid: int) -> int | None:
        """Return the primary group of a uid, None if it has no user."""
        return next((int(row[3]) for row in self.users if int(row[2]) == uid), None)

    def gid_named(self, name: str) -> int | None:
        """Return the gid of a group name, None if there is none."""
        return next((int(row[2]) for row in self.groups if row[0] == name), None)

    def groups_of(self, uid: int) -> set[int]:
        """Return the groups that list the first user of this uid as a member."""
        if not self.usable:
            return set()
        name = next((row[0] for row in self.users if int(row[2]) == uid), None)
        return {int(row[2]) for row in self.groups if name in row[3].split(",") and row[0] != name} if name else set()


@lru_cache(maxsize=64)
def _read(passwd: str | None, group: str | None) -> Accounts:
    """Parse the accounts of an image; cached, because each container needs them several times."""
    return Accounts(passwd, group)


def identity(
    image: ImageFacts, container: Mapping[str, Any], pod: Mapping[str, Any], *, pause: bool = False
) -> Identity:
    """Return the identity a container runs as. container and pod: their securityContext."""
    accounts = _read(image.passwd, image.group)
    user = image.config.get("User") or ""
    uid, gid, groups = _of_image(user, accounts, pause=pause)
    if not pause:
        groups = groups | {gid}
    own_user, own_group = (security_value(key, container, pod) for key in ("runAsUser", "runAsGroup"))
    if own_user is not None:
        uid = own_user
    if own_group is not None:
        gid, groups = own_group, {own_group}
    elif own_user is not None:
        gid = accounts.gid_of(uid) or 0
        groups = {gid}
    if not pause or (not user and own_user is None and own_group is None):
        groups = groups | explicit_groups(pod)
    if pod.get("supplementalGroupsPolicy") != "Strict":
        groups = groups | accounts.groups_of(uid)
    return Identity(uid, gid, tuple(sorted(groups)))


def security_value(key: str, container: Mapping[str, Any], pod: Mapping[str, Any]) -> int | None:
    """Return a field of securityContext: the container's if set, else the pod's."""
    value: int | None = container.get(key)
    return pod.get(key) if value is None else value


def explicit_groups(pod: Mapping[str, Any]) -> set[int]:
    """Return the groups that a pod's securityContext names."""
    groups = set(pod.get("supplementalGroups") or ())
    return groups if pod.get("fsGroup") is None else groups | {pod["fsGroup"]}


def unresolved_user(image: ImageFacts, container: Mapping[str, Any], pod: Mapping[str, Any]) -> str:
    """Return the image's user if the container runs as it and its number is unknown; else "".

    genpolicy uses root in its place, which has more rights than the image needs.
    """
    user = image.config.get("User") or ""
    parts = user.split(":")
    if (
        security_value("runAsUser", container, pod) is not None
        or not parts[0]
        or (parts[0].isdecimal() and len(parts) <= 2)
    ):
        return ""
    return "" if len(parts) <= 2 and _read(image.passwd, image.group).uid_of(parts[0]) is not None else user


def guest_pull_refusal(
    found: Identity, image: ImageFacts, container: Mapping[str, Any], pod: Mapping[str, Any]
) -> Cause | None:
    """Return why guest pull cannot run a workload container, None if it can. found: its identity."""
    user, group = (security_value(key, container, pod) for key in ("runAsUser", "runAsGroup"))
    problems: list[str] = []
    if found.uid not in (0, user):
        problems.append(f"user {found.uid}")
    if found.gid not in (0, group):
        problems.append(f"group {found.gid}")
    of_groups = not problems  # the user and its group are stated, or root's
    unnamed = _unnamed(found, pod)
    if unnamed:
        problems.append(f"supplementary groups {_comma_separated(unnamed)}")
    if not problems:
        return None
    # spelled out, the identity may belong to still other groups: name them as well
    gid = found.gid if group is not None else _wanted_group(found, image)
    wanted = {} if of_groups and gid == found.gid else {"runAsUser": found.uid}
    if wanted and gid is not None:
        wanted["runAsGroup"] = gid
    unnamed = _unnamed(identity(image, {**container, **wanted}, pod), pod)
    lacking = [f"{key}: {value}" for key, value in wanted.items() if container.get(key) != value]
    remedies = [f"set {{{', '.join(lacking)}}} in the container's securityContext"] if lacking else []
    if gid is None:
        name = _group_of(image)
        remedies.append(f"set runAsGroup in the container's securityContext to the number of the image's group {name}")
    if unnamed:
        groups = _comma_separated({*(pod.get("supplementalGroups") or ()), *unnamed})
        remedies.append(f"set {{supplementalGroups: [{groups}]}} in the pod's securityContext")
    return Cause("CC0604.unnamed", {"identity": " and ".join(problems), "remedy": " and ".join(remedies)})


def _wanted_group(found: Identity, image: ImageFacts) -> int | None:
    """Return the group to suggest for a pod that names none; None if it is a name whose number is unknown.

    It is the group of the image's user, if the container runs as that user. genpolicy and the nodes ignore it unless
    the pod names it, but the image was made for it.
    """
    accounts, name = _read(image.passwd, image.group), _group_of(image)
    uid, _, _ = _of_image(image.config.get("User") or "", accounts, pause=False)
    if not name or uid != found.uid:
        return found.gid
    return _number(name) if name.isdecimal() else accounts.gid_named(name)


def _group_of(image: ImageFacts) -> str:
    """Return the group part of the image's user: a number, a name or ""."""
    return str(image.config.get("User") or "").partition(":")[2]


def _unnamed(found: Identity, pod: Mapping[str, Any]) -> set[int]:
    return set(found.groups) - {found.gid} - explicit_groups(pod)


def _comma_separated(groups: set[int]) -> str:
    return ", ".join(map(str, sorted(groups)))


def _of_image(user: str, accounts: Accounts, *, pause: bool) -> tuple[int, int, set[int]]:
    """Resolve the User of an image's config to uid, gid and groups."""
    if not user:
        return 0, 0, set()
    parts = user.split(":")
    uid = _uid(parts[0], accounts) if len(parts) <= 2 else 0
    gid = None
    if pause and len(parts) == 2:
        gid = _number(parts[1]) if parts[1].isdecimal() else accounts.gid_named(parts[1])
    gid = accounts.gid_of(uid) if gid is None else gid
    return (uid, 0, set()) if gid is None else (uid, gid, {gid})


def _uid(name: str, accounts: Accounts) -> int:
    return _number(name) if name.isdecimal() else (accounts.uid_of(name) or 0)


def _number(digits: str) -> int:
    """Return a number; one out of range stays out of range, however many digits it has."""
    return int(digits.lstrip("0")[:21] or "0")


def _table(text: str | None, fields: int, numbers: tuple[int, ...]) -> list[list[str]]:
    """Return the rows of a colon-separated file; [] if a row has other fields or a non-number in `numbers`."""
    rows = [line.split(":") for line in (text or "").splitlines()]
    good = all(
        len(row) == fields and all(row[index].isdecimal() and len(row[index]) < 20 for index in numbers) for row in rows
    )
    return rows if good else []
