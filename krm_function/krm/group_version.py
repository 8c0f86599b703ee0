"""Read an apiVersion as Kubernetes' own programs read it: `v1`, `/v1` and `apps/v1` are a group and a version.

Rule of this file: it is the one place that takes an apiVersion apart or compares two; a text that Kubernetes refuses is
equal to itself alone. Source: docs/facts/kubernetes.md#group-and-version; tests/cluster holds it against the real ones.
"""

from krm_function.record import NamedTuple


class GroupVersion(NamedTuple):
    """A group, "" for the core one, and a version. Only "" and "/" have neither; no API server has such a version."""

    group: str
    version: str

    def __str__(self) -> str:
        """Write `v1`, `apps/v1`, and "" for neither."""
        return f"{self.group}/{self.version}" if self.group else self.version


def parse_group_version(api_version: str) -> GroupVersion | None:
    """Return the group and the version of an apiVersion, None for one that Kubernetes refuses: two slashes or more.

    >>> parse_group_version("/v1") == parse_group_version("v1") == GroupVersion("", "v1")
    True
    """
    group, _, version = api_version.rpartition("/")
    return None if "/" in group else GroupVersion(group, version)


def plain_api_version(api_version: str) -> str:
    """Return the ordinary spelling of an apiVersion: two that mean the same group and version give the same text."""
    if not api_version.startswith("/"):
        return api_version
    parsed = parse_group_version(api_version)
    return api_version if parsed is None else str(parsed)
