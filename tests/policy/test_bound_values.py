"""Values that only the running pod has: what a host may send for one that is all of a variable or of an argument."""

import copy
from typing import Any

import pytest

from krm_function.check.drift import find_drift
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, KATA, PROFILES, STRICT, Profile
from krm_function.policy.compare_values import compare_command, compare_variables
from krm_function.policy.expansion import FORMS, PATTERNS, bound_argument, bound_containers, bound_variable
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.open_variables import open_findings, unbound_values
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests.policy import pods
from tests.policy.host import TOKENS, UID, Agent, Host, Json
from tests.policy.test_rules_conditions import container, created

IMAGE = "registry.example.com/shop/app:1@sha256:" + "a" * 64
ALL = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
NAME = TOKENS["sandbox-name"]
FIELDS = {
    "NAME": "metadata.name",
    "UID": "metadata.uid",
    "NODE": "spec.nodeName",
    "COLOUR": "metadata.annotations['example.com/colour']",
    "IP": "status.podIP",
    "HOST": "status.hostIP",
}
ENV: list[Json] = [
    *({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in FIELDS.items()),
    {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
]


def _rego(profile: Profile = CONTRAST, **more: Any) -> str:
    return pods.sealed(pods.simple(image=IMAGE, env=ENV, args=["$(NODE)", "serve"], **more), None, profile).rego


def _sent(rego: str, name: str, value: str) -> Json:
    """The request of a correct host with another value of one variable, or of the first argument."""
    request = Host(rego).create("app")
    process = request["OCI"]["Process"]
    if name == "args":
        process["Args"][-2] = value
    else:
        process["Env"] = [f"{name}={value}" if one.startswith(f"{name}=") else one for one in process["Env"]]
    return request


DENIED = [
    *[
        ("NODE", value)
        for value in ("", "a b", "/evil", "../x", "-r", "Node", "a=b", "a\n", "$(node-name)", "--inspect")
    ],
    *[("args", value) for value in ("", "--debug", "/evil", "a b", "A", "x;y", "$(node-name)", "a\nb")],
    *[("UID", value) for value in ("", "1", UID.upper(), f"/{UID}", f"{UID}x", UID.replace("-", ""))],
    *[("CPUS", value) for value in ("", "-1", "1.5", "2m", "1\n", "0x1", "1 2")],
    *[("NAME", value) for value in ("", f"x{NAME}", f"{NAME}x", f"/x/{NAME}", f"{NAME}\n", "web", "$(sandbox-name)")],
    *[("COLOUR", value) for value in ("red", " ", "/evil.so", "$(todo-annotation)")],
    *[("IP", value) for value in ("", "10.0.0", "10.0.0.256", "evil.example.com", "fd00:1", "[fd00::1]", "$(pod-ip)")],
]


@pytest.mark.slow
@ALL
@pytest.mark.parametrize(("name", "value"), DENIED)
def test_a_value_of_another_form_is_denied(profile: Profile, name: str, value: str) -> None:
    rego = _rego(profile)
    assert created(rego, Host(rego).create("app"))
    assert not created(rego, _sent(rego, name, value))


TAKEN = [
    *[("NODE", value) for value in ("node-1", "ip-10-0-0-1.eu-1.compute.internal", "a", "10.0.0.1")],
    *[("args", value) for value in ("node-1", "ip-10-0-0-1.eu-1.compute.internal")],
    *[("UID", "ffffffff-0000-4000-8000-0123456789ab"), ("CPUS", "64"), ("CPUS", "17179869184"), ("NAME", NAME)],
    ("COLOUR", ""),
    *[(name, value) for name in ("IP", "HOST") for value in ("10.0.0.7", "fd00:10:244::7", "::1")],
]


@pytest.mark.slow
@ALL
@pytest.mark.parametrize(("name", "value"), TAKEN)
def test_what_a_correct_host_may_have_there_is_taken(profile: Profile, name: str, value: str) -> None:
    rego = _rego(profile)
    assert created(rego, _sent(rego, name, value))


@ALL
def test_a_pod_whose_name_the_policy_does_not_know_has_one_name(profile: Profile) -> None:
    spec = {"containers": [{"name": "app", "image": IMAGE, "env": ENV[:1]}]}
    rego = pods.sealed(pods.workload(spec, "Pod", {"namespace": "shop"}), None, profile).rego
    request = Host(rego, "any-1").create("app")
    assert created(rego, request)
    assert "NAME=any-1" in request["OCI"]["Process"]["Env"]
    assert not created(rego, _sent(rego, "NAME", "any-2"))


@ALL
def test_a_command_of_a_probe_has_the_same_values(profile: Profile) -> None:
    rego = _rego(profile, livenessProbe={"exec": {"command": ["/web", "health"]}})
    host, agent = Host(rego), Agent(rego)
    for name in ("pause", "app"):
        assert agent.allows("CreateContainerRequest", host.create(name))
    request = host.execute("app", ["/web", "health"])
    assert agent.allows("ExecProcessRequest", request)
    for name, value in (("NODE", "/evil"), ("NAME", "web-7c5ddbdf54-bbbbb"), ("UID", "1")):
        other = copy.deepcopy(request)
        env = other["process"]["Env"]
        other["process"]["Env"] = [f"{name}={value}" if one.startswith(f"{name}=") else one for one in env]
        assert not agent.allows("ExecProcessRequest", other)


def test_a_whole_value_and_a_part_of_a_text_have_one_form() -> None:
    assert {
        f"$({token})": f"$(text-pattern)^{PATTERNS[token]}$"
        for token in ("sandbox-name", "pod-uid", "node-name", "resource-field", "pod-ip", "host-ip")
    } == FORMS
    for text in ("A=$(sandbox-namespace)", "HOSTNAME=$(host-name)", "A=x$(node-name)", "$(node-name)"):
        assert bound_variable(text) == text
    assert bound_argument("$(sandbox-name)") == "$(sandbox-name)"
    entry: Json = {"OCI": {"Process": {"Env": ["A=1"]}}}
    assert bound_containers([entry])[0] is entry


def test_a_policy_without_such_values_is_the_one_that_it_was() -> None:
    made = pods.sealed(pods.simple(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}]))
    assert made.data["containers"][1]["OCI"]["Process"]["Env"][2:] == ["A=shop"]


