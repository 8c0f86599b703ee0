"""Make a ContrastRelease out of the files of a Contrast release.

Rule of this package: bytes and texts in, facts, findings and a text out; it opens no file. A fact is never guessed, and
never taken from two releases.
"""

from krm_function.release.artefacts import facts_of
from krm_function.release.combine import Combined, combine
from krm_function.release.facts import NO_VERSION, Fact, Facts
from krm_function.release.missing import missing
from krm_function.release.release_text import existing, new_text, updated_text
from krm_function.release.replacement_lines import Replacement, replacements

__all__ = [
    "NO_VERSION",
    "Combined",
    "Fact",
    "Facts",
    "Replacement",
    "combine",
    "existing",
    "facts_of",
    "missing",
    "new_text",
    "replacements",
    "updated_text",
]
