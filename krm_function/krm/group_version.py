"""Read an apiVersion as Kubernetes' own programs read it: `v1`, `/v1` and `apps/v1` are a group and a version.

Rule of this file: only this file splits or compares apiVersions; a text that Kubernetes refuses equals only itself.
Source: docs/facts/kubernetes.md#group-and-version; tests/cluster compares it with the real programs.
"""


def parse_group_version(api_version: str) -> tuple[str, str] | None:
    """Return the group and the version of an apiVersion, None for one that Kubernetes refuses: two slashes or more.

    The core group is "". Only "" and "/" have neither; no API server has such a version.

    >>> parse_group_version("/v1"), parse_group_version("apps/v1")
    (('', 'v1'), ('apps', 'v1'))
    """
    group, _, version = api_version.rpartition("/")
    return None if "/" in group else (group, version)


def plain_api_version(api_version: str) -> str:
    """Return the ordinary spelling of an apiVersion: two that mean the same group and version give the same text."""
    return api_version[1:] if api_version.startswith("/") and api_version.count("/") == 1 else api_version
