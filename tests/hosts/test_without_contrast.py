"""The early answer for streams of which nothing is Contrast's: never another one than the pipeline's."""

import io
import sys
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.inputs import coordinator, options, ordinary, resource_list, stream
from krm_function.cli import function, post_renderer
from krm_function.cli.post_renderer import post_render
from krm_function.hosts.pass_through import _DEEP, is_unrelated, passes_through
from krm_function.kubernetes.kinds import CATALOGUED, KINDS
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.text.errors import LIMITS
from tests.hosts.hosts import shared_config
from tests.hosts.running import ROOT, called
from tests.hosts.test_pass_through import ODD, POD, STREAMS

PLAIN = (
    "one ordinary pod",
    "no final newline",
    "empty documents",
    "comments around documents",
    "a separator inside of a",
)


CONFIG = str(shared_config())
Answer = tuple[int, bytes, str]
MISPLACED = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: contrast-cc\n  annotations: {a: contrast-cc}\n"


def answer(data: bytes, *config: str, early: bool = False, report: str = "") -> Answer:
    """Exit code, standard output and standard error of a render; early: it may leave before the pipeline."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    leaves = passes_through if early else lambda _: False
    with (
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
        mock.patch.object(post_renderer, "passes_through", leaves),
    ):
        code = post_render(data, config, report=report)
    return code, out.buffer.getvalue(), err.getvalue()


def agreed(data: bytes) -> bool:
    """The early answer, after it was compared with the pipeline's, with and without configuration."""
    early = passes_through(data)
    if early:
        assert answer(data) == answer(data, CONFIG) == (0, data, "")
    return early


@pytest.mark.parametrize(
    "config",
    [
        *("release: {", "kind: ContrastRelease\n", "apiVersion: contrast-krm.dev/v1alpha1\nkind: ContrastNothing\n"),
        *(POD, "", "contrast.yaml", "release.yaml", "images.yaml", ".", "missing.yaml"),
    ],
)
@pytest.mark.parametrize("data", [POD, stream(ordinary(3_000)), f"{POD}  runtimeClassName: contrast-cc\n", "a: ["])
def test_any_configuration_gets_the_same_answer_and_report(data: str, config: str, tmp_path: Path) -> None:
    file = Path(CONFIG, config)
    if not config.endswith(("yaml", ".")):
        file = tmp_path / "config.yaml"
        file.write_text(config)
    reports = [tmp_path / "early.txt", tmp_path / "late.txt"]
    early = answer(data.encode(), str(file), early=True, report=str(reports[0]))
    assert early == answer(data.encode(), str(file), report=str(reports[1]))
    assert reports[0].read_bytes() == reports[1].read_bytes()


def test_a_configured_chart_leaves_before_the_pipeline() -> None:
    data = stream(ordinary(20_000)).encode()
    with mock.patch("krm_function.render.pipeline", side_effect=AssertionError):
        assert answer(data, CONFIG, early=True) == (0, data, "")


def test_its_kinds_and_its_limit_are_those_of_the_pipeline() -> None:
    assert frozenset((*KINDS, *CATALOGUED)) == SHIPPED.names
    assert LIMITS.depth == _DEEP


@pytest.mark.parametrize("name", ODD)
def test_odd_streams(name: str) -> None:
    assert agreed(ODD[name].encode()) or not name.startswith(PLAIN)


@pytest.mark.parametrize("name", STREAMS)
def test_recorded_streams(name: str) -> None:
    agreed(STREAMS[name])


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("examples/*/**/*.yaml")), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_every_file_of_the_examples(path: Path) -> None:
    agreed(path.read_bytes())


def test_an_ordinary_chart_is_known_early() -> None:
    data = stream(ordinary(20_000)).encode()
    assert agreed(data)
    ran = called("post-render", stdin=data)
    assert (ran.code, ran.out, ran.err) == (0, data, "")


@pytest.mark.parametrize(
    "text",
    [
        stream(coordinator()),
        POD + "  runtimeClassName: contrast-cc\n",
        POD + '  "runtimeCl\\x61ssName": "contr\\x61st-cc"\n',
        POD + "  runtimeClassName: [a]\n",
        POD.replace("spec:", "spec: 3\nstatus:"),
        POD + "---\nkind: [\n",
        'apiVersion: "Contr\\x61st-KRM.dev/v1alpha1"\nkind: Nothing\n',
        'kind: "Contr\\x61stRelease"\n',
        "kind: ConfigMap\nkind: ConfigMap\n",
        "kind: ConfigMap\ndata: " + "[" * 101 + "]" * 101 + "\n",
        "kind: Deployment\napiVersion: apps/v1\nspec:\n  template: []\n",
        "\x00",
        "",
        "a: \ud83d".encode("utf-8", "surrogatepass").decode("latin-1") + "\r",
    ],
)
def test_what_may_matter_is_left_to_the_pipeline(text: str) -> None:
    assert not passes_through(text.encode())


