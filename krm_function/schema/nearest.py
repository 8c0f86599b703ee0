"""The known word nearest to a mistyped one.

Rule of this file: a suggestion is an aid and never a decision; nothing acts on one. difflib is loaded only when
a word is mistyped.
"""

from collections.abc import Iterable

LONGEST = 128  # characters of the mistyped word that are compared: matching is quadratic


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the closest of `known`, ignoring case, or "" when none is close."""
    from difflib import get_close_matches

    spellings = {name.lower(): name for name in known}
    found = get_close_matches(word[:LONGEST].lower(), spellings, n=1, cutoff=0.6)
    return spellings[found[0]] if found else ""
