"""New owner keys, of the kinds that `contrast generate` makes itself.

Rule of this file: bytes only; where they may be kept is for the caller. Sources:
docs/facts/contrast-manifest.md#keys (ECDSA P-384 in SEC1, RSA 4096 in PKCS#1), RFC 5915, RFC 8017, RFC 7468 (PEM).
"""

from krm_function.record import NamedTuple

RSA_BITS = 4096


class KeyPair(NamedTuple):
    """private: PEM that Contrast's commands read. public: PEM that `workload_owner` or `seedshare_owner` takes."""

    private: bytes
    public: str

    def __repr__(self) -> str:
        """Show nothing of the private half, wherever the record may be shown."""
        return f"KeyPair(public={self.public!r})"


def new_workload_owner() -> KeyPair:
    """Make an ECDSA key on P-384: `EC PRIVATE KEY` and `PUBLIC KEY`."""
    from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, generate_private_key
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key = generate_private_key(SECP384R1())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return KeyPair(private, public.decode("ascii"))


def new_seedshare_owner() -> KeyPair:
    """Make an RSA key of 4096 bits: `RSA PRIVATE KEY` and `RSA PUBLIC KEY`. Takes a second or so."""
    from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key = generate_private_key(public_exponent=65537, key_size=RSA_BITS)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.PKCS1)
    return KeyPair(private, public.decode("ascii"))
