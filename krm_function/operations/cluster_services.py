"""Services of a cluster whose variables a sealed policy denies: no new pod of the workload starts.

    the policy                             the pod             Services that count
    allows each legal Service              any                 none: nobody is asked
    in Kata's form, or by own settings     with service links  those of its namespace, and that of the API server
    in Kata's form, or by own settings     without them        that of the API server, which every pod gets

Rule of this file: it judges, and reads no cluster. Whether a policy allows each legal Service is tried with one of each
form that Kata's leaves out. Source: docs/facts/kubernetes.md#service-variables.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.kubernetes.lookup import dig
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.policy.initdata import POLICY, decode_toml, from_annotation, read_policy_data
from krm_function.policy.rules import profile_of_data
from krm_function.policy.service_variables import denied_services, is_service
from krm_function.record import NamedTuple

API_SERVER = ("default", "kubernetes")
SCTP = {"port": 1, "protocol": "SCTP"}
EACH_FORM = tuple(
    {"metadata": {"name": name}, "spec": {"clusterIP": address, "ports": [port]}}
    for name, address, port in (("a", "10.0.0.1", SCTP), ("1", "10.0.0.1", {"port": 1}), ("a", "fd00::1", {"port": 1}))
)


class Narrow(NamedTuple):
    """A workload whose policy denies some legal Service. namespace: where it is; data: of its policy."""

    workload: Workload
    namespace: str
    data: Any


def narrow_workloads(workloads: Iterable[tuple[Workload, str]]) -> Iterator[Narrow]:
    """Yield the workloads whose pods a Service can stop. workloads: sealed, each with its namespace."""
    for workload, namespace in workloads:
        try:
            data = read_policy_data(decode_toml(from_annotation(str(workload.annotations.get(INITDATA)))).data[POLICY])
        except (ValueError, KeyError):
            continue  # a policy that cannot be read is a finding of `check`
        if any(_denied(EACH_FORM, data)):
            yield Narrow(workload, namespace, data)


def stopping_services(narrow: Narrow, services: Iterable[Any]) -> list[Finding]:
    """Return CC0684 for each Service that stops the pods of a workload. services: of its namespace and of `default`."""
    links = dig(narrow.workload.pod_spec, ("enableServiceLinks",)) is not False
    near = [one for one in services if is_service(one) and _reaches(one, narrow.namespace, links=links)]
    return [
        finding(one.code, narrow.workload.ref, narrow.workload.spec_path, service=one.service, variable=one.variable)
        for one in _denied(near, narrow.data)
    ]


def _denied(services: Iterable[Any], data: Any) -> Iterator[Any]:
    return denied_services(services, data, whole=profile_of_data(data).narrowed)


def _reaches(service: Any, namespace: str, *, links: bool) -> bool:
    ref = reference(service)
    return (ref.namespace, ref.name) == API_SERVER or (links and ref.namespace == namespace)
