"""Comments and structure, as ruamel.yaml reads them: every golden has those of its input, beside what a render adds."""

import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.tokens import CommentToken

from tests.hosts.running import EXAMPLES, ROOT, called

GOLDEN = sorted(
    path.name for path in EXAMPLES.iterdir() if (path / "config").is_dir() and (path / "resources").is_dir()
)


def read(data: bytes) -> list[Any]:
    return [value for value in YAML(typ="rt").load_all(io.BytesIO(data)) if value is not None]


def comments(data: bytes) -> Counter[str]:
    """Count the comments of a stream by their text, wherever ruamel.yaml has attached them."""
    found: dict[int, str] = {}
    for token in YAML(typ="rt").scan(data.decode()):
        for attached in attached_to(getattr(token, "comment", None)):
            found[attached.start_mark.index] = attached.value
    lines = (line.strip() for text in found.values() for line in text.splitlines())
    return Counter(line for line in lines if line.startswith("#"))


def attached_to(comment: Any) -> Iterator[CommentToken]:
    if isinstance(comment, CommentToken):
        yield comment
    for part in comment if isinstance(comment, list) else []:
        yield from attached_to(part)


def key(value: Any) -> tuple[str, ...]:
    metadata = value["metadata"]
    return (value["apiVersion"], value["kind"], metadata.get("namespace", ""), metadata["name"])


def order(value: Any) -> Any:
    """The keys of every map in their order, with what is in the maps and lists below."""
    if isinstance(value, dict):
        return [(str(name), order(part)) for name, part in value.items()]
    return [order(part) for part in value] if isinstance(value, list) else None


def keeps(before: Any, after: Any, path: str = "") -> list[str]:
    """Find the maps in which keys of the input are gone, or stand in another order."""
    if isinstance(before, dict) and isinstance(after, dict):
        names = list(before)
        wrong = [] if [name for name in after if name in before] == names else [path]
        below = (one for name in names if name in after for one in keeps(before[name], after[name], f"{path}.{name}"))
        return [*wrong, *below]
    return []


@pytest.mark.parametrize("example", GOLDEN)
def test_a_golden_keeps_the_comments_and_the_order_of_its_input(example: str) -> None:
    directory = EXAMPLES / example
    files = sorted((directory / "resources").rglob("*.y*ml"))
    given = [path.read_bytes() for path in files]
    made = called("generate", str(directory / "resources"), "--config", str(directory / "config")).ok()
    missing = sum((comments(one) for one in given), Counter[str]()) - comments(made)
    assert not missing
    after = {key(value): value for value in read(made)}
    for value in (value for one in given for value in read(one)):
        assert keeps(value, after[key(value)]) == []
    back = called("uninject", stdin=made).ok()
    assert comments(back) >= sum((comments(one) for one in given), Counter[str]())
    assert {key(value): order(value) for value in read(back)} == {
        key(value): order(value) for one in given for value in read(one)
    }


def test_there_are_comments_to_lose() -> None:
    assert len(GOLDEN) > 2, GOLDEN
    texts = [path.read_bytes() for name in GOLDEN for path in Path(EXAMPLES, name, "resources").rglob("*.y*ml")]
    assert sum(comments(text).total() for text in texts) > 5
    assert ROOT in EXAMPLES.parents
