import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.policy import References
from krm_function.policy.tokens import TOKENS, escaped_argument, expand
from tests.policy import pods

Json = dict[str, Any]


def _process(references: References | None = None, config: Json | None = None, **container: Any) -> Json:
    made: Json = pods.container(pods.simple(**container), 1, references, **(config or {}))["OCI"]["Process"]
    return made


def _env(*entries: Json, **container: Any) -> list[str]:
    out: list[str] = _process(env=list(entries), **container)["Env"]
    assert out[:2] == ["PATH=/bin", "HOSTNAME=$(host-name)"]
    return out[2:]


def _literal(name: str, value: str) -> Json:
    return {"name": name, "value": value}


def _field(name: str, path: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _refused(**container: Any) -> list[tuple[str, str]]:
    return [(code, path.removeprefix("containers[0].")) for code, path in pods.refused(pods.simple(**container))]


def test_the_image_s_environment() -> None:
    assert _process(config={"Env": None})["Env"] == [
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOSTNAME=$(host-name)",
    ]
    assert _process(config={"Env": []})["Env"] == ["HOSTNAME=$(host-name)"]
    assert _process(tty=True)["Env"] == ["PATH=/bin", "TERM=xterm", "HOSTNAME=$(host-name)"]


def test_nothing_is_overridden_and_nothing_is_there_twice() -> None:
    assert _process(env=[_literal("PATH", "/x"), _literal("PATH", "/bin")])["Env"] == [
        "PATH=/bin",
        "HOSTNAME=$(host-name)",
        "PATH=/x",
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "$(sandbox-name)"),
        ("metadata.namespace", "shop"),
        ("metadata.uid", "$(pod-uid)"),
        ("status.hostIP", "$(host-ip)"),
        ("status.podIP", "$(pod-ip)"),
        ("spec.nodeName", "$(node-name)"),
        ("spec.serviceAccountName", "default"),
        ("metadata.labels['app']", "web"),
        ("metadata.annotations['unknown']", "$(todo-annotation)"),
    ],
)
def test_field_references(path: str, value: str) -> None:
    assert _env(_field("A", path)) == [f"A={value}"]


def test_field_references_to_the_pod_template() -> None:
    spec = {
        "serviceAccountName": "robot",
        "containers": [
            {
                "name": "app",
                "image": "i",
                "env": [
                    _field("ACCOUNT", "spec.serviceAccountName"),
                    _field("NAMESPACE", "metadata.namespace"),
                    _field("COLOUR", "metadata.annotations['colour']"),
                ],
            }
        ],
    }
    subject = pods.workload(spec, metadata={"name": "web"}, template_metadata={"annotations": {"colour": "red"}})
    assert pods.container(subject)["OCI"]["Process"]["Env"][2:] == [
        "ACCOUNT=robot",
        "NAMESPACE=$(sandbox-namespace)",
        "COLOUR=red",
    ]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("status.podIPs", "CC0601"),
        ("status.hostIPs", "CC0601"),
        ("metadata.labels", "CC0601"),
        ("metadata.labels['pod-template-hash']", "CC0604"),
        ("metadata.annotations['io.katacontainers.config.hypervisor.cc_init_data']", "CC0601"),
        ("metadata.annotations['contrast-krm.dev/original']", "CC0601"),
    ],
)
def test_field_references_that_are_not_covered(path: str, code: str) -> None:
    assert _refused(env=[_field("A", path)]) == [(code, "env[0].valueFrom.fieldRef.fieldPath")]


def test_resource_references() -> None:
    entry = {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}
    assert _env(entry) == ["A=$(resource-field)"]


def _keyed(kind: str, name: str, key: str, **more: Any) -> Json:
    return {"name": "A", "valueFrom": {f"{kind}KeyRef": {"name": name, "key": key, **more}}}


def test_config_maps_and_secrets() -> None:
    assert _env(_keyed("configMap", "look", "colour")) == ["A=red"]
    assert _env(_keyed("secret", "keys", "token")) == ["A=s3cr3t"]
    assert _env(_keyed("configMap", "none", "x", optional=True)) == []
    assert _env(_keyed("configMap", "look", "none", optional=True)) == []


