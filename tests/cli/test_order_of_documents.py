"""`generate` of several files: one stream that can be applied at the first try; that of one file keeps its order."""

from pathlib import Path

import pytest

from tests import quick_yaml as yaml
from tests.hosts.running import EXAMPLES, called

FILES = {
    "a.yaml": "# first\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    "b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\n# of b\napiVersion: v1\nkind: Namespace\n"
    "metadata: {name: one}\n",
    "c.yaml": "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: mine}\nhandler: mine\n",
    "d.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\n---\napiVersion: v1\nkind: Namespace\n"
    "metadata: {name: two}",
}
CONFIG = str(EXAMPLES / "quickstart" / "config")


def names(stream: bytes) -> list[str]:
    return [value["metadata"]["name"] for value in yaml.safe_load_all(stream)]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_namespaces_and_classes_stand_first_and_nothing_else_moves(directory: Path) -> None:
    ran = called("generate", str(directory), "--config", CONFIG)
    assert names(ran.ok()) == ["one", "two", "mine", "a", "b", "d"]
    assert b"---\n# of b\napiVersion: v1\nkind: Namespace" in b"---\n" + ran.out
    assert b"---\n# first\n" in ran.out


def test_the_files_may_be_named_one_by_one(directory: Path) -> None:
    paths = [str(directory / name) for name in ("d.yaml", "a.yaml")]
    assert names(called("generate", *paths, "--config", CONFIG).ok()) == ["two", "d", "a"]


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_one_stream_keeps_its_order(directory: Path, source: str) -> None:
    file = directory / "b.yaml"
    if source == "file":
        ran = called("generate", str(file), "--config", CONFIG)
    else:
        ran = called("generate", "--config", CONFIG, stdin=file.read_bytes())
    assert ran.ok() == file.read_bytes()


def test_a_second_render_changes_nothing(directory: Path) -> None:
    once = called("generate", str(directory), "--config", CONFIG).ok()
    assert called("generate", "--config", CONFIG, stdin=once).ok() == once


def test_a_namespace_without_a_line_end_is_closed_before_the_next_document(directory: Path) -> None:
    out = called("generate", str(directory), "--config", CONFIG).ok()
    assert b"metadata: {name: two}\n---\n" in out


def test_a_block_scalar_that_would_grow_by_moving_is_refused(directory: Path) -> None:
    (directory / "e.yaml").write_text(
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: three\n  annotations:\n    a: |+\n      text"
    )
    ran = called("generate", str(directory), "--config", CONFIG)
    assert ran.code == 1
    assert "CC0108" in ran.err
    assert ran.out == b""


def test_the_quickstart_has_its_namespace_first() -> None:
    out = called("generate", str(EXAMPLES / "quickstart" / "resources"), "--config", CONFIG).ok()
    assert next(iter(yaml.safe_load_all(out)))["kind"] == "Namespace"


@pytest.mark.parametrize("head", ["", "# head\n", "---\n"])
def test_an_emitted_class_stands_first_and_goes_without_a_trace(head: str, tmp_path: Path) -> None:
    """In `emit` and back in `check`: what the first of the two added is gone, with the separator line behind it."""
    resources = EXAMPLES / "quickstart" / "resources"
    source = head + "---\n".join(
        (resources / name).read_text() for name in ("web.yaml", "coordinator.yaml", "settings.yaml")
    )
    for mode in ("emit", "check"):
        (tmp_path / mode).mkdir()
        for file in Path(CONFIG).iterdir():
            text = file.read_text().replace("runtimeClasses: check", f"runtimeClasses: {mode}")
            (tmp_path / mode / file.name).write_text(text)
    once = called("generate", "--config", str(tmp_path / "emit"), stdin=source.encode()).ok()
    assert next(iter(yaml.safe_load_all(once)))["kind"] == "RuntimeClass"
    assert called("generate", "--config", str(tmp_path / "emit"), stdin=once).ok() == once
    assert called("uninject", stdin=once).ok() == source.encode()
    plain = called("generate", "--config", str(tmp_path / "check"), stdin=source.encode()).ok()
    assert called("generate", "--config", str(tmp_path / "check"), stdin=once).ok() == plain
