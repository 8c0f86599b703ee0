"""The stage that measures: ID blocks (docs/facts/contrast-manifest.md#id-block)."""

import base64
from hashlib import sha256
from typing import Any

import pytest

from krm_function.contrast.platforms import PLATFORMS
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.workload import Workload
from krm_function.render.stages import make_id_blocks, measure
from krm_function.text.changes import ABSENT
from tests.world import APEIP, SEED, pod_template, workload

KATA = "io.katacontainers.config.hypervisor."
KEYS = ("snp_id_block", "snp_id_auth", "snp_guest_policy")
SNP, TDX = PLATFORMS["metal-qemu-snp"], PLATFORMS["metal-qemu-tdx"]

# sha256 of block and auth for the seed of docs/facts/contrast-manifest.md#id-block, one vCPU, by guest policy
VECTORS = {
    196608: (
        "23d7bb400c735deb0f3bcc2bcfa041ead15039d5c6c07191a67afd477c2d6b71",
        "ec94e3fb1cc70b9171c7cc99ca425e5a9d2cbcfef0a2118d1c53b9746add4a0f",
    ),
    131072: (
        "cd90a705f10f33610613c0bab617278e94eff3d03fe7e8530ffdd267e1745171",
        "e008c111578c934e6abc8529473c7b56dd420b95fd1e39a5a5f7ac6dd68e0074",
    ),
}
# launch digest with two vCPUs
EXTENDED = {
    "Milan": "9d9afe77875077baf6c669fb0ed681070b46c82296c3a461ab872d5a0a8fbc27b8886e80113f2d18dbd7609eca764efe",
    "Genoa": "40c0e3d13c633f3f40b73af51d004da7ee5e32317883fa82de3c781cb2ba2e010236ee2c6084a09e3edcdc5502936613",
}


def entry(product: str, platform: str = "Metal-QEMU-SNP", **fields: Any) -> dict[str, Any]:
    head = {"Platform": platform, "ProductName": product, "TrustedMeasurement": SEED, "APEIP": APEIP}
    return {**head, "GuestPolicy": {"SMT": True}, **fields}


BOTH = (entry("Milan"), entry("Genoa"))


def measured(
    subject: Workload | None = None, entries: Any = BOTH, vcpus: int = 1, platform: Any = SNP
) -> dict[str, Any]:
    """The annotations after the stage."""
    subject = subject or workload()
    made = measure(subject, make_id_blocks(platform, vcpus, entries))
    assert made.findings == ()
    return subject.after(made.edits).annotations


def names(*products: str) -> list[str]:
    return [f"{KATA}{key}_{product}" for product in products for key in KEYS]


def hashed(text: str) -> str:
    return sha256(base64.b64decode(text, validate=True)).hexdigest()


@pytest.mark.parametrize("kind", KINDS)
def test_both_products_get_their_three_annotations_genoa_first(kind: str) -> None:
    assert list(measured(workload(kind))) == names("Genoa", "Milan")


@pytest.mark.parametrize("policy", VECTORS)
@pytest.mark.parametrize("product", ["Genoa", "Milan"])
def test_the_values_are_those_of_the_measurement_vectors(policy: int, product: str) -> None:
    flags = {"SMT": policy == 196608}
    made = measured(entries=[entry("Milan", GuestPolicy=flags), entry("Genoa", GuestPolicy=flags)])
    block, auth, number = (made[f"{KATA}{key}_{product}"] for key in KEYS)
    assert (hashed(block), hashed(auth)) == VECTORS[policy]
    assert number == str(policy)
    assert len(base64.b64decode(block)) == 96
    assert len(base64.b64decode(auth)) == 4096


@pytest.mark.parametrize("product", EXTENDED)
def test_the_launch_digest_is_extended_by_the_products_own_cpu(product: str) -> None:
    made = measured(vcpus=2)
    assert base64.b64decode(made[f"{KATA}snp_id_block_{product}"])[:48].hex() == EXTENDED[product]


@pytest.mark.parametrize("entries", ["text", ["text"], [None, 5], [[]]])
def test_reference_values_of_another_shape_never_raise(entries: Any) -> None:
    assert [found.code for found in measure(workload(), make_id_blocks(SNP, 1, entries)).findings] == ["CC0608"]


def test_a_guest_policy_of_another_shape_is_the_default() -> None:
    made = measured(entries=[entry("Milan", GuestPolicy=[1])])
    assert made[f"{KATA}snp_guest_policy_Milan"] == "196608"


def test_the_guest_policy_of_each_entry_is_its_own() -> None:
    made = measured(entries=[entry("Milan", GuestPolicy={"ABIMinor": 31}), entry("Genoa", GuestPolicy=None)])
    assert made[f"{KATA}snp_guest_policy_Milan"] == str(0x3001F)
    assert made[f"{KATA}snp_guest_policy_Genoa"] == "196608"


def test_the_first_entry_of_platform_and_product_counts() -> None:
    first = entry("Milan", GuestPolicy={"SMT": False})
    others = (entry("Milan", "Metal-QEMU-SNP-GPU", GuestPolicy={"ABIMajor": 1}), first, entry("Milan"))
    assert measured(entries=others)[f"{KATA}snp_guest_policy_Milan"] == "131072"


