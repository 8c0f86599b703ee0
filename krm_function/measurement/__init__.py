"""Compute the measurements of a confidential VM: vCPU count, SNP launch digest and ID block, TDX RTMR0.

Rule of this package: arithmetic over bytes and numbers. It reads no YAML and no files, and imports no other package.
"""

from krm_function.measurement.guest_policy import GuestPolicy, as_u64, guest_policy
from krm_function.measurement.hexadecimal import hex_bytes, is_hex
from krm_function.measurement.id_block import ID_AUTH_BYTES, ID_BLOCK_BYTES, id_auth, id_block, id_key_digest
from krm_function.measurement.launch_digest import SIGNATURES, ap_eip_of, extend, seed_of, vmsa_page
from krm_function.measurement.rtmr0 import UnknownVcpuCount, select_rtmr0
from krm_function.measurement.vcpu_count import MAX_VCPUS, sandbox_vcpu_count, vcpu_count, vcpus_text

__all__ = [
    "ID_AUTH_BYTES",
    "ID_BLOCK_BYTES",
    "MAX_VCPUS",
    "SIGNATURES",
    "GuestPolicy",
    "UnknownVcpuCount",
    "ap_eip_of",
    "as_u64",
    "extend",
    "guest_policy",
    "hex_bytes",
    "id_auth",
    "id_block",
    "id_key_digest",
    "is_hex",
    "sandbox_vcpu_count",
    "seed_of",
    "select_rtmr0",
    "vcpu_count",
    "vcpus_text",
    "vmsa_page",
]
