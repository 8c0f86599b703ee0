"""Streams are cut where the parser says, and nowhere else."""

from time import perf_counter

import pytest

from krm_function.text.errors import Limits, YamlError
from krm_function.text.split import split_items, split_stream


def cut(text: str) -> list[str]:
    chunks = split_stream(text)
    assert "".join(chunk.of(text) for chunk in chunks) == text
    return [chunk.of(text) for chunk in chunks]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        ("\n", ["\n"]),
        ("# only\n", ["# only\n"]),
        ("a: 1\n", ["a: 1\n"]),
        ("# head\n---\na: 1\n---\nb: 2\n", ["# head\n---\na: 1\n", "---\nb: 2\n"]),
        ("---\n---\n# c\n", ["---\n", "---\n# c\n"]),
        ("a: 1\n...\n# foot\n---\nb: 1\n...\n", ["a: 1\n...\n# foot\n", "---\nb: 1\n...\n"]),
        ("--- # c\r\na: 1\r\n---\t# d\r\nb: 1\r\n", ["--- # c\r\na: 1\r\n", "---\t# d\r\nb: 1\r\n"]),
        ("a: |\n  x\n  ---\n  y\n---\nb: 1", ["a: |\n  x\n  ---\n  y\n", "---\nb: 1"]),
        (
            "%YAML 1.2\n---\na: 1\n...\n%YAML 1.1\n---\nb: 1\n",
            ["%YAML 1.2\n---\na: 1\n...\n", "%YAML 1.1\n---\nb: 1\n"],
        ),
        ("a: '\U0001f600'\n---\nb: 1\n", ["a: '\U0001f600'\n", "---\nb: 1\n"]),
    ],
)
def test_a_stream_is_cut_at_its_documents(text: str, wanted: list[str]) -> None:
    assert cut(text) == wanted


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("--- {a: 1}\n", 1),
        ("a: 1\n--- |\n text\n", 2),
        ("--- !!map\na: 1\n", 1),
        ("a: 1\r\n--- 'x'\r\n", 2),
        ("a: '\n---b\n'\n", 2),
        ("a: '\n---# no comment\n'\n", 2),
        ("a: '\n-----BEGIN CERTIFICATE-----'\n", 2),
        (" ---a: 1\n", 1),
        ("\n\u2028---\n", 2),
        ("a: 1\n---\u00a0\n", 2),
        ('--- # c\u2028a: "\nkind: Pod\n# "\n', 1),
        ('--- # c\x85a: "\nkind: Pod\n# "\n', 1),
        ("\ufeffa: 1\n", 1),  # a second one: `decode` has taken one off
        ("a: 1\n---\n\n \ufeffb: 1\n", 2),
    ],
)
def test_a_place_at_which_tools_would_cut_differently_is_an_error(text: str, line: int) -> None:
    for read in (split_stream, split_items):
        with pytest.raises(YamlError, match="disagree") as caught:
            read(text)
        assert (caught.value.code, caught.value.line) == ("separator", line)


@pytest.mark.parametrize("text", ["a: |\n  \ufeffb\n", "a: '\n  ---\n '\n", "a: 1\n # ---x\n", "a: '--\n --- b'\n"])
def test_what_looks_like_such_a_place_is_none(text: str) -> None:
    assert "".join(cut(text)) == text


def test_a_header_that_only_parsing_can_tell_is_uncertain() -> None:
    plain = (
        "kind: Pod",
        '"kind": "P\\x6fd"',
        "kind: &k Pod",
        "metadata:",
        "kind: [a]",
        "? kind\n: Pod",
        "spec: *x",
        "a",
        "- *x",
    )
    odd = (
        "kind: *k",
        "<<: {kind: Pod}",
        "'<<': 1",
        "!!binary a2luZA==: Pod",
        "kind: !!binary UG9k",
        "*k : Pod",
        "[a]: b",
        "{a: b}: c",
    )
    more = (
        "metadata: *m",
        "metadata: {<<: *m}",
        "metadata: {name: !!str x}",
        "items: []",
        "!!map {a: b}",
        "*a",
        "!!str kind: Pod",
    )
    assert [text for text in plain if not split_stream(text)[0].certain] == []
    assert [text for text in (*odd, *more) if split_stream(text)[0].certain] == []


