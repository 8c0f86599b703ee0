"""The user and groups of a container, as genpolicy and as containerd compute them."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from krm_function.config.image_lock import ImageFacts, unknown_accounts
from krm_function.findings import Cause, Finding, finding
from krm_function.kubernetes.objects import mapping
from krm_function.kubernetes.workload import Workload, sets_user
from krm_function.policy.pod_metadata import PodMetadata, problem
from krm_function.record import NamedTuple

# --- Parse the passwd and group files of an image as containerd does
#
# Both are read line by line, without an error for a malformed line: white space around a line is dropped and empty
# lines are skipped; missing fields are empty, further ones are ignored; a malformed number is 0. In group, and only
# there, a line that begins with # is a comment. Of several lines for one name or number, the first counts.
#
# Rule: what containerd cannot read is unreadable here, too; nothing else is.
# Source: ParsePasswdFilter and ParseGroupFilter of github.com/moby/sys/user 0.3.0 to 0.5.0, and pkg/oci/spec_opts.go of
# github.com/containerd/containerd 2.0 to 2.4.


LONGEST_FILE = 10 << 20  # bytes, of either file
LONGEST_USER = (64 << 10) - 1  # bytes of a line of passwd
LONGEST_GROUP = (1 << 20) - 1  # of group
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_NUMBER = re.compile("([+-]?)(0*)([0-9]*)")


class UnreadableError(Exception):
    """A file that containerd refuses; the message says why: `/etc/passwd has a line of more than ...`."""


class User(NamedTuple):
    """A line of passwd."""

    name: str
    uid: int
    gid: int


class Users(NamedTuple):
    """The users of an image: the first line of each name, and of each number."""

    by_name: Mapping[str, User]
    by_uid: Mapping[int, User]


@lru_cache(maxsize=64)
def users(passwd: str) -> Users:
    """Parse /etc/passwd; cached for the containers of an image. Raises UnreadableError."""
    by_name: dict[str, User] = {}
    by_uid: dict[int, User] = {}
    for line in _read_lines(passwd, "passwd", LONGEST_USER):
        name, _, uid, gid = _split_fields(line)
        user = User(name, numeric(uid) or 0, numeric(gid) or 0)
        by_name.setdefault(user.name, user)
        by_uid.setdefault(user.uid, user)
    return Users(by_name, by_uid)


@lru_cache(maxsize=64)
def memberships(group: str) -> Mapping[str, frozenset[int]]:
    """Parse /etc/group: user name -> groups that list it, its own-named group left out. Raises UnreadableError."""
    groups_of_users: dict[str, set[int]] = {}
    for line in _read_lines(group, "group", LONGEST_GROUP):
        if line.startswith("#"):
            continue
        name, _, gid, members = _split_fields(line)
        for member in members.split(",") if members else ():
            if member != name:
                groups_of_users.setdefault(member, set()).add(numeric(gid) or 0)
    return {member: frozenset(gids) for member, gids in groups_of_users.items()}


def numeric(text: str) -> int | None:
    """Parse a decimal number as Go's strconv.Atoi does, None if it is not one; one out of range stays out of range.

    Go stops where the number exceeds 64 bits and ignores what follows: 99999999999999999999x is out of range.
    """
    match = _NUMBER.match(text)
    if match is None or match.end() == match.end(1):
        return None
    value = int(match[3][:21] or "0")
    if match.end() < len(text) and value < 1 << 64:
        return None
    return -value if match[1] == "-" else value


def _split_fields(line: str) -> list[str]:
    """Return four fields, "" for missing ones."""
    return [*line.split(":", 4)[:4], "", "", ""][:4]


def _read_lines(text: str, name: str, longest: int) -> Iterator[str]:
    if len(text) * 4 > LONGEST_FILE and len(text.encode()) > LONGEST_FILE:
        raise UnreadableError(f"/etc/{name} has more than {LONGEST_FILE} bytes")
    for whole in text.split("\n"):
        if len(whole) * 4 > longest and len(whole.encode()) > longest:
            raise UnreadableError(f"/etc/{name} has a line of more than {longest} bytes")
        line = whole.strip(_SPACE)
        if line:
            yield line


# --- Compute user, group and supplementary groups of a container as genpolicy 4.1 does, for profile kata-4.1
#
# A container's runAsUser and runAsGroup replace the pod's before anything is derived from either, as in the kubelet.
# genpolicy merges last and keeps groups that no host requests.
#
# Rule: with guest pull the host does not know the image's passwd, so an identity other than root that is
# not spelled out in the pod is refused, as genpolicy does since 4.0. The finding names a sufficient securityContext.


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
        self.users = _parse_table(passwd, 7, (2, 3))
        self.groups = _parse_table(group, 4, (2,))
        self.usable = bool(self.users and self.groups)

    def uid_of(self, name: str) -> int | None:
        """Return the uid of a user name, None if it is unknown."""
        return next((int(row[2]) for row in self.users if row[0] == name), None)

    def gid_of(self, uid: int) -> int | None:
        """Return the primary group of a uid, None if it has no user."""
        return next((int(row[3]) for row in self.users if int(row[2]) == uid), None)

    def gid_named(self, name: str) -> int | None:
        """Return the gid of a group name, None if it is unknown."""
        return next((int(row[2]) for row in self.groups if row[0] == name), None)

    def groups_of(self, uid: int) -> set[int]:
        """Return the groups that list the first user of this uid as a member."""
        if not self.usable:
            return set()
        name = next((row[0] for row in self.users if int(row[2]) == uid), None)
        return {int(row[2]) for row in self.groups if name in row[3].split(",") and row[0] != name} if name else set()


@lru_cache(maxsize=64)
def _read(passwd: str | None, group: str | None) -> Accounts:
    return Accounts(passwd, group)


def identity(
    image: ImageFacts, container: Mapping[str, Any], pod: Mapping[str, Any], *, pause: bool = False
) -> Identity:
    """Return the identity a container runs as. container and pod: their securityContext."""
    accounts = _read(image.passwd, image.group)
    user = image.config.get("User") or ""
    uid, gid, groups = _image_ids(user, accounts, pause=pause)
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
    user_identity: Identity, image: ImageFacts, container: Mapping[str, Any], pod: Mapping[str, Any]
) -> Cause | None:
    """Return why guest pull cannot run a workload container, None if it can. user_identity: its own."""
    user, group = (security_value(key, container, pod) for key in ("runAsUser", "runAsGroup"))
    problems: list[str] = []
    if user_identity.uid not in (0, user):
        problems.append(f"user {user_identity.uid}")
    if user_identity.gid not in (0, group):
        problems.append(f"group {user_identity.gid}")
    of_groups = not problems  # the user and its group are stated, or root's
    unnamed = _groups_not_named(user_identity, pod)
    if unnamed:
        problems.append(f"supplementary groups {_comma_separated(unnamed)}")
    if not problems:
        return None
    # spelled out, the identity may belong to still other groups: name them, too
    gid = user_identity.gid if group is not None else _suggest_group(user_identity, image)
    to_state = {} if of_groups and gid == user_identity.gid else {"runAsUser": user_identity.uid}
    if to_state and gid is not None:
        to_state["runAsGroup"] = gid
    unnamed = _groups_not_named(identity(image, {**container, **to_state}, pod), pod)
    lacking = [f"{key}: {value}" for key, value in to_state.items() if container.get(key) != value]
    remedies = [f"set {{{', '.join(lacking)}}} in the container's securityContext"] if lacking else []
    if gid is None:
        name = _group_of(image)
        remedies.append(f"set runAsGroup in the container's securityContext to the number of the image's group {name}")
    if unnamed:
        groups = _comma_separated({*(pod.get("supplementalGroups") or ()), *unnamed})
        remedies.append(f"set {{supplementalGroups: [{groups}]}} in the pod's securityContext")
    return Cause("CC0604.unnamed", {"identity": " and ".join(problems), "remedy": " and ".join(remedies)})


def _suggest_group(user_identity: Identity, image: ImageFacts) -> int | None:
    """Return the group to suggest for a pod that names none; None if it is a name whose number is unknown.

    It is the group of the image's user, if the container runs as that user. genpolicy and the nodes ignore it unless
    the pod names it, but the image was made for it.
    """
    accounts, name = _read(image.passwd, image.group), _group_of(image)
    uid, _, _ = _image_ids(image.config.get("User") or "", accounts, pause=False)
    if not name or uid != user_identity.uid:
        return user_identity.gid
    return _parse_number(name) if name.isdecimal() else accounts.gid_named(name)


def _group_of(image: ImageFacts) -> str:
    return str(image.config.get("User") or "").partition(":")[2]


def _groups_not_named(user_identity: Identity, pod: Mapping[str, Any]) -> set[int]:
    return set(user_identity.groups) - {user_identity.gid} - explicit_groups(pod)


def _comma_separated(groups: set[int]) -> str:
    return ", ".join(map(str, sorted(groups)))


def _image_ids(user: str, accounts: Accounts, *, pause: bool) -> tuple[int, int, set[int]]:
    if not user:
        return 0, 0, set()
    parts = user.split(":")
    uid = _resolve_uid(parts[0], accounts) if len(parts) <= 2 else 0
    gid = None
    if pause and len(parts) == 2:
        gid = _parse_number(parts[1]) if parts[1].isdecimal() else accounts.gid_named(parts[1])
    gid = accounts.gid_of(uid) if gid is None else gid
    return (uid, 0, set()) if gid is None else (uid, gid, {gid})


def _resolve_uid(name: str, accounts: Accounts) -> int:
    return _parse_number(name) if name.isdecimal() else (accounts.uid_of(name) or 0)


def _parse_number(digits: str) -> int:
    # A number that is out of range stays out of range, however many digits it has
    return int(digits.lstrip("0")[:21] or "0")


def _parse_table(text: str | None, fields: int, numbers: tuple[int, ...]) -> list[list[str]]:
    """Return [] if a row has another number of fields, or a non-number in a column of `numbers`."""
    rows = [line.split(":") for line in (text or "").splitlines()]
    good = all(
        len(row) == fields and all(row[index].isdecimal() and len(row[index]) < 20 for index in numbers) for row in rows
    )
    return rows if good else []


# --- Compute the identity of a container on a Contrast node, where what the pod omits comes from the image
#
# The kubelet passes a user to containerd, and a group only if the pod names one. containerd looks both up in the image:
#
#     runAsUser   User of the image   user that containerd gets
#     1000        any                 1000
#     none        1000, 1000:2000     1000    the image's group is ignored
#     none        web, web:www        web     of the image's passwd; one that it does not have is an error
#     none        none, :2000         0
#
#     runAsGroup   group of the process
#     2000         2000
#     none         that of the user in the image's passwd, else 0
#
#     supplementalGroupsPolicy   supplementary groups
#     Merge                      the group of the process, supplementalGroups, fsGroup, and every group of the image's
#                                group file that lists the user's name, the group of that name left out
#     Strict                     the same without those of the image
#
# Rule: the result is containerd's, or the reason why it is uncertain. Ids are numbers from 0 to 2^31-1;
# versions of containerd treat others differently, so they are refused.


HIGHEST = 2**31 - 1


def effective_identity(image: ImageFacts, container: Mapping[str, Any], pod: Mapping[str, Any]) -> Identity | Cause:
    """Return the identity of a workload container, or why it has none: CC0604 with a variant.

    container and pod: their securityContext. Files that the image does not have are "" or None.
    """
    run_as_user = security_value("runAsUser", container, pod)
    user = _user_of(image) if run_as_user is None else run_as_user
    if isinstance(user, int) and not 0 <= user <= HIGHEST:
        if run_as_user is None:
            return _out_of_range_cause("CC0604.image-user-range", image.config["User"])
        return _out_of_range_cause("CC0604.user-range", user)
    group = security_value("runAsGroup", container, pod)
    try:
        if isinstance(user, int):
            uid, gid = user, _gid_of(user, image) if group is None else group
        else:
            account = users(image.passwd or "").by_name.get(user)
            if account is None:
                return Cause("CC0604.user-name", {"user": image.config["User"]})
            uid, gid = account.uid, account.gid if group is None else group
        strict = pod.get("supplementalGroupsPolicy") == "Strict"
        implied = frozenset() if strict else _groups_of(user, image)
    except UnreadableError as problem:
        return Cause("CC0604.accounts", {"error": str(problem), "accounts": str(problem).split()[0]})
    if not 0 <= uid <= HIGHEST:
        return _out_of_range_cause("CC0604.implied-user-range", uid)
    if not 0 <= gid <= HIGHEST:
        return _out_of_range_cause("CC0604.implied-group-range" if group is None else "CC0604.group-range", gid)
    explicit = explicit_groups(pod)
    for groups, code in ((explicit, "CC0604.groups-range"), (implied, "CC0604.implied-groups-range")):
        if out_of_range := [gid for gid in sorted(groups) if not 0 <= gid <= HIGHEST]:
            return _out_of_range_cause(code, out_of_range[0])
    return Identity(uid, gid, tuple(sorted({gid, *explicit, *implied})))


def unknown_users(pod: PodMetadata, images: Mapping[str, ImageFacts]) -> list[Finding]:
    """Return CC0508 for every container whose identity depends on accounts that its entry of the ImageLock lacks.

    images: by the reference exactly as the pod names it; references without an entry are ignored here.
    """
    context = pod.spec.get("securityContext") or {}
    findings = []
    for at, container in pod.containers:
        image = images.get(container["image"])
        missing = unknown_accounts(image) if image else ""
        if missing and not _is_set_by_pod(container.get("securityContext") or {}, context):
            findings.append(problem(pod, (*at, "image"), "CC0508", image=container["image"], missing=missing))
    return findings


def _is_set_by_pod(container: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    has_both = all(security_value(key, container, pod) is not None for key in ("runAsUser", "runAsGroup"))
    return has_both and pod.get("supplementalGroupsPolicy") == "Strict"


def _user_of(image: ImageFacts) -> int | str:
    """Return the image's user as the kubelet passes it on: a number or a name, 0 if absent."""
    user = (image.config.get("User") or "").partition(":")[0]
    number = numeric(user) if user else 0
    return user if number is None else number


