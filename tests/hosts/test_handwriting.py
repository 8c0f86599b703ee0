"""However a person wrote it: comments, blank lines, quotes, dashes and line ends change nothing of what a render means,
and all of them come back."""

from functools import cache
from random import Random
from typing import Any

import pytest

from krm_function.kubernetes.workload import EMITTED, ORIGINAL
from krm_function.text.changes import same
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse
from krm_function.text.split import split_stream
from tests.hosts.documents import load, name_of
from tests.hosts.running import EXAMPLES, called

NAMES = ("quickstart", "multi-runtime", "gpu", "every-field")
COMMENTS = ("# c", "#", "# a: b", "# it's", "# - x")


@cache
def documents(name: str) -> tuple[str, ...]:
    """The documents of an example, without separators, every line ended."""
    texts = [path.read_text() for path in sorted((EXAMPLES / name / "resources").iterdir())]
    found = [chunk.of(text) for text in texts for chunk in split_stream(text) if not chunk.empty]
    return tuple(text.removeprefix("---\n").rstrip("\n") + "\n" for text in found)


def line_of(random: Random, line: str) -> str:
    """A line as somebody else would write it; not always one that means the same."""
    key, _, value = line.partition(": ")
    quote = random.choice("'\"")
    return random.choice(
        (
            line + random.choice((" # t", " ", "  #x")),
            f"{key}: {quote}{value}{quote}",
            line.replace("- ", "-   ", 1),
            f"{key}:  {value}",
        )
    )


def rewritten(random: Random, text: str) -> str:
    """A document with some of its lines written in another way, and comments and blank lines between them."""
    lines, value = text.splitlines(), parse(text).value
    for _ in range(random.randrange(10)):
        new = list(lines)
        at = random.randrange(len(new))
        if random.random() < 0.6:
            new.insert(at, " " * random.randrange(14) + random.choice((*COMMENTS, "", "")))
        else:
            new[at] = line_of(random, new[at])
        try:
            if same(parse("\n".join(new)).value, value):
                lines = new
        except YamlError:
            pass
    return "\n".join(lines) + "\n"


def as_stream(random: Random, texts: list[str]) -> str:
    whole = ""
    for text in texts:
        if whole or random.random() < 0.5:
            whole += random.choice(("---\n", "--- \n", "---\n# Source: a/b.yaml\n", "---\n\n", "--- # c\n"))
        whole += text + random.choice(("", "", "", "# foot\n", "\n", "   # foot\n", "...\n"))
    return whole


def as_list(random: Random, texts: list[str]) -> str:
    pad = random.choice(("", "  "))
    options = "functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: x}\n"
    above, below = random.choice((("", ""), (options, ""), ("", options)))
    whole = f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n{above}items:\n"
    for text in texts:
        lines = text.splitlines()
        first = next(at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
        whole += "".join(f"{pad}{line.strip()}\n" for line in lines[:first])
        whole += f"{pad}- {lines[first]}\n"
        whole += "".join(f"{pad}  {line}\n" if line else "\n" for line in lines[first + 1 :])
        whole += random.choice(("", "", f"{pad}# between\n", f"{pad}  # foot\n", " \n"))
    return whole + below + random.choice(("", "", "# end\n", "\n"))


def meaning(data: bytes, command: str) -> list[Any]:
    """What the objects of an output say, without what only the way back needs."""
    found = parse(data.decode()).value["items"] if command == "fn" else load(data)
    for value in found:
        notes = value["metadata"].get("annotations", {})
        notes.pop(ORIGINAL, None)
        notes.pop(EMITTED, None)
    return sorted(found, key=name_of)


@cache
def plainly(name: str, command: str) -> list[Any]:
    """The same of the example as it stands."""
    write = as_list if command == "fn" else as_stream
    plain = write(Never(), list(documents(name)))
    return meaning(called(command, "--config", str(EXAMPLES / name / "config"), stdin=plain.encode()).ok(), command)


class Never(Random):
    """Chooses what comes first."""

    def choice(self, seq: Any) -> Any:
        """The first one."""
        return seq[0]

    def random(self) -> float:
        """Too much for any if."""
        return 1.0


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("name", NAMES)
def test_what_a_person_wrote_comes_back_and_changes_nothing(name: str, seed: int) -> None:
    command = ("fn", "post-render")[seed % 2]
    random = Random(f"{name} {seed}")  # noqa: S311 (the same every time)
    texts = [rewritten(random, text) for text in documents(name)]
    text = (as_list if command == "fn" else as_stream)(random, texts)
    if random.random() < 0.25:
        text = text.replace("\n", "\r\n")
    if random.random() < 0.25:
        text = text.rstrip("\r\n ")
    data = text.encode()
    options = ("--config", str(EXAMPLES / name / "config"))
    once = called(command, *options, stdin=data).ok()
    assert same(meaning(once, command), plainly(name, command))
    assert called(command, *options, stdin=once).ok() == once
    assert called("uninject", stdin=once).ok() == data
