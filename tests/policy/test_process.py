import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.config.references import References
from krm_function.policy.expansion import PATTERNS, TOKENS, escaped_argument, expand
from tests.policy import pods
from tests.wording import wording

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


def test_what_the_image_sets_stays_allowed() -> None:
    assert _process(env=[_literal("PATH", "/x")])["Env"] == ["PATH=/bin", "HOSTNAME=$(host-name)", "PATH=/x"]
    assert _process(env=[_literal("PATH", "/bin")])["Env"] == ["PATH=/bin", "HOSTNAME=$(host-name)"]


def test_the_last_variable_of_a_name_counts_and_one_of_env_before_those_of_env_from() -> None:
    first = [_literal("A", "1"), _literal("B", "$(A)"), _literal("A", "2"), _literal("C", "$(A)")]
    assert _env(*first) == ["A=2", "B=1", "C=2"]
    maps = [
        {"metadata": {"name": name}, "data": data} for name, data in (("x", {"A": "1", "B": "1"}), ("y", {"B": "2"}))
    ]
    known = References([{"apiVersion": "v1", "kind": "ConfigMap", **one} for one in maps])
    entries = [{"configMapRef": {"name": name}} for name in ("x", "y")]
    assert _process(known, envFrom=entries, env=[_literal("A", "$(A)$(B)")])["Env"][2:] == ["A=12", "B=2"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "$(text-pattern)^$(sandbox-name)$"),
        ("metadata.namespace", "shop"),
        ("metadata.uid", r"$(text-pattern)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
        ("status.hostIP", f"$(text-pattern)^{PATTERNS['host-ip']}$"),
        ("status.podIP", f"$(text-pattern)^{PATTERNS['pod-ip']}$"),
        ("spec.nodeName", "$(text-pattern)^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$"),
        ("spec.serviceAccountName", "default"),
        ("metadata.labels['app']", "web"),
        ("metadata.annotations['unknown']", ""),
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
        ("status.phase", "CC0601"),
        ("metadata.labels", "CC0601"),
        ("metadata.labels['unknown']", "CC0604"),
        ("metadata.annotations['io.katacontainers.config.hypervisor.cc_init_data']", "CC0601"),
        ("metadata.annotations['contrast-krm.dev/original']", "CC0601"),
    ],
)
def test_field_references_that_are_not_covered(path: str, code: str) -> None:
    assert _refused(env=[_field("A", path)]) == [(code, "env[0].valueFrom.fieldRef.fieldPath")]


def test_resource_references() -> None:
    entry = {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}
    assert _env(entry) == ["A=$(text-pattern)^[0-9]+$"]


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
        "$(text-pattern)^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$",
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


UID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _pattern(text: str) -> re.Pattern[str]:
    """The regex of a text with the pattern's token, name and namespace put in as the rules do it."""
    assert text.startswith("$(text-pattern)^")
    assert text.endswith("$")
    regex = (
        text.removeprefix("$(text-pattern)").replace("$(sandbox-name)", "web-1").replace("$(sandbox-namespace)", "s")
    )
    return re.compile(regex.removesuffix("$") + r"\Z")


@pytest.mark.parametrize(
    ("path", "good", "bad"),
    [
        ("status.podIP", ["10.0.0.1", "255.1.2.3", "fd00::1", "::1"], ["10.0.0.1.evil", "", "256.0.0.1", "a"]),
        ("status.hostIP", ["10.0.0.1"], ["10x0x0x1"]),
        ("status.podIPs", ["10.0.0.1", "10.0.0.1,fd00::1"], ["10.0.0.1,", "10.0.0.1 fd00::1"]),
        ("metadata.name", ["web-1"], ["web-2", "web-1x"]),
        ("metadata.uid", ["01234567-89ab-cdef-0123-456789abcdef"], ["x", "01234567-89ab-cdef-0123-456789abcdeF"]),
        ("spec.nodeName", ["node-1.example"], ["Node", "a/b", "-a", ""]),
    ],
)
def test_text_around_a_value_of_the_pod_is_a_pattern(path: str, good: list[str], bad: list[str]) -> None:
    (_, variable), args = (
        _env(_field("X", path), _literal("A", "http://$(X)/.?a=b")),
        _process(env=[_field("X", path)], command=["/c"], args=["http://$(X)/.?a=b"])["Args"],
    )
    name, _, text = variable.partition("=")
    assert name == "A"
    for value in good:
        assert _pattern(text).match(f"http://{value}/.?a=b")
    for value in bad:
        assert not _pattern(text).match(f"http://{value}/.?a=b")
    assert not _pattern(text).match(f"http://{good[0]}/x?a=b")
    assert args == (["/c", "http://$(sandbox-name)/.?a=b"] if path == "metadata.name" else ["/c", text])


