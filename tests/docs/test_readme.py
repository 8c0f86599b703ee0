"""The box of the README shows what comes out by default: each line of its right half, and no other object."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hosts.running import EXAMPLES, called

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
QUICK = EXAMPLES / "quickstart"
MIDDLE = 53  # the column at which the right half begins


def halves() -> tuple[list[str], list[str]]:
    """The lines of the box, left and right, without the arrow between them."""
    box = README.partition("```\n")[2].partition("```")[0].replace("─▶", "  ").splitlines()
    return [line[:MIDDLE].strip() for line in box], [line[MIDDLE:].strip() for line in box]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The quickstart with the configuration's own defaults for RuntimeClasses."""
    config = tmp_path_factory.mktemp("config")
    for path in (QUICK / "config").iterdir():
        text = path.read_text(encoding="utf-8")
        (config / path.name).write_text(re.sub(r"(?m)^  runtimeClasses: .*\n", "", text), encoding="utf-8")
    ran = called("generate", str(QUICK / "resources"), "--config", str(config))
    assert ran.code == 0, ran.err
    return ran.out.decode()


def kinds(text: str) -> Counter[str]:
    documents: list[dict[str, Any]] = [each for each in yaml.safe_load_all(text) if each]
    return Counter(each["kind"] for each in documents)


def test_the_box_has_the_objects_that_are_added_and_no_others(rendered: str) -> None:
    before = "\n---\n".join(path.read_text(encoding="utf-8") for path in sorted((QUICK / "resources").iterdir()))
    left, right = halves()
    shown = Counter(line.split()[1] for line in right if line.startswith("kind:"))
    shown -= Counter(line.split()[1] for line in left if line.startswith("kind:"))
    assert shown == kinds(rendered) - kinds(before) == {"ConfigMap": 1}


def test_every_line_of_the_right_half_comes_out(rendered: str) -> None:
    (web,) = (
        text for text in rendered.split("\n---\n") if "\nkind: Deployment\n" in text and "\n  name: web\n" in text
    )
    lines = [re.split(r"  \(| #", line)[0].rstrip(" …").lstrip("…") for line in halves()[1][:-1] if line]
    assert len(lines) > 15
    assert [line for line in lines if line not in web.replace('"', "")] == []


def test_the_first_paragraph_is_two_sentences() -> None:
    first = README.partition("# contrast-krm\n\n")[2].partition("\n\n")[0]
    assert len(re.split(r"(?<=\.)\s+(?=[A-Z])", first)) == 2


def test_the_readme_can_be_read_in_five_minutes() -> None:
    assert len(README.partition("\n[Install]: ")[0].split()) <= 930
    assert "usage: contrast-krm" not in README


def test_links_work_on_the_page_of_an_index_too() -> None:
    main = "https://github.com/contrast-krm/contrast-krm/blob/main/"
    targets = dict(re.findall(r"(?m)^\[(.+)\]: (\S+)$", README))
    labels = {
        " ".join(label.split()) for label in re.findall(r"(?m)\[([^\]]+)\](?![:(])", README.partition("## Install")[2])
    }
    assert [target for target in re.findall(r"\]\(([^)]+)\)", README) if not target.startswith("https://")] == []
    assert {label for label in labels if not label.startswith("lock,")} == set(targets)
    assert [target for target in targets.values() if not (ROOT / target.removeprefix(main)).exists()] == []
