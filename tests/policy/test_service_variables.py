"""What the kubelet makes of Services, by its own code, asked of the policies of each profile.

The Services are random within what the API server takes. What is not a legal Service's is denied.
"""

import json
import subprocess
from random import Random
from typing import Any

import pytest

from krm_function.contrast.profiles import CONTRAST, KATA, PROFILES, STRICT
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.service_variables import denied_services, service_variables
from krm_function.policy.settings import default_settings
from tests.policy import pods
from tests.policy.host import Agent, Host
from tests.real_tools import needing
from tools.real import tool

pytestmark = needing("defaults")  # the kubelet's own variables

Json = dict[str, Any]

PINNED = "registry.example.com/shop/app:1@sha256:" + "a" * 64
SCTP = {"port": 3868, "protocol": "SCTP", "name": "diameter"}
TCP = {"port": 80}


def _service(name: str, *ports: Json, address: str = "10.0.0.104", **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"clusterIP": address, "ports": list(ports or (TCP,)), **spec},
    }


# what stops the pods of Kata's form, and what does not
LEGAL = {
    "tcp": _service("db", {"port": 5432, "name": "pg-1"}),
    "udp": _service("dns", {"port": 53, "protocol": "UDP", "name": "dns"}, {"port": 53, "name": "dns-tcp"}),
    "the longest name": _service("a" + "-b" * 31, {"port": 65535, "name": "a" * 63}),
    "a port that is a number in letters": _service("web", {"port": 1, "name": "0"}),
}
STOPS = {
    "sctp": _service("diameter", SCTP),
    "sctp after tcp": _service("diameter", {**TCP, "name": "http"}, SCTP),
    "a leading digit": _service("9web"),
    "a digit alone": _service("7"),
    "ipv6": _service("six", address="fd00:10:96::a"),
    "ipv6 without zeros": _service("six", address="fd00:10:96:1:2:3:4:5"),
    "ipv6 in capitals": _service("six", address="FD00::A"),
    "ipv6 and sctp": _service("six", SCTP, address="fd00::1"),
    "the API server in a cluster of IPv6": _service("kubernetes", {"port": 443, "name": "https"}, address="fd00::1"),
}


def _by_the_kubelet(*services: Json) -> list[list[str]]:
    lines = "".join(json.dumps(service) + "\n" for service in services).encode()
    told = subprocess.run(
        [tool("defaults"), "--service-variables"], input=lines, capture_output=True, timeout=60, check=True
    )
    return [json.loads(line) for line in told.stdout.splitlines()]


def _rego(profile: Any, **spec: Any) -> str:
    return pods.sealed(pods.workload({"containers": [{"name": "app", "image": PINNED}], **spec}), None, profile).rego


def _allowed(rego: str, variables: list[str]) -> bool:
    """Whether the container is created with these variables beside, or in place of, those that it has."""
    host, agent = Host(rego), Agent(rego)
    assert agent.allows("CreateContainerRequest", host.create("pause"))
    request = host.create("app")
    names = {text.partition("=")[0] for text in variables}
    process = request["OCI"]["Process"]
    process["Env"] = [text for text in process["Env"] if text.partition("=")[0] not in names] + variables
    return agent.allows("CreateContainerRequest", request)


def random_services(seed: int, count: int) -> list[Json]:
    """Legal Services: names, ports and addresses as validation takes them."""
    random = Random(seed)  # noqa: S311 (no secret)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"

    def label(longest: int) -> str:
        size = random.choice((1, 2, longest, random.randint(1, longest)))
        inner = "".join(random.choice(letters + "-") for _ in range(max(size - 2, 0)))
        return random.choice(letters) + inner + (random.choice(letters) if size > 1 else "")

    def address() -> str:
        if random.random() < 0.5:
            return ".".join(str(random.choice((0, 9, 10, 99, 100, 199, 255))) for _ in range(4))
        groups = [f"{random.choice((1, 10, 255, 65535)):x}" for _ in range(8)]
        begin, end = sorted((random.randint(0, 8), random.randint(0, 8)))
        if end - begin < 2:
            return ":".join(groups)
        return f"{':'.join(groups[:begin])}::{':'.join(groups[end:])}"

    out = []
    for _ in range(count):
        names = list(dict.fromkeys(label(63) for _ in range(random.randint(1, 4))))
        numbers = random.sample(range(1, 65536), len(names))
        ports = [
            {"port": number, "name": name, "protocol": random.choice(("TCP", "UDP", "SCTP"))}
            for number, name in zip(numbers, names, strict=True)
        ]
        if len(ports) == 1:
            ports[0].pop("name")
        out.append(_service(label(63), *ports, address=address()))
    return out


def test_the_variables_are_the_kubelets_own() -> None:
    services = [*LEGAL.values(), *STOPS.values(), *random_services(1, 200)]
    services += [_service("headless", address="None"), _service("away", address="", type="ExternalName")]
    for service, wanted in zip(services, _by_the_kubelet(*services), strict=True):
        assert [f"{name}={value}" for name, value in service_variables(service).items()] == list(dict.fromkeys(wanted))


