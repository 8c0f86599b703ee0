"""Objects of a live cluster, through the `kubernetes` client: an optional extra, for `--cluster` of `plan` and `check`.

Rule of this file: one GET of the nodes, or one of each object; no write, no retry storm; and nothing of a kubeconfig
but the name of its context ever reaches a message.
"""

from collections.abc import Callable, Iterable, Mapping
from json import loads
from types import MappingProxyType
from typing import Any

from krm_function.findings import Finding, Ref, finding
from krm_function.record import NamedTuple

TIMEOUT = (5, 30)  # seconds to connect, and to wait for bytes
HOW: Mapping[str, Any] = MappingProxyType({"_preload_content": False, "_request_timeout": TIMEOUT})
ABSENT = 404


class ClusterNodes(NamedTuple):
    """document: a NodeList as plain data. context: the name of the kubeconfig context it came from."""

    document: Any = None
    context: str = ""
    findings: tuple[Finding, ...] = ()


def read_cluster_nodes() -> ClusterNodes:
    """The nodes of the current context of the kubeconfig, or of the cluster this runs in. Never raises."""
    read = _asked(lambda client: loads(client.CoreV1Api().list_node(**HOW).data))
    return ClusterNodes(*read)


class ClusterObjects(NamedTuple):
    """objects: as plain data, None for one that is not there. context: the name of the kubeconfig context."""

    objects: Mapping[Ref, Any] | None = None
    context: str = ""
    findings: tuple[Finding, ...] = ()


def read_cluster_objects(refs: Iterable[Ref]) -> ClusterObjects:
    """The objects of the current context; a namespace that an object does not name is `default`. Never raises."""
    return ClusterObjects(*_asked(lambda client: {ref: _object(client, ref) for ref in refs}))


def _object(client: Any, ref: Ref) -> Any:
    group = "CoreV1Api" if ref.api_version == "v1" else "BatchV1Api" if ref.api_version == "batch/v1" else "AppsV1Api"
    kind = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in ref.kind)
    read = getattr(getattr(client, group)(), f"read_namespaced{kind}")
    try:
        return loads(read(ref.name, ref.namespace or "default", **HOW).data)
    except client.ApiException as problem:
        if problem.status == ABSENT:
            return None
        raise


def _asked(ask: Callable[[Any], Any]) -> tuple[Any, str, tuple[Finding, ...]]:
    """The answer and the name of the context; or None, and a finding. ask: is given the client."""
    try:
        from kubernetes import client, config
        from urllib3.exceptions import HTTPError
    except ImportError:
        from krm_function.cli.extras import not_installed

        return None, "", (not_installed("--cluster", "kubernetes", "cluster"),)
    import logging

    logging.getLogger("urllib3").setLevel(logging.ERROR)  # its retries would go to standard error
    try:
        context = _context(config)
    except config.ConfigException:
        return _unanswered("CC1003.no-context")
    except Exception as problem:  # noqa: BLE001 (the client trusts a kubeconfig, so a broken one can raise anything)
        return _unanswered("CC1003.kubeconfig", error=type(problem).__name__)
    try:
        return ask(client), context, ()
    except client.ApiException as problem:
        return _unanswered("CC1003.status", status=problem.status, error=problem.reason)
    except HTTPError as problem:
        return _unanswered("CC1003.no-answer", error=type(getattr(problem, "reason", None) or problem).__name__)
    except (ValueError, OSError) as problem:
        return _unanswered("CC1003.answer", error=type(problem).__name__)


def _context(config: Any) -> str:
    """Configure the client; the name of the context. The client's own `load_config` would print to standard output."""
    try:
        config.load_kube_config()
    except config.ConfigException:
        config.load_incluster_config()
        return "in-cluster"
    _, active = config.list_kube_config_contexts()
    return str(active["name"])


def _unanswered(code: str, **values: Any) -> tuple[None, str, tuple[Finding, ...]]:
    return None, "", (finding(code, **values),)