def _gid_of(uid: int, image: ImageFacts) -> int:
    user = users(image.passwd or "").by_uid.get(uid)
    return user.gid if user else 0


def _groups_of(user: int | str, image: ImageFacts) -> frozenset[int]:
    """Return the groups that list a user. A number has the name of its first line in passwd."""
    if isinstance(user, int):
        account = users(image.passwd or "").by_uid.get(user)
        if account is None:
            return frozenset()
        user = account.name
    return memberships(image.group or "").get(user, frozenset())


def _out_of_range_cause(code: str, number: int | str) -> Cause:
    return Cause(code, {"number": number, "limit": HIGHEST})


# --- Choose the user and group that an injected container states, so that it runs as its image says in every pod
#
# The kubelet gives a container without runAsUser, runAsGroup and runAsNonRoot those of the pod. They are meant for the
# containers of the pod's author; the injected ones were built for the user of their own image.
#
#     the pod sets                               the injected container states
#     none of the three                          nothing
#     what the image has anyway                  nothing
#     another user or group                      runAsUser and runAsGroup of the image
#     runAsNonRoot: true, and the image is root  these, and runAsNonRoot: false: the kubelet refuses it otherwise
#     runAsNonRoot: true, and the image has a    these: the kubelet refuses a user of unknown number
#     user by name, and the pod no runAsUser
#
# Rule: numbers only, of the image's configuration; what it does not say comes from the image's accounts.
# supplementalGroups and fsGroup have no field in a container, so the pod's hold for injected containers, too.
# Source: docs/facts/kubernetes.md#security-context.


