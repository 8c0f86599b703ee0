"""Variables whose values only the cluster has: what `spec.policy.externalSources` opens, and what it does not."""

import copy
from typing import Any

import pytest

from krm_function.config.generate import ExternalSource
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, KATA, Profile
from krm_function.findings import Finding
from krm_function.kubernetes.workload import Workload
from krm_function.policy.open_variables import idle_findings
from krm_function.policy.rules import load_rules, profile_of_rules, with_external_sources
from krm_function.policy.seal import Policy
from tests.policy import pods
from tests.policy.host import Agent, Host, Json
from tests.wording import wording

CREATE = "CreateContainerRequest"
EXEC = "ExecProcessRequest"
OPEN = "$(text-pattern)$(external-source)"
DB = ExternalSource("Secret", name="db")
NODES = pytest.mark.parametrize("profile", [CONTRAST, KATA], ids=lambda profile: profile.name)


def _from(name: str, kind: str = "secret", of: str = "db", key: str = "password", **more: Any) -> Json:
    return {"name": name, "valueFrom": {f"{kind}KeyRef": {"name": of, "key": key, **more}}}


PASSWORD = _from("DB_PASSWORD")
FIXED: list[Json] = [
    {"name": "MODE", "value": "prod"},
    {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    {"name": "AROUND", "value": "on $(NODE)"},
    _from("COLOUR", "configMap", "look", "colour"),
]


def _known(*sources: ExternalSource) -> References:
    return References([pods.CONFIG_MAP, pods.SECRET], sources)


def _sealed(subject: Workload, *sources: ExternalSource, profile: Profile = CONTRAST) -> Policy:
    return pods.sealed(subject, _known(*sources), profile)


def _findings(subject: Workload, *sources: ExternalSource) -> tuple[Finding, ...]:
    made, found = pods.sealing(subject, _known(*sources))
    assert made is None
    return found


def _codes(*sources: ExternalSource, **container: Any) -> list[tuple[str, str]]:
    return [(one.code, one.message) for one in _findings(pods.simple(**container), *sources)]


def _env(*sources: ExternalSource, **container: Any) -> list[str]:
    data = _sealed(pods.simple(**container), *sources).data
    env: list[str] = data["containers"][1]["OCI"]["Process"]["Env"]
    return env[2:]  # PATH of the image, HOSTNAME


# --- what the policy says


def test_a_variable_of_a_named_secret_is_open_and_no_other() -> None:
    assert _env(DB, env=[PASSWORD, *FIXED[:1]]) == [f"DB_PASSWORD={OPEN}", "MODE=prod"]


def test_without_an_entry_nothing_is_open() -> None:
    assert [code for code, _ in _codes(env=[PASSWORD])] == ["CC0602"]
    assert [code for code, _ in _codes(ExternalSource("ConfigMap", name="db"), env=[PASSWORD])] == ["CC0602"]
    assert [code for code, _ in _codes(ExternalSource("Secret", name="db2"), env=[PASSWORD])] == ["CC0602"]
    assert _env(ExternalSource("Secret", name="other"), env=[_from("A", optional=True)]) == []


def test_a_policy_without_open_variables_is_the_one_that_it_was() -> None:
    subject = pods.simple(env=FIXED)
    assert _sealed(subject, DB).digest == _sealed(subject).digest
    assert profile_of_rules(_sealed(subject, DB).rego) is CONTRAST


@NODES
def test_the_rules_of_an_open_variable_follow_those_of_the_profile(profile: Profile) -> None:
    made = _sealed(pods.simple(env=[PASSWORD]), DB, profile=profile)
    assert made.rego.startswith(with_external_sources(load_rules(profile)))
    assert made.rego.startswith(load_rules(profile))
    assert profile_of_rules(made.rego) is profile


@pytest.mark.parametrize(
    ("pattern", "name", "opens"),
    [
        ("db-*", "db-main", True),
        ("db-*", "my-db-main", False),
        ("db-*", "db", False),
        ("*-db", "main-db", True),
        ("*-db", "main-db-2", False),
        ("a*b*c", "a-b-b-c", True),
        ("ab*ba", "aba", False),
        ("d.b", "dxb", False),
    ],
)
def test_a_pattern_is_about_the_whole_name(pattern: str, name: str, *, opens: bool) -> None:
    source = ExternalSource("Secret", name_pattern=pattern)
    made, _ = pods.sealing(pods.simple(env=[_from("A", of=name)]), _known(source))
    assert (made is not None) == opens


def test_what_is_in_the_input_keeps_its_value() -> None:
    every = ExternalSource("Secret", name_pattern="k*"), ExternalSource("Secret", name="keys", keys=("token", "other"))
    assert _env(*every, env=[_from("A", of="keys", key="token")]) == ["A=s3cr3t"]
    assert _env(*every, envFrom=[{"secretRef": {"name": "keys"}}]) == ["token=s3cr3t"]
    assert [code for code, _ in _codes(*every, env=[_from("A", of="keys", key="other")])] == ["CC0603"]


def test_an_object_that_is_twice_in_the_input_is_not_opened() -> None:
    twice = [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "stringData": {"password": "x"}}] * 2
    made, found = pods.sealing(pods.simple(env=[PASSWORD]), References(twice, [DB]))
    assert made is None
    assert [one.code for one in found] == ["CC0602"]


