"""Find the Services whose variables a policy denies, so that no pod beside them starts.

The kubelet gives each container variables of every Service in the pod's namespace. The settings of a policy list
those that a host may set: the profiles for Contrast allow all variables of a legal Service, Kata's do not.

Rule of this file: the variables are the kubelet's (docs/facts/kubernetes.md#service-variables), the patterns those that
the rules ask. A pattern that only the rules' engine can read counts as one that allows: a finding is never a guess.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.krm.group_version import plain_api_version
from krm_function.kubernetes.objects import mapping, maps
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple

# an address of each family, for a Service that has none yet
ADDRESSES = {"IPv4": "10.96.0.1", "IPv6": "fd00::1"}


class Denied(NamedTuple):
    """A Service with a variable that a policy denies. variable: its name; code: a variant of CC0684."""

    service: str
    variable: str
    code: str


def service_variables(service: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that the kubelet sets in the namespace: none for a Service without an address."""
    spec, name = mapping(service.get("spec")), str(mapping(service.get("metadata")).get("name") or "")
    address = _service_address(spec)
    ports = [port for port in maps(spec.get("ports")) if isinstance(port.get("port"), int)]
    if not (name and address and ports):
        return {}
    prefix = _variable_prefix(name)
    out = {f"{prefix}_SERVICE_HOST": address, f"{prefix}_SERVICE_PORT": str(ports[0]["port"])}
    for port in ports:
        if port.get("name"):
            out[f"{prefix}_SERVICE_PORT_{_variable_prefix(str(port['name']))}"] = str(port["port"])
    host = f"[{address}]" if ":" in address else address
    for index, port in enumerate(ports):
        protocol, number = str(port.get("protocol") or "TCP"), port["port"]
        link = f"{protocol.lower()}://{host}:{number}"
        if index == 0:
            out[f"{prefix}_PORT"] = link
        begin = f"{prefix}_PORT_{number}_{protocol.upper()}"
        out |= {begin: link, f"{begin}_PROTO": protocol.lower(), f"{begin}_PORT": str(number), f"{begin}_ADDR": address}
    return out


def denied_services(services: Iterable[Any], data: Mapping[str, Any], *, whole: bool) -> Iterator[Denied]:
    """Yield the Services that have a variable denied by a policy, with the first such variable.

    data: policy_data; `common` and `request_defaults` are read. whole: the rules take a pattern for the whole
    text, as those of profile strict do.
    """
    patterns = _allowed_patterns(data, whole=whole)
    for service in services:
        variables = service_variables(service)
        for name, value in variables.items():
            if not any(pattern.search(f"{name}={value}") for pattern in patterns):
                yield Denied(str(service["metadata"]["name"]), name, _denial_code(name, value, variables))
                break


def service_findings(
    workload: Workload, services: Iterable[Any], data: Mapping[str, Any], *, whole: bool
) -> tuple[Finding, ...]:
    """Return CC0684 for each Service of the workload's namespace that keeps its pods from starting."""
    if workload.pod_spec.get("enableServiceLinks") is False:
        return ()
    near = [service for service in services if is_service(service) and _may_be_in(service, workload.ref.namespace)]
    where = workload.spec_path
    return tuple(
        finding(denied.code, workload.ref, where, service=denied.service, variable=denied.variable)
        for denied in denied_services(near, data, whole=whole)
    )


def is_service(value: Any) -> bool:
    """Tell whether an object is a Service of Kubernetes."""
    of_core = isinstance(value, Mapping) and plain_api_version(str(value.get("apiVersion"))) == "v1"
    return of_core and value.get("kind") == "Service"


def _may_be_in(service: Mapping[str, Any], namespace: str) -> bool:
    # A Service or a pod without a namespace may get any
    service_namespace = mapping(service.get("metadata")).get("namespace")
    return not service_namespace or not namespace or service_namespace == namespace


def _service_address(spec: Mapping[str, Any]) -> str:
    """Return "" for a Service without an address, a usual one of its family if the cluster chooses it."""
    cluster_ip = spec.get("clusterIP")
    if cluster_ip == "None" or spec.get("type") == "ExternalName":
        return ""
    if isinstance(cluster_ip, str) and cluster_ip:
        return cluster_ip
    families = spec.get("ipFamilies")
    first = families[0] if isinstance(families, list) and families else "IPv4"
    return ADDRESSES.get(str(first), ADDRESSES["IPv4"])


def _variable_prefix(name: str) -> str:
    return name.replace("-", "_").upper()


def _allowed_patterns(data: Mapping[str, Any], *, whole: bool) -> list[re.Pattern[str]]:
    """Fill the patterns in as the rules do."""
    common = mapping(data.get("common"))
    names = ("ipv4_a", "ip_p", "svc_name_downward_env", "dns_label")
    out = []
    for pattern in mapping(mapping(data.get("request_defaults")).get("CreateContainerRequest"))["allow_env_regex"]:
        text = pattern
        for name in names:
            text = text.replace(f"$({name})", str(common.get(name)))
        if whole and not pattern.startswith("^"):
            continue
        try:
            out.append(re.compile(rf"^(?:{text})\Z" if whole else text))
        except re.error:
            return [re.compile("")]
    return out


def _denial_code(name: str, value: str, variables: Mapping[str, str]) -> str:
    if name[0].isdigit():
        return "CC0684.digit"
    if value.startswith("sctp") or "_SCTP" in name:
        return "CC0684.sctp"
    addresses = [address for end, address in variables.items() if end.endswith("_SERVICE_HOST")]
    return "CC0684.ipv6" if any(":" in address for address in addresses) else "CC0684.other"
