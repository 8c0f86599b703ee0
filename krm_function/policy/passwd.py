"""Parse the passwd and group files of an image as containerd does.

Both are read line by line, without an error for a malformed line: white space around a line is dropped and empty lines
are skipped; missing fields are empty, further ones are ignored; a malformed number is 0. In group, and only there, a
line that begins with # is a comment. Of several lines for one name or number, the first counts.

Rule of this file: what containerd cannot read is unreadable here, too; nothing else is.
Source: ParsePasswdFilter and ParseGroupFilter of github.com/moby/sys/user 0.3.0 to 0.5.0, and pkg/oci/spec_opts.go of
github.com/containerd/containerd 2.0 to 2.4.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from krm_function.record import NamedTuple

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
    for line in _lines(passwd, "passwd", LONGEST_USER):
        name, _, uid, gid = _fields(line)
        user = User(name, numeric(uid) or 0, numeric(gid) or 0)
        by_name.setdefault(user.name, user)
        by_uid.setdefault(user.uid, user)
    return Users(by_name, by_uid)


@lru_cache(maxsize=64)
def memberships(group: str) -> Mapping[str, frozenset[int]]:
    """Parse /etc/group: user name -> groups that list it, its own-named group left out. Raises UnreadableError."""
    found: dict[str, set[int]] = {}
    for line in _lines(group, "group", LONGEST_GROUP):
        if line.startswith("#"):
            continue
        name, _, gid, members = _fields(line)
        for member in members.split(",") if members else ():
            if member != name:
                found.setdefault(member, set()).add(numeric(gid) or 0)
    return {member: frozenset(gids) for member, gids in found.items()}


def numeric(text: str) -> int | None:
    """Parse a decimal number as Go's strconv.Atoi does, None if it is not one; one out of range stays out of range.

    Go stops where the number exceeds 64 bits and ignores what follows: 99999999999999999999x is out of range.
    """
    found = _NUMBER.match(text)
    if found is None or found.end() == found.end(1):
        return None
    value = int(found[3][:21] or "0")
    if found.end() < len(text) and value < 1 << 64:
        return None
    return -value if found[1] == "-" else value


def _fields(line: str) -> list[str]:
    """Return the first four fields of a line, "" for missing ones."""
    return [*line.split(":", 4)[:4], "", "", ""][:4]


def _lines(text: str, name: str, longest: int) -> Iterator[str]:
    if len(text) * 4 > LONGEST_FILE and len(text.encode()) > LONGEST_FILE:
        raise UnreadableError(f"/etc/{name} has more than {LONGEST_FILE} bytes")
    for whole in text.split("\n"):
        if len(whole) * 4 > longest and len(whole.encode()) > longest:
            raise UnreadableError(f"/etc/{name} has a line of more than {longest} bytes")
        line = whole.strip(_SPACE)
        if line:
            yield line