VALUES = {
    "$(NAME)": "web-1",
    "$(IP)": "10.1.2.3",
    "$(NODE)": "node-1.b",
    "$(UID)": "0" * 8 + "-0000" * 3 + "-" + "0" * 12,
}
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0$", exclude_categories=["Cs"]), max_size=4)


@given(st.lists(WORDS | st.sampled_from(list(VALUES)), min_size=1, max_size=6), st.integers(0, 99), WORDS)
def test_a_pattern_matches_the_text_around_the_values_and_no_other(pieces: list[str], at: int, other: str) -> None:
    paths = {"NAME": "metadata.name", "IP": "status.podIP", "NODE": "spec.nodeName", "UID": "metadata.uid"}
    entries = [_field(name, path) for name, path in paths.items()]
    made = _env(*entries, _literal("A", "".join(pieces)))[-1].removeprefix("A=")
    if not made.startswith("$(text-pattern)"):
        return
    right = "".join(VALUES.get(piece, piece) for piece in pieces)
    assert _pattern(made).match(right)
    index = at % len(pieces)
    # characters that no value may have, so that no value can make up for the change
    if pieces[index] not in VALUES and other != pieces[index] and not re.search("[0-9a-z.:-]", other + pieces[index]):
        changed = [*pieces[:index], other, *pieces[index + 1 :]]
        assert not _pattern(made).match("".join(VALUES.get(piece, piece) for piece in changed))


def test_what_kata_has_no_token_for_is_a_pattern() -> None:
    assert _pattern(_env(_field("A", "status.podIPs"))[0].removeprefix("A=")).match("10.0.0.1,fd00::1")
    assert _pattern(_process(env=[_field("X", "status.podIP")], args=["$(X)"])["Args"][-1]).match("10.0.0.1")
    assert _process(env=[_field("X", "metadata.uid")], args=["$(X)"])["Args"][-1] == f"$(text-pattern)^{UID}$"


@pytest.mark.parametrize(
    ("kind", "label", "value"),
    [
        ("StatefulSet", "statefulset.kubernetes.io/pod-name", "$(text-pattern)^$(sandbox-name)$"),
        ("StatefulSet", "apps.kubernetes.io/pod-index", "$(text-pattern)^[0-9]{1,10}$"),
        ("Job", "batch.kubernetes.io/job-completion-index", "$(text-pattern)^[0-9]{1,10}$"),
        ("CronJob", "batch.kubernetes.io/job-completion-index", "$(text-pattern)^[0-9]{1,10}$"),
        ("Deployment", "pod-template-hash", "$(text-pattern)^[4-9bcdf]{1,10}$"),
        ("StatefulSet", "controller-revision-hash", r"$(text-pattern)^web\-[4-9bcdf]{1,10}$"),
        ("Job", "job-name", "web"),
        ("Job", "batch.kubernetes.io/job-name", "web"),
        ("CronJob", "job-name", r"$(text-pattern)^web\-[0-9]{8}$"),
        ("CronJob", "batch.kubernetes.io/job-name", r"$(text-pattern)^web\-[0-9]{8}$"),
        *(
            (kind, f"{prefix}controller-uid", f"$(text-pattern)^{UID}$")
            for kind in ("Job", "CronJob")
            for prefix in ("", "batch.kubernetes.io/")
        ),
    ],
)
def test_labels_that_a_controller_sets(kind: str, label: str, value: str) -> None:
    spec = {"containers": [{"name": "app", "image": "i", "env": [_field("A", f"metadata.labels['{label}']")]}]}
    assert pods.container(pods.workload(spec, kind))["OCI"]["Process"]["Env"][2:] == [f"A={value}"]
    if label == "batch.kubernetes.io/job-completion-index":
        spec["containers"][0]["env"].append(_field("B", f"metadata.annotations['{label}']"))  # type: ignore[attr-defined]
        assert pods.container(pods.workload(spec, kind))["OCI"]["Process"]["Env"][3:] == [f"B={value}"]
        return
    given = {"labels": {label: "mine"}}
    assert pods.container(pods.workload(spec, kind, None, given))["OCI"]["Process"]["Env"][2:] == ["A=mine"]
    assert [code for code, _ in pods.refused(pods.workload(spec, "ReplicaSet"))] == ["CC0604"]


@pytest.mark.parametrize("kind", ["Pod", "Deployment", "DaemonSet", "Job"])
def test_the_zone_of_the_node_is_a_value_of_a_label_or_none(kind: str) -> None:
    spec = {"containers": [{"name": "app", "image": "i"}]}
    container = {**spec["containers"][0], "env": [_field("Z", "metadata.labels['topology.kubernetes.io/zone']")]}
    (value,) = pods.container(pods.workload({"containers": [container]}, kind))["OCI"]["Process"]["Env"][2:]
    pattern = _pattern(value.removeprefix("Z="))
    assert all(pattern.fullmatch(text) for text in ("", "eu-1a", "a" * 63))
    assert not any(pattern.fullmatch(text) for text in ("-", "a b", "a\n", "a" * 64, "$(id)"))


