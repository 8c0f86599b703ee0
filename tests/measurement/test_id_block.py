"""ID blocks: vectors, the signature they carry, and the constants re-derived slowly.

Source: docs/facts/contrast-manifest.md#id-block.
"""

import hashlib
import struct

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA384
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.contrast.measurement import HALF_R, SIGNATURE, N, P, id_auth, id_block, recover_key

DIGEST = bytes(range(1, 49))
B = 0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF
G = (
    0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
    0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F,
)
Point = tuple[int, int] | None


def add(one: Point, two: Point) -> Point:
    """The textbook group law of P-384, None being the neutral element."""
    if one is None or two is None:
        return one or two
    if one[0] == two[0]:
        if (one[1] + two[1]) % P == 0:
            return None
        slope = (3 * one[0] ** 2 - 3) * pow(2 * one[1], -1, P)
    else:
        slope = (two[1] - one[1]) * pow(two[0] - one[0], -1, P)
    x = (slope * slope - one[0] - two[0]) % P
    return x, (slope * (one[0] - x) - one[1]) % P


def times(k: int, point: Point) -> Point:
    """Double and add."""
    total: Point = None
    while k:
        if k & 1:
            total = add(total, point)
        point = add(point, point)
        k >>= 1
    return total


def negative(point: Point) -> Point:
    return point and (point[0], P - point[1])


def on_curve(point: Point) -> bool:
    return point is not None and (point[1] ** 2 - point[0] ** 3 + 3 * point[0] - B) % P == 0


R = times(2, HALF_R)


def test_the_constant_is_half_of_the_point_that_the_signature_names() -> None:
    assert on_curve(HALF_R)
    assert R is not None
    assert R[0] == SIGNATURE[0]
    assert times(pow(2, -1, N), R) == HALF_R
    square = pow(2**3 - 3 * 2 + B, (P + 1) // 4, P)
    assert R[1] in {square, P - square}


@pytest.mark.parametrize("policy", [0x20000, 0x30000])
def test_the_key_is_what_slow_recovery_finds_and_satisfies_the_signature_equation(policy: int) -> None:
    block = id_block(DIGEST, policy)
    z = int.from_bytes(hashlib.sha384(block).digest(), "big")
    r, s = SIGNATURE
    candidates = []
    for point in (R, negative(R)):
        difference = add(times(s, point), negative(times(z % N, G)))
        key = times(pow(r, -1, N), difference)
        assert key is not None
        candidates.append(key)
        w = pow(s, -1, N)
        signed = add(times(z * w % N, G), times(r * w % N, key))
        assert signed is not None
        assert signed[0] % N == r
    assert recover_key(block) == min(candidates)


@pytest.mark.parametrize(
    ("policy", "block_hash", "auth_hash"),
    [
        (
            0x20000,
            "cd90a705f10f33610613c0bab617278e94eff3d03fe7e8530ffdd267e1745171",
            "e008c111578c934e6abc8529473c7b56dd420b95fd1e39a5a5f7ac6dd68e0074",
        ),
        (
            0x30000,
            "23d7bb400c735deb0f3bcc2bcfa041ead15039d5c6c07191a67afd477c2d6b71",
            "ec94e3fb1cc70b9171c7cc99ca425e5a9d2cbcfef0a2118d1c53b9746add4a0f",
        ),
    ],
)
def test_the_vectors_hold(policy: int, block_hash: str, auth_hash: str) -> None:
    block = id_block(DIGEST, policy)
    assert hashlib.sha256(block).hexdigest() == block_hash
    assert hashlib.sha256(id_auth(block)).hexdigest() == auth_hash


def test_a_block_is_laid_out_as_the_firmware_reads_it() -> None:
    block = id_block(DIGEST, 0x1234567890ABCDEF)
    assert struct.unpack("<48s16s16sIIQ", block) == (
        DIGEST,
        b"\x01" + bytes(15),
        b"\x02" + bytes(15),
        1,
        2,
        0x1234567890ABCDEF,
    )


def test_an_authentication_page_is_laid_out_as_the_firmware_reads_it() -> None:
    block = id_block(DIGEST, 0x30000)
    page = id_auth(block)
    x, y = recover_key(block)
    assert len(page) == 4096
    assert page[:0x40] == struct.pack("<II56x", 1, 0)
    assert page[0x40:0x240] == (2).to_bytes(0x48, "little") + (1).to_bytes(0x48, "little") + bytes(0x200 - 0x90)
    assert page[0x240:0x644] == (
        struct.pack("<I", 2) + x.to_bytes(0x48, "little") + y.to_bytes(0x48, "little") + bytes(0x404 - 4 - 0x90)
    )
    assert page[0x644:] == bytes(4096 - 0x644)


@settings(max_examples=40, deadline=None)
@given(st.binary(min_size=48, max_size=48), st.integers(0, 2**64 - 1))
def test_the_constant_signature_verifies_under_the_recovered_key(digest: bytes, policy: int) -> None:
    block = id_block(digest, policy)
    key = ec.EllipticCurvePublicNumbers(*recover_key(block), ec.SECP384R1()).public_key()
    key.verify(encode_dss_signature(*SIGNATURE), hashlib.sha384(block).digest(), ec.ECDSA(Prehashed(SHA384())))


def test_a_block_whose_hash_counts_as_zero_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_hash(monkeypatch, N)
    with pytest.raises(ValueError, match="zero"):
        id_auth(bytes(96))


@pytest.mark.parametrize("k", [1, N - 1])
def test_a_block_that_leads_to_a_degenerate_addition_is_refused(monkeypatch: pytest.MonkeyPatch, k: int) -> None:
    """k G = ±C happens for no hash anyone can find, so the multiplication is what gives way here."""
    monkeypatch.setitem(
        recover_key.__globals__, "_times_base", lambda _k: HALF_R if k == 1 else (HALF_R[0], P - HALF_R[1])
    )
    with pytest.raises(ValueError, match="degenerate"):
        id_auth(bytes(96))


def fake_hash(monkeypatch: pytest.MonkeyPatch, value: int) -> None:
    class Hash:
        def digest(self) -> bytes:
            return value.to_bytes(48, "big")

    monkeypatch.setattr(hashlib, "sha384", lambda _data: Hash())


def test_wrong_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="48 bytes"):
        id_block(bytes(47), 0x30000)
    with pytest.raises(ValueError, match="96 bytes"):
        id_auth(bytes(95))
    for policy in (-1, 1 << 64):
        with pytest.raises(ValueError, match="64-bit"):
            id_block(DIGEST, policy)
