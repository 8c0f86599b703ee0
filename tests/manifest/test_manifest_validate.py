"""The rules that a manifest has to keep: docs/facts/contrast-manifest.md#manifest-rules."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.contrast.manifest import (
    NO_COORDINATOR,
    NO_REFERENCE_VALUES,
    ManifestProblem,
    canonical,
    complete_entry,
    unfilled,
    validate,
)
from krm_function.contrast.manifest_merge import policy_entry

TCB = {"BootloaderVersion": 3, "TEEVersion": 0, "SNPVersion": 255, "MicrocodeVersion": 72}
DIGEST = "ab" * 32
EC_HEX = (
    ec.generate_private_key(ec.SECP384R1())
    .public_key()
    .public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    .hex()
)
RSA_HEX = rsa.generate_private_key(65537, 2048).public_key().public_bytes(Encoding.DER, PublicFormat.PKCS1).hex()


def sample() -> dict[str, Any]:
    return canonical(
        {
            "Policies": {
                DIGEST: policy_entry("coordinator", "apps/v1/StatefulSet/default/coordinator", "coordinator"),
                "00" * 32: policy_entry("web", "apps/v1/Deployment/default/web"),
            },
            "ReferenceValues": {
                "snp": [
                    complete_entry(
                        "snp",
                        [
                            {
                                "Platform": "Metal-QEMU-SNP",
                                "ProductName": product,
                                "TrustedMeasurement": "0a" * 48,
                                "APEIP": "0080b004",
                                "MinimumTCB": TCB,
                            }
                        ],
                    )
                    for product in ("Milan", "Genoa")
                ],
                "tdx": [
                    complete_entry(
                        "tdx",
                        [
                            {
                                "Platform": "Metal-QEMU-TDX",
                                "MrTd": "0b" * 48,
                                "MrSeam": "0C" * 48,
                                "Rtmrs": ["0d" * 48] * 4,
                            }
                        ],
                    )
                ],
            },
            "WorkloadOwnerPubKeys": [EC_HEX],
            "SeedshareOwnerPubKeys": [RSA_HEX],
        }
    )


def put(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    manifest: Any = sample()
    inner = manifest
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    result: dict[str, Any] = manifest
    return result


def test_a_complete_manifest_has_no_problem() -> None:
    assert validate(sample()) == ()


SNP: tuple[str | int, ...] = ("ReferenceValues", "snp", 1)
TDX: tuple[str | int, ...] = ("ReferenceValues", "tdx", 0)
POLICY: tuple[str | int, ...] = ("Policies", DIGEST)

NO_TEXT: tuple[Any, ...] = ({}, [], 0, False, -0.0)
NO_LIST: tuple[Any, ...] = ({}, "", 0)
EMPTY: list[tuple[tuple[str | int, ...], Any, str, str]] = [
    *(
        ((*POLICY, name), value, f"Policies.{DIGEST}.{name}", "must be a string, not a")
        for name in ("Role", "WorkloadSecretID")
        for value in NO_TEXT
    ),
    *(((*TDX, "Rtmr0Alternatives"), no, "ReferenceValues.tdx[0].Rtmr0Alternatives", "a list") for no in NO_LIST),
]
WRONG: list[tuple[tuple[str | int, ...], Any, str, str]] = [
    ((*POLICY, "Role"), "cordinator", f"Policies.{DIGEST}.Role", "did you mean coordinator?"),
    ((*POLICY, "Role"), "contrast-node-installer", f"Policies.{DIGEST}.Role", "must be empty or coordinator"),
    ((*POLICY, "Role"), 1, f"Policies.{DIGEST}.Role", "must be a string, not an integer"),
    *EMPTY,
    ((*POLICY, "SANs"), "web", f"Policies.{DIGEST}.SANs", "must be a list, not a string"),
    ((*POLICY, "SANs"), [1.5], f"Policies.{DIGEST}.SANs[0]", "must be a string, not a fractional number"),
    ((*POLICY, "SAN"), [], f"Policies.{DIGEST}.SAN", "unknown field, did you mean SANs?"),
    (("Policies", "ab"), {}, "Policies.ab", "64 hex digits"),
    (("Policies", "xy" * 32), {}, f"Policies.{'xy' * 32}", "64 hex digits"),
    (("Policies", "AB" * 32), {}, f"Policies.{'AB' * 32}", "lower case"),
    (("Policies", "00" * 32), [], f"Policies.{'00' * 32}", "must be a map, not a list"),
    (("WorkloadOwnerKeyDigests",), [], "WorkloadOwnerKeyDigests", "did you mean WorkloadOwnerPubKeys?"),
    ((*SNP, "MinimumTCB", "TEEVersion"), 256, "ReferenceValues.snp[1].MinimumTCB.TEEVersion", "from 0 to 255"),
    ((*SNP, "MinimumTCB", "TEEVersion"), -1, "ReferenceValues.snp[1].MinimumTCB.TEEVersion", "from 0 to 255"),
    ((*SNP, "MinimumTCB", "TEEVersion"), True, "ReferenceValues.snp[1].MinimumTCB.TEEVersion", "not a boolean"),
    ((*SNP, "MinimumTCB", "TEEVersion"), 1.0, "ReferenceValues.snp[1].MinimumTCB.TEEVersion", "not a fractional"),
    ((*SNP, "MinimumTCB", "TEEVersion"), "1", "ReferenceValues.snp[1].MinimumTCB.TEEVersion", "not a string"),
    ((*SNP, "MinimumTCB", "TEEVersion"), "", "ReferenceValues.snp[1].MinimumTCB.TEEVersion", "not a string"),
    ((*SNP, "MinimumTCB", "TeeVersion"), 1, "ReferenceValues.snp[1].MinimumTCB.TeeVersion", "did you mean TEEVersion?"),
    ((*SNP, "ProductName"), "Turin", "ReferenceValues.snp[1].ProductName", "must be Milan or Genoa, not Turin"),
    ((*SNP, "Platform"), "metal-qemu-snp", "ReferenceValues.snp[1].Platform", "did you mean Metal-QEMU-SNP?"),
    ((*SNP, "Platform"), "Metal-QEMU-TDX", "ReferenceValues.snp[1].Platform", "must be Metal-QEMU-SNP or"),
    ((*SNP, "Platform"), "Metal-QEMU-Insecure", "ReferenceValues.snp[1].Platform", "insecure platforms"),
    ((*SNP, "Platform"), "", "ReferenceValues.snp[1].Platform", "not empty"),
    ((*SNP, "TrustedMeasurement"), "", "ReferenceValues.snp[1].TrustedMeasurement", "96 hex digits (48 bytes)"),
    ((*SNP, "TrustedMeasurement"), "0a" * 47 + "0 ", "ReferenceValues.snp[1].TrustedMeasurement", "96 hex"),
    ((*SNP, "APEIP"), "80b004", "ReferenceValues.snp[1].APEIP", "8 hex digits"),
    ((*SNP, "GuestPolicy", "ABIMinor"), 256, "ReferenceValues.snp[1].GuestPolicy.ABIMinor", "from 0 to 255"),
    (
        (*SNP, "GuestPolicy", "SMT"),
        1,
        "ReferenceValues.snp[1].GuestPolicy.SMT",
        "must be true or false, not an integer",
    ),
    ((*SNP, "GuestPolicy", "Debug"), True, "ReferenceValues.snp[1].GuestPolicy.Debug", "must be false"),
    ((*SNP, "PlatformInfo"), [], "ReferenceValues.snp[1].PlatformInfo", "must be a map"),
    ((*SNP, "MinimumMitigationVector"), 2**64, "ReferenceValues.snp[1].MinimumMitigationVector", "from 0 to"),
    ((*SNP, "AllowedChipIDs"), ["0a" * 64, "0a" * 63], "ReferenceValues.snp[1].AllowedChipIDs[1]", "128 hex digits"),
    ((*SNP, "AllowedChipIDs"), [None], "ReferenceValues.snp[1].AllowedChipIDs[0]", "128 hex digits"),
    ((*SNP, "cpus"), 1, "ReferenceValues.snp[1].cpus", "unknown field"),
    ((*SNP, "MrSeam"), "", "ReferenceValues.snp[1].MrSeam", "unknown field"),
    ((*TDX, "Platform"), "Metal-QEMU-SNP", "ReferenceValues.tdx[0].Platform", "must be Metal-QEMU-TDX or"),
    ((*TDX, "MrTd"), "0b" * 32, "ReferenceValues.tdx[0].MrTd", "96 hex digits"),
    ((*TDX, "MrSeam"), "xx" * 48, "ReferenceValues.tdx[0].MrSeam", "96 hex digits"),
    ((*TDX, "Rtmrs"), ["0d" * 48] * 3, "ReferenceValues.tdx[0].Rtmrs", "exactly 4 entries, not 3"),
    ((*TDX, "Rtmrs", 3), "", "ReferenceValues.tdx[0].Rtmrs[3]", "96 hex digits"),
    ((*TDX, "Rtmr0Alternatives"), ["0d"], "ReferenceValues.tdx[0].Rtmr0Alternatives[0]", "96 hex digits"),
    ((*TDX, "Xfam"), "e70206", "ReferenceValues.tdx[0].Xfam", "16 hex digits (8 bytes)"),
    ((*TDX, "AllowedPIIDs"), ["x"], "ReferenceValues.tdx[0].AllowedPIIDs[0]", "hex digits"),
    ((*TDX, "MinTCBEvaluationDataNumber"), -1, "ReferenceValues.tdx[0].MinTCBEvaluationDataNumber", "from 0 to"),
    (("WorkloadOwnerPubKeys",), [EC_HEX, RSA_HEX], "WorkloadOwnerPubKeys[1]", "must be an ECDSA public key"),
    (("WorkloadOwnerPubKeys",), ["ab" * 32], "WorkloadOwnerPubKeys[0]", "no public key"),
    (("SeedshareOwnerPubKeys",), [EC_HEX], "SeedshareOwnerPubKeys[0]", "must be an RSA public key"),
    (("SeedshareOwnerPubKeys",), EC_HEX, "SeedshareOwnerPubKeys", "must be a list"),
]


@pytest.mark.parametrize(("path", "value", "field", "problem"), WRONG)
def test_each_rule_names_its_field(path: tuple[str | int, ...], value: Any, field: str, problem: str) -> None:
    problems = [found for found in validate(put(path, value)) if found != NO_COORDINATOR]
    assert [found.field for found in problems] == [field]
    assert problem in problems[0].problem
    assert not problems[0].missing


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*POLICY, "SANs"), None),
        ((*POLICY, "WorkloadSecretID"), ""),
        (("Policies", "00" * 32), None),
        ((*SNP, "APEIP"), ""),
        ((*SNP, "GuestPolicy"), None),
        ((*SNP, "GuestPolicy", "ABIMinor"), 255),
        ((*SNP, "GuestPolicy", "CXLAllowed"), True),
        ((*SNP, "AllowedChipIDs"), ["0A" * 64]),
        ((*SNP, "Platform"), "Metal-QEMU-SNP-GPU"),
        ((*SNP, "MinimumMitigationVector"), 2**64 - 1),
        ((*TDX, "AllowedPIIDs"), ["ab"]),
        ((*TDX, "Rtmr0Alternatives"), ["0e" * 48]),
        (("ReferenceValues", "tdx"), None),
        (("WorkloadOwnerPubKeys",), None),
        (("SeedshareOwnerPubKeys",), []),
    ],
)
def test_what_contrast_accepts_has_no_problem(path: tuple[str | int, ...], value: Any) -> None:
    assert validate(put(path, value)) == ()


def test_what_only_the_operator_knows_is_missing_and_grouped_by_entry() -> None:
    manifest = put((*SNP, "MinimumTCB"), {"SNPVersion": 1})
    manifest["ReferenceValues"]["tdx"][0]["MrSeam"] = ""
    problems = validate(manifest)
    assert problems[0] == ManifestProblem(
        ("ReferenceValues", "snp", 1, "MinimumTCB", "BootloaderVersion"), "not filled in", missing=True
    )
    assert all(found.missing for found in problems)
    assert unfilled(problems) == {
        "snp[1]": ("MinimumTCB.BootloaderVersion", "MinimumTCB.TEEVersion", "MinimumTCB.MicrocodeVersion"),
        "tdx[0]": ("MrSeam",),
    }


def test_zero_is_a_version() -> None:
    assert validate(put((*SNP, "MinimumTCB", "SNPVersion"), 0)) == ()


def test_a_manifest_needs_a_coordinator_and_reference_values() -> None:
    manifest = sample()
    del manifest["Policies"][DIGEST]["Role"]
    assert validate(manifest) == (NO_COORDINATOR,)
    assert validate(put(("ReferenceValues",), {"snp": [], "tdx": []})) == (NO_REFERENCE_VALUES,)
    assert validate({}) == (NO_COORDINATOR, NO_REFERENCE_VALUES)


def test_two_coordinators_are_fine() -> None:
    assert validate(put(("Policies", "00" * 32, "Role"), "coordinator")) == ()


def test_all_problems_come_at_once_in_the_order_of_the_fields() -> None:
    manifest = put((*SNP, "ProductName"), "Rome")
    manifest["zzz"] = manifest["Policies"].pop(DIGEST)
    manifest["WorkloadOwnerPubKeys"] = 1
    assert [found.field for found in validate(manifest)] == [
        "zzz",
        "ReferenceValues.snp[1].ProductName",
        "WorkloadOwnerPubKeys",
        "Policies",
    ]


def test_an_endless_name_is_cut() -> None:
    assert len(validate({"x" * 1000: 1})[0].field) == 64
    assert validate({"a\nb\ud800": 1})[0].field == "a\\nb\\ud800"


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["coordinator", DIGEST]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([path for path, *_ in WRONG] + [SNP, TDX, ("Policies",), ("ReferenceValues",)]), ANY)
def test_any_value_anywhere_gives_problems_never_an_exception(path: tuple[str | int, ...], value: Any) -> None:
    assert all(found.problem for found in validate(put(path, value)))


@pytest.mark.parametrize("value", [None, 1, "x", [], [1], {1: 2}, object()])
def test_what_is_no_manifest_at_all_has_problems(value: Any) -> None:
    assert validate(value)
