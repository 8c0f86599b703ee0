"""The fields of a Contrast manifest: names, order, types and defaults, as tables.

Rule of this file: data only; validation, encoding, defaults and the configuration all read it. The order
is what makes the bytes canonical. Sources: docs/facts/contrast-manifest.md#manifest (names and order),
docs/facts/contrast-manifest.md#manifest-rules (lengths, ranges), docs/facts/contrast-manifest.md#default-values,
docs/facts/contrast.md#platforms. Marks of a field:

    omitempty   not written when it is empty, as by Go's tag of that name
    measured    a fact of the release, not for people to edit
    operator    empty (a number: null) until the platform operator fills it in
"""

from collections.abc import Mapping
from typing import Any

from krm_function.manifest.owner_keys import seedshare_problem, workload_problem
from krm_function.model.platforms import PLATFORMS
from krm_function.schema.kinds import ANY_TEXT, Choice, Field, Flag, ListOf, MapOf, Number, Record, Text, hexadecimal

Json = dict[str, Any]
"""A JSON object as Python has it."""

FILE = "manifest.json"  # in a directory, and as the key of a ConfigMap
COORDINATOR = "coordinator"
PRODUCTS = ("Milan", "Genoa")
OMIT_EMPTY, MEASURED, OPERATOR = "omitempty", "measured", "operator"


def _markers(tee: str) -> Choice:
    return Choice(tuple(platform.marker for platform in PLATFORMS.values() if platform.tee == tee))


def _digest_problem(digits: str) -> str:
    return "" if digits == digits.lower() else "matches no workload, since digests are compared in lower case"


DIGEST = Text("a digest: 64 hex digits", "[0-9a-fA-F]{64}", check=_digest_problem)
_SVN = Field(Number(0, 255), marks=(OPERATOR,))
_BYTE = Field(Number(0, 255))
_FLAG = Field(Flag())
_SHA384 = hexadecimal(48)

POLICY = Record(
    {
        "SANs": Field(ListOf(ANY_TEXT)),
        "WorkloadSecretID": Field(ANY_TEXT, marks=(OMIT_EMPTY,)),
        "Role": Field(Choice(("", COORDINATOR)), marks=(OMIT_EMPTY,)),
    }
)
MINIMUM_TCB = Record(
    dict.fromkeys(("BootloaderVersion", "TEEVersion", "SNPVersion", "MicrocodeVersion"), _SVN),
)
GUEST_POLICY = Record(
    {
        "ABIMinor": _BYTE,
        "ABIMajor": _BYTE,
        "SMT": _FLAG,
        "MigrateMA": _FLAG,
        "Debug": Field(Flag("it would let the host read and change the guest's memory")),
        "SingleSocket": _FLAG,
        "CXLAllowed": _FLAG,
        "MemAES256XTS": _FLAG,
        "RAPLDis": _FLAG,
        "CipherTextHidingDRAM": _FLAG,
        "PageSwapDisable": _FLAG,
    }
)
PLATFORM_INFO = Record(
    {
        "SMTEnabled": _FLAG,
        "TSMEEnabled": _FLAG,
        "ECCEnabled": _FLAG,
        "RAPLDisabled": _FLAG,
        "CiphertextHidingDRAMEnabled": _FLAG,
        "AliasCheckComplete": _FLAG,
        "TIOEnabled": _FLAG,
    }
)
SNP = Record(
    {
        "Platform": Field(_markers("snp")),
        "ProductName": Field(Choice(PRODUCTS)),
        "TrustedMeasurement": Field(_SHA384, marks=(MEASURED,)),
        "APEIP": Field(hexadecimal(4, empty=True), marks=(MEASURED,)),
        "MinimumTCB": Field(MINIMUM_TCB),
        "GuestPolicy": Field(GUEST_POLICY),
        "PlatformInfo": Field(PLATFORM_INFO),
        "MinimumMitigationVector": Field(Number(0, 2**64 - 1)),
        "AllowedChipIDs": Field(ListOf(hexadecimal(64))),
    }
)
TDX = Record(
    {
        "Platform": Field(_markers("tdx")),
        "MinTCBEvaluationDataNumber": Field(Number(0, 2**32 - 1)),
        "MrTd": Field(_SHA384, marks=(MEASURED,)),
        "MrSeam": Field(hexadecimal(48, empty=True), marks=(OPERATOR,)),
        "Rtmrs": Field(ListOf(_SHA384, length=4), marks=(MEASURED,)),
        "Rtmr0Alternatives": Field(ListOf(_SHA384), marks=(OMIT_EMPTY, MEASURED)),
        "Xfam": Field(hexadecimal(8)),
        "AllowedPIIDs": Field(ListOf(hexadecimal())),
        "MemoryIntegrity": _FLAG,
        "SMTDisabled": _FLAG,
        "StaticPlatform": _FLAG,
    }
)
ENTRIES: Mapping[str, Record] = {"snp": SNP, "tdx": TDX}
REFERENCE_VALUES = Record({tee: Field(ListOf(entry), marks=(OMIT_EMPTY,)) for tee, entry in ENTRIES.items()})
MANIFEST = Record(
    {
        "Policies": Field(MapOf(DIGEST, POLICY)),
        "ReferenceValues": Field(REFERENCE_VALUES),
        "WorkloadOwnerPubKeys": Field(ListOf(Text(check=workload_problem))),
        "SeedshareOwnerPubKeys": Field(ListOf(Text(check=seedshare_problem))),
    }
)

DEFAULTS: Mapping[str, Json] = {
    "snp": {"GuestPolicy": {"SMT": True}, "PlatformInfo": {"SMTEnabled": True}},
    "tdx": {"Xfam": "e702060000000000"},
}
"""What a new entry has beside Go's zero values."""
