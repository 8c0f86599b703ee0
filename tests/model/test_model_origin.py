"""Which file an object of a stream comes from: who says it, in which order, and what is not believed to be a path."""

from typing import Any

import pytest

from krm_function.findings import Origin, finding, position_text
from krm_function.hosts.functions import called_by_kpt
from krm_function.kubernetes.resource import LONGEST, Resource, origin_of, origin_of_line
from krm_function.text.parse import Document

INTERNAL = "internal.config.kubernetes.io"
KPT = {f"{INTERNAL}/path": "a/web.yaml", f"{INTERNAL}/index": "2"}
HELM_4 = {"postrenderer.helm.sh/postrender-filename": "shop/templates/web.yaml"}
KUSTOMIZE = {"config.kubernetes.io/origin": "path: ../base/web.yaml\n"}


def origin(annotations: dict[str, Any], comment: str = "", file: str = "") -> Origin | None:
    value = {"kind": "Pod", "metadata": {"annotations": annotations}}
    text = f"{comment}kind: Pod\n"
    return Resource(text, file=file, document=Document(text, None, value)).placed(finding("CC0101", problem="")).origin


@pytest.mark.parametrize(
    ("annotations", "comment", "expected"),
    [
        (KPT, "", Origin("a/web.yaml", 2)),
        ({"config.kubernetes.io/path": "b.yaml", "config.kubernetes.io/index": "0"}, "", Origin("b.yaml", 0)),
        ({**KPT, "config.kubernetes.io/path": "other.yaml"}, "", Origin("a/web.yaml", 2)),
        (HELM_4, "", Origin("shop/templates/web.yaml")),
        (KUSTOMIZE, "", Origin("../base/web.yaml")),
        ({}, "---\n# Source: shop/templates/web.yaml\n# more\n", Origin("shop/templates/web.yaml")),
        ({}, "# more\n\n# Source: shop/templates/web.yaml\n", Origin("shop/templates/web.yaml")),
        (KPT, "# Source: shop/templates/web.yaml\n", Origin("a/web.yaml", 2)),
        ({}, "", None),
        ({"config.kubernetes.io/origin": "repo: https://example.com/x\npath: web.yaml\n"}, "", None),
    ],
)
def test_the_first_tool_of_the_table_counts(annotations: dict[str, str], comment: str, expected: Origin | None) -> None:
    assert origin(annotations, comment) == expected


def test_a_file_that_was_read_needs_nobody_to_say_where_it_is() -> None:
    assert origin(KPT, "# Source: shop/templates/web.yaml\n", "real.yaml") is None


def test_a_comment_inside_of_an_object_says_nothing() -> None:
    assert origin_of("kind: Pod\n# Source: shop/templates/web.yaml\n", {"kind": "Pod"}) is None


TWO = "---\n# Source: shop/a.yaml\na: {\n---\n# Source: shop/b.yaml\r\nb: {\n"


@pytest.mark.parametrize(
    ("line", "path"), [(-1, ""), (0, ""), (1, ""), (2, ""), (3, "shop/a.yaml"), (4, "shop/a.yaml"), (6, "shop/b.yaml")]
)
def test_a_line_of_a_stream_that_cannot_be_cut_is_of_the_comment_above(line: int, path: str) -> None:
    assert origin_of_line(TWO, line) == (Origin(path) if path else None)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        " web.yaml",
        "web.yaml\n",
        "a\x1b[31m",
        "a\u202eb",
        "http://example.com/x",
        "C:\\web.yaml",
        "web.yaml:1:1",
        "web.yaml (<stdin>",
        "x" * (LONGEST + 1),
        7,
        None,
        ["web.yaml"],
    ],
    ids=repr,
)
def test_what_could_be_something_else_is_no_path(path: Any) -> None:
    assert origin({f"{INTERNAL}/path": path}) is None
    assert origin({"postrenderer.helm.sh/postrender-filename": path}) is None


@pytest.mark.parametrize("text", ["path: /etc/passwd\n", "path: a:1\n", "path\n", "- x\n", "", 7, None], ids=repr)
def test_kustomizes_annotation_may_hold_anything(text: Any) -> None:
    assert origin({"config.kubernetes.io/origin": text}) is None


@pytest.mark.parametrize("index", ["x", "-1", "", "9" * 30, "1\n", 1, None], ids=repr)
def test_an_index_that_is_no_number_is_not_known(index: Any) -> None:
    assert origin({f"{INTERNAL}/path": "a.yaml", f"{INTERNAL}/index": index}) == Origin("a.yaml")


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        ("", ("",)),
        ("a.yaml:3:7", ("a.yaml", 3, 7)),
        ("<stdin>:3", ("", 3)),
        ("b.yaml (<stdin>:3:7)", ("", 3, 7, Origin("b.yaml", 0))),
        ("b.yaml, document 2", ("", 0, 0, Origin("b.yaml", 1))),
    ],
)
def test_a_position_as_text(expected: str, arguments: tuple[Any, ...]) -> None:
    assert position_text(*arguments) == expected


PAYLOADS = {
    "kpt": f"{INTERNAL}/id: '1'\n{INTERNAL}/seqindent: wide\n",
    "kpt, added by another function": f"{INTERNAL}/id: '1'\n{INTERNAL}/package-path: /x\n",
    "kustomize": f"kustomize.config.k8s.io/id: x\n{INTERNAL}/id: '1'\n",
    "kustomize, annotations of kpt written by hand": f"kustomize.config.k8s.io/id: x\n{INTERNAL}/id: '1'\n"
    f"{INTERNAL}/seqindent: wide\n",
    "kustomize fn run": f"{INTERNAL}/id: '1'\n{INTERNAL}/path: a.yaml\n",
    "kpt fn source": f"{INTERNAL}/path: a.yaml\n{INTERNAL}/seqindent: wide\n",
}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_kpt_is_known_by_every_item(payload: str) -> None:
    by_kpt = payload.startswith("kpt") and payload != "kpt fn source"
    items = [Resource(PAYLOADS["kpt"]), Resource(PAYLOADS[payload])]
    assert called_by_kpt(items) is by_kpt
    assert called_by_kpt(items[1:]) is by_kpt


def test_no_item_is_nothing_of_kpt() -> None:
    assert not called_by_kpt([])
