"""The public half of an owner's key file.

Rule of this file: nothing of a private key leaves it, not even in a digest or in a message.
"""

from krm_function.manifest.owner_keys import KeyProblem


def public_key(text: str) -> str:
    """Return the public half of a private key, both PEM; Contrast's own commands take the file of the private key.

    Any other text is answered as it is. Nothing of a private key leaves this function. Raises KeyProblem.
    """
    if "PRIVATE KEY" not in text:
        return text
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    try:
        key = load_pem_private_key(text.encode("utf-8"), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyProblem("the private key cannot be read") from None
    public = key.public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")
