"""Compute the SEV-SNP launch digest of a VM with n vCPUs from the digest of the same VM with one.

Rule of this file: bytes in, bytes out. Each further vCPU adds one page to what the firmware measures: its VMSA, the
saved registers it starts from. Sources: docs/facts/contrast-manifest.md#launch-digest; AMD SEV-SNP Firmware ABI
(56860), SNP_LAUNCH_UPDATE and its PAGE_INFO; AMD64 Architecture Programmer's Manual volume 2 (24593), appendix B, VMCB
state save area.
"""

import struct

from krm_function.measurement.hexadecimal import hex_bytes

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
        from hashlib import sha384  # OpenSSL: only what is measured loads it

        rest = _page_info_rest(ap_eip, cpu_signature)
        for _ in range(vcpus - 1):
            digest = sha384(digest + rest).digest()
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


def _page_info_rest(ap_eip: int, cpu_signature: int) -> bytes:
    """Build PAGE_INFO without its first field, the digest so far: the same for every further vCPU."""
    from hashlib import sha384

    contents = sha384(vmsa_page(ap_eip, cpu_signature)).digest()
    # length, page type, then one byte each: IMI page, VMPL3, VMPL2 and VMPL1 permissions, reserved
    return contents + struct.pack("<HB5xQ", _PAGE_INFO_BYTES, _PAGE_TYPE_VMSA, _VMSA_ADDRESS)