def test_a_namespace_of_an_entry_is_that_of_the_workload() -> None:
    assert _env(DB._replace(namespace="shop"), env=[PASSWORD]) == [f"DB_PASSWORD={OPEN}"]
    ((code, message),) = _codes(DB._replace(namespace="bank"), env=[PASSWORD])
    assert code == "CC0672"
    assert wording("CC0672.namespace", namespace="shop", other="bank") in message
    assert _env(DB._replace(namespace="bank"), env=[_from("A", optional=True)]) == []


def test_keys_are_the_only_ones_that_are_open() -> None:
    user, password = _from("A", key="user"), _from("B", key="password")
    only = DB._replace(keys=("password",))
    assert _env(only, env=[password]) == [f"B={OPEN}"]
    assert [code for code, _ in _codes(only, env=[user])] == ["CC0672"]
    assert _env(only, env=[_from("A", key="user", optional=True)]) == []
    assert _env(only, DB._replace(keys=("user",)), env=[user, password]) == [f"A={OPEN}", f"B={OPEN}"]


def test_variables_are_the_only_ones_that_are_open() -> None:
    only = DB._replace(keys=("password",), variables=("DB_PASSWORD",))
    assert _env(only, env=[PASSWORD]) == [f"DB_PASSWORD={OPEN}"]
    ((code, message),) = _codes(only, env=[_from("API_URL")])
    assert code == "CC0672"
    assert wording("CC0672.variable", variable="API_URL") in message
    assert _env(only, env=[_from("API_URL", optional=True)]) == []
    assert _env(DB._replace(variables=("A", "B")), env=[_from("A", key="x"), _from("B", key="y")])[0] == f"A={OPEN}"


def test_key_and_variable_are_of_one_entry() -> None:
    user, password = (DB._replace(keys=(one,), variables=(one.upper(),)) for one in ("user", "password"))
    assert _env(user, password, env=[_from("USER", key="user"), _from("PASSWORD")]) == [
        f"USER={OPEN}",
        f"PASSWORD={OPEN}",
    ]
    assert [code for code, _ in _codes(user, password, env=[_from("USER")])] == ["CC0672"]
    assert _env(user, DB, env=[_from("OTHER", key="user")]) == [f"OTHER={OPEN}"]


@pytest.mark.parametrize(
    ("container", "image"),
    [
        ({"command": ["/bin/bash", "-c", "serve"]}, {}),
        ({"command": ["python3.12", "app.py"]}, {}),
        ({"args": ["serve"]}, {"Entrypoint": ["docker-entrypoint.sh"]}),
        ({}, {"Entrypoint": None, "Cmd": ["/sbin/tini", "/web"]}),
        ({}, {"Env": ["PATH=/bin", "PYTHON_VERSION=3.12"]}),
        ({}, {"Env": ["LD_LIBRARY_PATH=/usr/local/nvidia/lib"]}),
        ({"resources": {"limits": {"nvidia.com/pgpu": 1}}}, {}),
    ],
    ids=str,
)
def test_an_interpreter_a_shell_and_a_gpu_stack_need_the_name_of_each_variable(container: Json, image: Json) -> None:
    def codes(*sources: ExternalSource, **variables: Any) -> list[str]:
        _, findings = pods.sealing(pods.simple(**container, **variables), _known(*sources), **image)
        return [finding.code for finding in findings if finding.severity == "error"]

    whole = [{"secretRef": {"name": "db"}}]
    assert codes(DB, env=[PASSWORD]) == ["CC0672"]
    assert codes(DB._replace(keys=("password",)), envFrom=whole) == ["CC0672"]
    assert codes(DB._replace(variables=("DB_PASSWORD",)), env=[PASSWORD]) == []
    assert codes(DB, DB._replace(variables=("password",), keys=("password",)), envFrom=whole) == []


