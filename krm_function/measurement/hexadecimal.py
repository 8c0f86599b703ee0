"""Read measured values as a manifest writes them: hex digits of a fixed length.

Rule of this file: strict where `bytes.fromhex` is not, which skips white space.
"""

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
