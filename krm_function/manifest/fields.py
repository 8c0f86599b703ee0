"""The fields of a Contrast manifest: names, order, types and defaults, as tables.

Rule of this file: data only; validation, encoding and defaults all read it. The order is what
makes the bytes canonical. Sources: docs/facts/contrast-manifest.md#manifest (names and order),
docs/facts/contrast-manifest.md#manifest-rules (lengths, ranges), docs/facts/contrast-manifest.md#default-values,
docs/facts/contrast.md#platforms.
"""

from krm_function.manifest.shapes import Field, Flag, Hex, Items, Number, PublicKey, Record, Table, Text

FILE = "manifest.json"  # in a directory, and as the key of a ConfigMap
COORDINATOR = "coordinator"
ROLES = ("", COORDINATOR)

SNP_PLATFORMS = ("Metal-QEMU-SNP", "Metal-QEMU-SNP-GPU")
TDX_PLATFORMS = ("Metal-QEMU-TDX", "Metal-QEMU-TDX-GPU")
TDX_MULTI_VCPU = "Metal-QEMU-TDX"  # the one platform whose RTMR0 depends on the vCPU count
PRODUCTS = ("Milan", "Genoa")

_SVN = Number(255, operator=True)
_BYTE = Number(255)
_U32 = Number(2**32 - 1)
_U64 = Number(2**64 - 1)
_SHA384 = Hex(48)
_NO = Flag()

POLICY = Record(
    (
        Field("SANs", Items(Text())),
        Field("WorkloadSecretID", Text(), omit_empty=True),
        Field("Role", Text(ROLES), omit_empty=True),
    )
)

MINIMUM_TCB = Record(
    (
        Field("BootloaderVersion", _SVN),
        Field("TEEVersion", _SVN),
        Field("SNPVersion", _SVN),
        Field("MicrocodeVersion", _SVN),
    )
)

GUEST_POLICY = Record(
    (
        Field("ABIMinor", _BYTE),
        Field("ABIMajor", _BYTE),
        Field("SMT", _NO, default=True),
        Field("MigrateMA", _NO),
        Field("Debug", Flag("it would let the host read and change the guest's memory")),
        Field("SingleSocket", _NO),
        Field("CXLAllowed", _NO),
        Field("MemAES256XTS", _NO),
        Field("RAPLDis", _NO),
        Field("CipherTextHidingDRAM", _NO),
        Field("PageSwapDisable", _NO),
    )
)

PLATFORM_INFO = Record(
    (
        Field("SMTEnabled", _NO, default=True),
        Field("TSMEEnabled", _NO),
        Field("ECCEnabled", _NO),
        Field("RAPLDisabled", _NO),
        Field("CiphertextHidingDRAMEnabled", _NO),
        Field("AliasCheckComplete", _NO),
        Field("TIOEnabled", _NO),
    )
)

SNP = Record(
    (
        Field("Platform", Text(SNP_PLATFORMS)),
        Field("ProductName", Text(PRODUCTS)),
        Field("TrustedMeasurement", _SHA384, measured=True),
        Field("APEIP", Hex(4, optional=True), measured=True),
        Field("MinimumTCB", MINIMUM_TCB),
        Field("GuestPolicy", GUEST_POLICY),
        Field("PlatformInfo", PLATFORM_INFO),
        Field("MinimumMitigationVector", _U64),
        Field("AllowedChipIDs", Items(Hex(64))),
    )
)

TDX = Record(
    (
        Field("Platform", Text(TDX_PLATFORMS)),
        Field("MinTCBEvaluationDataNumber", _U32),
        Field("MrTd", _SHA384, measured=True),
        Field("MrSeam", Hex(48, operator=True)),
        Field("Rtmrs", Items(_SHA384, length=4), measured=True),
        Field("Rtmr0Alternatives", Items(_SHA384), omit_empty=True, measured=True),
        Field("Xfam", Hex(8), default="e702060000000000"),
        Field("AllowedPIIDs", Items(Hex())),
        Field("MemoryIntegrity", _NO),
        Field("SMTDisabled", _NO),
        Field("StaticPlatform", _NO),
    )
)

REFERENCE_VALUES = Record(
    (
        Field("snp", Items(SNP), omit_empty=True),
        Field("tdx", Items(TDX), omit_empty=True),
    )
)

MANIFEST = Record(
    (
        Field("Policies", Table(POLICY)),
        Field("ReferenceValues", REFERENCE_VALUES),
        Field("WorkloadOwnerPubKeys", Items(PublicKey("ecdsa"))),
        Field("SeedshareOwnerPubKeys", Items(PublicKey("rsa"))),
    )
)
