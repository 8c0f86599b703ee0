"""Tell from a text alone whether an object in it may ask for a runtime class of Contrast's.

Rule of this file: `False` is certain, so that such a text need not be parsed. All names of Contrast's contain one of
two words. YAML can hide a word, or the key, by an escape in double quotes and by base64, whose tag is spelled out, or
with a handle or escapes of its own. Nothing is imported, as this is asked before anything else is loaded.
"""

KEY = "runtimeClassName"
CONTRAST = "contrast"
LEGACY = "kata-cc-isolation"
_ESCAPES = tuple(f"\\{letter}" for letter in "xuU\r\n\x85\u2028\u2029")  # by number, or a word over two lines


def may_ask_for_contrast(text: str) -> bool:
    """Tell whether a text may hold the key `runtimeClassName` with a name of Contrast's."""
    if KEY in text:
        folded = text.lower()
        if CONTRAST in folded or LEGACY in folded:
            return True
    return may_hide_words(text)


def may_hide_words(text: str) -> bool:
    """Tell whether YAML may hold a word that does not stand in its text."""
    if "\\" in text and any(escape in text for escape in _ESCAPES):
        return True
    return "!" in text and ("binary" in text or "%" in text)
