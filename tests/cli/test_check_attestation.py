"""`check --attestation`: an output is what a statement says, or it is not; the statement is hostile input."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.provenance.attestation import LONGEST, AttestationProblem, parse_attestation
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG, RESOURCES
from tests.failures.running import Run
from tests.failures.world import World, canaries
from tests.wording import wording

STATEMENT = "statement.json"
WITH = ("--attestation", STATEMENT)
Change = Callable[[Any], None]


@pytest.fixture
def attested(shop: Shop) -> Shop:
    """A deployment, its render and the statement about it."""
    assert shop.generate("-o", "out.yaml", "--attest", STATEMENT).code == 0
    return shop


def read(shop: Shop) -> Any:
    return json.loads((shop.directory / STATEMENT).read_bytes())


def envelope(statement: Any) -> dict[str, Any]:
    payload = base64.b64encode(json.dumps(statement).encode()).decode()
    return {"payloadType": "application/vnd.in-toto+json", "payload": payload, "signatures": [{"sig": "AAAA"}]}


def bundle(statement: Any) -> dict[str, Any]:
    return {
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {"publicKey": {"hint": "x"}},
        "dsseEnvelope": envelope(statement),
    }


def bare(statement: Any) -> dict[str, Any]:
    made: dict[str, Any] = statement
    return made


FORMS = {"bare": bare, "envelope": envelope, "bundle": bundle}


def codes(run: Run) -> list[str]:
    assert not list(canaries(run.stderr))
    assert "internal error" not in run.stderr
    return [line.split()[1] for line in run.stderr.splitlines() if line.startswith("error ")]


@pytest.mark.parametrize("form", FORMS)
def test_the_output_of_the_statement_passes_and_the_signature_is_said_not_to_be_verified(
    form: str, attested: Shop
) -> None:
    attested.write(STATEMENT, json.dumps(FORMS[form](read(attested))))
    run = attested("check", "out.yaml", *WITH)
    assert run.code == 0, run.stderr
    last = run.stderr.splitlines()[-1]
    assert last.startswith(f"{STATEMENT}: it claims that contrast-krm ")
    assert "compared: output; not compared: input, config" in last
    said = (
        "it is not signed"
        if form == "bare"
        else "its signature was not verified; use cosign verify-blob-attestation or"
    )
    assert said in last


def test_with_everything_at_hand_everything_is_compared(attested: Shop) -> None:
    run = attested("check", "out.yaml", "--config", CONFIG, "--input", "deployment", *WITH)
    assert run.code == 0, run.stderr
    assert "compared: output, config, input; not compared: nothing" in run.stderr


def test_machines_get_the_same_as_a_finding(attested: Shop) -> None:
    found = attested("check", "out.yaml", "--format", "json", *WITH).findings
    assert [(one["severity"], one["file"]) for one in found if one["code"] == "CC1335"] == [("info", STATEMENT)]


def test_names_do_not_matter(attested: Shop) -> None:
    attested("generate", "deployment", "--config", CONFIG, "-o", "moved/../elsewhere.yaml")
    (attested.directory / "out.yaml").rename(attested.directory / "renamed.yaml")
    (attested.directory / CONFIG).rename(attested.directory / "c.yaml")
    data = (attested.directory / RESOURCES).read_bytes()
    attested.write("in.yaml", data)
    assert attested("check", "renamed.yaml", "--config", "c.yaml", "--input", "in.yaml", *WITH).code == 0
    output = (attested.directory / "renamed.yaml").read_bytes()
    assert attested("check", *WITH, data=output).code == 0


def test_one_byte_more_is_another_output_and_both_digests_are_said(attested: Shop) -> None:
    named = read(attested)["subject"][0]["digest"]["sha256"]
    output = attested.directory / "out.yaml"
    output.write_bytes(output.read_bytes() + b"# a comment\n")
    run = attested("check", "out.yaml", "--format", "json", *WITH)
    (error,) = run.errors
    assert (run.code, error["code"]) == (1, "CC1331")
    assert f"lists out.yaml ({named})" in error["message"]
    assert attested("check", "out.yaml", *WITH).stderr.count("CC1331") == 2, "with where it is explained"


def test_an_input_or_a_configuration_that_is_another_one_is_said(attested: Shop) -> None:
    config = attested.directory / CONFIG
    before = config.read_bytes()
    config.write_bytes(before + b"# more\n")
    run = attested("check", "out.yaml", "--config", CONFIG, *WITH)
    assert (run.code, codes(run)) == (1, ["CC1333", "CC1334"])
    config.write_bytes(before)
    attested.write("deployment/more.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    run = attested("check", "out.yaml", "--input", "deployment", *WITH)
    assert (run.code, codes(run)) == (1, ["CC1333"])
    attested.write("other.yaml", "a: 1\n")
    run = attested("check", "out.yaml", "--input", "deployment/more.yaml", *WITH)
    assert (run.code, codes(run)) == (1, ["CC1333", "CC1334"])


def test_of_several_files_none_may_be_missing_or_twice_in_place_of_another(shop: Shop) -> None:
    for name in ("a", "b"):
        shop.write(f"deployment/{name}.yaml", f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n")
    assert shop.generate("--in-place", "--attest", STATEMENT).code == 0
    assert shop("check", "deployment", *WITH).code == 0
    (shop.directory / "deployment/a.yaml").unlink()
    run = shop("check", "deployment", *WITH)
    assert (run.code, codes(run)) == (1, ["CC1332"])
    assert "deployment/a.yaml" in run.stderr
    shop.write("deployment/a.yaml", (shop.directory / "deployment/b.yaml").read_bytes())
    assert "CC1332" in codes(shop("check", "deployment", *WITH))


def test_files_of_the_same_bytes_are_counted(shop: Shop) -> None:
    for name in ("a", "b"):
        shop.write(f"deployment/{name}.yaml", "# nothing\n")
    assert shop.generate("--in-place", "--attest", STATEMENT).code == 0
    assert shop("check", "deployment", *WITH).code == 0
    (shop.directory / "deployment/a.yaml").unlink()
    assert codes(shop("check", "deployment", *WITH)) == ["CC1332"]


def test_a_manifest_in_a_file_is_an_output(shop: Shop) -> None:
    world = World()
    world.spec["manifest"] = {**world.spec.get("manifest", {}), "emit": "none"}
    shop.change(world)
    assert shop.generate("-o", "out.yaml", "-m", "m.json", "--attest", STATEMENT).code == 0
    assert shop("check", "out.yaml", "--manifest", "m.json", *WITH).code == 0
    manifest = shop.directory / "m.json"
    manifest.write_bytes(manifest.read_bytes() + b"\n")
    assert "CC1331" in codes(shop("check", "out.yaml", "--manifest", "m.json", *WITH))


def test_a_resource_list_is_printed_again_and_compared_as_it_came(shop: Shop) -> None:
    listed = shop("fn", data=World().resource_list()).stdout
    shop.write("list.yaml", World().resource_list())
    assert shop("generate", "list.yaml", "-o", "out.yaml", "--attest", STATEMENT).code == 0
    output = (shop.directory / "out.yaml").read_bytes()
    run = shop("check", *WITH, data=output)
    assert run.code == 0, run.stderr
    assert run.stdout.startswith(output[:100])
    assert listed


# --- usage


def test_inputs_are_only_compared_with_an_attestation(attested: Shop) -> None:
    run = attested("check", "out.yaml", "--input", "deployment")
    assert (run.code, run.stdout) == (2, b"")
    assert "--attestation" in run.stderr


@pytest.mark.parametrize("option", ["--attestation", "--input"])
def test_standard_input_holds_the_output(option: str, attested: Shop) -> None:
    run = attested("check", "out.yaml", *WITH, option, "-")
    assert run.code == 2
    assert f"{option}: {wording('CC0909.stdin-no-file')}" in run.stderr


def test_an_attestation_that_is_not_there(attested: Shop) -> None:
    run = attested("check", "out.yaml", "--attestation", "missing.json")
    assert (run.code, codes(run)) == (3, ["CC1001"])


# --- hostile statements


def _set(*path: str | int, value: Any) -> Change:
    def change(document: Any) -> None:
        for part in path[:-1]:
            document = document[part]
        document[path[-1]] = value

    return change


def _drop(*path: str | int) -> Change:
    def change(document: Any) -> None:
        for part in path[:-1]:
            document = document[part]
        del document[path[-1]]

    return change


DEFINITION = ("predicate", "buildDefinition")
HOSTILE: dict[str, tuple[Change, str]] = {
    "another type": (_set("_type", value="https://in-toto.io/Statement/v2"), "_type is not https://in-toto.io/Stat"),
    "another predicate": (
        _set("predicateType", value="https://spdx.dev/Document"),
        "predicateType is not https://slsa",
    ),
    "an older predicate": (_set("predicateType", value="https://slsa.dev/provenance/v0.2"), "predicateType is not"),
    "another build": (_set(*DEFINITION, "buildType", value="https://actions.github.io/x/v1"), "buildType is not"),
    "the next version": (_set(*DEFINITION, "buildType", value="v2"), "buildType is not"),
    "no predicate": (_drop("predicate"), "predicate is not an object"),
    "a text as predicate": (_set("predicate", value="x"), "predicate is not an object"),
    "no definition": (_drop(*DEFINITION), "buildDefinition is not an object"),
    "an unknown parameter": (
        _set(*DEFINITION, "externalParameters", "x", value=1),
        wording("CC1330.parameter", name="x"),
    ),
    "an unknown option": (
        _set(*DEFINITION, "externalParameters", "options", "insecure", value=True),
        wording("CC1330.parameter", name="insecure"),
    ),
    "another command": (_set(*DEFINITION, "externalParameters", "command", value="lock"), "command is not generate or"),
    "no options": (_drop(*DEFINITION, "externalParameters", "options"), "options is not an object"),
    "no subject": (_set("subject", value=[]), "subject is not a list of files"),
    "one subject": (_set("subject", value={}), "subject is not a list of files"),
    "a text as subject": (_set("subject", 0, value="x"), "subject[0] is not an object"),
    "a number as name": (_set("subject", 0, "name", value=1), "subject[0].name is not a name"),
    "a long name": (_set("subject", 0, "name", value="x" * 5000), "subject[0].name is not a name"),
    "no digest": (_drop("subject", 0, "digest"), "digest is not an object"),
    "another digest": (_set("subject", 0, "digest", value={"sha512": "0" * 128}), "subject[0].digest.sha256 is not 64"),
    "a digest in capitals": (_set("subject", 0, "digest", "sha256", value="A" * 64), "subject[0].digest.sha256 is not"),
    "a line end behind a digest": (_set("subject", 0, "digest", "sha256", value="a" * 64 + "\n"), "is not 64 lower"),
    "no materials": (_drop(*DEFINITION, "resolvedDependencies"), "resolvedDependencies is not a list of files"),
    "an unknown role": (
        _set(*DEFINITION, "resolvedDependencies", 0, "annotations", "role", value="patch"),
        "resolvedDependencies[0].annotations.role is not one of input, config",
    ),
    "no role": (_drop(*DEFINITION, "resolvedDependencies", 0, "annotations"), "annotations is not an object"),
    "a version with more behind": (
        _set("predicate", "runDetails", "builder", "version", "contrast-krm", value="1.0\nchecked 0"),
        "builder.version.contrast-krm is not a version",
    ),
    "a version that is none": (
        _set("predicate", "runDetails", "builder", "version", "contrast-krm", value=["x"]),
        "builder.version.contrast-krm is not a version",
    ),
    "a name in capitals": (_set("Subject", value=[]), "Subject looks like subject"),
    "a name with an underscore": (_set("predicate_type", value="x"), "predicate_type looks like predicateType"),
    "a name with a long s": (_set("\u017fubject", value=[]), "looks like subject"),
    "a name with the sign of kelvin": (
        _set(*DEFINITION, "resolvedDependencies", 0, "annotations", "ROLE", value="input"),
        "ROLE looks like role",
    ),
    "another digest by a name alike": (
        _set("subject", 0, "digest", "SHA256", value="0" * 64),
        "SHA256 looks like sha256",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("form", ["bare", "bundle"])
def test_a_statement_that_is_not_ours_is_refused_with_the_reason(what: str, form: str, attested: Shop) -> None:
    change, said = HOSTILE[what]
    statement = read(attested)
    change(statement)
    attested.write(STATEMENT, json.dumps(FORMS[form](statement)))
    run = attested("check", "out.yaml", *WITH)
    assert (run.code, codes(run)) == (1, ["CC1330"]), run.stderr
    assert said in run.stderr


def problem(data: str | bytes) -> str:
    """Why some bytes are no attestation."""
    with pytest.raises(AttestationProblem) as raised:
        parse_attestation(data.encode() if isinstance(data, str) else data)
    values = raised.value.cause.values
    return f"{raised.value.cause.code} {' '.join(str(value) for value in values.values())}"


GOOD = {"_type": "https://in-toto.io/Statement/v1"}
TEXTS: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", "CC1330.json is not JSON"),
    "no JSON": ("apiVersion: v1\n", "CC1330.json is not JSON"),
    "a list": ("[]", "CC1330.json is not a JSON object"),
    "two objects": ("{}\n{}", "CC1330.json is not JSON: extra data"),
    "a key twice": ('{"_type": 1, "_type": 2}', "CC1330.json has a key twice"),
    "no number": ('{"_type": NaN}', "CC1330.json contains NaN"),
    "half a character": ('{"_type": "\\ud800"}', "CC1330.json must be valid Unicode"),
    "other bytes": (b'{"_type": "\xff"}', "CC1330.encoding"),
    "much nesting": ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "CC1330.depth"),
    "an endless number": ('{"a": ' + "1" * 5000 + "}", "CC1330.json"),
    "too many bytes": (b" " * (LONGEST + 1), "CC1330.size"),
    "an empty object": ("{}", "CC1330.form"),
    wording("CC1330.signature"): ('{"mediaType": "x", "messageSignature": {}}', "CC1330.signature"),
    "two forms": (json.dumps(GOOD | envelope(GOOD)), "CC1330.forms"),
    "two forms in a bundle": (json.dumps(bundle(GOOD) | {"payload": "e30="}), "CC1330.forms"),
    "two signatures": (json.dumps(bundle(GOOD) | {"messageSignature": {}}), "CC1330.forms"),
    "another bundle": (json.dumps(bundle(GOOD) | {"mediaType": "text/plain"}), "CC1330.field mediaType"),
    "a bundle without an envelope": (json.dumps(bundle(GOOD) | {"dsseEnvelope": []}), "CC1330.field dsseEnvelope"),
    "another payload": (json.dumps(envelope(GOOD) | {"payloadType": "text/plain"}), "CC1330.field payloadType"),
    "no signature": (json.dumps(envelope(GOOD) | {"signatures": []}), "CC1330.field signatures"),
    "a signature that is null": (json.dumps(envelope(GOOD) | {"signatures": [None]}), "CC1330.field signatures"),
    "an empty signature": (json.dumps(envelope(GOOD) | {"signatures": [{"sig": ""}]}), "CC1330.field signatures"),
    "a number as one": (json.dumps(envelope(GOOD) | {"signatures": [{"sig": 5}]}), "CC1330.field signatures"),
    "a signature of no base64": (
        json.dumps(envelope(GOOD) | {"signatures": [{"sig": "?"}]}),
        "CC1330.field signatures",
    ),
    "a key id that is a list": (
        json.dumps(envelope(GOOD) | {"signatures": [{"sig": "AAAA", "keyid": []}]}),
        "CC1330.field signatures",
    ),
    "one signature of two": (
        json.dumps(envelope(GOOD) | {"signatures": [{"sig": "AAAA"}, None]}),
        "CC1330.field signatures",
    ),
    "no list of signatures": (json.dumps(envelope(GOOD) | {"signatures": {}}), "CC1330.field signatures"),
    "no base64": (json.dumps(envelope(GOOD) | {"payload": "e30"}), "CC1330.field payload"),
    "base64 with more behind": (json.dumps(envelope(GOOD) | {"payload": "e30=e30="}), "CC1330.field payload"),
    "base64 with spaces": (json.dumps(envelope(GOOD) | {"payload": "e3 0="}), "CC1330.field payload"),
    "base64 in other letters": (json.dumps(envelope(GOOD) | {"payload": "\u0435\u0416=="}), "CC1330.field payload"),
    "a number": (json.dumps(envelope(GOOD) | {"payload": 1}), "CC1330.field payload"),
    "an envelope in an envelope": (json.dumps(envelope(envelope(GOOD))), "CC1330.field _type"),
    "a second payload": (json.dumps(envelope(GOOD) | {"Payload": "e30="}), "CC1330.name Payload payload"),
    "a second payload type": (
        json.dumps(envelope(GOOD) | {"payload_type": "x"}),
        "CC1330.name payload_type payloadType",
    ),
    "a second envelope": (json.dumps(bundle(GOOD) | {"dsse_envelope": {}}), "CC1330.name dsse_envelope dsseEnvelope"),
}


@pytest.mark.parametrize("what", TEXTS)
def test_what_can_be_read_in_two_ways_or_in_none_is_no_attestation(what: str) -> None:
    text, said = TEXTS[what]
    assert problem(text).startswith(said)


def test_both_alphabets_of_base64_are_read(attested: Shop) -> None:
    statement = read(attested) | {"more": "\u00fb\u00ff\u00be~~~???>>>"}
    text = json.dumps(statement, ensure_ascii=False).encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        wrapped = envelope(statement) | {"payload": encode(text).decode()}
        assert parse_attestation(json.dumps(wrapped).encode()).signed
    assert base64.b64encode(text) != base64.urlsafe_b64encode(text)


def test_members_that_other_programs_add_do_not_matter(attested: Shop) -> None:
    """Those of in-toto and SLSA are free to grow; parameters and roles are not."""
    statement = read(attested)
    statement["subject"][0] |= {"mediaType": "application/yaml", "annotations": {"a": "b"}}
    statement["subject"][0]["digest"]["sha512"] = "0" * 128
    statement["predicate"]["runDetails"]["metadata"] = {"invocationId": "1"}
    assert parse_attestation(json.dumps(statement).encode()).outputs


def test_the_older_statement_of_cosign_is_read(attested: Shop) -> None:
    statement = read(attested) | {"_type": "https://in-toto.io/Statement/v0.1"}
    statement["subject"] = statement["subject"][:1]
    attested.write(STATEMENT, json.dumps(envelope(statement), sort_keys=True))
    assert attested("check", "out.yaml", *WITH).code == 0


def test_a_name_of_a_hostile_statement_stays_on_its_line(attested: Shop) -> None:
    statement = read(attested)
    statement["subject"][0] = {"name": "x\nerror CC9999\x1b[31m", "digest": {"sha256": "0" * 64}}
    attested.write(STATEMENT, json.dumps(statement))
    run = attested("check", "out.yaml", *WITH)
    assert run.code == 1
    assert "\x1b" not in run.stderr
    assert codes(run) == ["CC1331"]


@pytest.mark.slow
@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("way", ["file", "stdin"])
@pytest.mark.parametrize("form", list(FORMS))
def test_every_form_by_every_way(form: str, way: str, broken: bool, attested: Shop) -> None:
    attested.write(STATEMENT, json.dumps(FORMS[form](read(attested))))
    data = (attested.directory / "out.yaml").read_bytes() + (b"# x\n" if broken else b"")
    attested.write("out.yaml", data)
    run = attested("check", "out.yaml", *WITH) if way == "file" else attested("check", *WITH, data=data)
    assert (run.code, codes(run)) == ((1, ["CC1331"]) if broken else (0, []))
