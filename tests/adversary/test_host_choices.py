"""The author of a pod lets the host choose what runs: by values that only the running pod has.

Each row was sealed once, with nothing said. Beside them stand rows of honest pods, which are sealed.
"""

from typing import Any

import pytest

from krm_function.config.references import References
from krm_function.contrast.profiles import PROFILES, STRICT, Profile
from tests.policy import pods

Json = dict[str, Any]
IMAGE = "registry.example.com/shop/app:1@sha256:" + "a" * 64
PROFILE = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
FIELDS = {
    "NODE": "spec.nodeName",
    "UID_OF_POD": "metadata.uid",
    "POD_IP": "status.podIP",
    "HOST_IP": "status.hostIP",
    "POD_IPS": "status.podIPs",
    "POD_NAME": "metadata.name",
    "HASH": "metadata.labels['pod-template-hash']",
    "ABSENT": "metadata.annotations['example.com/absent']",
}


def _field(name: str, path: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _number(name: str, resource: str = "limits.memory") -> Json:
    return {"name": name, "valueFrom": {"resourceFieldRef": {"resource": resource}}}


KNOWN = [*(_field(name, path) for name, path in FIELDS.items()), _number("MEMORY")]


def _codes(profile: Profile, container: Json, **image: Any) -> list[str]:
    given = {"image": IMAGE, **container, "env": [*KNOWN, *container.get("env", ())]}
    made, findings = pods.sealing(pods.simple(**given), References(), profile, **image)
    codes = [one.code for one in findings if one.severity == "error"]
    assert (made is None) == bool(codes)
    # strict takes such a value as all of a variable only, in no text and almost no argument
    return [code for code in codes if (profile, code) != (STRICT, "CC0640")]


def _set(name: str, value: str) -> Json:
    return {"env": [{"name": name, "value": value}]}


STEERING: dict[str, Json] = {
    "a hook of Node.js from the node's name": {"env": [_field("NODE_OPTIONS", "spec.nodeName")]},
    "a file for bash from the uid": {"env": [_field("BASH_ENV", "metadata.uid")]},
    "a library from the pod's name": {"env": [_field("LD_PRELOAD", "metadata.name")]},
    "a proxy from the node's address": {"env": [_field("HTTPS_PROXY", "status.hostIP")]},
    "a path from the hash of the template": {"env": [_field("PYTHONPATH", "metadata.labels['pod-template-hash']")]},
    "a switch from a number": {"env": [_number("NODE_TLS_REJECT_UNAUTHORIZED", "limits.cpu")]},
    "the same in two steps": _set("NODE_OPTIONS", "$(NODE)"),
    "with signs around it": _set("LD_PRELOAD", "./$(NODE)"),
    "a part of a path": _set("LD_LIBRARY_PATH", "/lib:/data/$(NODE)"),
    "an option": _set("NODE_OPTIONS", "--require=$(UID_OF_POD)"),
    "an agent of the Java machine": _set("JAVA_TOOL_OPTIONS", "-javaagent:/data/$(NODE)"),
    "settings of Spring": _set("SPRING_APPLICATION_JSON", '{"logging.config":"$(NODE)"}'),
    "a module path of PowerShell": {"env": [_field("PSModulePath", "spec.nodeName")]},
    "flags of go": {"env": [_field("GOFLAGS", "spec.nodeName")]},
}
COMMANDS: dict[str, Json] = {
    "the program": {"command": ["$(NODE)"]},
    "a part of its path": {"command": ["/bin/$(POD_NAME)"]},
    "the program behind a launcher": {"command": ["tini", "--", "$(NODE)"]},
    "the program behind env": {"command": ["/usr/bin/env", "-i", "$(NODE)", "x"]},
    "the script of an interpreter": {"command": ["python3.12", "-u", "$(NODE)"]},
    "a module of an interpreter": {"command": ["python3", "-m", "$(NODE)"]},
    "a program behind options": {"command": ["env", "-u", "$(NODE)"]},
    "code of a shell of BusyBox": {"command": ["/bin/busybox", "ash", "-c", "-e", "--", "$(NODE)"]},
    "a class of Java": {"command": ["java", "$(UID_OF_POD)"]},
    "a command of a shell": {"command": ["sh", "-c", "$(NODE)"]},
    "a command of a shell, args": {"command": ["/bin/bash", "-euxc"], "args": ["$(NODE)"]},
    "a command of a shell behind its options": {"command": ["bash", "-c", "-x", "$(NODE)"]},
    "a command of a shell from an address": {"command": ["sh", "-c", "$(POD_IP)"]},
    "a word of a script": {"command": ["sh", "-c", "exec $(NODE)"]},
    "code of Python": {"command": ["python3", "-c", "import $(NODE)"]},
    "code of Python behind its option": {"command": ["python3", "-cimport $(NODE)"]},
    "code of Node.js in one word": {"command": ["node", "--eval=$(NODE)", "app.js"]},
    "the first word of a script": {"command": ["sh", "-c", "$(NODE) serve"]},
    "a word of a script behind another shell": {"command": ["sh", "-c", "exec sh", "sh", "$(NODE)"]},
    "code of Node.js": {"command": ["node", "--eval", "require('$(UID_OF_POD)')"]},
    "all the code of Perl": {"command": ["perl", "-e", "$(POD_IP)"]},
    "code in two steps": {**_set("RUN", "$(NODE)"), "command": ["sh", "-c", "$(RUN)"]},
}
BY_IMAGE: dict[str, tuple[Json, Json]] = {
    "the shell of the image": ({"args": ["$(NODE)"]}, {"Entrypoint": ["/bin/sh", "-c"]}),
    "the launcher of the image": ({"args": ["$(NODE)"]}, {"Entrypoint": ["/sbin/tini", "-g", "--"]}),
    "no program of the image": ({"args": ["$(NODE)"]}, {"Entrypoint": None}),
}


@PROFILE
@pytest.mark.parametrize("what", STEERING)
def test_a_value_of_the_pod_does_not_steer_a_program(profile: Profile, what: str) -> None:
    assert _codes(profile, STEERING[what]) == ["CC0680"]


@PROFILE
@pytest.mark.parametrize("what", COMMANDS)
def test_a_value_of_the_pod_does_not_choose_the_program(profile: Profile, what: str) -> None:
    assert _codes(profile, COMMANDS[what]) == ["CC0681"]


def test_many_words_and_values_take_no_longer_than_they_are_long() -> None:
    words = ["sh", "-x", *["--node=$(NODE)"] * 20_000, "-c", "true " + "--node=$(NODE) " * 1_000]
    assert _codes(PROFILES["contrast-1.25"], {"command": words}) == []


@PROFILE
@pytest.mark.parametrize("what", BY_IMAGE)
def test_nor_with_what_the_image_starts(profile: Profile, what: str) -> None:
    container, image = BY_IMAGE[what]
    assert _codes(profile, container, **image) == ["CC0681"]


def test_an_annotation_that_is_not_there_is_empty_in_every_place() -> None:
    profile = PROFILES["contrast-1.25"]
    for path in ("metadata.annotations['example.com/absent']", "metadata.annotations['k8s.v1.cni.cncf.io/status']"):
        subject = pods.simple(image=IMAGE, env=[_field("LD_PRELOAD", path)])
        made, findings = pods.sealing(subject, References(), profile)
        assert made is not None
        assert made.data["containers"][1]["OCI"]["Process"]["Env"][-1] == "LD_PRELOAD="
        assert "CC0682" in [one.code for one in findings]


HONEST: dict[str, Json] = {
    "the node's name as an option": {"args": ["--node=$(NODE)", "--node", "$(NODE)"]},
    "an address as an argument": {"args": ["$(POD_IP)"]},
    "the node's name as an argument": {"args": ["$(NODE)"]},
    "arguments of an own program": {"command": ["/web", "-c", "$(NODE)", "-e", "$(POD_IP)"]},
    "arguments of a script": {"command": ["sh", "-c", 'exec serve "$@"', "--", "$(NODE)", "$(POD_NAME)"]},
    "arguments of a program of Python": {"command": ["python3", "-u", "app.py", "$(NODE)"]},
    "arguments of a program of Java": {"command": ["java", "-jar", "app.jar", "-Dx", "$(NODE)"]},
    "an address as the value of an option": {"command": ["php", "-S", "$(POD_IP):8080", "-t", "public"]},
    "memory of Node.js": {"command": ["node", "--max-old-space-size=$(MEMORY)", "app.js", "--node=$(NODE)"]},
    "an option in a script": {"command": ["sh", "-c", "exec agent --node=$(NODE) --uid='$(UID_OF_POD)'"]},
    "addresses in a script": {"command": ["sh", "-c", "until nc -z $(HOST_IP) 80; do sleep 1; done"]},
    "the pod's name in a script": {"command": ["sh", "-c", "exec etcd --name $(POD_NAME) --ip http://$(POD_IP):80"]},
    "memory of Node.js by its variable": _set("NODE_OPTIONS", "--max-old-space-size=$(MEMORY)"),
    "memory of Java": _set("JAVA_OPTS", "-Xmx$(MEMORY) -Dpod=$(POD_NAME) -Dip=$(POD_IP)"),
    "a proxy on the node": _set("HTTP_PROXY", "http://$(HOST_IP):3128"),
    "hosts without a proxy": _set("NO_PROXY", "localhost,$(HOST_IP),$(POD_IPS)"),
    "where gunicorn listens": _set("GUNICORN_CMD_ARGS", "--bind=$(POD_IP):8080"),
    "the cores of a Go program": {"env": [_number("GOMAXPROCS", "limits.cpu"), _number("GOMEMLIMIT"), _number("GOGC")]},
    "the arenas of the C library": {"env": [_number("MALLOC_ARENA_MAX", "limits.cpu")]},
    "the cores of .NET and of Python": {
        "env": [_number("DOTNET_PROCESSOR_COUNT", "limits.cpu"), _number("PYTHON_CPU_COUNT", "limits.cpu")]
    },
    "names that only look like steering ones": {
        "env": [_field("MY_NODE", "spec.nodeName"), _field("PATHS", "metadata.uid")]
    },
    # nothing is called like the pod, an address or a number
    "the pod's name as a command of a script": {"command": ["sh", "-c", "$(POD_NAME) serve; $(MEMORY) | $(POD_IP)"]},
    "an escaped dollar": {"command": ["sh", "-c", "echo $$(NODE); $(hostname)"]},
}


@PROFILE
@pytest.mark.parametrize("what", HONEST)
def test_an_honest_pod_is_sealed(profile: Profile, what: str) -> None:
    assert _codes(profile, HONEST[what]) == []
