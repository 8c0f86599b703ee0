"""`check --verified`: the files that `contrast verify` wrote are those of this output, or they are not."""

import json
from pathlib import Path
from typing import Any

import pytest

from krm_function.policy.initdata import digest
from tests.cli.conftest import Shop
from tests.docs.scenes import write_verified
from tests.wording import wording

VERIFIED = "verify"
FOREIGN = "0" * 64


class Review:
    """An output and the directory that `contrast verify` wrote for it; `history` is that of the coordinator."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        run = shop.generate("-o", "out.yaml", "--manifest", "manifest.json")
        assert run.code == 0, run.stderr
        self.committed = (shop.directory / "manifest.json").read_bytes()
        self.directory = shop.directory / VERIFIED
        write_verified(self.directory, (shop.directory / "out.yaml").read_bytes(), self.committed)

    def history(self, *manifests: bytes) -> None:
        for number, manifest in enumerate(manifests):
            (self.directory / f"manifest.{number}.json").write_bytes(manifest)

    def changed(self, **fields: Any) -> bytes:
        return json.dumps(json.loads(self.committed) | fields, indent=2).encode()

    @property
    def policies(self) -> dict[str, Any]:
        policies: dict[str, Any] = json.loads(self.committed)["Policies"]
        return policies

    @property
    def initdata(self) -> list[Path]:
        return sorted(self.directory.glob("initdata.*"))

    def check(self, *arguments: str, paths: tuple[str, ...] = ("out.yaml", "--manifest", "manifest.json")) -> Any:
        run = self.shop("check", *paths, "--verified", VERIFIED, "--format", "json", *arguments)
        return run.code, [finding for finding in run.findings if finding["code"] in ("CC1174", "CC1175")], run.findings

    def error(self) -> Any:
        code, (error,), _ = self.check()
        assert (code, error["code"]) == (1, "CC1174")
        return error


@pytest.fixture
def review(shop: Shop) -> Review:
    return Review(shop)


def test_the_same_manifest_and_policies_pass_and_every_other_file_is_named(review: Review) -> None:
    (review.directory / "latest-transition").write_text("0\n")
    code, problems, findings = review.check()
    assert (code, problems) == (0, [])
    (info,) = [finding for finding in findings if finding["code"] == "CC1176"]
    count = len(review.policies)
    others = "coordinator-root-ca.pem, latest-transition, mesh-ca.pem"
    assert len(review.initdata) == count
    assert info["message"] == wording("CC1176", count=count, policies=count, others=others)
    run = review.shop("check", "out.yaml", "--manifest", "manifest.json", "--verified", VERIFIED)
    assert run.stderr.splitlines()[-1] == f"verify/manifest.0.json: {info['message']}"


def test_other_bytes_of_the_same_values_are_a_warning(review: Review) -> None:
    review.history(json.dumps(json.loads(review.committed)).encode())
    code, (warning,), _ = review.check()
    assert (code, warning["severity"], warning["message"]) == (0, "warning", wording("CC1175.bytes"))


def test_a_policy_more_or_less_is_named_with_its_workload(review: Review) -> None:
    [(web, entry)] = [(key, value) for key, value in review.policies.items() if value.get("Role") != "coordinator"]
    policies = {key: value for key, value in review.policies.items() if key != web}
    (review.directory / f"policy.{FOREIGN}.rego").write_text("package agent_policy\n")
    review.history(review.changed(Policies=policies | {FOREIGN: entry}, WorkloadOwnerPubKeys=[]))
    code, (error, warning), _ = review.check()
    name = "Deployment/shop/web"
    differences = (
        f"also accepts {name} ({FOREIGN[:16]}); it does not accept {name} ({web[:16]}); "
        "it differs in WorkloadOwnerPubKeys"
    )
    assert code == 1
    assert error["message"].startswith(wording("CC1174.manifest", differences=differences))
    assert warning["message"] == wording("CC1175.rego", names=f"{name} ({FOREIGN[:16]})")


def test_another_name_of_a_policy_is_another_manifest(review: Review) -> None:
    policies = {key: value | {"SANs": ["other"]} for key, value in review.policies.items()}
    review.history(review.changed(Policies=policies))
    assert "it differs in Policies." in review.error()["message"]


def test_an_earlier_manifest_is_not_the_active_one_and_numbers_are_not_sorted_as_text(review: Review) -> None:
    newer = review.changed(WorkloadOwnerPubKeys=[])
    review.history(*[review.committed] * 10, newer)
    error = review.error()
    assert error["message"].startswith("this output has manifest.9.json of the history")
    assert error["file"] == "verify/manifest.10.json"


def test_a_policy_without_its_file_is_an_error(review: Review) -> None:
    path = review.initdata[0]
    path.unlink()
    assert path.name.split(".")[1][:16] in review.error()["message"]


def test_a_file_whose_digest_is_not_in_its_name_is_an_error(review: Review) -> None:
    path = review.initdata[0]
    path.write_bytes(path.read_bytes() + b"\n")
    error = review.error()
    assert error["message"] == wording("CC1174.digest", digest=digest(path.read_bytes()))
    assert error["file"] == f"verify/{path.name}"


@pytest.mark.parametrize("number", [2, 5])
def test_a_gap_in_the_history_is_an_error(number: int, review: Review) -> None:
    (review.directory / "manifest.0.json").rename(review.directory / f"manifest.{number}.json")
    assert review.error()["message"] == wording("CC1174.gap", name="manifest.1.json")


def test_a_file_for_no_policy_is_named(review: Review) -> None:
    (review.directory / f"initdata.{FOREIGN}.toml").write_text("")
    code, problems, findings = review.check()
    assert (code, problems) == (0, [])
    (info,) = (finding for finding in findings if finding["code"] == "CC1176")
    assert f"initdata.{FOREIGN[:32]}" in info["message"]


def test_a_file_with_a_hostile_name_is_printed_on_one_line(review: Review) -> None:
    (review.directory / "a\nerror CC0001: \x1b[31m").write_text("")
    run = review.shop("check", "out.yaml", "--manifest", "manifest.json", "--verified", VERIFIED)
    assert run.code == 0
    assert r"a\nerror CC0001: \x1b[31m" in run.stderr


@pytest.mark.parametrize("name", ["manifest.0.json", "initdata"])
def test_a_link_out_of_the_directory_is_not_followed(name: str, review: Review) -> None:
    path = review.initdata[0] if name == "initdata" else review.directory / name
    path.rename(review.shop.directory / "elsewhere")
    path.symlink_to(review.shop.directory / "elsewhere")
    run = review.shop("check", "out.yaml", "--manifest", "manifest.json", "--verified", VERIFIED)
    assert run.code == 3
    assert "link to a path outside" in run.stderr


def test_a_directory_without_manifest_or_with_too_many_files_is_an_error(review: Review) -> None:
    (review.directory / "manifest.0.json").unlink()
    assert review.error()["message"] == wording("CC1174.empty")
    for number in range(1001):
        (review.directory / f"{number}.txt").touch()
    assert review.error()["message"] == wording("CC1174.files", limit=1000)


@pytest.mark.parametrize("name", ["absent", "out.yaml"])
def test_what_is_no_directory_is_unreadable(name: str, review: Review) -> None:
    assert review.shop("check", "out.yaml", "--manifest", "manifest.json", "--verified", name).code == 3


def test_what_is_no_manifest_is_an_error(review: Review) -> None:
    review.history(b'{"Policies": {}, "Policies": {}}')
    code, problems, findings = review.check()
    assert (code, problems) == (1, [])
    assert [finding["code"] for finding in findings if finding["severity"] == "error"] == ["CC0702"]


def test_without_a_manifest_of_the_output_nothing_passes(review: Review) -> None:
    review.shop.write("plain.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    code, (error,), _ = review.check(paths=("plain.yaml",))
    assert (code, error["message"]) == (1, wording("CC1174.no-manifest"))