# --- data with the tokens of Kata: genpolicy's, and those of contrast-krm 0.1


def _with_tokens(rego: str) -> str:
    back = {form: token for token, form in FORMS.items()}

    def change(entry: Json) -> None:
        process = entry["OCI"]["Process"]
        env = [text.partition("=") for text in process["Env"]]
        process["Env"] = [f"{name}={back.get(value, value)}" for name, _, value in env]
        process["Env"] = ["COLOUR=$(todo-annotation)" if one == "COLOUR=" else one for one in process["Env"]]
        process["Args"] = [back.get(text, text) for text in process["Args"]]

    return container(rego, "app", change)


@pytest.mark.parametrize("profile", [CONTRAST, KATA], ids=lambda profile: profile.name)
def test_kata_s_rules_take_any_text_for_a_token(profile: Profile) -> None:
    rego = _with_tokens(_rego(profile))
    assert created(rego, Host(rego).create("app"))
    for name, value in (("NODE", "/evil"), ("args", "--debug"), ("UID", "1"), ("CPUS", "x"), ("COLOUR", "red")):
        assert created(rego, _sent(rego, name, value))
    assert created(rego, _sent(rego, "NAME", f"/x/{NAME}.so"))
    for name, value in (("NAME", "web"), ("NODE", "a=b")):
        assert not created(rego, _sent(rego, name, value))


def test_the_rules_of_strict_take_none() -> None:
    rego = _with_tokens(_rego(STRICT))
    for name in ("NODE", "UID", "CPUS", "COLOUR"):
        assert not created(rego, _sent(rego, name, "x"))
    assert unbound_values(read_policy_data(rego)) == ()


