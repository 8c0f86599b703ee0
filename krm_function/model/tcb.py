"""The versions of a machine's SEV-SNP firmware as text.

    BootloaderVersion=9,TEEVersion=0,SNPVersion=21,MicrocodeVersion=72

Rule of this file: all four by the manifest's own names, or nothing. A version that is left out is not zero.
"""

import re

VERSIONS = ("BootloaderVersion", "TEEVersion", "SNPVersion", "MicrocodeVersion")
LARGEST = 255


def parse_tcb(text: str) -> dict[str, int] | None:
    """Return the four versions of `Name=number,...` in their order, None if that is not what the text says."""
    pairs = re.findall(r"(\w+)=([0-9]{1,3})(?:,|\Z)", text)
    versions = {name: int(number) for name, number in pairs}
    whole = ",".join(f"{name}={number}" for name, number in pairs) == text
    if not whole or len(pairs) != len(VERSIONS) or versions.keys() != set(VERSIONS) or max(versions.values()) > LARGEST:
        return None
    return {name: versions[name] for name in VERSIONS}
