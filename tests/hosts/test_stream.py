"""Streams: what goes in comes out, new documents stand where they disturb nothing, and can be taken out again."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helm_plugin.helm_stream import decode_helm, encode_helm
from krm_function.hosts.stream import Stream, decode_stream, encode_stream
from krm_function.kubernetes.resource import FILENAME
from krm_function.kubernetes.workload import EMITTED
from krm_function.text.errors import YamlError, decode
from tests.hosts.documents import load
from tests.hosts.running import called


def new(version: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "annotations": {EMITTED: "true"}}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def new_class(name: str) -> dict[str, Any]:
    return new("node.k8s.io/v1", "RuntimeClass", name, handler=name)


MAP = new("v1", "ConfigMap", "contrast-manifest", data={"manifest.json": '{"Policies": {}, "ReferenceValues": {}}'})
CLASS = new_class("contrast-cc-metal-qemu-snp-one")
OTHER = new_class("contrast-cc-metal-qemu-snp-two")

DOCUMENTS = st.sampled_from(
    [
        "a: b\n",
        "# only a comment\n",
        "",
        "\n\n",
        "- a\n- b\n",
        "a: |\n  --- b\n  c\n",
        'a: "x\n\n  --- y"\n',
        "{a: [b, c]}\n",
        "kind: Pod\nmetadata: {name: x}\n",
        "a: &x b\nc: *x\n",
        "just text\n",
        "? a\n: b\n",
    ]
)
SEPARATORS = st.sampled_from(["---\n", "--- # comment\n", "---\n# Source: a/b.yaml\n", "...\n---\n", "---\n\n"])


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    text = draw(st.sampled_from(["", "---\n", "# head\n---\n", "%YAML 1.1\n---\n"]))
    text += draw(DOCUMENTS)
    for document in draw(st.lists(DOCUMENTS, max_size=5)):
        separator = draw(SEPARATORS)
        ended = separator.startswith("...") and ":" not in text.rpartition("---\n")[2]
        text += (separator.removeprefix("...\n") if ended else separator) + document  # nothing cannot be ended
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()


def texts(stream: Stream) -> list[str]:
    return [resource.text for resource in stream.resources]


@given(streams())
def test_a_stream_comes_out_as_it_went_in(data: bytes) -> None:
    stream = decode_stream(data)
    assert encode_stream(stream, texts(stream)) == data
    assert b"".join(encode_helm(decode_helm(decode(data)), texts(stream), ())) == data


@given(st.text(alphabet="ab:-# \n\r\"'|>&*{}[],\t", max_size=40).map(str.encode))
def test_any_text_comes_out_as_it_went_in_or_is_an_error(data: bytes) -> None:
    try:
        stream = decode_stream(data)
    except YamlError:
        return
    assert encode_stream(stream, texts(stream)) == data


@given(streams(), st.lists(st.sampled_from([MAP, CLASS, OTHER]), unique_by=lambda value: value["metadata"]["name"]))
def test_added_documents_are_there_and_uninject_takes_them_out_again(data: bytes, added: list[dict[str, Any]]) -> None:
    assume(load(data))  # new documents come with workloads
    stream = decode_stream(data)
    whole = encode_stream(stream, texts(stream), added)
    assert len(load(whole)) == len(load(data)) + len(added)
    names = [value["metadata"]["name"] for value in load(whole) if isinstance(value, dict) and "metadata" in value]
    assert {value["metadata"]["name"] for value in added} <= set(names)
    assert called("uninject", stdin=whole) == (0, data, "")


@given(streams())
def test_the_lines_of_resources_count_from_the_start_of_the_stream(data: bytes) -> None:
    line = 1
    for resource in decode_stream(data).resources:
        assert resource.line == line
        line += resource.text.count("\n")


def test_a_document_behind_a_text_without_final_newline_leaves_no_trace() -> None:
    data = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c"
    stream = decode_stream(data)
    whole = encode_stream(stream, texts(stream), [MAP])
    assert whole.startswith(data + b"\n---\n")
    assert f"{EMITTED}: after-newline\n".encode() in whole
    assert called("uninject", stdin=whole).out == data


def test_a_host_that_moves_the_emitted_document_up_keeps_the_line_end() -> None:
    """kustomize and Helm sort; the text above is then another one, and the one below must not run into it."""
    stream = decode_stream(b"kind: A\n---\nkind: B")
    first, second, emitted = decode_stream(encode_stream(stream, texts(stream), [MAP])).resources
    assert f"{EMITTED}: after-newline\n" in emitted.text
    moved = f"---\n{first.text}{emitted.text}{second.text}"
    assert called("uninject", stdin=moved.encode()).out == b"---\nkind: A\n---\nkind: B\n"


def test_a_document_behind_line_ends_of_windows_has_them_too() -> None:
    stream = decode_stream(b"a: b\r\n")
    whole = encode_stream(stream, texts(stream), [MAP])
    assert whole.count(b"\n") == whole.count(b"\r\n")
    assert called("uninject", stdin=whole).out == b"a: b\r\n"


def test_a_runtime_class_goes_first_if_the_stream_begins_with_a_separator() -> None:
    data = b"---\n# Source: shop/templates/web.yaml\nkind: Pod\n"
    whole = encode_stream(decode_stream(data), texts(decode_stream(data)), [CLASS, MAP, OTHER], "shop/templates")
    assert [value["kind"] for value in load(whole)] == ["RuntimeClass", "RuntimeClass", "Pod", "ConfigMap"]
    assert whole.startswith(
        b"---\n# Source: shop/templates/contrast-cc-metal-qemu-snp-one.yaml\napiVersion: node.k8s.io/v1\n"
    )
    assert data in whole


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("head", [b"", b"# head\n", b"\n", b"# head\n---\n", b"\xef\xbb\xbf"])
def test_a_runtime_class_goes_first_and_uninject_removes_the_separator_behind_it(head: bytes, newline: bytes) -> None:
    data = (head + b"kind: Pod\n---\nkind: Service\n").replace(b"\n", newline)
    stream = decode_stream(data)
    whole = encode_stream(stream, texts(stream), [CLASS, OTHER, MAP])
    kinds = [value["kind"] for value in load(whole)]
    assert kinds == ["RuntimeClass", "RuntimeClass", "Pod", "Service", "ConfigMap"]
    assert whole.count(b"before-separator") == 1
    assert called("uninject", stdin=whole).out == data


def test_a_separator_line_stays_if_a_host_has_moved_documents() -> None:
    stream = decode_stream(b"kind: A\n---\nkind: B\n")
    emitted, first, second = decode_stream(encode_stream(stream, texts(stream), [CLASS])).resources
    moved = second.text + emitted.text + first.text
    assert called("uninject", stdin=moved.encode()).out == b"---\nkind: B\n---\nkind: A\n"


def test_a_runtime_class_goes_last_if_the_first_document_has_directives() -> None:
    data = b"%YAML 1.1\n---\nkind: Pod\n"
    whole = encode_stream(decode_stream(data), texts(decode_stream(data)), [CLASS])
    assert whole.startswith(data + b"---\n")
    assert called("uninject", stdin=whole).out == data


def test_a_dropped_document_goes_with_its_separator() -> None:
    stream = decode_stream(b"a: b\n---\nc: d\n---\ne: f\n")
    assert encode_stream(stream, ["a: b\n", None, "---\ne: f\n"]) == b"a: b\n---\ne: f\n"


def test_nothing_but_new_documents_is_a_stream() -> None:
    assert [value["kind"] for value in load(encode_stream(Stream(()), (), [CLASS, MAP]))] == [
        "RuntimeClass",
        "ConfigMap",
    ]


HELM4 = f"kind: Pod\nmetadata:\n  annotations:\n    {FILENAME}: 'shop/templates/web.yaml'\n"


@pytest.mark.parametrize(
    "text",
    [
        HELM4,
        f"# Source: other/templates/vendored.yaml\n{HELM4}",
        f"kind: Map\ndata:\n  a: |\n    # Source: b/c\n---\n{HELM4}",
    ],
    ids=["alone", "below a comment of a vendored template", "behind a manifest in a string"],
)
def test_a_stream_of_helm_4_is_known_by_its_annotation(text: str) -> None:
    stream = decode_helm(decode(text.encode()))
    added = load(b"".join(encode_helm(stream, texts(stream), [MAP])))[-1]
    assert added["metadata"]["annotations"] == {EMITTED: "true", FILENAME: "shop/templates/contrast-manifest.yaml"}


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("---\n# Source: shop/templates/a.yaml\na: b\n", b"\n---\n# Source: shop/templates/contrast-manifest.yaml\n"),
        (
            "---\n# Source: shop/charts/sub/templates/a.yaml\na: b\n",
            b"\n# Source: shop/templates/contrast-manifest.yaml\n",
        ),
        ("# Source: shop/crds/a.yaml\n# more\na: b\n", b"\n# Source: shop/templates/contrast-manifest.yaml\n"),
        ("a: |\n  # Source: shop/templates/a.yaml\n", b"\n---\napiVersion: v1\n"),
        ("a: b\n", b"\n---\napiVersion: v1\n"),
    ],
)
def test_a_stream_of_helm_3_is_known_by_the_line_above_its_documents(text: str, mark: bytes) -> None:
    stream = decode_helm(decode(text.encode()))
    whole = b"".join(encode_helm(stream, texts(stream), [MAP]))
    assert whole.startswith(text.encode())
    assert mark in whole
    assert FILENAME.encode() not in whole


def test_an_alias_of_helm_4_without_its_anchor_is_written_out() -> None:
    stream = decode_helm(decode(b"a: &x {b: c}\n---\nd: *x\ne: &y f\ng: *y\n"))
    assert load(encode_stream(stream, texts(stream)))[1] == {"d": {"b": "c"}, "e": "f", "g": "f"}
    assert b"g: *y\n" in encode_stream(stream, texts(stream))