def test_the_entries_of_the_gpu_platform_are_not_those_without() -> None:
    gpu = [entry("Milan", "Metal-QEMU-SNP-GPU", GuestPolicy={"SMT": False})]
    assert list(measured(entries=gpu, platform=PLATFORMS["metal-qemu-snp-gpu"])) == names("Milan")
    assert measure(workload(), make_id_blocks(SNP, 1, gpu)).findings[0].code == "CC0608"


@pytest.mark.parametrize("product, other", [("Milan", "Genoa"), ("Genoa", "Milan")])
@pytest.mark.parametrize(
    "broken",
    [
        None,
        {"APEIP": ""},
        {"TrustedMeasurement": ""},
        {"APEIP": None},
        {"TrustedMeasurement": "zz"},
        {"APEIP": "0"},
        {"TrustedMeasurement": 5},
        {"APEIP": ["0080b004"]},
        {"GuestPolicy": {"ABIMinor": 256}},
        {"GuestPolicy": {"Nonsense": True}},
    ],
)
def test_one_product_that_cannot_be_measured_is_tolerated(product: str, other: str, broken: Any) -> None:
    entries = [entry(product)] + ([] if broken is None else [entry(other, **broken)])
    assert list(measured(entries=entries)) == names(product)


@pytest.mark.parametrize(
    "entries, problem",
    [
        ([], "no entry for Genoa; no entry for Milan"),
        ([entry("Turin")], "no entry for Genoa; no entry for Milan"),
        (
            [entry("Milan", APEIP=""), entry("Genoa", TrustedMeasurement="")],
            "Genoa has no TrustedMeasurement; Milan has no APEIP",
        ),
        ([entry("Milan", TrustedMeasurement="00")], "no entry for Genoa; Milan: expected 96 hex digits"),
    ],
)
def test_no_product_at_all_is_an_error_that_says_why_for_each(entries: Any, problem: str) -> None:
    subject = workload("CronJob")
    made = measure(subject, make_id_blocks(SNP, 1, entries))
    assert made.edits == ()
    (found,) = made.findings
    assert (found.code, found.severity, found.ref) == ("CC0608", "error", subject.ref)
    assert found.message == f"no SNP ID block can be made for platform metal-qemu-snp: {problem}"
    assert found.path == ("spec", "jobTemplate", "spec", "template", "metadata")


def stale(*products: str) -> dict[str, str]:
    return dict.fromkeys(names(*products), "old")


def test_a_tdx_pod_gets_no_id_block_and_loses_stale_ones() -> None:
    assert measure(workload(), make_id_blocks(TDX, 1, BOTH)) == ((), ())
    before = {**stale("Genoa", "Milan", "Turin"), f"{KATA}snp_id_block": "older", f"{KATA}default_vcpus": "2", "a": "b"}
    subject = workload(template=pod_template(before))
    made = measure(subject, make_id_blocks(TDX, 1, BOTH))
    assert subject.after(made.edits).annotations == {f"{KATA}default_vcpus": "2", "a": "b"}
    assert {edit.op for edit in made.edits} == {"remove"}
    assert {edit.before for edit in made.edits} == {"old", "older"}
    assert all(edit.after is ABSENT and edit.code == "CC0607" for edit in made.edits)


def test_annotations_of_a_product_that_is_gone_are_removed() -> None:
    subject = workload(template=pod_template({**stale("Milan"), "a": "b"}))
    assert list(measured(subject, [entry("Genoa")])) == ["a", *names("Genoa")]


def test_stale_annotations_of_a_product_that_stays_are_replaced() -> None:
    subject = workload(template=pod_template(stale("Milan", "Genoa")))
    assert measured(subject) == measured()


def test_a_pod_that_cannot_be_measured_is_not_edited() -> None:
    assert measure(workload(template=pod_template(stale("Milan"))), make_id_blocks(SNP, 1, ())).edits == ()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metadata", ["labels", "annotations", "none"])
def test_a_second_run_makes_no_edit(kind: str, metadata: str) -> None:
    template = pod_template({"a": "b"} if metadata == "annotations" else None)
    if metadata == "none":
        template["metadata"] = {}
    subject = workload(kind, template)
    once = subject.after(measure(subject, make_id_blocks(SNP, 3, BOTH)).edits)
    assert measure(once, make_id_blocks(SNP, 3, BOTH)) == ((), ())


def test_another_vcpu_count_makes_another_block_and_the_same_policy() -> None:
    one, two = measured(vcpus=1), measured(vcpus=2)
    for product in ("Milan", "Genoa"):
        assert one[f"{KATA}snp_id_block_{product}"] != two[f"{KATA}snp_id_block_{product}"]
        assert one[f"{KATA}snp_id_auth_{product}"] != two[f"{KATA}snp_id_auth_{product}"]
        assert one[f"{KATA}snp_guest_policy_{product}"] == two[f"{KATA}snp_guest_policy_{product}"]


def test_the_edits_say_which_product_and_how_many_vcpus() -> None:
    reasons = [edit.reason for edit in measure(workload(), make_id_blocks(SNP, 5, BOTH)).edits]
    assert (
        reasons == ["launch digest of a Genoa VM with 5 vCPUs"] * 3 + ["launch digest of a Milan VM with 5 vCPUs"] * 3
    )