@pytest.mark.parametrize("name", ["args", "NODE", "UID", "COLOUR"])
@pytest.mark.parametrize("around", ["{}", "--of=$(sandbox-name)={}"], ids=["alone", "beside a name"])
def test_the_rules_of_strict_do_not_take_a_token_for_itself(name: str, around: str) -> None:
    token = {"UID": "$(pod-uid)", "COLOUR": "$(todo-annotation)"}.get(name, "$(node-name)")
    wanted = around.format(token)

    def change(entry: Json) -> None:
        process = entry["OCI"]["Process"]
        process["Args"] = [wanted if text.startswith("$(") and name == "args" else text for text in process["Args"]]
        process["Env"] = [f"{name}={wanted}" if one.startswith(f"{name}=") else one for one in process["Env"]]

    rego = container(_rego(STRICT), "app", change)
    for given in (wanted, wanted.replace("$(sandbox-name)", NAME)):
        assert not created(rego, _sent(rego, name, given))


def test_each_token_is_shown_and_a_bound_value_is_not() -> None:
    subject = pods.simple(image=IMAGE, env=ENV, args=["$(NODE)", "serve"])
    assert unbound_values(read_policy_data(_rego())) == ()
    opened = unbound_values(read_policy_data(_with_tokens(_rego())))
    assert [(one.container, one.name, one.source) for one in opened] == [
        ("app", "UID", "metadata.uid"),
        ("app", "NODE", "spec.nodeName"),
        ("app", "COLOUR", "an annotation that the pod template does not have"),
        ("app", "CPUS", "a resourceFieldRef"),
        ("app", "argument 1", "spec.nodeName"),
    ]
    (found,) = open_findings(subject, opened, "CC0683")
    assert (found.code, found.severity) == ("CC0683", "warning")
    assert "UID (metadata.uid), NODE (spec.nodeName)" in found.message


def test_rules_without_patterns_keep_the_tokens_and_what_is_open_is_said() -> None:
    rules = load_rules(KATA).replace("$(text-pattern)", "$(none)")
    subject = pods.simple(image=IMAGE, env=[ENV[2], ENV[-1]], args=["$(NODE)", "serve"])
    chosen = default_settings(KATA)
    made, findings = seal(subject, pods.images(subject), References(), chosen, rules)
    assert made is not None
    assert made.data["containers"][1]["OCI"]["Process"]["Env"][2:] == ["NODE=$(node-name)", "CPUS=$(resource-field)"]
    assert [one.name for one in made.open] == ["NODE", "CPUS", "argument 1"]
    assert [one.code for one in findings if one.severity == "warning"] == ["CC0683", "CC0654"]
    steering = pods.simple(image=IMAGE, env=[{**ENV[2], "name": "NODE_OPTIONS"}])
    made, findings = seal(steering, pods.images(steering), References(), chosen, rules)
    assert made is None
    assert [one.code for one in findings] == ["CC0680"]


def test_a_form_in_place_of_a_token_is_stronger_and_the_reverse_weaker() -> None:
    node, form = "$(node-name)", FORMS["$(node-name)"]
    for token, bound in FORMS.items():
        changes = [compare_variables([f"A={old}"], [f"A={new}"]) for old, new in ((token, bound), (bound, token))]
        # Kata's rules take an address of IPv4 alone for these two
        wider = token in ("$(pod-ip)", "$(host-ip)")
        assert [[change.verdict for change in found] for found in changes] == (
            [["weaker"], ["stronger"]] if wider else [["stronger"], ["weaker"]]
        )
    changes = [compare_command(["/web", old], ["/web", new]) for old, new in ((node, form), (form, node))]
    assert [[change.verdict for change in found] for found in changes] == [["stronger"], ["weaker"]]
    (other,) = compare_variables([f"A={node}"], [f"A={FORMS['$(pod-uid)']}"])
    assert other.verdict == "weaker"


def test_an_older_policy_with_tokens_still_describes_its_pod() -> None:
    subject = pods.simple(image=IMAGE, env=ENV, args=["$(NODE)", "serve"])
    known = References([pods.CONFIG_MAP, pods.SECRET])
    for rego in (_rego(), _with_tokens(_rego())):
        assert find_drift(subject, read_policy_data(rego), known) == []
    given = {"annotations": {"example.com/colour": "red"}}
    subject = pods.workload(subject.pod_spec, template_metadata=given)
    assert "app: env" in find_drift(subject, read_policy_data(_with_tokens(_rego())), known)
