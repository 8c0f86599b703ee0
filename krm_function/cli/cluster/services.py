"""Ask a cluster for the Services that stop the pods of workloads, whose policies must deny some Service for that.

Rule of this file: each namespace is listed once, and none where every policy allows each legal Service;
checking/cluster_services.py judges. What the role does not show of a workload's namespace is said and not guessed;
without a right on `default` the Service of the API server is left out.
"""

from collections.abc import Iterable
from typing import Any

from krm_function.checking.cluster_services import API_SERVER, narrow_workloads, stopping_services
from krm_function.cli.cluster.answer import NAMESPACE, Listing, Lists
from krm_function.cli.cluster.connection import ApiServer, RefusalError
from krm_function.findings import Finding, finding
from krm_function.model.workload import Workload


def cluster_services(server: ApiServer, workloads: Iterable[tuple[Workload, str]]) -> list[Finding]:
    """Return the Services of the cluster that stop pods of some workloads: sealed, each with its namespace."""
    lists = Lists(server)
    narrow = [one for one in narrow_workloads(workloads) if NAMESPACE.fullmatch(one.namespace)]
    services: dict[str, list[Any]] = {}
    findings: list[Finding] = []
    for namespace in sorted({API_SERVER[0], *(one.namespace for one in narrow)}) if narrow else ():
        try:
            services[namespace] = list(lists.objects(_listing(namespace)))
        except RefusalError as problem:
            near = [one.workload.ref for one in narrow if one.namespace == namespace]
            names = ", ".join(sorted({f"{ref.kind}/{ref.name}" for ref in near}))
            answer = str(problem.values.get("answer") or problem.values.get("error") or problem.code)
            if names:
                findings.append(finding("CC1135", names=names, answer=answer, namespace=namespace))
    for one in narrow:
        near = [*services.get(one.namespace, ()), *services.get(API_SERVER[0], ())]
        unique = {id(service): service for service in near}.values()
        findings += [one.workload.placed(found) for found in stopping_services(one, unique)]
    return findings


def _listing(namespace: str) -> Listing:
    return Listing("v1", "Service", f"the Services of namespace {namespace}", namespace)