def test_missing_references() -> None:
    at = "env[0].valueFrom.configMapKeyRef"
    assert _refused(env=[_keyed("configMap", "none", "x")]) == [("CC0602", at)]
    assert _refused(env=[_keyed("configMap", "look", "none")]) == [("CC0603", at)]
    assert _refused(envFrom=[{"secretRef": {"name": "none"}}]) == [("CC0602", "envFrom[0].secretRef")]
    assert _refused(env=[{"name": "A", "valueFrom": {}}]) != []


def test_whole_config_maps() -> None:
    assert _process(envFrom=[{"configMapRef": {"name": "look"}}], env=[_literal("B", "$(colour)!")])["Env"][2:] == [
        "B=red!",
        "colour=red",
        "size=$(MODE)",
    ]
    assert _process(envFrom=[{"prefix": "P_", "secretRef": {"name": "keys"}}])["Env"][2:] == ["P_token=s3cr3t"]
    assert _process(envFrom=[{"configMapRef": {"name": "none", "optional": True}}])["Env"][2:] == []


def test_findings_hold_no_values() -> None:
    secret = {**pods.SECRET, "data": {"token": "czNjcjN0LSQocG9kLXVpZCk="}}  # s3cr3t-$(pod-uid)
    made, findings = pods.sealing(pods.simple(env=[_keyed("secret", "keys", "token")]), References([secret]))
    assert made is None
    assert findings
    assert "s3cr3t" not in str(findings)


def test_variables_are_expanded_in_order() -> None:
    assert _env(_literal("A", "1"), _literal("B", "$(A)$(C)$$(A)"), _literal("C", "$(B)=$(A)")) == [
        "A=1",
        "B=1$(C)$(A)",
        "C=1$(C)$(A)=1",
    ]


def test_variables_of_the_image_are_not_expanded() -> None:
    assert _env(_literal("A", "$(PATH):$(HOSTNAME)")) == ["A=$(PATH):$(HOSTNAME)"]


def test_arguments() -> None:
    assert _process()["Args"] == ["/entry", "serve"]
    assert _process(args=["x"])["Args"] == ["/entry", "x"]
    assert _process(command=["/c"])["Args"] == ["/c"]
    assert _process(command=["/c"], args=["x"])["Args"] == ["/c", "x"]
    assert _process(command=[], args=[])["Args"] == ["/entry", "serve"]


def test_arguments_are_expanded_and_escaped() -> None:
    env = [_field("NAME", "metadata.name"), _field("NODE", "spec.nodeName"), _literal("A", "$$$$x")]
    args = ["$(NAME).svc", "$(NODE)", "$(A)", "$$(A)", "$(B)", "cost$$$(NAME)", "$x"]
    assert _process(command=["/c"], args=args, env=env)["Args"] == [
        "/c",
        "$(sandbox-name).svc",
        "$(node-name)",
        "$$$$x",
        "$(A)",
        "$(B)",
        "cost$$$(sandbox-name)",
        "$x",
    ]


def test_an_image_without_a_command() -> None:
    found = pods.refused(pods.simple(), Entrypoint=None, Cmd=None)
    assert found == [("CC0604", "containers[0].image")]


def test_directories() -> None:
    assert _process()["Cwd"] == "/work"
    assert _process(workingDir="/here")["Cwd"] == "/here"
    assert _process(config={"WorkingDir": ""})["Cwd"] == "/"


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("text", ["$({})", "a$({})b", "$$({})", "$(P){})"])
def test_tokens_written_by_hand_are_refused(token: str, text: str) -> None:
    pieces = [_literal("P", "$("), _literal("A", text.format(token))]
    assert ("CC0604", "env[1].value") in _refused(env=pieces)
    assert ("CC0604", "args[0]") in _refused(env=pieces[:1], args=[text.format(token)])