def test_variables_of_env_from_have_its_prefix() -> None:
    whole = [{"prefix": "P_", "secretRef": {"name": "db"}}]
    entry = DB._replace(keys=("user", "password"))
    assert _env(entry._replace(variables=("P_user", "P_password")), envFrom=whole) == [
        f"P_password={OPEN}",
        f"P_user={OPEN}",
    ]
    for variables in (("user", "password"), ("P_user",), ("P_password",)):
        found = _codes(entry._replace(variables=variables), envFrom=whole)
        assert [code for code, _ in found] == ["CC0672"]
    assert [code for code, _ in _codes(DB._replace(variables=("P_user",)), envFrom=whole)] == ["CC0672"]


def test_a_name_that_steers_a_program_is_refused_also_if_the_entry_has_it() -> None:
    assert [code for code, _ in _codes(DB._replace(variables=("PATH",)), env=[_from("PATH")])] == ["CC0670"]


def test_an_optional_reference_is_open_if_an_entry_says_so() -> None:
    assert _env(DB, env=[_from("A", optional=True)]) == [f"A={OPEN}"]


def test_env_from_needs_keys() -> None:
    whole = [{"prefix": "P_", "secretRef": {"name": "db"}}]
    assert [code for code, _ in _codes(DB, envFrom=whole)] == ["CC0672"]
    assert [code for code, _ in _codes(DB, envFrom=[{"secretRef": {"name": "db", "optional": True}}])] == ["CC0672"]
    assert _env(DB._replace(keys=("user", "password")), envFrom=whole) == [f"P_password={OPEN}", f"P_user={OPEN}"]


def test_a_later_source_of_a_name_counts() -> None:
    keyed = DB._replace(keys=("colour",))
    sets = [{"secretRef": {"name": "db"}}, {"configMapRef": {"name": "look"}}]
    assert _env(keyed, envFrom=sets)[0] == "colour=red"
    assert _env(keyed, envFrom=sets[::-1])[0] == f"colour={OPEN}"
    assert _env(keyed, envFrom=sets[::-1], env=[{"name": "colour", "value": "x"}])[0] == "colour=x"
    assert _env(DB, env=[PASSWORD, {"name": "DB_PASSWORD", "value": "x"}]) == ["DB_PASSWORD=x"]


# --- what may not be open


