"""The nodes of a live cluster, through the `kubernetes` client: an optional extra, for `plan --cluster` alone.

Rule of this file: one GET of the nodes, no write, no retry storm; and nothing of a kubeconfig but the name of its
context ever reaches a message.
"""

from typing import Any

from krm_function.findings import Finding, finding
from krm_function.record import NamedTuple

TIMEOUT = (5, 30)  # seconds to connect, and to wait for bytes


class ClusterNodes(NamedTuple):
    """document: a NodeList as plain data. context: the name of the kubeconfig context it came from."""

    document: Any = None
    context: str = ""
    findings: tuple[Finding, ...] = ()


def read_cluster_nodes() -> ClusterNodes:
    """The nodes of the current context of the kubeconfig, or of the cluster this runs in. Never raises."""
    try:
        from kubernetes import client, config
        from urllib3.exceptions import HTTPError
    except ImportError:
        missing = finding("CC0909.package", option="--cluster", package="kubernetes", extra="cluster")
        return ClusterNodes(findings=(missing,))
    import json
    import logging

    logging.getLogger("urllib3").setLevel(logging.ERROR)  # its retries would go to standard error
    try:
        context = _context(config)
    except config.ConfigException:
        return _unanswered("CC1003.no-context")
    except Exception as problem:  # noqa: BLE001 (the client trusts a kubeconfig, so a broken one can raise anything)
        return _unanswered("CC1003.kubeconfig", error=type(problem).__name__)
    try:
        answer: Any = client.CoreV1Api().list_node(_preload_content=False, _request_timeout=TIMEOUT)
        return ClusterNodes(json.loads(answer.data), context)
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


def _unanswered(code: str, **values: Any) -> ClusterNodes:
    return ClusterNodes(findings=(finding(code, **values),))
