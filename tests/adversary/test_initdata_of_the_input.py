"""Initdata that stands in the input: it counts only where the configuration names the same file with the same text."""

import base64
import gzip
from collections.abc import Mapping
from typing import Any

import pytest

from krm_function.config.generate import PolicyOptions
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.workload import INITDATA
from krm_function.policy.initdata import Initdata, annotation, encode_toml
from krm_function.policy.rules import load_rules
from tests.world import an_object, codes, config, coordinator, digests, good, run, stream

AA = {"aa.toml": "[token_configs]\n"}


def packed(data: Mapping[str, str], algorithm: str = "sha256") -> str:
    return annotation(encode_toml(Initdata("0.1.0", algorithm, data)))


def raw(toml: bytes) -> str:
    return base64.b64encode(gzip.compress(toml)).decode()


# why somebody would bring it -> the annotation, the files of the configuration, the code
CASES: dict[str, tuple[Any, Mapping[str, str], str]] = {
    "a console of the agent": (packed({"agent.toml": "debug_console = true\n"}), {}, "CC0621"),
    "a mark that opens the VM": (packed({"contrast.insecure-debug": "true"}), {}, "CC0621"),
    "a policy that allows everything": (
        packed({"policy.rego": "package agent_policy\ndefault X := true\n"}),
        {},
        "CC0621",
    ),
    "a policy that looks like ours": (packed({"policy.rego": load_rules()}), {}, "CC0621"),
    "a file beside one that the configuration has": (packed({**AA, "cdh.toml": "x"}), AA, "CC0621"),
    "another text of a file that the configuration has": (packed({"aa.toml": "[other]\n"}), AA, "CC0613"),
    "the same but for a line end": (packed({"aa.toml": "[token_configs]"}), AA, "CC0613"),
    "the same name in another case": (packed({"AA.toml": AA["aa.toml"]}), AA, "CC0621"),
    "a name without letters": (packed({"": ""}), {}, "CC0621"),
    "a name with a path": (packed({"../policy.rego": ""}), {}, "CC0621"),
    "an empty policy": (packed({"policy.rego": ""}), {}, "CC0621"),
    "no base64": ("no base64!", {}, "CC0610"),
    "no gzip": ("YQ==", {}, "CC0610"),
    "no TOML": (raw(b"a = "), {}, "CC0610"),
    "no text": (5, {}, "CC0207"),
    "another digest": (packed({}, "sha512"), {}, "CC0610"),
    "another version": (raw(b'version = "0.2.0"\nalgorithm = "sha256"\n[data]\n'), {}, "CC0610"),
    "data that are no texts": (raw(b'version = "0.1.0"\nalgorithm = "sha256"\n[data]\na = 1\n'), {}, "CC0610"),
    "bytes behind the gzip": (base64.b64encode(base64.b64decode(packed({})) + b"x").decode(), {}, "CC0610"),
    "two documents in one": (base64.b64encode(gzip.compress(b"") + gzip.compress(b"")).decode(), {}, "CC0610"),
}


@pytest.mark.parametrize("name", CASES)
def test_initdata_of_the_input_is_an_error_at_its_annotation(name: str) -> None:
    value, files, code = CASES[name]
    documents = (coordinator(), an_object(annotations={INITDATA: value}))
    made = run(*documents, to=config(policy=PolicyOptions(initdata=files)))
    assert codes(made) == [code]
    (found,) = (one for one in made.findings if one.severity == "error")
    assert found.path == ("spec", "template", "metadata", "annotations", INITDATA)
    assert made.texts == tuple(one.text for one in stream(*documents))
    assert "debug_console" not in found.message + found.hint


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_an_error_on_every_kind(kind: str) -> None:
    notes = {INITDATA: packed({"agent.toml": ""})}
    assert codes(run(coordinator(), an_object(kind, annotations=notes))) == ["CC0621"]


def test_what_the_configuration_names_as_well_changes_nothing() -> None:
    to = config(policy=PolicyOptions(initdata=AA))
    made = [good(coordinator(), an_object(annotations=notes), to=to) for notes in ({INITDATA: packed(AA)}, {"a": "b"})]
    empty = good(coordinator(), an_object(annotations={INITDATA: packed({})}))
    assert digests(made[0])["web"] == digests(good(coordinator(), an_object(), to=to))["web"] != digests(empty)["web"]
    assert digests(empty) == digests(good(coordinator(), an_object()))


def test_without_an_engine_it_stays_for_whoever_seals_elsewhere() -> None:
    own = packed({"policy.rego": "package agent_policy\n", "agent.toml": ""})
    documents = [coordinator(), an_object(annotations={INITDATA: own})]
    documents[0]["spec"]["template"]["metadata"]["annotations"] = {INITDATA: packed({"policy.rego": ""})}
    made = good(*documents, to=config(policy=PolicyOptions(engine="none")))
    assert own in str(made.texts[1])
