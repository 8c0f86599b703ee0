"""The measurements of a confidential VM: vCPU count, launch digest, ID block, RTMR0."""

import struct
from collections.abc import Iterable, Mapping
from typing import Any

# --- Read measured values as a manifest writes them: hex digits of a fixed length
#
# Rule: strict where `bytes.fromhex` is not, which skips white space.


_DIGITS = frozenset("0123456789abcdefABCDEF")


def is_hex(text: str, size: int | None = None) -> bool:
    """Tell whether `text` is whole bytes of hex digits, either case; with `size`, exactly that many bytes."""
    if len(text) % 2 or (size is not None and len(text) != 2 * size):
        return False
    return _DIGITS.issuperset(text)


def hex_bytes(text: str, size: int) -> bytes:
    """Read the `size` bytes that `text` spells. Raises ValueError for any other length or character."""
    if not is_hex(text, size):
        raise ValueError(f"expected {2 * size} hex digits")
    return bytes.fromhex(text)


# --- Count the virtual CPUs of a pod's VM
#
# Rule: whole milli-CPU in, a count out; only limits count, requests never do. Sources:
# docs/facts/contrast.md#vcpus, docs/facts/kubernetes.md#sandbox-size.


MAX_VCPUS = 220  # the most that Contrast tries when it verifies a launch digest, and the end of its RTMR0 table