@pytest.mark.parametrize("token", TOKENS)
def test_tokens_in_other_places_are_refused(token: str) -> None:
    text = f"A=$({token})"
    assert pods.refused(pods.simple(), Env=[text]) == [("CC0604", "containers[0].image")]
    assert pods.refused(pods.simple(), Cmd=[text]) == [("CC0604", "containers[0].image")]
    references = References([{**pods.CONFIG_MAP, "data": {"k": text}}])
    entries = {"env": [_keyed("configMap", "look", "k")], "envFrom": [{"configMapRef": {"name": "look"}}]}
    for key, entry in entries.items():
        found = pods.refused(pods.simple(**{key: entry}), references)
        assert [code for code, _ in found] == ["CC0604"]


def test_a_nul_is_refused() -> None:
    assert _refused(env=[_literal("A", "\0pod-uid\0")]) == [("CC0604", "env[0].value")]
    assert _refused(args=["\0pod-uid\0"]) == [("CC0604", "args[0]")]
    assert _refused(env=[_literal("A=B", "x")]) == [("CC0604", "env[0].name")]


@pytest.mark.parametrize("path", ["status.podIP", "status.hostIP", "metadata.name", "metadata.uid", "spec.nodeName"])
def test_a_token_inside_a_longer_variable_is_not_covered(path: str) -> None:
    assert _refused(env=[_field("X", path), _literal("A", "http://$(X)/")]) == [("CC0601", "env[1]")]


@pytest.mark.parametrize("path", ["status.podIP", "status.hostIP", "metadata.uid"])
def test_arguments_the_rules_cannot_check_are_not_covered(path: str) -> None:
    assert _refused(env=[_field("X", path)], args=["$(X)"]) == [("CC0601", "args[0]")]
    assert _refused(env=[_field("X", "spec.nodeName")], args=["--n=$(X)"]) == [("CC0601", "args[0]")]


def test_a_namespace_in_arguments_must_be_known() -> None:
    spec = {
        "containers": [{"name": "a", "image": "i", "args": ["-n=$(NS)"], "env": [_field("NS", "metadata.namespace")]}]
    }
    assert pods.container(pods.workload(spec))["OCI"]["Process"]["Args"] == ["/entry", "-n=shop"]
    assert pods.refused(pods.workload(spec, metadata={"name": "web"})) == [("CC0604", "containers[0].args[0]")]


NAMES = st.sampled_from(["A", "B", "C", "D.e-f"])
TEXT = st.text(st.sampled_from("$()ABCx$("), max_size=12)


def _kubelet(text: str, known: dict[str, str]) -> str:
    """The kubelet's expansion, character by character."""
    out, at = "", 0
    while at < len(text):
        if text[at] == "$" and at + 1 < len(text):
            following = text[at + 1]
            end = text.find(")", at + 2)
            if following == "$":
                out, at = out + "$", at + 2
                continue
            if following == "(" and end >= 0:
                name = text[at + 2 : end]
                out, at = out + known.get(name, f"$({name})"), end + 1
                continue
        out, at = out + text[at], at + 1
    return out


@given(text=TEXT, known=st.dictionaries(NAMES, TEXT))
def test_expansion_is_the_kubelet_s(text: str, known: dict[str, str]) -> None:
    assert expand(text, known) == _kubelet(text, known)


@given(text=TEXT)
def test_the_rules_undo_the_escape(text: str) -> None:
    assert escaped_argument(text).replace("$$", "$") == text


@given(values=st.lists(st.tuples(NAMES, TEXT), max_size=5), args=st.lists(TEXT, max_size=3))
def test_a_container_is_what_the_kubelet_makes_of_it(values: list[tuple[str, str]], args: list[str]) -> None:
    known: dict[str, str] = {}
    expected = []
    for name, text in values:
        known[name] = _kubelet(text, known)
        expected.append(f"{name}={known[name]}")
    made = _process(command=["/c"], args=args, env=[_literal(name, text) for name, text in values])

    assert made["Env"][2:] == list(dict.fromkeys(expected))
    assert [re.sub(r"\$\$", "$", arg) for arg in made.get("Args", ())] == [
        "/c",
        *(_kubelet(arg, known) for arg in args),
    ]
