"""Launch digests: the vectors of docs/facts/contrast-manifest.md#launch-digest and the shape of the measured page."""

import hashlib
import struct

import pytest

from krm_function.contrast.measurement import SIGNATURES, ap_eip_of, extend, seed_of, vmsa_page

SEED = bytes(range(1, 49))
AP_EIP = 0x0080B004


@pytest.mark.parametrize(
    ("product", "expected"),
    [
        ("Milan", "9d9afe77875077baf6c669fb0ed681070b46c82296c3a461ab872d5a0a8fbc27b8886e80113f2d18dbd7609eca764efe"),
        ("Genoa", "40c0e3d13c633f3f40b73af51d004da7ee5e32317883fa82de3c781cb2ba2e010236ee2c6084a09e3edcdc5502936613"),
    ],
)
def test_the_vectors_for_two_vcpus_hold(product: str, expected: str) -> None:
    assert extend(SEED, 2, AP_EIP, SIGNATURES[product]).hex() == expected


def test_one_vcpu_measures_as_the_seed() -> None:
    assert extend(SEED, 1, AP_EIP, SIGNATURES["Milan"]) == SEED


def test_each_further_vcpu_extends_the_digest_by_one_page_info() -> None:
    page = hashlib.sha384(vmsa_page(AP_EIP, SIGNATURES["Genoa"])).digest()
    digest = SEED
    for vcpus in range(1, 8):
        assert extend(SEED, vcpus, AP_EIP, SIGNATURES["Genoa"]) == digest
        info = struct.pack("<48s48sHBBBBBBQ", digest, page, 0x70, 2, 0, 0, 0, 0, 0, 0xFFFFFFFFF000)
        assert len(info) == 0x70
        digest = hashlib.sha384(info).digest()


def test_extending_composes() -> None:
    milan = SIGNATURES["Milan"]
    assert extend(extend(SEED, 4, AP_EIP, milan), 3, AP_EIP, milan) == extend(SEED, 6, AP_EIP, milan)


def test_the_page_splits_the_entry_point_between_code_segment_and_instruction_pointer() -> None:
    page = vmsa_page(0x12345678, 0xABCDEF)
    assert len(page) == 4096
    assert struct.unpack_from("<HHIQ", page, 0x10) == (0xF000, 0x9B, 0xFFFF, 0x12340000)
    assert struct.unpack_from("<Q", page, 0x178) == (0x5678,)
    assert struct.unpack_from("<Q", page, 0x310) == (0xABCDEF,)
    assert page[0x412:] == bytes(4096 - 0x412)


@pytest.mark.parametrize("vcpus", [0, -1, 65536])
def test_an_impossible_vcpu_count_is_refused(vcpus: int) -> None:
    with pytest.raises(ValueError, match="vCPUs"):
        extend(SEED, vcpus, AP_EIP, SIGNATURES["Milan"])


def test_a_seed_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="48 bytes"):
        extend(SEED[:-1], 2, AP_EIP, SIGNATURES["Milan"])


@pytest.mark.parametrize(("eip", "signature"), [(-1, 0), (1 << 32, 0), (0, -1), (0, 1 << 32)])
def test_numbers_beyond_32_bits_are_refused(eip: int, signature: int) -> None:
    with pytest.raises(ValueError, match="32-bit"):
        extend(SEED, 2, eip, signature)


def test_the_entry_point_is_big_endian_hex() -> None:
    assert ap_eip_of("0080b004") == AP_EIP
    assert ap_eip_of("0080B004") == AP_EIP


@pytest.mark.parametrize("text", ["", "80b004", "0080b00", "0x80b004", " 080b004", "0080b00400", "\u0660080b004"])
def test_an_entry_point_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="8 hex digits"):
        ap_eip_of(text)


def test_a_measurement_is_read_strictly() -> None:
    assert seed_of(SEED.hex()) == SEED
    with pytest.raises(ValueError, match="96 hex digits"):
        seed_of(SEED.hex()[:-2] + "  ")