PIECES = st.sampled_from(
    [
        *("---\n", "--- # c\n", "...\n", "# note\n", "\n", "%YAML 1.1\n", "- a\n", "text\n", "? a\n: b\n"),
        *("apiVersion: v1\n", "apiVersion: apps/v1\n", "kind: Pod\n", "kind: Deployment\n", "kind: ConfigMap\n"),
        *("kind: CronJob\n", "kind: List\nitems: []\n", '"kind": Job\n', "kind: &k Pod\n", "metadata: {name: a}\n"),
        *("metadata:\n  name: a\n", "metadata:\n", "  name: b\n", "  annotations: {a: *k}\n", "spec:\n", "spec: {}\n"),
        *("spec: null\n", "spec: [1]\n", "  template:\n", "  template: 5\n", "    spec:\n", "    spec: {a: b}\n"),
        *("  runtimeClassName: kata\n", "      runtimeClassName: kata\n", "  runtimeClassName:\n", "  containers:\n"),
        *("  - name: a\n", "    image: b\n", "  1: a\n", "  01: a\n", "  yes: a\n", "  true: b\n", "  <<: {a: b}\n"),
        *('  x: "\n', '  y"\n', "  z: |\n", "    kind: Pod\n", "  t: !!str 5\n", "  u: 'it''s'\n", "\tw: 1\n"),
    ]
)


@settings(max_examples=1500)
@given(st.lists(PIECES, max_size=14))
def test_random_streams(pieces: list[str]) -> None:
    agreed("".join(pieces).encode())


@settings(max_examples=500)
@given(st.data())
def test_a_chart_with_one_byte_changed(data: st.DataObject) -> None:
    text = bytearray(stream(ordinary(2_000)).encode())
    at = data.draw(st.integers(0, len(text) - 1))
    text[at] = data.draw(st.sampled_from(b"\n -:#'\"[]{}&*!|>%?\\\t\x00\xffa"))
    agreed(bytes(text))


# --- The same for the items of a ResourceList

OPTIONAL = f"{options(policies=True)}  workloads: optional\n"
HERE = "krm_function.render.pipeline"


def answer_to_list(items: list[str], config: str = OPTIONAL, *, early: bool) -> Answer:
    """Exit code, standard output and standard error of the function; early: it may leave before the pipeline."""
    with mock.patch.object(function, "is_unrelated", is_unrelated if early else lambda *_, **__: False):
        ran = called(stdin=resource_list(items, config).encode())
    return ran.code, ran.out, ran.err


def test_a_list_of_ordinary_items_leaves_before_the_pipeline() -> None:
    expected = answer_to_list(ordinary(20_000), early=False)
    assert expected == (0, resource_list(ordinary(20_000), OPTIONAL).encode(), "")
    with mock.patch.dict(sys.modules, {HERE: None}):
        assert answer_to_list(ordinary(20_000), early=True) == expected


@pytest.mark.parametrize("item", [*coordinator(), POD + "  runtimeClassName: contrast-cc\n", "kind: [\n", MISPLACED])
def test_an_item_that_may_matter_is_left_to_the_pipeline(item: str) -> None:
    assert answer_to_list([POD, item], early=True) == answer_to_list([POD, item], early=False)


@pytest.mark.parametrize("config", [options(policies=True), OPTIONAL.replace("optional", "required"), "", POD])
def test_a_list_with_another_configuration(config: str) -> None:
    assert answer_to_list([POD], config, early=True) == answer_to_list([POD], config, early=False)


@settings(max_examples=300)
@given(st.lists(st.lists(PIECES, max_size=8), max_size=3))
def test_random_lists(pieces: list[list[str]]) -> None:
    items = ["".join(item).strip("\n") for item in pieces]
    assert answer_to_list(items, early=True) == answer_to_list(items, early=False)


@pytest.mark.parametrize("name", ODD)
def test_odd_items(name: str) -> None:
    items = [item.strip("\n") for item in ODD[name].split("---\n")]
    assert answer_to_list(items, early=True) == answer_to_list(items, early=False)
