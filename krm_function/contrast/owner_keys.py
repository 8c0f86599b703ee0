"""Owner keys: from people's PEM to the hex digits of a manifest, and new ones."""

import binascii
import re
from typing import Any

from krm_function.contrast.measurement import is_hex
from krm_function.record import NamedTuple

# --- Owner keys: from the PEM that people have to the hex digits that a manifest lists
#
# Rule: public keys only, and no message ever quotes a byte of a key file. Sources:
# docs/facts/contrast-manifest.md#keys, RFC 7468 (PEM), RFC 5280 (SubjectPublicKeyInfo, "PKIX"), RFC 8017 (RSAPublicKey,
# "PKCS#1").


_BLOCK = r"-----BEGIN ([A-Z0-9 ]+)-----[ \t]*\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----"
_BEGIN = r"-----BEGIN ([A-Z0-9 ]+)-----"
_PRIVATE = r"BEGIN[A-Z0-9 ]*PRIVATE"
_KNOWN_TYPES = (
    "CERTIFICATE",
    "CERTIFICATE REQUEST",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "SSH2 PUBLIC KEY",
    "EC PARAMETERS",
)
_CURVES = frozenset({"secp224r1", "secp256r1", "secp384r1", "secp521r1"})  # all that Go's crypto/x509 reads
_P384 = bytes.fromhex("3076301006072a8648ce3d020106052b8104002203620004")  # a plain P-384 key in DER, up to its x
_LEAST_RSA_BITS = 2048
_LONGEST_PEM = 64 * 1024


class KeyProblem(ValueError):
    """Why a key cannot be used, as a sentence without a full stop. Never holds a byte of the key."""


def workload_owner(pem: str) -> str:
    """Turn an ECDSA public key (PEM `PUBLIC KEY`) into an entry of WorkloadOwnerPubKeys: hex of its PKIX DER.

    Raises KeyProblem for a private key, anything but exactly one block, another type of key, or a curve that Contrast
    cannot read.
    """
    return _encode_ecdsa(_read_block(pem, ("PUBLIC KEY",))).hex()


def seedshare_owner(pem: str) -> str:
    """Turn an RSA public key into an entry of SeedshareOwnerPubKeys: hex of its PKCS#1 DER.

    Takes PEM `RSA PUBLIC KEY` (PKCS#1) and `PUBLIC KEY`, whether that holds PKIX, as everywhere else, or PKCS#1, as
    Contrast's own CLI wants it. Raises KeyProblem like `workload_owner`, and for keys of less than 2048 bits.
    """
    der, bits = _encode_rsa(_read_block(pem, ("RSA PUBLIC KEY", "PUBLIC KEY")))
    if bits < _LEAST_RSA_BITS:
        raise KeyProblem(f"an RSA key of less than {_LEAST_RSA_BITS} bits is too weak")
    return der.hex()


def workload_problem(digits: str) -> str:
    """Return the problem of an entry of WorkloadOwnerPubKeys, "" for none."""
    try:
        der = _read_hex(digits)
        plain = _encode_ecdsa(der)
    except KeyProblem as problem:
        return str(problem)
    return "" if plain == der else "must be in plain PKIX DER, without compressed points or further bytes"


def seedshare_problem(digits: str) -> str:
    """Return the problem of an entry of SeedshareOwnerPubKeys, "" for none."""
    try:
        der = _read_hex(digits)
        plain, _ = _encode_rsa(der)
    except KeyProblem as problem:
        return str(problem)
    return "" if plain == der else "must be in PKCS#1 DER, this is another encoding"


def _read_block(pem: str, accepted: tuple[str, ...]) -> bytes:
    """Return the bytes inside the only PEM block."""
    if len(pem) > _LONGEST_PEM:
        raise KeyProblem("too long for a key in PEM")
    if re.search(_PRIVATE, pem):
        raise KeyProblem(
            "this is a private key; pass only the public key, private keys do not belong in the configuration"
        )
    types = re.findall(_BEGIN, pem)
    if not types:
        raise KeyProblem("no PEM block found")
    if len(types) > 1:
        raise KeyProblem(f"{len(types)} PEM blocks found, pass one key at a time")
    if types[0] not in accepted:
        shown = types[0] if types[0] in _KNOWN_TYPES else "of an unknown kind"
        raise KeyProblem(f"unsupported PEM block type: {shown}; {' or '.join(accepted)} is needed")
    block = re.search(_BLOCK, pem)
    if block is None:
        raise KeyProblem("the PEM block is damaged")
    try:
        return binascii.a2b_base64("".join(block[2].split()), strict_mode=True)
    except binascii.Error as error:
        raise KeyProblem("the PEM block does not contain valid base64") from error


def _read_hex(digits: str) -> bytes:
    if not digits or not is_hex(digits):
        raise KeyProblem("must be a public key in DER, as hex digits")
    return bytes.fromhex(digits)


def _encode_ecdsa(der: bytes) -> bytes:
    """Check an ECDSA public key and write it as plain PKIX DER, the point uncompressed."""
    from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, EllipticCurvePublicKey

    if der.startswith(_P384) and len(der) == len(_P384) + 96:
        try:  # nearly every owner key is one, and this way costs half the import of the other
            EllipticCurvePublicKey.from_encoded_point(SECP384R1(), der[len(_P384) - 1 :])
        except ValueError as problem:
            raise KeyProblem("no public key can be read from it") from problem
        return der
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key = _load_key(der)
    if not isinstance(key, EllipticCurvePublicKey):
        raise KeyProblem("must be an ECDSA public key, this is another kind")
    if key.curve.name not in _CURVES:
        raise KeyProblem("must be on one of the curves P-224, P-256, P-384 and P-521")
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _encode_rsa(der: bytes) -> tuple[bytes, int]:
    """Check an RSA public key and write it as PKCS#1 DER; also its size in bits."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key = _load_key(der)
    if not isinstance(key, RSAPublicKey):
        raise KeyProblem("must be an RSA public key, this is another kind")
    return key.public_bytes(Encoding.DER, PublicFormat.PKCS1), key.key_size


def _load_key(der: bytes) -> object:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    try:
        return load_der_public_key(der)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyProblem("no public key can be read from it") from None


# --- New owner keys, of the kinds that `contrast generate` makes itself
#
# Rule: bytes only; the caller decides where to keep them. Sources: docs/facts/contrast-manifest.md#keys (ECDSA P-384 in
# SEC1, RSA 4096 in PKCS#1), RFC 5915, RFC 8017, RFC 7468 (PEM).


RSA_BITS = 4096


class KeyPair(NamedTuple):
    """private: PEM that Contrast's commands read. public: PEM that `workload_owner` or `seedshare_owner` takes."""

    private: bytes
    public: str

    def __repr__(self) -> str:
        return f"KeyPair(public={self.public!r})"


def new_workload_owner() -> KeyPair:
    """Make an ECDSA key on P-384: `EC PRIVATE KEY` and `PUBLIC KEY`."""
    from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, generate_private_key

    return _make_pair(generate_private_key(SECP384R1()), "SubjectPublicKeyInfo")


def new_seedshare_owner() -> KeyPair:
    """Make an RSA key of 4096 bits: `RSA PRIVATE KEY` and `RSA PUBLIC KEY`. Takes a second or so."""
    from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

    return _make_pair(generate_private_key(public_exponent=65537, key_size=RSA_BITS), "PKCS1")


def _make_pair(key: Any, public_format: str) -> KeyPair:
    """Return both halves in PEM. public_format: the name of a PublicFormat."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, getattr(PublicFormat, public_format))
    return KeyPair(private, public.decode("ascii"))