def vcpu_count(containers: Iterable[int], sidecars: Iterable[int], init: Iterable[int], pod: int) -> int:
    """Count the vCPUs of a pod from its CPU limits, all in milli-CPU.

    `containers`: one limit for each regular container (0 when absent); `sidecars`: for each init container with
    restartPolicy Always; `init`: for every init container, the sidecars among them; `pod`: the pod-level limit.
    The result is at least 1 (no limits) and is not capped: comparing it with MAX_VCPUS is the caller's part.
    Raises ValueError for a negative limit, which Kubernetes would refuse.
    """
    limits = [list(containers), list(sidecars), list(init), [pod]]
    if any(limit < 0 for group in limits for limit in group):
        raise ValueError("a CPU limit is negative")
    regular, side, first, whole = (sum(group) for group in limits)
    milli = max(regular + side, first, whole)
    return -(-milli // 1000) + 1


def vcpus_text(count: int) -> str:
    """Write a count with its unit: `1 vCPU`, `2 vCPUs`."""
    return f"{count} vCPU{'' if count == 1 else 's'}"


def sandbox_vcpu_count(containers: Iterable[int], init: Iterable[tuple[int, bool]], pod: int) -> int:
    """Count the vCPUs of a VM that is sized as the kubelet describes the sandbox: one more than its CPU limit.

    All in milli-CPU. `init`: in their order, each with whether it is a sidecar; `pod`: 0 when absent. The largest init
    container counts, with the sidecars before it, and a pod-level limit takes the place of everything else.
    """
    side = peak = 0
    for limit, is_sidecar in init:
        side += limit if is_sidecar else 0
        peak = max(peak, side if is_sidecar else side + limit)
    milli = pod or max(sum(containers) + side, peak)
    return -(-milli // 1000) + 1


# --- Encode the SEV-SNP guest policy, which limits what the host may do with the VM, as the firmware's 64-bit number
#
# Rule: one table of names and bits. Sources:
# docs/facts/contrast-manifest.md#id-block; AMD SEV-SNP Firmware ABI (56860), table "Guest Policy Structure".


POLICY_BITS = {
    "ABIMinor": 0,  # least firmware ABI; both numbers have 8 bits, all others are flags
    "ABIMajor": 8,
    "SMT": 16,
    "MigrateMA": 18,
    "Debug": 19,
    "SingleSocket": 20,
    "CXLAllowed": 21,
    "MemAES256XTS": 22,
    "RAPLDis": 23,
    "CipherTextHidingDRAM": 24,
    "PageSwapDisable": 25,
}
"""The lowest bit of each field of a manifest's GuestPolicy (docs/facts/contrast-manifest.md#manifest)."""

_FLAGS_FROM = 16
_ALWAYS = 1 << 17  # reserved, must be one


def guest_policy(fields: Mapping[str, Any]) -> int:
    """Encode a manifest's GuestPolicy object; an absent field has Contrast's default (only SMT is true).

    Raises ValueError for an unknown field, an ABI number outside 0..255, or a non-boolean flag.
    """
    unknown = sorted(fields.keys() - POLICY_BITS.keys())
    if unknown:
        raise ValueError(f"unknown guest policy field {unknown[0]}")
    value = _ALWAYS
    for name, bit in POLICY_BITS.items():
        is_flag = bit >= _FLAGS_FROM
        part = fields.get(name, name == "SMT" if is_flag else 0)
        if not is_flag and (type(part) is not int or not 0 <= part <= 255):
            raise ValueError("a guest policy's ABI numbers are between 0 and 255")
        if is_flag and not isinstance(part, bool):
            raise ValueError(f"guest policy field {name} is not a boolean")
        value |= part << bit
    return value


# --- Compute the SEV-SNP launch digest of a VM with n vCPUs from the digest of the same VM with one
#
# Rule: bytes in, bytes out. Each further vCPU adds one page to what the firmware measures: its VMSA, the
# saved registers it starts from. Sources: docs/facts/contrast-manifest.md#launch-digest; AMD SEV-SNP Firmware ABI
# (56860), SNP_LAUNCH_UPDATE and its PAGE_INFO; AMD64 Architecture Programmer's Manual volume 2 (24593), appendix B,
# VMCB state save area.


SIGNATURES = {"Milan": 0x00A00F11, "Genoa": 0x00A10F10}
"""CPUID signature by ProductName: family 25, model 1, stepping 1; family 25, model 17, stepping 0."""

DIGEST_BYTES = 48
MAX_EXTENDED_VCPUS = 65535  # the bound of Contrast's own loop

_PAGE_TYPE_VMSA = 2
_PAGE_INFO_BYTES = 0x70
_VMSA_ADDRESS = 0xFFFF_FFFF_F000  # the guest physical address under which KVM measures every VMSA

_SEGMENT = struct.Struct("<HHIQ")  # selector, attributes, limit, base
_U64, _U32, _U16 = struct.Struct("<Q"), struct.Struct("<I"), struct.Struct("<H")


def seed_of(trusted_measurement: str) -> bytes:
    """Read a TrustedMeasurement: 96 hex digits, the launch digest with one vCPU. Raises ValueError."""
    return hex_bytes(trusted_measurement, DIGEST_BYTES)


def ap_eip_of(apeip: str) -> int:
    """Read an APEIP: 8 hex digits, big endian, where every vCPU but the first starts. Raises ValueError."""
    return int.from_bytes(hex_bytes(apeip, 4), "big")


def extend(seed: bytes, vcpus: int, ap_eip: int, cpu_signature: int) -> bytes:
    """Compute the launch digest (48 bytes) of `vcpus` vCPUs from that of one vCPU (`seed`, 48 bytes).

    `ap_eip`: the manifest's APEIP (`ap_eip_of`); `cpu_signature`: one of SIGNATURES. Raises ValueError for a seed of
    another length, a vCPU count outside 1..65535, or an address or signature that does not fit 32 bits.
    """
    if len(seed) != DIGEST_BYTES:
        raise ValueError(f"a launch digest has {DIGEST_BYTES} bytes, not {len(seed)}")
    if not 1 <= vcpus <= MAX_EXTENDED_VCPUS:
        raise ValueError(f"{vcpus} vCPUs; between 1 and {MAX_EXTENDED_VCPUS} are possible")
    digest = seed
    if vcpus > 1:
        rest = _build_page_info(ap_eip, cpu_signature)
        for _ in range(vcpus - 1):
            digest = _sha384(digest + rest)
    return digest


def vmsa_page(eip: int, cpu_signature: int) -> bytes:
    """Build the 4096-byte VMSA of a vCPU that starts at `eip`: its reset state as KVM and QEMU set it.

    Raises ValueError if one of the two does not fit 32 bits.
    """
    if not (0 <= eip < 1 << 32 and 0 <= cpu_signature < 1 << 32):
        raise ValueError("entry point and CPU signature are 32-bit numbers")
    page = bytearray(4096)
    segments = {
        0x00: (0, 0x93, 0xFFFF, 0),  # es
        0x10: (0xF000, 0x9B, 0xFFFF, eip & 0xFFFF0000),  # cs
        0x20: (0, 0x93, 0xFFFF, 0),  # ss
        0x30: (0, 0x93, 0xFFFF, 0),  # ds
        0x40: (0, 0x93, 0xFFFF, 0),  # fs
        0x50: (0, 0x93, 0xFFFF, 0),  # gs
        0x60: (0, 0, 0xFFFF, 0),  # gdtr
        0x70: (0, 0x82, 0xFFFF, 0),  # ldtr
        0x80: (0, 0, 0xFFFF, 0),  # idtr
        0x90: (0, 0x8B, 0xFFFF, 0),  # tr
    }
    registers = {
        0x0D0: 0x1000,  # efer: SVME
        0x148: 0x40,  # cr4: MCE
        0x158: 0x10,  # cr0: ET
        0x160: 0x400,  # dr7
        0x168: 0xFFFF0FF0,  # dr6
        0x170: 2,  # rflags
        0x178: eip & 0xFFFF,  # rip
        0x268: 0x0007040600070406,  # g_pat
        0x310: cpu_signature,  # rdx
        0x3B0: 1,  # sev_features: SNP active
        0x3E8: 1,  # xcr0: x87
    }
    for offset, segment in segments.items():
        _SEGMENT.pack_into(page, offset, *segment)
    for offset, value in registers.items():
        _U64.pack_into(page, offset, value)
    _U32.pack_into(page, 0x408, 0x1F80)  # mxcsr
    _U16.pack_into(page, 0x410, 0x37F)  # x87 control word
    return bytes(page)


def _build_page_info(ap_eip: int, cpu_signature: int) -> bytes:
    """Build PAGE_INFO without its first field, the digest so far: the same for every further vCPU."""
    contents = _sha384(vmsa_page(ap_eip, cpu_signature))
    # length, page type, then one byte each: IMI page, VMPL3, VMPL2 and VMPL1 permissions, reserved
    return contents + struct.pack("<HB5xQ", _PAGE_INFO_BYTES, _PAGE_TYPE_VMSA, _VMSA_ADDRESS)


def _sha384(data: bytes) -> bytes:
    from hashlib import sha384  # OpenSSL: only measurements load it

    return sha384(data).digest()


# --- Build the SEV-SNP ID block (launch digest and policy that the firmware must enforce) and its authentication page
#
# Rule: bytes in, bytes out, deterministic and without a secret. The firmware wants the ID block signed. A
# signature protects nothing here, since the whole block is covered by the attestation report, so Contrast fixes the
# signature to r = 2, s = 1 and computes a public key for which it is valid (SEC 1 version 2, 4.1.6). Sources:
# docs/facts/contrast-manifest.md#id-block; AMD SEV-SNP Firmware ABI (56860), "ID Block" and "ID Authentication
# Information".
#
# The recovered key is Q = (s R - z G) / r = C + k G with k = -z / 2 and C = R / 2, where R has x = 2 (two points, one
# the negative of the other) and z is the block's SHA-384. C has x = -1, where the tangent of any curve with a = -3 is
# level. So one scalar multiplication (done by OpenSSL) and one addition for each candidate are all there is to it.


ID_BLOCK_BYTES = 96
ID_AUTH_BYTES = 4096

P = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFFFF0000000000000000FFFFFFFF
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973
"""P-384 (FIPS 186-5, SP 800-186): the field's prime and the order of the group."""

HALF_R = (
    0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFFFF0000000000000000FFFFFFFE,
    0x732152442FB6EE5C3E6CE1D920C059BC623563814D79042B903CE60F1D4487FCCD450A86DA03F3E6ED525D02017BFDB3,
)
"""C above, one of the two: the half of a point with x = r = 2. The other is its negative."""

SIGNATURE = (2, 1)

_FAMILY_ID = b"\x01".ljust(16, b"\0")
_IMAGE_ID = b"\x02".ljust(16, b"\0")
_VERSION = 1
_GUEST_SVN = 2
_ALGORITHM_ECDSA_P384_SHA384 = 1
_CURVE_P384 = 2
_NUMBER_BYTES = 0x48
_SIGNATURE_AT = 0x40
_KEY_AT = 0x240


def id_block(launch_digest: bytes, policy: int) -> bytes:
    """Build the ID block (96 bytes) for a launch digest (48 bytes) and a guest policy (u64).

    Raises ValueError for a digest of another length or a policy outside 64 bits.
    """
    if len(launch_digest) != DIGEST_BYTES:
        raise ValueError(f"a launch digest has {DIGEST_BYTES} bytes, not {len(launch_digest)}")
    if not 0 <= policy < 1 << 64:
        raise ValueError("a guest policy is a 64-bit number")
    return launch_digest + _FAMILY_ID + _IMAGE_ID + struct.pack("<IIQ", _VERSION, _GUEST_SVN, policy)


def id_auth(block: bytes) -> bytes:
    """Build the authentication page (4096 bytes) of an ID block (96 bytes).

    Raises ValueError for a block of another length, and for the one block in 2^384 that has no usable key.
    """
    if len(block) != ID_BLOCK_BYTES:
        raise ValueError(f"an ID block has {ID_BLOCK_BYTES} bytes, not {len(block)}")
    page = bytearray(ID_AUTH_BYTES)
    struct.pack_into("<II", page, 0, _ALGORITHM_ECDSA_P384_SHA384, 0)  # no author key
    _write_numbers(page, _SIGNATURE_AT, SIGNATURE)
    struct.pack_into("<I", page, _KEY_AT, _CURVE_P384)
    _write_numbers(page, _KEY_AT + 4, recover_key(block))
    return bytes(page)


def recover_key(block: bytes) -> tuple[int, int]:
    """Find the P-384 point (x, y) under which r = 2, s = 1 signs `block`: the smaller of the two.

    Raises ValueError in the cases without two such points, whose probability is negligible.
    """
    z = int.from_bytes(_sha384(block), "big")
    k = -z * pow(2, -1, N) % N
    if k == 0:
        raise ValueError("no ID key can be recovered: the block's hash is zero")
    x, y = _times_base(k)
    if x == HALF_R[0]:
        raise ValueError("no ID key can be recovered: the addition is degenerate")
    inverse = pow(x - HALF_R[0], -1, P)
    return min(_add(x, y, half_y, inverse) for half_y in (HALF_R[1], P - HALF_R[1]))


def _add(x: int, y: int, half_y: int, inverse: int) -> tuple[int, int]:
    """Add (x, y) and (HALF_R[0], half_y), two points with different x; `inverse` is 1 / (x - HALF_R[0])."""
    slope = (y - half_y) * inverse % P
    sum_x = (slope * slope - x - HALF_R[0]) % P
    return sum_x, (slope * (x - sum_x) - y) % P


def _times_base(k: int) -> tuple[int, int]:
    """Multiply the generator by 0 < k < N: the public key of k, though k is no secret."""
    from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, derive_private_key

    numbers = derive_private_key(k, SECP384R1()).public_key().public_numbers()
    return numbers.x, numbers.y


def _write_numbers(page: bytearray, offset: int, pair: tuple[int, int]) -> None:
    """Write two 72-byte little-endian numbers side by side."""
    for index, number in enumerate(pair):
        start = offset + index * _NUMBER_BYTES
        page[start : start + _NUMBER_BYTES] = number.to_bytes(_NUMBER_BYTES, "little")


# --- Select the values that TDX's RTMR0 may have in a set of VMs
#
# Rule: a lookup by vCPU count, nothing computed. RTMR0 covers the tables that QEMU hands to the
# firmware, and they name each vCPU; only the release knows the values. Source: docs/facts/contrast-manifest.md#rtmr0.


class UnknownVcpuCount(KeyError):
    """The release has no RTMR0 for `count` vCPUs."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count

    def __str__(self) -> str:
        """Return a sentence, where KeyError would print the bare number."""
        return f"no RTMR0 for {vcpus_text(self.count)}"


def select_rtmr0(table: Mapping[str, str], counts: Iterable[int]) -> tuple[str, tuple[str, ...]]:
    """Pick the RTMR0 of each vCPU count from a release's `rtmr0ByVCPU` (decimal count -> 96 hex digits).

    Returns the smallest value in string order, for Rtmrs[0], and the others ascending, for Rtmr0Alternatives; no value
    twice. Raises UnknownVcpuCount (smallest first) for a count the table lacks, ValueError when there are no counts.
    """
    values = set()
    for count in sorted(set(counts)):
        if str(count) not in table:
            raise UnknownVcpuCount(count)
        values.add(table[str(count)])
    if not values:
        raise ValueError("no vCPU counts given")
    first, *rest = sorted(values)
    return first, tuple(rest)
