"""Find lines that end or begin a document for Go's readers but not for libyaml, or the other way round.

Rule of this file: kubectl, Helm and kustomize cut a stream at every line that begins with `---` before they parse it;
they drop or refuse the rest of such a line, and read each piece like a separate file. So such a line may hold only
blanks and a comment, and no document may begin with a byte order mark or a blank that is not one of YAML's. Nor may any
line after the first: libyaml skips a byte order mark there, Go reads it as text. Anything else could make them see
other documents than this parser. This file imports nothing, because `post-render` needs it first.
"""

_BREAKS = ("\x85", "\u2028", "\u2029")  # they end a line for YAML but not for Go
_MARK = "\ufeff"
_LINE_ENDS = ("\n", "\r", *_BREAKS)


def odd_separator(text: str) -> tuple[int, str] | None:
    """Return the first offset that readers disagree about, and the problem there; None if there is none."""
    ascii_only = text.isascii()
    if not ascii_only and (mark := _find_mark(text)) >= 0:
        return mark, "a byte order mark at the beginning of a line, which only some skip"
    begin = _skip_blanks(text, 0)
    if not ascii_only and _begins_oddly(text, 0, begin):
        return begin, "a blank or byte order mark that only some skip"
    if text.startswith("---", begin) and begin and text[begin - 1] != "\n":  # Helm removes the blanks
        return begin, "blanks in front of ---"
    at = 0 if text.startswith("---") else _find_next(text, 0)
    while at >= 0:
        if ascii_only and text.startswith("\n", at + 3):  # nearly all separators
            at = _find_next(text, at + 3)
            continue
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        problem = _find_problem(text[at + 3 : end])
        if problem:
            return at, problem
        if not ascii_only and _begins_oddly(text, end, _skip_blanks(text, end)):
            return at, "a blank or byte order mark after --- that only some tools skip"
        at = _find_next(text, end)
    return None


def _find_mark(text: str) -> int:
    """Return where a byte order mark begins a line other than the first; -1 for none."""
    at = text.find(_MARK, 1)
    while at >= 0 and text[at - 1] not in _LINE_ENDS:
        at = text.find(_MARK, at + 1)
    return at


def _find_next(text: str, at: int) -> int:
    """Return the start of the next line that seems to separate documents; -1 for none."""
    at_break = text.find("\n---", at)
    return at_break + 1 if at_break >= 0 else -1


def _find_problem(behind: str) -> str:
    words = behind.strip(" \t\r")
    if words and (behind[0] not in " \t\r" or words[0] != "#"):
        return "text in a line that begins with ---"
    return "a line end after --- that is not a line feed" if any(mark in behind for mark in _BREAKS) else ""


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _begins_oddly(text: str, start: int, end: int) -> bool:
    """Tell whether a document begins with blanks beyond ASCII, or with a byte order mark after blanks."""
    return text.startswith(_MARK, end) or not text[start:end].isascii()
