"""Build the SEV-SNP ID block (launch digest and policy that the firmware must enforce) and its authentication page.

Rule of this file: bytes in, bytes out, deterministic and without a secret. The firmware wants the ID block signed. A
signature protects nothing here, since the whole block is covered by the attestation report, so Contrast fixes the
signature to r = 2, s = 1 and computes a public key for which it is valid (SEC 1 version 2, 4.1.6). Sources:
docs/facts/contrast-manifest.md#id-block; AMD SEV-SNP Firmware ABI (56860), "ID Block" and "ID Authentication
Information".

The recovered key is Q = (s R - z G) / r = C + k G with k = -z / 2 and C = R / 2, where R has x = 2 (two points, one
the negative of the other) and z is the block's SHA-384. C has x = -1, where the tangent of any curve with a = -3 is
level. So one scalar multiplication (done by OpenSSL) and one addition for each candidate are all there is to it.
"""

import struct

from krm_function.measurement.launch_digest import DIGEST_BYTES

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
_KEY_BYTES = 0x404


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
    _numbers_into(page, _SIGNATURE_AT, SIGNATURE)
    struct.pack_into("<I", page, _KEY_AT, _CURVE_P384)
    _numbers_into(page, _KEY_AT + 4, recover_key(block))
    return bytes(page)


def id_key_digest(auth: bytes) -> bytes:
    """Hash the public key in an authentication page by SHA-384, as an attestation report states it (48 bytes).

    Raises ValueError for a page that is not 4096 bytes long.
    """
    if len(auth) != ID_AUTH_BYTES:
        raise ValueError(f"an ID authentication page has {ID_AUTH_BYTES} bytes, not {len(auth)}")
    from hashlib import sha384  # OpenSSL: only what is measured loads it

    return sha384(auth[_KEY_AT : _KEY_AT + _KEY_BYTES]).digest()


def recover_key(block: bytes) -> tuple[int, int]:
    """Find the P-384 point (x, y) under which r = 2, s = 1 signs `block`: the smaller of the two.

    Raises ValueError in the cases without two such points, whose probability is negligible.
    """
    from hashlib import sha384

    z = int.from_bytes(sha384(block).digest(), "big")
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


def _numbers_into(page: bytearray, offset: int, pair: tuple[int, int]) -> None:
    """Write two 72-byte little-endian numbers side by side."""
    for index, number in enumerate(pair):
        start = offset + index * _NUMBER_BYTES
        page[start : start + _NUMBER_BYTES] = number.to_bytes(_NUMBER_BYTES, "little")
