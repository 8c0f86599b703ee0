"""The page on provenance: each command runs as it stands, with the real cosign, a key of the test and no network.

What cosign would ask its services for is left out by two options, docs/facts/attestations.md#cosign. `gh` is not run,
because it asks GitHub.
"""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from krm_function.hosts.stream import decode_stream
from tests.docs.commands import ROOT, blocks
from tests.hosts.running import EXAMPLES, Machine, Ran, machine
from tests.real_tools import needing
from tools.real import tool

pytestmark = needing("cosign")

PAGE = ROOT / "docs/how-to/provenance.md"
COMMANDS = ("contrast-krm", "cosign", "jq", "set")
OFFLINE = {
    "cosign attest-blob": "cosign attest-blob --yes --signing-config services.json",
    "cosign verify-blob-attestation": "cosign verify-blob-attestation --insecure-ignore-tlog",
}
JQ = """#!/bin/sh
exec python3 -c 'import json, sys; json.dump(json.load(open(sys.argv[2]))[sys.argv[1][1:]], sys.stdout)' "$@"
"""


class Desk:
    """The quickstart in a directory of a machine that has cosign, a key and, for want of a pin, a `jq` of one line."""

    def __init__(self, directory: Path, on: Machine) -> None:
        self.directory = directory
        self.machine = on
        shutil.copytree(EXAMPLES / "quickstart", directory, ignore=shutil.ignore_patterns("expected"))
        files = sorted((directory / "resources").glob("*.yaml"))
        (directory / "helm.yaml").write_bytes(b"".join(b"---\n" + file.read_bytes() for file in files))
        self("cosign generate-key-pair; cosign signing-config create --out services.json").ok()

    def __call__(self, script: str) -> Ran:
        for command, instead in OFFLINE.items():
            script = script.replace(command, instead)
        variables = {"COSIGN_PASSWORD": "x", "HOME": str(self.directory.parent)}
        return self.machine.run(["bash", "-ec", script], self.directory, env=variables)

    def json(self, name: str) -> Any:
        return json.loads((self.directory / name).read_bytes())


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """With everything that the page makes."""
    around = tmp_path_factory.mktemp("provenance")
    (around / "machine").mkdir()
    on = machine(around / "machine").with_program("jq", JQ)
    (on.directory / "bin/cosign").symlink_to(tool("cosign"))
    made = Desk(around / "here", on)
    ran = made("\n".join(commands()))
    ran.ok()
    assert "compared: output, config, input; not compared: nothing; its signature was not verified" in ran.err
    assert "Verified OK" in ran.err
    return made


def commands() -> list[str]:
    found = [text for text in blocks(PAGE.read_text()) if text.split(maxsplit=1)[0] in COMMANDS]
    assert len(found) == 5
    return found


def test_cosign_signs_the_bytes_that_were_written(desk: Desk) -> None:
    envelope = desk.json("attestation.sigstore.json")["dsseEnvelope"]
    assert base64.b64decode(envelope["payload"]) == (desk.directory / "attestation.json").read_bytes()


VERIFY = "cosign verify-blob-attestation --key cosign.pub --type slsaprovenance1 --bundle attestation.sigstore.json"


def test_cosign_verifies_each_subject_and_nothing_else(desk: Desk) -> None:
    desk("contrast-krm manifest rendered.yaml > manifest.json").ok()
    for name in ("rendered.yaml", "manifest.json"):
        assert "Verified OK" in desk(f"{VERIFY} {name}").err
    assert "do not match digests in statement" in desk(f"{VERIFY} helm.yaml").err
    assert desk(f"{VERIFY.replace('slsaprovenance1', 'cyclonedx')} rendered.yaml").code != 0


def test_the_predicate_alone_signed_by_cosign_is_a_statement_about_one_file(desk: Desk) -> None:
    """As actions/attest of GitHub does it."""
    sign = "cosign attest-blob --key cosign.key --predicate predicate.json --type slsaprovenance1 --bundle one.json"
    desk(f"{sign} rendered.yaml").ok()
    ran = desk("contrast-krm check rendered.yaml --attestation one.json --config config --input resources")
    assert ran.code == 0
    assert "compared: output, config, input; not compared: nothing; its signature was not verified" in ran.err


def test_what_cosign_refuses_is_refused_and_so_is_what_it_cannot_see(desk: Desk) -> None:
    """A changed statement has no valid signature; a changed output has no digest in it, as both say."""
    bundle = desk.json("attestation.sigstore.json")
    text = base64.b64decode(bundle["dsseEnvelope"]["payload"]).replace(b'"generate"', b'"post-render"')
    bundle["dsseEnvelope"]["payload"] = base64.b64encode(text).decode()
    (desk.directory / "forged.json").write_text(json.dumps(bundle))
    forged = desk(f"{VERIFY.replace('attestation.sigstore.json', 'forged.json')} rendered.yaml")
    assert forged.code != 0
    assert desk("contrast-krm check rendered.yaml --attestation forged.json").code == 0, "no signature is looked at"

    (desk.directory / "changed.yaml").write_bytes((desk.directory / "rendered.yaml").read_bytes() + b"# x\n")
    assert desk(f"{VERIFY} changed.yaml").code != 0
    assert desk("contrast-krm check changed.yaml --attestation attestation.sigstore.json").code == 1


def second_payload(bundle: Any, payload: str) -> None:
    bundle["dsseEnvelope"] = {"Payload": payload, **bundle["dsseEnvelope"]}


def underscore(bundle: Any, payload: str) -> None:
    bundle["dsse_envelope"] = {**bundle["dsseEnvelope"], "payload": payload}


@pytest.mark.parametrize("twist", [second_payload, underscore])
def test_a_bundle_that_cosign_could_read_otherwise_is_refused(desk: Desk, twist: Callable[[Any, str], None]) -> None:
    bundle = desk.json("attestation.sigstore.json")
    twist(bundle, base64.b64encode(b"{}").decode())
    (desk.directory / "twisted.json").write_text(json.dumps(bundle))
    ran = desk("contrast-krm check rendered.yaml --attestation twisted.json")
    assert ran.code == 1
    assert "error CC1330 " in ran.err


def test_the_pipe_of_the_page_has_the_same_documents(desk: Desk) -> None:
    made = decode_stream((desk.directory / "helm-rendered.yaml").read_bytes()).resources
    assert len(made) == len(decode_stream((desk.directory / "rendered.yaml").read_bytes()).resources)
    assert desk.json("helm-attestation.json")["subject"][0]["name"] == "-"
