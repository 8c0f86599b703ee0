"""Whatever is in the files, and in whatever order they come."""

import json
import random
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.config.document import ConfigDocument
from krm_function.config.release import parse_release
from krm_function.config.release_files import Fact, facts_of
from krm_function.config.release_text import combine, existing, known_facts, new_text, updated_text
from tools import release_assets as assets
from tools.make_examples import release as example_release

FILES = {**assets.files(), "values.json": json.dumps(assets.by_handler(*assets.PLATFORMS))}
RUNTIMES = [name for name in FILES if name.startswith("runtime-")]
OTHERS = [name for name in FILES if name not in RUNTIMES]


def told(name: str) -> tuple[Fact, ...]:
    facts = facts_of(FILES[name].encode(), name)
    assert facts.findings == ()
    return facts.facts


@settings(max_examples=25)
@given(st.permutations(RUNTIMES), st.permutations(OTHERS), st.integers(1, len(OTHERS)))
def test_one_after_the_other_is_the_same_as_all_at_once(runtimes: list[str], others: list[str], at_once: int) -> None:
    """Handlers first: values of a platform without one are left out."""
    first = combine([fact for name in (*runtimes, *others[:at_once]) for fact in told(name)])
    assert first.findings == ()
    data = b"# mine\n" + new_text(first)
    for name in others[at_once:]:
        there = existing(data)
        assert there is not None
        more = combine(told(name), known_facts(there[0], "release.yaml"))
        assert more.findings == ()
        data = updated_text(more, data, there)
    assert data.startswith(b"# mine\n")
    assert yaml.safe_load(data)["spec"] == yaml.safe_load(example_release())["spec"]


@settings(max_examples=25)
@given(st.sets(st.sampled_from(assets.PLATFORMS), min_size=1))
def test_what_is_written_is_what_is_read_again(platforms: set[str]) -> None:
    files = assets.files(*sorted(platforms))
    combined = combine([fact for name, text in files.items() for fact in facts_of(text.encode(), name).facts])
    value = yaml.safe_load(new_text(combined))
    again = {fact.path: fact.value for fact in known_facts(value, "")}
    assert again == {path: fact.value for path, fact in combined.facts.items()}
    assert parse_release(ConfigDocument(value))[0] is not None


JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    "contrast-cc-metal-qemu-snp-1",
    [],
    [None],
    {},
    {"a": {}},
    "\ud800",
    10**40,
]


def spoiled(value: Any, chance: random.Random) -> Any:
    """A value with one of its parts exchanged."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.15:
        return chance.choice(JUNK)
    key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    made = value.copy()
    made[key] = spoiled(value[key], chance)
    return made


@settings(max_examples=300)
@given(st.sampled_from(sorted(FILES)), st.randoms(use_true_random=False))
def test_no_file_is_too_odd_to_be_told_about(name: str, chance: random.Random) -> None:
    text = FILES[name]
    if name.endswith(".json"):
        text = json.dumps(spoiled(json.loads(text), chance))
    elif name.endswith(".yml"):
        documents = list(yaml.safe_load_all(text))
        documents[0] = spoiled(documents[0], chance)
        text = "---\n".join(json.dumps(document) + "\n" for document in documents)
    else:
        lines = text.splitlines()
        lines[chance.randrange(len(lines))] = chance.choice(["= b", "a =", "a", "a = b = c", "\x00 = \x7f", "é = @"])
        text = "\n".join(lines)
    facts = facts_of(text.encode("utf-8", "replace"), name)
    others = [fact for other in FILES if other != name for fact in told(other)]
    combined = combine([*facts.facts, *others])
    if not any(found.severity == "error" for found in (*facts.findings, *combined.findings)):
        parse_release(ConfigDocument(yaml.safe_load(new_text(combined))))


@settings(max_examples=200)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_facts_or_findings(data: bytes) -> None:
    facts = facts_of(data, "file")
    assert facts.facts or any(found.severity == "error" for found in facts.findings)
