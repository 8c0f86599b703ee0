"""Variables that name each other are refused before their text is built, in little memory."""

import resource
import subprocess
from typing import Any

import pytest

from krm_function.policy.expansion import LONGEST_CONTAINER, LONGEST_VALUE, Room, expand, expanded_size
from krm_function.text.writer import dump
from tests.hosts.running import EXAMPLES, PROGRAM
from tests.policy import pods

Json = dict[str, Any]
MEMORY = 1 << 30
IMAGE = "registry.example.com/shop/web:2.3.1@sha256:eb7ff6ccb640709248254b1c2e6bfd9c0cb6e7bc19800e8c9d5fcb8adde2dba9"


def literal(name: str, value: str) -> Json:
    return {"name": name, "value": value}


def chain(length: int, times: int, seed: Json) -> list[Json]:
    """Variables V1 to V`length`, of which each names the one before it `times` times; V0 is the seed."""
    return [{**seed, "name": "V0"}, *(literal(f"V{n}", f"$(V{n - 1})" * times) for n in range(1, length + 1))]


TEXT = literal("V0", "x" * 40)
TOKEN = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
ADDRESS = {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
BIG = [literal("A", "x" * 60_000)]
BOMBS: dict[str, Json] = {
    "doubles 30 times": {"env": chain(30, 2, TEXT)},
    "trebles 20 times": {"env": chain(20, 3, TEXT)},
    "thirty each": {"env": chain(8, 30, TEXT)},
    "a token that doubles": {"env": chain(30, 2, TOKEN)},
    "addresses that double": {"env": chain(30, 2, ADDRESS)},
    "an address many times": {"env": [*chain(0, 0, ADDRESS), literal("B", "$(V0)" * 4000)]},
    "doubles within itself": {"env": [TEXT, *(literal("V0", "$(V0)$(V0)") for _ in range(30))]},
    "two that name each other": {
        "env": [TEXT, *(literal("BA"[n % 2], f"$({'AB'[n % 2]})$(V0)$({'AB'[n % 2]})") for n in range(40))]
    },
    "command": {"env": BIG, "command": ["sh", "$(A)" * 10_000]},
    "args": {"env": BIG, "args": ["$(A)" * 10_000]},
    "many args": {"env": BIG, "args": ["$(A)"] * 20_000},
    "many variables": {"env": [*BIG, *(literal(f"B{n}", "$(A)") for n in range(20_000))]},
    "a probe": {"env": BIG, "livenessProbe": {"exec": {"command": ["sh", "$(A)" * 10_000]}}},
    "many words of a probe": {"env": BIG, "startupProbe": {"exec": {"command": ["$(A)"] * 20_000}}},
}


def deployment(container: Json) -> Json:
    labels = {"app": "bomb"}
    spec = {
        "runtimeClassName": "contrast-cc-metal-qemu-snp",
        "containers": [{"name": "app", "image": IMAGE} | container],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "bomb", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_text_that_would_be_too_long_is_refused_before_it_is_built(name: str) -> None:
    config = EXAMPLES / "quickstart" / "config"
    done = subprocess.run(
        [PROGRAM, "post-render", "--config", config],
        input=(EXAMPLES / "quickstart" / "resources" / "coordinator.yaml").read_bytes()
        + b"---\n"
        + dump(deployment(BOMBS[name])).encode(),
        capture_output=True,
        preexec_fn=bounded,
        check=False,
        timeout=120,
    )
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (1, b""), said[:2000]
    assert "error CC0604 shop/bomb spec.template.spec.containers[0]." in said, said[:2000]
    assert "refer to fewer" in said


@pytest.mark.parametrize("name", BOMBS)
def test_the_place_is_that_of_the_first_text_without_room(name: str) -> None:
    found = pods.refused(pods.simple(**BOMBS[name]))
    assert found
    assert {code for code, _ in found} == {"CC0604"}
    field = found[0][1].removeprefix("containers[0].")
    assert field.startswith(next(key for key in reversed(BOMBS[name])))


def test_the_limits_are_those_of_the_last_character() -> None:
    """A policy has no line as long as the limit of a value: the next limit of the guest comes first, never later."""
    room = Room()
    assert room.refuses(LONGEST_VALUE) is None
    assert room.refuses(LONGEST_VALUE + 1) == ("CC0604.long-expansion", LONGEST_VALUE)
    full = LONGEST_CONTAINER // LONGEST_VALUE
    assert [room.refuses(LONGEST_VALUE) for _ in range(full - 1)] == [None] * (full - 1)
    assert room.refuses(1) == ("CC0604.long-expansions", LONGEST_CONTAINER)
    fits = [literal("A", "x" * 60_000), literal("B", "$(A)")]
    pods.container(pods.simple(env=fits))
    over = literal("C", "$(A)" + "y" * (LONGEST_VALUE - 60_000 + 1))
    assert pods.refused(pods.simple(env=[*fits, over])) == [("CC0604", "containers[0].env[2].value")]
    full = LONGEST_CONTAINER // 60_000
    pods.container(pods.simple(env=fits[:1], args=["$(A)"] * full))
    found = pods.refused(pods.simple(env=fits[:1], args=["$(A)"] * (full + 5)))
    assert found == [("CC0604", f"containers[0].args[{full}]")]


def test_honest_long_values_are_as_before() -> None:
    long = "v" * 60_000
    env = [literal("LONG", long), *(literal(f"V{n}", f"$(V{n - 1})/{n}") for n in range(500))]
    made = pods.container(pods.simple(env=env))["OCI"]["Process"]["Env"]
    assert f"LONG={long}" in made
    assert made[-1].count("/") == 500


@pytest.mark.parametrize("text", ["", "$", "$$", "$(A)$(B)$(C)", "$$(A)$(A", "$(A))$((A)", "é$(A)$$$(B)$(", "$()$(A)"])
def test_the_length_is_that_of_what_is_built(text: str) -> None:
    known = {"A": "12345", "B": "", "": "é"}
    assert expanded_size(text, known) == len(expand(text, known))