def test_the_name_of_a_job_that_only_the_cluster_names_is_unknown() -> None:
    spec = {"containers": [{"name": "app", "image": "i", "env": [_field("A", "metadata.labels['job-name']")]}]}
    subject = pods.workload(spec, "Job")
    unnamed = subject._replace(object={**subject.object, "metadata": {"generateName": "web-", "namespace": "shop"}})
    assert [code for code, _ in pods.refused(unnamed)] == ["CC0604"]
    nameless = subject._replace(object={**subject.object, "metadata": {"namespace": "shop"}})
    assert [code for code, _ in pods.refused(nameless)] == ["CC0604"]
    of_volcano = subject._replace(ref=subject.ref._replace(api_version="batch.volcano.sh/v1alpha1"))
    assert [code for code, _ in pods.refused(of_volcano)] == ["CC0604"]


def test_the_hash_of_a_daemon_set_has_no_name_before_it() -> None:
    spec = {
        "containers": [
            {"name": "app", "image": "i", "env": [_field("A", "metadata.labels['controller-revision-hash']")]}
        ]
    }
    made = pods.container(pods.workload(spec, "DaemonSet"))["OCI"]["Process"]["Env"][2:]
    assert made == ["A=$(text-pattern)^[4-9bcdf]{1,10}$"]


def test_an_annotation_that_the_template_does_not_have_is_empty_wherever_it_stands() -> None:
    entry = _field("X", "metadata.annotations['unknown']")
    made, findings = pods.sealing(pods.simple(env=[entry, _literal("A", "a $(X)")], args=["[$(X)]"]))
    assert made is not None
    process = made.data["containers"][1]["OCI"]["Process"]
    assert process["Env"][2:] == ["X=", "A=a "]
    assert process["Args"][-1] == "[]"
    (found,) = [one for one in findings if one.severity != "info"]
    assert (found.code, found.path[-4:]) == ("CC0682", (0, "valueFrom", "fieldRef", "fieldPath"))
    assert found.message == wording("CC0682", key="unknown")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KUBERNETES_SERVICE_HOST", "10.96.0.1"),
        ("KUBERNETES_SERVICE_PORT_HTTPS", "443"),
        ("KUBERNETES_PORT", "tcp://10.96.0.1:443"),
        ("KUBERNETES_PORT_443_TCP", "tcp://[fd00::1]:443"),
        ("KUBERNETES_PORT_443_TCP_PROTO", "tcp"),
        ("KUBERNETES_PORT_443_TCP_PORT", "443"),
        ("KUBERNETES_PORT_443_TCP_ADDR", "10.96.0.1"),
    ],
)
def test_variables_of_services_may_be_there_or_not(name: str, value: str) -> None:
    for other in (name, name.replace("KUBERNETES", "DB_2")):
        made = _process(command=["/c"], args=[f"a=$({other})"])["Args"][1]
        assert _pattern(made).match(f"a={value}")
        assert _pattern(made).match(f"a=$({other})")
        assert not _pattern(made).match("a=x")
        assert not _pattern(made).match("a=")
    own = [_literal(name, "mine"), _literal("B", f"$({name})")]
    assert _env(*own)[1] == "B=mine"


def test_without_service_links_only_kubernetes_itself_has_variables() -> None:
    spec = {
        "enableServiceLinks": False,
        "containers": [
            {"name": "a", "image": "i", "args": ["$(DB_SERVICE_HOST)", "$(KUBERNETES_SERVICE_HOST)", "$(DB_PORTS)"]}
        ],
    }
    made = pods.container(pods.workload(spec))["OCI"]["Process"]["Args"]
    assert made[1] == "$(DB_SERVICE_HOST)"
    assert made[2].startswith("$(text-pattern)")
    assert made[3] == "$(DB_PORTS)"


def test_a_namespace_in_arguments() -> None:
    spec = {
        "containers": [{"name": "a", "image": "i", "args": ["-n=$(NS)"], "env": [_field("NS", "metadata.namespace")]}]
    }
    assert pods.container(pods.workload(spec))["OCI"]["Process"]["Args"] == ["/entry", "-n=shop"]
    unknown = pods.container(pods.workload(spec, metadata={"name": "web"}))["OCI"]["Process"]
    assert unknown["Args"] == ["/entry", r"$(text-pattern)^\-n=$(sandbox-namespace)$"]
    assert unknown["Env"][-1] == "NS=$(sandbox-namespace)"


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
    for name, text in values:
        known[name] = _kubelet(text, known)
    made = _process(command=["/c"], args=args, env=[_literal(name, text) for name, text in values])

    assert made["Env"][2:] == [f"{name}={value}" for name, value in known.items()]
    assert [re.sub(r"\$\$", "$", arg) for arg in made.get("Args", ())] == [
        "/c",
        *(_kubelet(arg, known) for arg in args),
    ]
