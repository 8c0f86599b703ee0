"""Random documents, random changes: the value is always right, and block style comes back byte for byte."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krm_function.yamltext import Change, apply, parse, read_undo, restore, splice
from krm_function.yamltext.changes import same

AT = ("metadata", "annotations", "contrast-krm.dev/original")
KEYS = ["a", "b", "name", "image", "x.io/y", "containers", "y", "8080", "with space", "#h", "metadata", "annotations"]
TOKENS = [
    "1", "x", "'single'", '"double \\" q"', "~", "null", "", "yes", "0o17", "1e3", "{}", "[]", "{ }", "[ a, b ]",
    "{k: v, 'l': [1, 2]}", "two words", "a#b", "'it''s'", "=", "2001-01-01", "!!str 5", "http://x/y?z",
]  # fmt: skip
COMMENTS = ["", "", "", " # note", "   # 'odd: note"]


@st.composite
def block(draw: Any, column: int, depth: int, newline: str) -> list[str]:
    """Lines of a block collection at `column`, the first without indentation."""
    lines: list[str] = []
    pad = " " * column
    if draw(st.booleans()) or depth == 0:
        keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4, unique=True))
        for key in keys:
            shown = key if key not in ("y", "8080", "#h") else draw(st.sampled_from([f'"{key}"', f"'{key}'"]))
            noise(draw, lines, pad)
            lines += entry(draw, f"{shown}:", column, depth, newline)
        return lines
    for _ in range(draw(st.integers(1, 3))):
        noise(draw, lines, pad)
        kind = draw(st.integers(0, 3))
        if depth and kind == 0:
            lines += nest(draw(block(column + 2, depth - 1, newline)), "- ", column)
        elif depth and kind == 1:
            lines.append("-" + draw(st.sampled_from(COMMENTS)))
            inner = draw(block(column + draw(st.integers(1, 3)), depth - 1, newline))
            width = next(len(line) - len(line.lstrip(" ")) for line in inner[1:] + [" " * (column + 2)]) if 0 else None
            del width
            lines += shift(inner, column)
        else:
            lines += scalar_lines(draw, "-", column, newline)
    return lines


def nest(inner: list[str], head: str, column: int) -> list[str]:
    """Put the first line behind `head`; leading comments of the inner block would break the form, so they go."""
    while inner and inner[0].lstrip().startswith("#") or inner and not inner[0].strip():
        inner = inner[1:]
    first = inner[0].lstrip(" ")
    return [head + first, *inner[1:]]


def shift(inner: list[str], column: int) -> list[str]:
    del column
    return inner


def noise(draw: Any, lines: list[str], pad: str) -> None:
    if lines and draw(st.integers(0, 4)) == 0:
        lines.append(draw(st.sampled_from([pad + "# about", "", "# far left", pad + "  # deep"])))


def scalar_lines(draw: Any, head: str, column: int, newline: str) -> list[str]:
    if draw(st.integers(0, 4)) == 0:
        style = draw(st.sampled_from(["|", "|-", ">", "|+", ">-"]))
        body = draw(st.lists(st.sampled_from(["text", "# no comment", "", "  deeper", "- x", "k: v"]), min_size=1, max_size=3))
        pad = " " * (column + 2)
        return [f"{head} {style}{draw(st.sampled_from(COMMENTS))}", pad + "first", *(pad + line if line else "" for line in body)]
    token = draw(st.sampled_from(TOKENS))
    return [(f"{head} {token}" if token else head) + draw(st.sampled_from(COMMENTS))]


def entry(draw: Any, head: str, column: int, depth: int, newline: str) -> list[str]:
    if depth == 0 or draw(st.booleans()):
        return scalar_lines(draw, head, column, newline)
    lines = [head + draw(st.sampled_from(COMMENTS))]
    inner = draw(block(column + 2, depth - 1, newline))
    if inner and not inner[0].strip():
        inner = inner[1:]
    return lines + inner


def placed(lines: list[str], column: int) -> list[str]:
    return lines
