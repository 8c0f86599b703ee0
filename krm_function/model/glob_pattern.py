"""Match a name against a pattern in which `*` stands for any text, the empty one included.

Rule of this file: the pattern is about the whole name, every other character stands for itself, and the time is linear
in the length of the name for each `*`.
"""


def fits(pattern: str, name: str) -> bool:
    """Tell whether a pattern describes the whole of a name.

    >>> fits("db-*", "db-main"), fits("db-*", "my-db-main"), fits("a*b*c", "a.b.b.c"), fits("*", "")
    (True, False, True, True)
    """
    first, *rest = pattern.split("*")
    if not rest:
        return name == pattern
    if not name.startswith(first):
        return False
    at = len(first)
    for piece in rest[:-1]:
        found = name.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return len(name) - at >= len(rest[-1]) and name.endswith(rest[-1])