@pytest.mark.parametrize(
    "name",
    [
        *(
            "PATH",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "BASH_ENV",
            "ENV",
            "IFS",
            "SHELLOPTS",
            "PYTHONPATH",
            "PYTHONSTARTUP",
        ),
        *("PERL5LIB", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"),
        *("GIT_SSH_COMMAND", "GCONV_PATH", "LOCPATH", "MALLOC_CHECK_", "GLIBC_TUNABLES", "DOTNET_STARTUP_HOOKS"),
        *("COMPlus_EnableDiagnostics", "HTTP_PROXY", "https_proxy", "SSL_CERT_FILE", "ES_JAVA_OPTS", "HOME"),
        *("BASH_FUNC_ls%%", "SSH_ASKPASS", "SPRING_APPLICATION_JSON", "LOGGING_CONFIG", "BUN_OPTIONS", "PSModulePath"),
        *("JULIA_LOAD_PATH", "TCLLIBPATH", "NIX_LD", "GOFLAGS", "MANPAGER", "PGSERVICEFILE"),
        *("NVTX_INJECTION64_PATH", "OMP_TOOL_LIBRARIES", "OMPI_MCA_mca_base_component_path", "NCCL_CONF_FILE"),
        *("TPU_LIBRARY_PATH", "TRITON_CACHE_DIR", "VLLM_PLUGINS", "VK_LAYER_PATH", "FLASK_APP", "PSQL_PAGER"),
    ],
)
def test_a_variable_that_steers_a_program_is_refused(name: str) -> None:
    ((code, message),) = _codes(DB, env=[_from(name)])
    assert code == "CC0670"
    assert message.startswith(f"{name} could have any value, from a Secret")
    prefix, key = name[:2], name[2:]
    found = _codes(DB._replace(keys=("fine", key)), envFrom=[{"prefix": prefix, "secretRef": {"name": "db"}}])
    assert [code for code, _ in found] == ["CC0670"]


@pytest.mark.parametrize("name", ["DB_PASSWORD", "PATHS", "MY_PATH", "NODE_ENV", "PORT", "LDAP_URL", "GITHUB_TOKEN"])
def test_an_ordinary_variable_is_not(name: str) -> None:
    assert _env(DB, env=[_from(name)]) == [f"{name}={OPEN}"]


@pytest.mark.parametrize(
    "container",
    [
        {"command": ["/bin/sh", "-c", "run $(DB_PASSWORD)"]},
        {"command": ["$(DB_PASSWORD)"]},
        {"command": ["/web"], "args": ["--password=$(DB_PASSWORD)"]},
        {"env": [PASSWORD, {"name": "URL", "value": "postgres://web:$(DB_PASSWORD)@db"}]},
        {"env": [PASSWORD, {"name": "SAME", "value": "$(DB_PASSWORD)"}]},
        {"env": [PASSWORD, {"name": "DB_PASSWORD", "value": "x$(DB_PASSWORD)"}]},
        {"env": [{"name": "A", "value": "$(P_password)"}], "envFrom": [{"prefix": "P_", "secretRef": {"name": "db"}}]},
    ],
)
def test_what_expands_an_open_variable_is_refused(container: Json) -> None:
    found = _codes(
        DB._replace(keys=("password",), variables=("DB_PASSWORD", "P_password")), **{"env": [PASSWORD], **container}
    )
    assert [code for code, _ in found] == ["CC0671"]


def test_an_escaped_dollar_and_an_earlier_text_expand_nothing() -> None:
    before = [{"name": "A", "value": "$(DB_PASSWORD)"}, PASSWORD, {"name": "B", "value": "$$(DB_PASSWORD)"}]
    assert _env(DB, env=before) == ["A=$(DB_PASSWORD)", f"DB_PASSWORD={OPEN}", "B=$(DB_PASSWORD)"]


def test_a_probe_does_not_expand_it_either() -> None:
    # the kubelet replaces it by nothing there
    probe = {"exec": {"command": ["/web", "$(DB_PASSWORD)"]}}
    data = _sealed(pods.simple(env=[PASSWORD], livenessProbe=probe), DB).data
    assert data["containers"][1]["exec_commands"] == [["/web", ""]]


@pytest.mark.parametrize("text", [OPEN, "$(text-pattern)^.*$"])
def test_no_text_of_the_pod_opens_a_variable(text: str) -> None:
    assert [code for code, _ in _codes(DB, env=[PASSWORD, {"name": "A", "value": text}])] == ["CC0604"]
    prefix = {"prefix": text, "secretRef": {"name": "db"}}
    assert [code for code, _ in _codes(DB._replace(keys=("k",)), envFrom=[prefix])] == ["CC0604"]


# --- what the rules allow


def _request(rego: str, change: dict[str, str | None] | None = None, *more: str) -> Json:
    """The request of a correct host with other values of some variables, None for none, and more variables."""
    request = Host(rego).create("app")
    request["OCI"]["Process"]["Env"] = [*_changed(request["OCI"]["Process"]["Env"], change or {}), *more]
    return request


def _changed(env: list[str], change: dict[str, str | None]) -> list[str]:
    values = dict(entry.split("=", 1) for entry in env) | change
    return [f"{name}={value}" for name, value in values.items() if value is not None]


def _allows(rego: str, request: Json) -> bool:
    return Agent(rego).verdict(CREATE, request) is not False


VALUES = [
    "",
    "hunter2",
    "a=b",
    "two\nlines",
    "x\nLD_PRELOAD=/evil.so",
    "$(sandbox-name)",
    OPEN,
    "\\u0000",
    "\x01\x1b[0m",
    "\u00fc\U0001f600",
    "^.*$",
]


@NODES
@pytest.mark.parametrize("value", VALUES)
def test_an_open_variable_may_have_any_value(profile: Profile, value: str) -> None:
    rego = _sealed(pods.simple(env=[PASSWORD, *FIXED]), DB, profile=profile).rego
    assert _allows(rego, _request(rego, {"DB_PASSWORD": value}))


@NODES
@pytest.mark.parametrize("value", ["x\0", "\0", "x\0\nPATH=/evil", "\\\0", "\\u0000\0"])
def test_no_nul_ends_its_value_early(profile: Profile, value: str) -> None:
    rego = _sealed(pods.simple(env=[PASSWORD]), DB, profile=profile).rego
    assert not _allows(rego, _request(rego, {"DB_PASSWORD": value}))


@NODES
def test_it_may_be_missing_as_every_other_variable(profile: Profile) -> None:
    rego = _sealed(pods.simple(env=[PASSWORD, *FIXED]), DB, profile=profile).rego
    assert _allows(rego, _request(rego, {"DB_PASSWORD": None}))


SECOND = ["DB_PASSWORD=other", "DB_PASSWORD=hunter2", "DB_PASSWORD=", f"DB_PASSWORD={OPEN}", "DB_PASSWORD"]


@NODES
@pytest.mark.parametrize("second", SECOND)
def test_there_is_no_second_one_of_its_name(profile: Profile, second: str) -> None:
    rego = _sealed(pods.simple(env=[PASSWORD]), DB, profile=profile).rego
    assert not _allows(rego, _request(rego, {}, second))
    given = _request(rego, {"DB_PASSWORD": OPEN}, second)
    assert not _allows(rego, given)
    given["OCI"]["Process"]["Env"].reverse()
    assert not _allows(rego, given)


OTHERS = [
    "DB_PASSWORD",
    *("db_password=x", "DB_PASSWORD2=x", "DB_PASSWOR=x", "DB_PASSWORD ", "XDB_PASSWORD=x", " DB_PASSWORD=x", "=x", "x"),
    *("\nDB_PASSWORD=x", "DB_PASSWORD\n=x", "LD_PRELOAD=/evil.so", "", "password=x", f"A={OPEN}", "DB.PASSWORD=x"),
]


@pytest.mark.parametrize("other", OTHERS)
@NODES
def test_no_other_variable_comes_with_it(profile: Profile, other: str) -> None:
    rego = _sealed(pods.simple(env=[PASSWORD, *FIXED]), DB, profile=profile).rego
    assert not _allows(rego, _request(rego, {}, other))
    assert not _allows(rego, _request(rego, {"DB_PASSWORD": None}, other))


@pytest.mark.parametrize("name", [entry["name"] for entry in FIXED if entry["name"] != "NODE"])
@NODES
def test_every_other_variable_stays_what_it_is(profile: Profile, name: str) -> None:
    fixed = _sealed(pods.simple(env=[*FIXED]), profile=profile).rego
    opened = _sealed(pods.simple(env=[PASSWORD, *FIXED]), DB, profile=profile).rego
    for value in ("other", "", "a=b", OPEN, "prod\n"):
        assert not _allows(opened, _request(opened, {name: value}))
        assert not _allows(fixed, _request(fixed, {name: value}))
    assert _allows(opened, _request(opened))


def test_each_container_has_its_own() -> None:
    spec = {
        "initContainers": [{"name": "first", "image": "app:1", "env": [_from("TOKEN", key="token")]}],
        "containers": [{"name": "app", "image": "app:1", "env": [PASSWORD]}],
    }
    rego = _sealed(pods.workload(spec), DB).rego
    assert _allows(rego, _request(rego))
    assert not _allows(rego, _request(rego, {}, "TOKEN=x"))


@NODES
def test_a_command_of_a_probe_has_the_variable_once_too(profile: Profile) -> None:
    probe = {"exec": {"command": ["/web", "health"]}}
    rego = _sealed(pods.simple(env=[PASSWORD], livenessProbe=probe), DB, profile=profile).rego
    host, agent = Host(rego), Agent(rego)
    assert agent.allows(CREATE, host.create("pause"))
    assert agent.allows(CREATE, host.create("app"))
    request = host.execute("app", ["/web", "health"])
    assert "DB_PASSWORD=hunter2" in request["process"]["Env"]
    assert agent.allows(EXEC, request)
    for more in ("DB_PASSWORD=x", "LD_PRELOAD=/evil.so"):
        changed = copy.deepcopy(request)
        changed["process"]["Env"].append(more)
        assert not agent.allows(EXEC, changed)


def test_data_with_the_token_and_rules_without_it_allow_nothing() -> None:
    rego = _sealed(pods.simple(env=[PASSWORD]), DB).rego.replace(with_external_sources(load_rules()), load_rules())
    for value in ("hunter2", "", OPEN):
        assert not _allows(rego, _request(rego, {"DB_PASSWORD": value}))


# --- entries that open nothing


def test_an_entry_that_opens_nothing_is_a_warning() -> None:
    subject = pods.simple(env=[PASSWORD, _from("A", of="keys", key="token")], envFrom=[{"secretRef": {"name": "env"}}])
    sources = (
        *(
            DB,
            ExternalSource("Secret", name="keys"),
            ExternalSource("ConfigMap", name="db"),
            DB._replace(namespace="bank"),
        ),
        *(ExternalSource("Secret", name_pattern="*e*"), ExternalSource("Secret", name_pattern="key*")),
    )
    found = idle_findings([subject], _known(*sources), subject.ref)
    assert [(one.path[-1], one.severity) for one in found] == [(index, "warning") for index in (1, 2, 3, 5)]
    assert ["is in the input" in one.message for one in found] == [True, False, False, True]
