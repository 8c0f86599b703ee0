"""Streams whose documents share anchors, as Helm 4 sends them."""

from pathlib import Path

import pytest

from krm_function.text.anchors import resolve_foreign_aliases
from krm_function.text.errors import Limits, YamlError
from krm_function.text.parse import parse
from krm_function.text.split import split_stream

DATA = Path(__file__).parent / "data"


def test_the_dangling_alias_of_helm_4_is_written_out_and_nothing_else_changes() -> None:
    text = (DATA / "helm4-list.yaml").read_text(encoding="utf-8")
    resolved = resolve_foreign_aliases(text)
    assert resolved == text.replace("  labels: *l\n", '  labels: {"x": y}\n')
    assert len([parse(chunk.of(resolved)) for chunk in split_stream(resolved)]) == 4


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a: 1\n---\nb: '*'\n", "a: 1\n---\nb: '*'\n"),
        ("a: &x 1\nb: *x\n", "a: &x 1\nb: *x\n"),
        ("a: &x 'it''s'\n---\nb: *x # c\n", "a: &x 'it''s'\n---\nb: \"it's\" # c\n"),
        ("a: &x\n  - 1\n  - ~\n---\nb: [*x]\n", "a: &x\n  - 1\n  - ~\n---\nb: [[1, ~]]\n"),
        ("a: &x 1\nb: &x 2\n---\nc: *x\n", "a: &x 1\nb: &x 2\n---\nc: 2\n"),
        ("a: &x 1\n---\nb: *x\nc: &x 3\nd: *x\n", "a: &x 1\n---\nb: 1\nc: &x 3\nd: *x\n"),
        ("a: &x {k: &y v}\n---\nb: &z {l: *x, m: *y}\n---\nc: *z\n",
         'a: &x {k: &y v}\n---\nb: &z {l: {"k": "v"}, m: "v"}\n---\nc: {"l": {"k": "v"}, "m": "v"}\n'),
        ("a: &x {k: 1}\n---\nb:\n  <<: *x\n  l: 2\n", 'a: &x {k: 1}\n---\nb:\n  <<: {"k": 1}\n  l: 2\n'),
    ],
)  # fmt: skip
def test_only_aliases_of_earlier_documents_are_written_out(text: str, wanted: str) -> None:
    assert resolve_foreign_aliases(text) == wanted


def test_an_alias_without_an_anchor_anywhere_is_an_error_that_does_not_name_it() -> None:
    with pytest.raises(YamlError) as caught:
        resolve_foreign_aliases("a: 1\n---\npassword: *hunter2\n")
    assert (caught.value.code, caught.value.line, caught.value.column) == ("alias", 3, 11)
    assert "hunter2" not in str(caught.value)


def test_an_alias_in_front_of_its_anchor_is_an_error() -> None:
    with pytest.raises(YamlError):
        resolve_foreign_aliases("a: *x\n---\nb: &x 1\n")


def test_the_expanded_text_is_bounded() -> None:
    text = f"a: &x {'v' * 100}\n" + "---\nb: [*x, *x, *x]\n" * 10
    with pytest.raises(YamlError) as caught:
        resolve_foreign_aliases(text, Limits(bytes=1000))
    assert caught.value.code == "size"


def test_deep_nesting_beside_an_alias_is_refused_at_once() -> None:
    with pytest.raises(YamlError) as caught:
        resolve_foreign_aliases("# *a\n" + "[" * 100_000)
    assert caught.value.code == "depth"
    with pytest.raises(YamlError) as caught:
        resolve_foreign_aliases("a: *x: [\n")
    assert caught.value.code == "syntax"
