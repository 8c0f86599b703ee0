"""Edit several objects of one document: all at once if that can be proven, else in halves, and finally one by one.

Rule of this file: the result is that of one edit after the other, each on the text that the one before it left. Objects
are independent of each other unless they share an anchor, so one edit of the whole text nearly always does it; one
object that needs more than the smallest edit costs the others a few more edits, and none of their bytes.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from krm_function.yamltext.document import Document, parse
from krm_function.yamltext.errors import YamlError

Member = TypeVar("Member")
Answer = TypeVar("Answer")


def in_groups(
    document: Document,
    members: Sequence[Member],
    together: Callable[[Document, Sequence[Member]], tuple[str, list[Answer]]],
    alone: Callable[[Document, Member], tuple[str, Answer]],
) -> tuple[str, list[Answer]]:
    """Return the text after all edits, and an answer for each member.

    together: edits several members; raises YamlError if editing them one by one would give another text. alone: edits
    one, and returns its problem as its answer.
    """
    if not members:
        return document.text, []
    if len(members) == 1:
        text, answer = alone(document, members[0])
        return text, [answer]
    try:
        return together(document, members)
    except YamlError:
        half = len(members) // 2
    text, first = in_groups(document, members[:half], together, alone)
    rest = document if text is document.text else parse(text, line=document.line)
    text, second = in_groups(rest, members[half:], together, alone)
    return text, first + second
