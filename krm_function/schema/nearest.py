"""The known word nearest to a mistyped one.

Rule of this file: a suggestion is an aid and never a decision; nothing acts on one, and there is none where a part that
is missing would have to be guessed. difflib is loaded only when a word is mistyped.

    word              known                                        nearest
    snp               metal-qemu-snp, metal-qemu-snp-gpu, …-tdx    metal-qemu-snp: the shortest that has all its parts
    metal-qemu        the same                                     none: snp or tdx is not ours to guess
    metal-qmeu-snp    the same                                     metal-qemu-snp, by spelling
"""

from collections.abc import Iterable

LONGEST = 128  # characters of the mistyped word that are compared: matching is quadratic
SEPARATORS = str.maketrans("/._", "---")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the closest of `known`, ignoring case, or "" when none is close, or several are as close."""
    spellings = {name.lower(): name for name in known}
    lowered = word[:LONGEST].lower()
    parts = _parts(lowered)
    whole = [name for name in spellings if parts and parts <= _parts(name)]
    if whole:
        fewest = min(len(_parts(name)) for name in whole)
        shortest = [name for name in whole if len(_parts(name)) == fewest]
        return spellings[shortest[0]] if len(shortest) == 1 else ""
    from difflib import get_close_matches

    found = get_close_matches(lowered, spellings, n=1, cutoff=0.6)
    return spellings[found[0]] if found else ""


def _parts(name: str) -> frozenset[str]:
    return frozenset(name.translate(SEPARATORS).split("-")) - {""}