def test_a_chunk_knows_what_stands_at_its_top() -> None:
    text = (
        "# c\nkind: Pod\napiVersion: v1\nspec: {kind: X, metadata: {name: y}}\n"
        "metadata:\n  labels: {name: z}\n  name: web\n"
        "---\n\"kind\": List\nmetadata: [name]\n---\n'kin\\d': x\n---\nnull\n---\n- a\n"
    )
    chunks = split_stream(text)
    assert [(chunk.api_version, chunk.kind, chunk.name, chunk.line) for chunk in chunks] == [
        ("v1", "Pod", "web", 1), ("", "List", "", 8), ("", "", "", 11), ("", "", "", 13), ("", "", "", 15),
    ]  # fmt: skip
    assert [(chunk.is_map, chunk.empty) for chunk in chunks] == [
        (True, False), (True, False), (True, False), (False, True), (False, False),
    ]  # fmt: skip


def test_an_escaped_kind_is_read_and_an_aliased_one_is_unknown() -> None:
    assert [chunk.kind for chunk in split_stream('"k\\x69nd": "P\\x6fd"\n---\nx: &k Pod\nkind: *k\n')] == ["Pod", ""]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_document_inside_of_a_quoted_scalar_is_an_error_and_no_document(quote: str) -> None:
    with pytest.raises(YamlError) as caught:
        split_stream(f"x: {quote}a\n---\nkind: Pod\n{quote}\n")
    assert (caught.value.code, caught.value.line) == ("syntax", 2)


def test_an_error_in_any_document_has_its_line_in_the_stream() -> None:
    with pytest.raises(YamlError) as caught:
        split_stream("a: 1\n---\nb: 2\n---\nc: [\n")
    assert caught.value.line == 6
    assert "c" not in caught.value.message.split()


@pytest.mark.parametrize("text", ["a: 1\rb: 2\n", "a: 1\n\r", "a: 1\r"])
def test_a_carriage_return_alone_is_refused(text: str) -> None:
    with pytest.raises(YamlError, match="carriage return"):
        split_stream(text)


@pytest.mark.parametrize(("text", "line"), [("a: 1\nb: \x07\n", 2), ("a: \x00", 1), ("é: 1\nb: é\x0b", 2)])
def test_control_characters_are_refused_with_their_place(text: str, line: int) -> None:
    with pytest.raises(YamlError, match="control characters") as caught:
        split_stream(text)
    assert (caught.value.code, caught.value.line) == ("syntax", line)


def test_an_alias_of_an_earlier_document_passes() -> None:
    assert len(split_stream("a: &x 1\n---\nb: *x\n")) == 2


def test_a_second_kind_is_a_duplicate() -> None:
    with pytest.raises(YamlError) as caught:
        split_stream("kind: ConfigMap\nkind: Pod\n")
    assert (caught.value.code, caught.value.line) == ("duplicate", 2)


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "a: 1\n---\n" + "[" * 100_000])
def test_deep_nesting_is_refused_at_once(text: str) -> None:
    start = perf_counter()
    with pytest.raises(YamlError) as caught:
        split_stream(text)
    assert caught.value.code == "depth"
    assert perf_counter() - start < 1


def test_the_number_of_documents_aliases_and_characters_is_bounded() -> None:
    with pytest.raises(YamlError) as caught:
        split_stream("---\na\n" * 11, Limits(documents=10))
    assert caught.value.code == "size"
    with pytest.raises(YamlError) as caught:
        split_stream("a: &x 1\nb: [*x, *x, *x]\n", Limits(aliases=2))
    assert (caught.value.code, caught.value.line) == ("alias", 2)
    with pytest.raises(YamlError) as caught:
        split_stream("a: 12345", Limits(bytes=3))
    assert caught.value.code == "size"


def test_aliases_are_counted_for_each_document() -> None:
    assert len(split_stream("a: &x 1\nb: [*x, *x]\n---\na: &x 1\nb: [*x, *x]\n", Limits(aliases=2))) == 2
