"""Find lines that end or begin a document for Go's readers and not for libyaml, or the other way round.

Rule of this file: kubectl, Helm and kustomize cut a stream at every line that begins with `---` before any of it is
parsed; what stands in such a line is dropped or refused, and each piece is read like a file of its own. So such a line
holds blanks and a comment at most, and no document begins with a byte order mark or a blank that is not one of YAML's.
Nor does any line behind the first: libyaml passes over a byte order mark there, Go takes it for text. Anything else
could make them see other documents than this parser. Nothing is imported, because `post-render` needs this before
anything else.
"""

_BREAKS = ("\x85", "\u2028", "\u2029")  # they end a line for YAML and not for Go
_MARK = "\ufeff"
_LINE_ENDS = ("\n", "\r", *_BREAKS)


def odd_separator(text: str) -> tuple[int, str] | None:
    """Return the first offset about which readers would not agree, and what is wrong there; None if there is none."""
    ascii_only = text.isascii()
    if not ascii_only and (mark := _mark_at_a_line(text)) >= 0:
        return mark, "a byte order mark at the beginning of a line, which only some skip"
    begin = _behind_blanks(text, 0)
    if not ascii_only and _begins_oddly(text, 0, begin):
        return begin, "a blank or byte order mark that only some skip"
    if text.startswith("---", begin) and begin and text[begin - 1] != "\n":  # Helm takes the blanks off
        return begin, "blanks in front of ---"
    at = 0 if text.startswith("---") else _next(text, 0)
    while at >= 0:
        if ascii_only and text.startswith("\n", at + 3):  # nearly all of them
            at = _next(text, at + 3)
            continue
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        problem = _problem(text[at + 3 : end])
        if problem:
            return at, problem
        if not ascii_only and _begins_oddly(text, end, _behind_blanks(text, end)):
            return at, "a blank or byte order mark after --- that only some tools skip"
        at = _next(text, end)
    return None


def _mark_at_a_line(text: str) -> int:
    """Return where a byte order mark begins a line that is not the first; -1 for none."""
    at = text.find(_MARK, 1)
    while at >= 0 and text[at - 1] not in _LINE_ENDS:
        at = text.find(_MARK, at + 1)
    return at


def _next(text: str, at: int) -> int:
    """Return where the next line begins that seems to separate documents; -1 for none."""
    at_break = text.find("\n---", at)
    return at_break + 1 if at_break >= 0 else -1


def _problem(behind: str) -> str:
    words = behind.strip(" \t\r")
    if words and (behind[0] not in " \t\r" or words[0] != "#"):
        return "text in a line that begins with ---"
    return "a line end after --- that is not a line feed" if any(mark in behind for mark in _BREAKS) else ""


def _behind_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _begins_oddly(text: str, start: int, end: int) -> bool:
    """Tell whether the blanks of a document's beginning are more than ASCII, or a byte order mark follows them."""
    return text.startswith(_MARK, end) or not text[start:end].isascii()
