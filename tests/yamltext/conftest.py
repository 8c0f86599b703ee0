"""Random documents in the styles people write, and random changes to them."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from krm_function.text.changes import Change, apply

KEYS = (
    "a",
    "b",
    "name",
    "image",
    "x.io/y",
    "containers",
    '"y"',
    "'8080'",
    "with space",
    "'#h'",
    "metadata",
    "annotations",
)
TOKENS = (
    "1", "x", "'single'", '"double \\" q"', "~", "null", "", "yes", "0o17", "1e3", "{}", "[]", "{ }", "[ a, b ]",
    "{k: v, 'l': [1, 2]}", "two words", "a#b", "'it''s'", "=", "2001-01-01", "!!str 5", "http://x/y?z", "[a, # b\n  c]",
    "'over\n\n  lines'", "plain over\n   lines", "{a: {b: c,},}", '"é ☃ \U0001f600"', "\n    below",
)  # fmt: skip
COMMENTS = ("", "", "", " # note", "   # 'odd: note")
VALUES: tuple[Any, ...] = (
    "x", "yes", 5, True, None, 1.5, "two words", "line\nline\n", "line\n  deep\nend", "trailing \n", "", " x", "a: b",
    {}, [], {"k": "v", "l": [1, {"m": "n"}]}, ["a", ["b", "c"], {"name": "n", "x": []}], {"name": "new"}, "it's", "- x",
    "\u0085\u2028",
    '{"json": "x"}', "#", "|", "~", "0x1F", "1:30", "long " * 40, "\U0001f600", "back\\slash", "tab\t", "\n", "\n\nx\n",
)  # fmt: skip


class Writer:
    """Writes random YAML with a seeded generator; lines come with their indentation."""

    def __init__(self, seed: int, *, anchors: bool = False) -> None:
        self.random = Random(seed)  # noqa: S311
        self.anchors: list[str] | None = [] if anchors else None
        self.count = 0

    def one(self, options: Any) -> Any:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def document(self) -> str:
        lines = [self.one(("# head", "---", "--- # c", "")) for _ in range(1) if self.chance(0.4)]
        lines += self.mapping(0, self.random.randint(0, 4))
        lines += [self.one(("# foot", "...", "", "  # foot in")) for _ in range(1) if self.chance(0.3)]
        newline = "\r\n" if self.chance(0.2) else "\n"
        text = "\n".join(lines).replace("\n", newline)
        return text if self.chance(0.2) else text + newline

    def mapping(self, column: int, depth: int) -> list[str]:
        lines: list[str] = []
        pad = " " * column
        for key in self.random.sample(KEYS, self.random.randint(1, 4)):
            if lines and self.chance(0.2):
                lines.append(self.one((pad + "# about", "", "# far left", pad + "  # deep")))
            lines += self.behind(
                f"{pad}? {key}\n{pad}:" if self.chance(0.04) else f"{pad}{key}:", column, depth, item=False
            )
        return lines

    def sequence(self, column: int, depth: int) -> list[str]:
        lines: list[str] = []
        pad = " " * column
        for _ in range(self.random.randint(1, 3)):
            if lines and self.chance(0.2):
                lines.append(self.one((pad + "# about", "", "# far left", pad + "  # deep")))
            lines += self.behind(pad + "-", column, depth, item=True)
        return lines

    def behind(self, head: str, column: int, depth: int, *, item: bool) -> list[str]:
        if depth > 0 and self.chance(0.75):
            mark = ""
            if self.anchors is not None and self.chance(0.3):
                self.count += 1
                mark = f" &n{self.count}"
            if item and not mark and self.chance(0.7):
                inner = (self.mapping if self.chance(0.7) else self.sequence)(column + 2, depth - 1)
                return [head + " " + inner[0].lstrip(" "), *inner[1:]]
            lines = [head + mark + self.one(COMMENTS)]
            if self.chance(0.2):
                lines.append(" " * column + "  # first")
            if self.chance(0.5):
                lines += self.mapping(column + self.one((1, 2, 4)), depth - 1)
            else:
                lines += self.sequence(column + (self.one((1, 2)) if item else self.one((0, 2))), depth - 1)
            if mark and self.anchors is not None:
                self.anchors.append(mark[2:])
            return lines
        if self.anchors and self.chance(0.4):
            return [f"{head} *{self.one(self.anchors)}{self.one(COMMENTS)}"]
        if self.chance(0.2):
            body = [
                self.one(("text", "# no comment", "", "  deeper", "- x", "k: v", "---"))
                for _ in range(self.random.randint(0, 2))
            ]
            pad = " " * (column + 2)
            first = head + " " + self.one(("|", "|-", ">", "|+", ">-", "|2")) + self.one(COMMENTS)
            return [first, pad + "first", *(pad + line if line else "" for line in body)]
        token = self.one(TOKENS).replace("\n", "\n" + " " * column)
        return [(f"{head} {token}" if token else head) + self.one(COMMENTS)]


def changes_for(value: Any, seed: int) -> list[Change]:
    """Up to five random changes that are valid on `value`, one after the other."""
    random = Random(seed)  # noqa: S311
    found: list[Change] = []
    for _ in range(random.randint(1, 5)):
        path: list[str | int] = []
        here = value
        while isinstance(here, dict | list) and here and (random.random() < 0.7 or not path):
            part: str | int = random.choice(list(here)) if isinstance(here, dict) else random.randrange(len(here))
            inner = here[part]  # type: ignore[index]
            if not isinstance(inner, dict | list) or random.random() < 0.3:
                break
            path.append(part)
            here = inner
        new = random.choice(VALUES)
        if isinstance(here, dict):
            key = random.choice([*here, "new", "name", "zz/top"])
            remove = key in here and random.random() < 0.4
            change = Change((*path, key), "remove") if remove else Change((*path, key), "set", new)
        elif isinstance(here, list):
            op = random.choice(("set", "insert", "remove", "insert")) if here else "insert"
            index = random.randrange(len(here) + (op == "insert"))
            change = Change((*path, index), op, None if op == "remove" else new)  # type: ignore[arg-type]
        else:
            change = Change(tuple(path), "set", new)
        found.append(change)
        value = apply(value, [change])
    return found


@pytest.fixture
def write() -> Callable[..., str]:
    """A function that writes a random document."""
    return lambda seed, **options: Writer(seed, **options).document()


@pytest.fixture
def random_changes() -> Callable[[Any, int], list[Change]]:
    """A function that makes random changes."""
    return changes_for
