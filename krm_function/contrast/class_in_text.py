"""Tell from a text alone whether an object in it may ask for a runtime class of Contrast's.

Rule of this file: `False` is certain, so that such a text need not be parsed. All names of Contrast's contain one of
two words, in upper or lower case. YAML can hide a word, or the key, by an escape in double quotes and by base64, whose
tag is spelled out, or with a handle or escapes of its own. Nothing is imported, as this is asked before anything else
is loaded.
"""

KEY = "runtime"  # of runtimeClassName and of what is mistaken for it; in lower case, as all here
CONTRAST = "contrast"
LEGACY = "kata-cc-isolation"
DOMAIN = "contrast.edgeless.systems/"  # of the annotations and labels that Contrast reads
PLACEHOLDERS = ("contrast-cc", "contrast_cc", "contrast.cc", LEGACY)
_ESCAPES = tuple(f"\\{letter}" for letter in "xuU\r\n\x85\u2028\u2029")  # by number, or a word over two lines


def may_ask_for_contrast(text: str, *further: str) -> bool:
    """Tell whether a text may hold a name of Contrast's below a key like `runtimeClassName`, a placeholder, or more."""
    folded = text.lower()
    if LEGACY in folded or (CONTRAST in folded and any(word in folded for word in (KEY, *PLACEHOLDERS, *further))):
        return True
    return may_hide_words(text)


def may_name_contrast(text: str) -> bool:
    """Tell whether a text may ask for Contrast, or hold an annotation or a label of its domain."""
    return may_ask_for_contrast(text, DOMAIN)


def may_hide_words(text: str) -> bool:
    """Tell whether YAML may hold a word that its text does not show."""
    if "\\" in text and any(escape in text for escape in _ESCAPES):
        return True
    return "!" in text and ("binary" in text or "%" in text)