ROOT = (0, 0)


class ImageUser(NamedTuple):
    """The user and group in the configuration of an image. by_name: whether it names the user."""

    uid: int
    gid: int
    by_name: bool


def image_user(image: ImageFacts) -> ImageUser | None:
    """Return the user and group of an image: root without a User; None if a number is not known or out of range.

    The group is after the colon. Without one, it is the user's in /etc/passwd, or 0 for an unknown user.
    """
    user, _, group = str(image.config.get("User") or "").partition(":")
    number = numeric(user) if user else 0
    try:
        accounts = users(image.passwd or "")
    except UnreadableError:
        return None
    account = accounts.by_name.get(user) if number is None else accounts.by_uid.get(number)
    if account is not None:
        number = account.uid
    gid = account.gid if account is not None else 0
    if group:
        named_group = numeric(group)
        group_id = Accounts(None, image.group).gid_named(group) if named_group is None else named_group
        if group_id is None:
            return None
        gid = group_id
    elif image.passwd is None and number != 0:
        return None
    if number is None or not 0 <= number <= HIGHEST or not 0 <= gid <= HIGHEST:
        return None
    return ImageUser(number, gid, by_name=numeric(user) is None and bool(user))


def with_user(
    container: dict[str, Any], workload: Workload, images: Mapping[str, ImageFacts], *, always: bool
) -> tuple[dict[str, Any], str, tuple[Finding, ...]]:
    """Return an injected container with the user that it states, what to add to the reason of its edit, and CC0813.

    images: by the reference exactly as the pod names it. always: as for `stated_user`.
    """
    pod, image = mapping(workload.pod_spec.get("securityContext")), container["image"]
    facts = images.get(image)
    image_account = image_user(facts) if facts else None
    if facts is None or image_account is None:
        where = (*workload.spec_path, "securityContext")
        code = "CC0813.user" if facts else "CC0813.lock"
        unknown = finding(code, workload.ref, where, container=container["name"], image=image)
        return container, "", (unknown,) if sets_user(pod) else ()
    stated = stated_user(image_account, facts, pod, always=always)
    if not stated:
        return container, "", ()
    note = f"; it runs as user {image_account.uid} and group {image_account.gid} of its image"
    note += ", not as the pod's securityContext says" if sets_user(pod) else ""
    return {**container, "securityContext": {**container["securityContext"], **stated}}, note, ()


def stated_user(user: ImageUser, image: ImageFacts, pod: Mapping[str, Any], *, always: bool) -> dict[str, Any]:
    """Return what an injected container adds to its securityContext; {} if it runs as its image says without it.

    user: of `image`. pod: the pod's securityContext. always: the policy profile takes no user other than root
    that the pod does not state (kata-4.1).
    """
    ids = (user.uid, user.gid)
    if not (always and ids != ROOT):
        if not sets_user(pod):
            return {}
        answer = effective_identity(image, {}, pod)
        same = isinstance(answer, Identity) and (answer.uid, answer.gid) == ids
        unknown = user.by_name and pod.get("runAsUser") is None
        if same and not (pod.get("runAsNonRoot") and (user.uid == 0 or unknown)):
            return {}
    stated: dict[str, Any] = {"runAsUser": user.uid, "runAsGroup": user.gid}
    return stated if user.uid else {**stated, "runAsNonRoot": False}
