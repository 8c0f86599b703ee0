"""Comments and structure, as ruamel.yaml reads them: every golden has those of its input, beside what a render adds."""

import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.tokens import CommentToken

from tests.hosts.running import EXAMPLES, ROOT, Machine, called
from tests.real_manifests.packages import PACKAGES, copy, unsealed

GOLDEN = sorted(
    path.name for path in EXAMPLES.iterdir() if (path / "config").is_dir() and (path / "resources").is_dir()
)

SEALED = sorted(
    path for path in EXAMPLES.glob("*/expected/*.yaml") if b"contrast-krm.dev/original" in path.read_bytes()
)

REWRITTEN = frozenset(("limits", "requests", "volumes"))  # gpus.rename; securePV and splitSubPaths


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
    if isinstance(before, list) and isinstance(after, list):
        return keeps(named(before), named(after), path)
    return []


def named(values: list[Any]) -> dict[str, Any]:
    """The elements of a list by their names, in its order: containers, volumes, variables; not mounts."""
    found = [value for value in values if isinstance(value, dict) and "name" in value and "mountPath" not in value]
    return {str(value["name"]): value for value in found}


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("golden", SEALED, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_every_committed_output_has_the_comments_and_the_order_of_what_it_was_made_of(golden: Path) -> None:
    made = golden.read_bytes()
    back = called("uninject", stdin=made).ok()
    assert_kept(back, made)
    assert not comments(back) - comments(made)


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_of_a_user_keeps_its_comments_and_its_order(name: str, krm_machine: Machine, tmp_path: Path) -> None:
    package = copy(name, "advised", tmp_path / "advised")
    given = unsealed(krm_machine, package)
    made = called("generate", "--config", str(package.config), stdin=given).ok()
    assert b"cc_init_data" in made
    assert_kept(given, made, REWRITTEN)
    assert not comments(given) - comments(made)
    back = called("uninject", stdin=made).ok()
    assert comments(back) == comments(given)
    assert [order(value) for value in read(back)] == [order(value) for value in read(given)]


def test_the_packages_have_comments_to_lose(krm_machine: Machine, tmp_path: Path) -> None:
    for name in ("telemetry", "storefront"):
        given = unsealed(krm_machine, copy(name, "advised", tmp_path / name))
        assert comments(given).total() > 3, name


def assert_kept(given: bytes, made: bytes, rewritten: frozenset[str] = frozenset()) -> None:
    """Assert that every object of an input is in an output, with the keys of its maps in their order.

    rewritten: names on the path of maps whose keys a rule of the configuration takes out.
    """
    after = {whatever_namespace(value): value for value in read(made)}  # a configuration may set it
    wrong = {path for value in read(given) for path in keeps(value, after[whatever_namespace(value)])}
    assert {path for path in wrong if rewritten.isdisjoint(path.split("."))} == set()


def whatever_namespace(value: Any) -> tuple[str, ...]:
    api_version, kind, _, name = key(value)
    return api_version, kind, name


def test_there_are_comments_to_lose() -> None:
    assert len(GOLDEN) > 2, GOLDEN
    assert len(SEALED) > 10, SEALED
    texts = [path.read_bytes() for name in GOLDEN for path in Path(EXAMPLES, name, "resources").rglob("*.y*ml")]
    assert sum(comments(text).total() for text in texts) > 5
    assert ROOT in EXAMPLES.parents
