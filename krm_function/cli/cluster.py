"""Objects of a live cluster, through the `kubernetes` client: an optional extra, for `--cluster` of `plan` and `check`.

Rule of this file: one GET of the nodes, or one of each kind in each namespace; no write, no retry storm; and nothing of
a kubeconfig but the name of its context ever reaches a message. Secrets are never asked for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from json import loads
from types import MappingProxyType
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.kinds import KINDS
from krm_function.record import NamedTuple

TIMEOUT = (5, 30)  # seconds to connect, and to wait for bytes
HOW: Mapping[str, Any] = MappingProxyType({"_preload_content": False, "_request_timeout": TIMEOUT})
FORBIDDEN = 403
CONFIG_MAP = ("v1", "ConfigMap")
GROUPS: Mapping[str, str] = MappingProxyType({"v1": "CoreV1Api", "apps/v1": "AppsV1Api", "batch/v1": "BatchV1Api"})


class _Refusal(Exception):
    """The API server did not answer what it was asked for: status code, its words, what was asked for."""

    def __init__(self, status: int, error: str, what: str) -> None:
        super().__init__(status, error, what)
        self.status, self.error, self.what = status, error, what


class ClusterClasses(NamedTuple):
    """The RuntimeClass objects by name. objects: None if the cluster does not show them, and why in `findings`."""

    objects: Mapping[str, Any] | None = None
    findings: tuple[Finding, ...] = ()


class ClusterNodes(NamedTuple):
    """document: a NodeList as plain data. context: the name of the kubeconfig context it came from."""

    document: Any = None
    classes: ClusterClasses = ClusterClasses()
    context: str = ""
    findings: tuple[Finding, ...] = ()


def read_cluster_nodes() -> ClusterNodes:
    """The nodes of the current context of the kubeconfig, or of the cluster this runs in. Never raises."""
    answer, context, findings = _asked(
        lambda client: (_list(client, client.CoreV1Api().list_node, "the nodes"), _runtime_classes(client))
    )
    document, classes = answer or (None, ClusterClasses())
    return ClusterNodes(document, classes, context, findings)


class ClusterObjects(NamedTuple):
    """objects: the workloads and ConfigMaps of some namespaces as plain data; None if the cluster does not answer.

    context: the name of the kubeconfig context.
    """

    objects: tuple[Any, ...] | None = None
    classes: ClusterClasses = ClusterClasses()
    context: str = ""
    findings: tuple[Finding, ...] = ()


def read_cluster_objects(namespaces: Iterable[str]) -> ClusterObjects:
    """The objects of the current context. Never raises."""
    answer, context, findings = _asked(
        lambda client: (tuple(_objects(client, namespaces)), _runtime_classes(client)),
    )
    objects, classes = answer or (None, ClusterClasses())
    return ClusterObjects(objects, classes, context, findings)


def _objects(client: Any, namespaces: Iterable[str]) -> Iterator[Any]:
    """Each object as `kubectl get -o yaml` has it; the members of a list do not name their kind."""
    kinds = [(version, kind) for kind, (version, _) in KINDS.items()]
    for namespace in namespaces:
        for version, kind in (*kinds, CONFIG_MAP):
            words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind)
            ask = getattr(getattr(client, GROUPS[version])(), f"list_namespaced{words}")
            listed = _list(client, ask, f"the {kind}s of namespace {namespace}", namespace)
            yield from ({"apiVersion": version, "kind": kind, **one} for one in listed.get("items") or ())


def _runtime_classes(client: Any) -> ClusterClasses:
    """The RuntimeClasses, which not everybody who sees a namespace may see."""
    try:
        listed = _list(client, client.NodeV1Api().list_runtime_class, "the RuntimeClasses")
    except _Refusal as problem:
        if problem.status != FORBIDDEN:
            raise
        return ClusterClasses(None, (finding("CC1121", status=problem.status, error=problem.error),))
    return ClusterClasses({one["metadata"]["name"]: one for one in listed.get("items") or ()})


def _list(client: Any, ask: Callable[..., Any], what: str, *arguments: str) -> Any:
    """A list as plain data. what: it is, in a message."""
    try:
        return loads(ask(*arguments, **HOW).data)
    except client.ApiException as problem:
        raise _Refusal(problem.status, problem.reason, what) from None


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
    except _Refusal as problem:
        return _unanswered("CC1003.status", status=problem.status, error=problem.error, what=problem.what)
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
