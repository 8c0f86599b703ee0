"""A stream of which nothing is Contrast's leaves byte for byte as it came, in every host, however odd it is."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.hosts import Deployment, make_chart, make_kpt, put, run_helm3, shared, shared_config
from tests.hosts.running import Machine, Ran, called, snapshot

DATA = Path(__file__).parent / "data"
RECORDED = {path.stem: path.read_bytes() for path in sorted(DATA.glob("*.yaml"))}
LISTS = {name: data for name, data in RECORDED.items() if b"kind: ResourceList" in data}
STREAMS = {name: data for name, data in RECORDED.items() if name not in LISTS}
DANGLING = "helm4-list"  # an alias without anchor: Helm cannot read it either (docs/facts/helm.md#helm-4-stream)
CONFIGURATION = str(shared_config())
CONTRAST = shared().config["contrast.yaml"]

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n    - name: web\n      image: web\n"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
ODD = {
    "one ordinary pod": POD,
    "no final newline": POD.removesuffix("\n"),
    "line ends of Windows": f"---\n{POD}---\n{MAP}".replace("\n", "\r\n"),
    "line ends of both kinds": POD.replace("\n", "\r\n") + "---\n" + MAP,
    "a byte order mark": f"\ufeff{POD}",
    "a byte order mark and line ends of Windows": f"\ufeff---\n{POD}".replace("\n", "\r\n"),
    "comments only": "# nothing here\n\n# nor here\n",
    "a comment without an end": "# nothing here",
    "empty documents": f"---\n---\n# empty\n---\n{POD}---\n---\n",
    "separators only": "---\n---\n",
    "comments around documents": f"# before\n---\n# above\n{POD}# below\n--- # beside\n{MAP}# last\n",
    "document ends": f"{POD}...\n---\n{MAP}...\n",
    "a directive": f"%YAML 1.1\n---\n{POD}",
    "anchors": f"{MAP}  labels: &labels\n    a: b\n  annotations: *labels\n",
    "merge keys": f"{MAP}  labels: &labels\n    a: b\n  annotations:\n    <<: *labels\n    c: d\n",
    "quotes of Windows": MAP
    + "data:\n  path: \"C:\\\\Program Files\\\\web\"\n  it: 'it''s'\n  said: \u201cquoted\u201d\n",
    "a separator inside of a string": MAP + 'data:\n  a: "\n\n    --- b\n\n    kind: Pod"\n  b: |\n    ---\n    c\n',
    "values that look like something else": MAP
    + "data: {a: on, b: 1e3, c: 0o14, d: 012, e: 12:30, f: ~, g: 2024-01-01}\n",
    "a line separator in a string": MAP + 'data:\n  a: "x\u2028y\u0085z"\n',
    "characters beyond 16 bits": MAP + "data:\n  a: \U0001f600\n",
    "JSON": '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": []}}\n',
    "JSON with tabs": '{\n\t"apiVersion": "v1",\n\t"kind": "ConfigMap",\n\t"metadata": {"name": "c"}\n}\n',
    "a List": "apiVersion: v1\nkind: List\nitems:\n- " + POD.replace("\n", "\n  ").rstrip() + "\n",
    "an empty List": "apiVersion: v1\nkind: List\nitems: []\n",
    "a scalar and a list": "just text\n---\n- a\n- b\n",
    "an object without a name": "kind: Pod\n---\napiVersion: v1\n---\nkind: Pod\napiVersion: v1\nmetadata:\n",
    "a runtime class of somebody else": f"{POD}  runtimeClassName: kata\n".replace("  runtime", "  runtime"),
}


def legacy(config: bool, data: bytes, directory: Path) -> Ran:
    """As kustomize calls a legacy plugin: the configuration is a file, its text a variable."""
    file = directory / "config.yaml"
    file.write_text(CONTRAST)
    more = ("--config", CONFIGURATION + "/release.yaml", "--config", CONFIGURATION + "/images.yaml") if config else ()
    return called(str(file), *more, stdin=data, env={"KUSTOMIZE_PLUGIN_CONFIG_STRING": CONTRAST})


def post_render(config: bool, data: bytes, directory: Path) -> Ran:
    return called("post-render", *(("--config", CONFIGURATION) if config else ()), stdin=data)


def generate(config: bool, data: bytes, directory: Path) -> Ran:
    return called("generate", *(("--config", CONFIGURATION) if config else ()), stdin=data)


def uninject(config: bool, data: bytes, directory: Path) -> Ran:
    return called("uninject", stdin=data)


CALLS = [legacy, post_render, generate, uninject]
Call = Callable[[bool, bytes, Path], Ran]


@pytest.mark.parametrize("config", [True, False], ids=["configured", "not configured"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ODD)
def test_an_odd_stream_leaves_as_it_came(name: str, call: Call, config: bool, tmp_path: Path) -> None:
    data = ODD[name].encode()
    ran = call(config, data, tmp_path)
    assert (ran.code, ran.out, ran.err) == (0, data, "")


@pytest.mark.parametrize("config", [True, False], ids=["configured", "not configured"])
@pytest.mark.parametrize("call", [legacy, post_render])
def test_blank_lines_of_a_host_leave_as_they_came(call: Call, config: bool, tmp_path: Path) -> None:
    assert call(config, b"\n\n\n", tmp_path) == (0, b"\n\n\n", "")


@pytest.mark.parametrize("config", [True, False], ids=["configured", "not configured"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", sorted(set(STREAMS) - {DANGLING}))
def test_a_recorded_stream_leaves_as_it_came(name: str, call: Call, config: bool, tmp_path: Path) -> None:
    ran = call(config, STREAMS[name], tmp_path)
    assert (ran.code, ran.out, ran.err) == (0, STREAMS[name], "")


@pytest.mark.parametrize("name", ODD)
def test_files_with_odd_content_are_not_touched_in_place(name: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_bytes(ODD[name].encode())
    os.utime(file, ns=(1, 1))
    assert called("generate", str(tmp_path), "--in-place", "--config", CONFIGURATION) == (0, b"", "")
    assert file.read_bytes() == ODD[name].encode()
    assert file.stat().st_mtime_ns == 1
    assert list(tmp_path.iterdir()) == [file]


def function_config(data: bytes, text: str) -> bytes:
    """A recorded list with another functionConfig; the recorded ones belong to the fixtures of the recording."""
    head, found, _ = data.partition(b"functionConfig:\n")
    assert found
    return head + text.encode()


FOREIGN = sorted(
    name for name, data in LISTS.items() if b"apiVersion: example.com/v1" in data.partition(b"functionConfig:\n")[2]
)
EMPTY = "functionConfig:\n  metadata:\n    name: function-input\n  data: {}\n  kind: ConfigMap\n  apiVersion: v1\n"
OURS = "functionConfig:\n" + "".join(f"  {line}\n" if line else "\n" for line in CONTRAST.splitlines())


@pytest.mark.parametrize("config", [(), ("--config", CONFIGURATION)], ids=["not configured", "configured"])
@pytest.mark.parametrize("own", ["", EMPTY, OURS], ids=["no functionConfig", "the empty one of kpt", "ours"])
@pytest.mark.parametrize("name", LISTS)
def test_a_recorded_list_leaves_as_it_came(name: str, own: str, config: tuple[str, ...]) -> None:
    if own == OURS and config:
        config = tuple(
            part for file in ("release.yaml", "images.yaml") for part in ("--config", f"{CONFIGURATION}/{file}")
        )
    data = function_config(LISTS[name], own)
    ran = called("fn", *config, stdin=data)
    assert (ran.code, ran.out, ran.err) == (0, data, "")


@pytest.mark.parametrize("name", FOREIGN)
def test_a_list_whose_function_config_is_not_ours_comes_back_with_a_result(name: str) -> None:
    ran = called(stdin=LISTS[name])
    assert ran.code == 2
    assert ("error CC0908" in ran.err) == (not name.startswith("kpt")), "kpt shows results, so they are there alone"
    assert ran.out.startswith(LISTS[name])
    assert ran.out[len(LISTS[name]) :].startswith(b"results:\n- message: ")
    assert b"CC0908" in ran.out


@pytest.mark.parametrize("name", ["line ends of Windows", "a byte order mark", "JSON"])
def test_a_list_in_the_dress_of_another_system_leaves_as_it_came(name: str) -> None:
    dress = {
        "line ends of Windows": LISTS["kpt-yml"].replace(b"\n", b"\r\n"),
        "a byte order mark": b"\xef\xbb\xbf" + function_config(LISTS["kz-odd"], EMPTY),
        "JSON": b'{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": []}',
    }
    assert called(stdin=dress[name]) == (0, dress[name], "")


ORDINARY = Deployment({"pod.yaml": "# kept\n" + POD, "map.yaml": MAP + "data: {a: 'x'}  # kept\n"}, shared().config)


def test_kpt_writes_what_it_would_write_without_us(
    krm_machine: Machine, recording_machine: Machine, tmp_path: Path
) -> None:
    written = []
    for name, on in (("ours", krm_machine), ("theirs", recording_machine)):
        package = make_kpt(on, tmp_path / name, ORDINARY)
        on.run(["kpt", "fn", "render", "--allow-exec"], package).ok()
        written.append(snapshot(package))
    assert written[0] == written[1]


def test_helm_3_prints_what_it_would_print_without_us(krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, ORDINARY)
    plain = krm_machine.run(["helm", "template", "shop", "chart"], chart).ok()
    assert run_helm3(krm_machine, chart).ok() == plain


def test_our_own_configuration_does_not_leave_in_a_stream_for_a_cluster(tmp_path: Path) -> None:
    directory = put(tmp_path, {**ORDINARY.config, "pod.yaml": POD})
    assert called("generate", str(directory)) == (0, POD.encode(), "")
