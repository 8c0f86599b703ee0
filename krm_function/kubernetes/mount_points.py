"""Say which path a mount covers: the path that is left when Kubernetes and the runtime have cleaned it.

Rule of this file: who compares a mountPath with a guarded place asks here, and not the text. A relative path
is one below /, `.` and empty parts go, `..` takes a part away and ends at /. A subPath chooses what is mounted, not
where. Where /usr is merged, /bin and /usr/bin are one directory, so they are one here. Other symbolic links of an image
are not known. Source: docs/facts/kubernetes.md#mount-points.
"""

from fnmatch import fnmatchcase

MERGED = frozenset(("bin", "sbin", "lib", "lib32", "lib64"))  # directories of / that are links into /usr, or may be

Parts = tuple[str, ...]


def mount_point(path: str) -> str:
    """Return the absolute path that a mount at `path` covers.

    >>> [mount_point(path) for path in ("//contrast/", "/x/../contrast", "contrast/.", "/..")]
    ['/contrast', '/contrast', '/contrast', '/']
    """
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def covers(mount: str, place: str) -> bool:
    """Tell whether what is mounted decides what is at `place`: it is mounted there or above. Both may be of any form.

    place: its parts may be patterns with `*`.
    """
    above, whole = _parts(mount), _parts(place)
    if above == ("usr",) and MERGED.intersection(whole[:1]):
        return True
    return len(above) <= len(whole) and all(map(_fits, above, whole))


def deciding(place: str) -> list[str]:
    """Return all mount points that decide about a place, as `plain_point` writes them: for many questions about one."""
    parts = _parts(place)
    points = ["/" + "/".join(parts[:count]) for count in range(len(parts) + 1)]
    return [*points, "/usr"] if MERGED.intersection(parts[:1]) else points


def plain_point(mount: str) -> str:
    """Return the path that a mount covers, without the /usr of a directory that is merged into it."""
    return "/" + "/".join(_parts(mount))


def touches(mount: str, tree: str) -> bool:
    """Tell whether what is mounted decides about anything in a directory: it covers it, or is mounted below."""
    return covers(mount, tree) or covers(tree, mount)


def _fits(part: str, wanted: str) -> bool:
    return part == wanted or fnmatchcase(part, wanted)


def _parts(path: str) -> Parts:
    parts = tuple(part for part in mount_point(path).split("/") if part)
    return parts[1:] if parts[:1] == ("usr",) and parts[1:2] and parts[1] in MERGED else parts
