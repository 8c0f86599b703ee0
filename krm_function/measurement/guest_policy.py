"""Encode the SEV-SNP guest policy, which limits what the host may do with the VM, as the firmware's 64-bit number.

Rule of this file: names and bits are two tables in the same order. Sources:
docs/facts/contrast-manifest.md#id-block; AMD SEV-SNP Firmware ABI (56860), table "Guest Policy Structure".
"""

from collections.abc import Mapping
from typing import Any

from krm_function.record import NamedTuple


class GuestPolicy(NamedTuple):
    """The manifest's GuestPolicy. The default is Contrast's: multithreading allowed, nothing else."""

    abi_minor: int = 0  # least firmware ABI, 0..255
    abi_major: int = 0  # 0..255
    smt: bool = True
    migrate_ma: bool = False
    debug: bool = False
    single_socket: bool = False
    cxl_allowed: bool = False
    mem_aes256_xts: bool = False
    rapl_dis: bool = False
    ciphertext_hiding_dram: bool = False
    page_swap_disable: bool = False


NAMES = (
    "ABIMinor",
    "ABIMajor",
    "SMT",
    "MigrateMA",
    "Debug",
    "SingleSocket",
    "CXLAllowed",
    "MemAES256XTS",
    "RAPLDis",
    "CipherTextHidingDRAM",
    "PageSwapDisable",
)
"""Names of GuestPolicy's fields in a manifest, in the same order (docs/facts/contrast-manifest.md#manifest)."""

_BITS = (16, 18, 19, 20, 21, 22, 23, 24, 25)  # of the fields after the two ABI numbers
_ALWAYS = 1 << 17  # reserved, must be one


def guest_policy(fields: Mapping[str, Any]) -> GuestPolicy:
    """Read a manifest's GuestPolicy object; an absent field has Contrast's default (only SMT is true).

    Raises ValueError for an unknown field, an ABI number outside 0..255, or a flag that is no boolean.
    """
    unknown = sorted(fields.keys() - set(NAMES))
    if unknown:
        raise ValueError(f"unknown guest policy field {unknown[0]}")
    policy = GuestPolicy(*(fields.get(name, default) for name, default in zip(NAMES, GuestPolicy(), strict=True)))
    as_u64(policy)
    return policy


def as_u64(policy: GuestPolicy) -> int:
    """Encode the policy: ABI minor in bits 0-7, major in 8-15, flags from bit 16, bit 17 always set.

    Raises ValueError for an ABI number outside 0..255 or a flag that is no boolean.
    """
    value = _ALWAYS
    for shift, number in ((0, policy.abi_minor), (8, policy.abi_major)):
        if type(number) is not int or not 0 <= number <= 255:
            raise ValueError("a guest policy's ABI numbers are between 0 and 255")
        value |= number << shift
    for name, bit, flag in zip(NAMES[2:], _BITS, policy[2:], strict=True):
        if not isinstance(flag, bool):
            raise ValueError(f"guest policy field {name} is no boolean")  # noqa: TRY004 (bad data, like the rest)
        value |= flag << bit
    return value
