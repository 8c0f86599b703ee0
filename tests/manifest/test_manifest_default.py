"""Complete entries out of partial ones."""

from typing import Any

import pytest

from krm_function.contrast.manifest import (
    GUEST_POLICY,
    SNP,
    TDX,
    FieldProblem,
    canonical,
    canonical_value,
    complete_entry,
)
from krm_function.contrast.measurement import POLICY_BITS, guest_policy

RELEASE = {"Platform": "Metal-QEMU-SNP", "ProductName": "Milan", "TrustedMeasurement": "0a" * 48, "APEIP": "0080b004"}


def test_a_release_entry_is_completed_with_the_defaults_of_generate() -> None:
    assert complete_entry("snp", [RELEASE]) == {
        **RELEASE,
        "MinimumTCB": dict.fromkeys(("BootloaderVersion", "TEEVersion", "SNPVersion", "MicrocodeVersion")),
        "GuestPolicy": {**dict.fromkeys(POLICY_BITS, False), "ABIMinor": 0, "ABIMajor": 0, "SMT": True},
        "PlatformInfo": {
            "SMTEnabled": True,
            "TSMEEnabled": False,
            "ECCEnabled": False,
            "RAPLDisabled": False,
            "CiphertextHidingDRAMEnabled": False,
            "AliasCheckComplete": False,
            "TIOEnabled": False,
        },
        "MinimumMitigationVector": 0,
        "AllowedChipIDs": None,
    }
    assert complete_entry("tdx", [{"Platform": "Metal-QEMU-TDX"}]) == {
        "Platform": "Metal-QEMU-TDX",
        "MinTCBEvaluationDataNumber": 0,
        "MrTd": "",
        "MrSeam": "",
        "Rtmrs": ["", "", "", ""],
        "Xfam": "e702060000000000",
        "AllowedPIIDs": None,
        "MemoryIntegrity": False,
        "SMTDisabled": False,
        "StaticPlatform": False,
    }


def test_a_default_entry_is_canonical() -> None:
    for made, shape in ((complete_entry("snp", [RELEASE]), SNP), (complete_entry("tdx", []), TDX)):
        again = canonical_value(made, shape)
        assert again == made
        assert list(again) == list(made)


def test_the_default_guest_policy_is_that_of_the_launch() -> None:
    assert tuple(GUEST_POLICY.fields) == tuple(POLICY_BITS)
    assert guest_policy(complete_entry("snp", [])["GuestPolicy"]) == guest_policy({})


def test_later_layers_win_key_by_key() -> None:
    made = complete_entry(
        "snp",
        [
            RELEASE,
            {
                "MinimumTCB": {"TEEVersion": 1, "SNPVersion": 2},
                "GuestPolicy": {"ABIMinor": 31},
                "AllowedChipIDs": ["a"],
            },
            {"MinimumTCB": {"TEEVersion": 0, "SNPVersion": None}, "PlatformInfo": {"SMTEnabled": False}, "APEIP": ""},
        ],
    )
    assert made["MinimumTCB"] == {"BootloaderVersion": None, "TEEVersion": 0, "SNPVersion": 2, "MicrocodeVersion": None}
    assert (made["GuestPolicy"]["ABIMinor"], made["GuestPolicy"]["SMT"]) == (31, True)
    assert made["PlatformInfo"]["SMTEnabled"] is False
    assert made["AllowedChipIDs"] == ["a"]
    assert made["APEIP"] == RELEASE["APEIP"]


def test_nothing_is_shared_with_a_layer() -> None:
    layer: dict[str, Any] = {"Rtmrs": ["", "", "", ""], "Rtmr0Alternatives": ["x"], "AllowedPIIDs": []}
    made = complete_entry("tdx", [layer])
    made["Rtmrs"].append("y")
    made["Rtmr0Alternatives"].append("y")
    assert layer == {"Rtmrs": ["", "", "", ""], "Rtmr0Alternatives": ["x"], "AllowedPIIDs": []}


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ({"MinimumTcb": {}}, "MinimumTcb: unknown field, did you mean MinimumTCB?"),
        ({"MinimumTCB": {"Bootloader": 1}}, "MinimumTCB.Bootloader: unknown field, did you mean BootloaderVersion?"),
        ({"MinimumTCB": 3}, "MinimumTCB: must be a map, not an integer"),
        ({"MrSeam": ""}, "MrSeam: unknown field"),
    ],
)
def test_what_no_entry_has_is_refused_with_a_suggestion(layer: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldProblem) as caught:
        complete_entry("snp", [RELEASE, layer])
    assert str(caught.value) == message


def test_a_complete_entry_survives_canonical_form() -> None:
    manifest = canonical({"ReferenceValues": {"snp": [complete_entry("snp", [RELEASE])]}})
    assert manifest["ReferenceValues"]["snp"] == [complete_entry("snp", [RELEASE])]