@pytest.mark.slow
@pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda one: one.name)
@pytest.mark.parametrize("name", [*LEGAL, *STOPS])
def test_a_policy_for_contrast_allows_what_the_kubelet_makes_of_a_service(profile: Any, name: str) -> None:
    variables = _by_the_kubelet({**LEGAL, **STOPS}[name])[0]
    assert len(variables) >= 7
    assert _allowed(_rego(profile), variables)


@pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda one: one.name)
def test_it_allows_any_legal_service(profile: Any) -> None:
    rego = _rego(profile)
    seen: dict[str, str] = {}
    for variables in _by_the_kubelet(*random_services(28, 60)):
        seen |= {text.partition("=")[0]: text for text in variables}
    texts = list(seen.values())
    assert len(texts) > 500
    assert _allowed(rego, texts)


@pytest.mark.parametrize("name", STOPS)
def test_kata_s_form_denies_it_and_the_service_is_found(name: str) -> None:
    service, data = STOPS[name], read_policy_data(_rego(KATA))
    assert not _allowed(_rego(KATA), _by_the_kubelet(service)[0])
    (denied,) = denied_services([service], data, whole=False)
    assert denied.variable in service_variables(service)
    assert not _allowed(_rego(KATA), [f"{denied.variable}={service_variables(service)[denied.variable]}"])
    assert denied.code in ("CC0684.sctp", "CC0684.digit", "CC0684.ipv6")


@pytest.mark.parametrize("name", LEGAL)
def test_kata_s_form_allows_it_and_nothing_is_found(name: str) -> None:
    assert _allowed(_rego(KATA), _by_the_kubelet(LEGAL[name])[0])
    assert not [*denied_services([LEGAL[name]], read_policy_data(_rego(KATA)), whole=False)]


NOT_OF_A_SERVICE = [
    "LD_PRELOAD=/evil.so",
    "DB_SERVICE_HOST=10.0.0.1;x",
    "DB_SERVICE_HOST=evil.example.com",
    "DB_SERVICE_HOST=fd00::1::2",
    "DB_SERVICE_HOST=:::",
    "DB_SERVICE_HOST=[fd00::1]",
    "DB_SERVICE_HOST=fd00::1%eth0",
    "DB_SERVICE_HOST=fd00:1",
    "DB_SERVICE_HOST=",
    "DB_SERVICE_PORT=http",
    "DB_SERVICE_PORT=123456",
    "DB_SERVICE_PORT_=80",
    "DB_SERVICE_PORT_a=80",
    "DB_PORT=http://10.0.0.1:80",
    "DB_PORT=tcp://fd00::1:80",
    "DB_PORT=tcp://[10.0.0.1]:80",
    "DB_PORT=tcp://[fd00::1]:80/x",
    "DB_PORT_80_TCP=sctp://10.0.0.1:80",
    "DB_PORT_80_SCTP=tcp://10.0.0.1:80",
    "DB_PORT_80_TCP_PROTO=udp",
    "DB_PORT_80_ICMP=icmp://10.0.0.1:80",
    "db_SERVICE_HOST=10.0.0.1",
    "_SERVICE_HOST=10.0.0.1",
    "A.B_SERVICE_HOST=10.0.0.1",
    "A" * 64 + "_SERVICE_HOST=10.0.0.1",
    "x\nDB_SERVICE_HOST=10.0.0.1",
]


@pytest.mark.slow
@pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda one: one.name)
@pytest.mark.parametrize("variable", NOT_OF_A_SERVICE, ids=range(len(NOT_OF_A_SERVICE)))
def test_what_no_service_makes_is_denied(profile: Any, variable: str) -> None:
    assert not _allowed(_rego(profile), [variable])


def test_without_service_links_strict_allows_the_variables_of_the_api_server_alone() -> None:
    own = _by_the_kubelet(
        _service("kubernetes", {"port": 443, "name": "https"}), STOPS["the API server in a cluster of IPv6"]
    )
    for profile in PROFILES.values():
        rego = _rego(profile, enableServiceLinks=False)
        assert _allowed(rego, own[0])
        assert _allowed(rego, own[1]) == bool(profile.own_settings)
        others = ("PAYMENTS_PORT=tcp://6.6.6.6:1", "X_SERVICE_HOST=10.0.0.1", "KUBERNETES2_SERVICE_HOST=10.0.0.1")
        for other in others:
            assert _allowed(rego, [other]) != profile.narrowed
            assert _allowed(_rego(profile), [other])
        assert _allowed(rego, ["AZURE_CLIENT_ID=0"]) != profile.narrowed


def test_the_settings_of_a_render_stay_as_they_are() -> None:
    before = default_settings(STRICT).shared_text
    assert _rego(STRICT, enableServiceLinks=False) != _rego(STRICT, enableServiceLinks=True)
    assert default_settings(STRICT).shared_text == before
    assert _rego(CONTRAST, enableServiceLinks=False) == _rego(CONTRAST, enableServiceLinks=True)
