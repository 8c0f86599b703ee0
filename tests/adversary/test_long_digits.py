"""A number of thousands of digits is read as Go reads it, or is a finding with its place; never an internal error."""

import json
import sys
from pathlib import Path

import pytest

from krm_function.config.document import load_any
from krm_function.contrast.manifest import ManifestError, decode
from krm_function.hosts.write_files import write_file
from krm_function.krm import ResourceList
from krm_function.kubernetes.nodes import _parse_integer
from krm_function.policy.initdata import decode_toml
from krm_function.text.parse import typed
from tests.hosts.running import EXAMPLES, called, snapshot
from tests.policy import pods

QUICKSTART = EXAMPLES / "quickstart"
CONFIG = str(QUICKSTART / "config")
LONG = 4301  # one more than Python converts
NUMBERS = {
    "decimal": "9" * LONG,
    "signed": "-" + "9" * LONG,
    "plus": "+" + "9" * LONG,
    "underscores": "9_9" * LONG,
    "octal": "0" + "7" * LONG,
    "octal of YAML 1.2": "0o" + "7" * LONG,
    "hexadecimal": "0x" + "f" * LONG,
    "binary": "0b" + "1" * LONG,
    "fraction": "9" * LONG + ".5",
    "exponent": "1e999999999",
    "long exponent": "1e" + "9" * LONG,
    "quantity": "9" * LONG + "Gi",
    "quantity with an exponent": "1e400000",
    "text": '"' + "9" * LONG + '"',
}
# places of a number: the text of a file, with % for the number
FIELDS = {
    "port": ("resources/web.yaml", "containerPort: 8080", "containerPort: %"),
    "replicas": ("resources/web.yaml", "replicas: 2", "replicas: %"),
    "key": ("resources/web.yaml", "replicas: 2", "%: 2"),
    "variable": ("resources/web.yaml", "args: [serve", "env: [{name: A, value: %}]\n          args: [serve"),
    "user": ("resources/web.yaml", "args: [serve", "securityContext: {runAsUser: %}\n          args: [serve"),
    "limit": ("resources/web.yaml", "args: [serve", "resources: {limits: {cpu: %}}\n          args: [serve"),
    "gpus": (
        "resources/web.yaml",
        "args: [serve",
        "resources: {limits: {nvidia.com/pgpu: %}}\n          args: [serve",
    ),
    "mode": ("resources/settings.yaml", "kind: ConfigMap", "kind: ConfigMap\nx: %"),
    "index": ("resources/web.yaml", "  labels:", "  annotations: {config.kubernetes.io/index: %}\n  labels:"),
    "toleration": (
        "resources/web.yaml",
        "      containers:",
        "      tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: %}]\n      containers:",
    ),
    "option": ("config/contrast.yaml", "spec:", "spec:\n  schemaVersion: %"),
    "release": ("config/release.yaml", "  version:", "  svn: %\n  version:"),
    "image": ("config/images.yaml", "spec:", "x: %\nspec:"),
    "user of an image": ("config/images.yaml", "User:", "User: % #"),
    "version": ("config/release.yaml", "version: v1.25.0", "version: v1.%.0"),
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "generate": ("generate", "resources", "--config", "config"),
    "plan": ("plan", "resources", "--config", "config", "--nodes", "nodes.yaml"),
    "diff": ("diff", "resources", "--config", "config"),
    "explain": ("explain", "Deployment/web", "resources", "--config", "config"),
    "policy show": ("policy", "show", "Deployment/web", "resources", "--config", "config"),
    "check": ("check", "resources", "--config", "config"),
    "uninject": ("uninject", "resources/web.yaml"),
    "manifest": ("manifest", "resources/web.yaml"),
    "lock": ("lock", "resources", "--config", "config", "--check", "-o", "config/images.yaml"),
    "release show": ("release", "show", "config/release.yaml"),
    "release runtime-classes": ("release", "runtime-classes", "--config", "config"),
    "init": ("init", "resources", "--dry-run"),
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import shutil

    return Path(shutil.copytree(QUICKSTART, tmp_path_factory.mktemp("digits") / "package"))


@pytest.mark.slow
@pytest.mark.parametrize("field", FIELDS)
def test_no_command_fails_inside_over_long_digits(field: str, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(package)
    name, before, after = FIELDS[field]
    text = (QUICKSTART / name).read_text()
    assert before in text
    try:
        for number in NUMBERS.values():
            (package / name).write_text(text.replace(before, after.replace("%", number), 1))
            for arguments in COMMANDS.values():
                done = called(*arguments)
                assert done.code in (0, 1, 2), (number[:8], arguments, done.err[:500])
    finally:
        (package / name).write_text(text)


def test_long_digits_are_read_as_by_the_reader_of_kubernetes() -> None:
    """Go's yaml.v2 makes a string of a decimal number that no float64 can hold (docs/facts/kubernetes.md#scalars)."""
    for name in ("decimal", "signed", "plus", "underscores", "exponent", "long exponent"):
        assert typed(NUMBERS[name]) == NUMBERS[name]
    assert typed("0b" + "0" * LONG + "1") == 1
    for digits in range(1, 40):
        assert typed("9" * digits) == (int("9" * digits) if digits < 20 else typed(f"{'9' * digits}.0"))


@pytest.mark.parametrize("number", ["9" * LONG, "-" + "9" * LONG, "1e400", "-1e999999999"], ids=len)
def test_json_with_a_number_that_go_refuses_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match=r"beyond 1\.8e308"):
        load_any(f'{{"a": {number}}}')
    with pytest.raises(ManifestError, match="a number is too l"):
        decode(f'{{"a": {number}}}'.encode())
    assert load_any(f"[{2**64}, 1e300]") == [2**64, 1e300]


def test_toml_with_long_digits_is_no_initdata() -> None:
    with pytest.raises(ValueError, match="it is not TOML"):
        decode_toml(f"version = {'9' * LONG}\n".encode())


def test_long_digits_of_annotations_labels_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    item = {"apiVersion": "v1", "kind": "A", "metadata": {"annotations": {"config.kubernetes.io/index": "9" * LONG}}}
    given = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [item]}
    assert [one.index_annotation for one in ResourceList.parse(json.dumps(given).encode()).items] == [0]
    assert _parse_integer("9" * LONG) is None
    for option in ("--timeout", "--jobs"):
        assert called("lock", option, "9" * LONG, str(QUICKSTART / "resources")).code == 2
    done = called("plan", str(QUICKSTART / "resources"), "--config", CONFIG, env={"COLUMNS": "9" * LONG})
    assert done.code == 0
    done = called("generate", str(QUICKSTART / "resources"), "--config", CONFIG, "-o", f"/dev/fd/{'9' * LONG}")
    assert done.code == 3


@pytest.mark.parametrize("count", ["9" * LONG, 10**12, str(10**9)], ids=["digits", "number", "text"])
def test_no_more_gpus_than_a_machine_has(count: object) -> None:
    found = pods.refused(pods.simple(resources={"limits": {"nvidia.com/pgpu": count}}))
    assert [code for code, _ in found] == ["CC0604"]


def test_init_writes_all_of_its_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "web.yaml").write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\nx: {'9' * LONG}\n")
    (tmp_path / "kustomization.yaml").write_text("resources: [web.yaml]\n")
    before = snapshot(tmp_path)
    with monkeypatch.context() as patched:

        def broken(*_: object) -> None:
            raise ValueError

        patched.setattr("krm_function.cli.commands.init.steps", broken)
        patched.setattr("krm_function.hosts.write_files.PLACED", [])
        done = called("init", str(tmp_path))
        assert done.code == 70
        assert "nothing was written" in done.err
    assert snapshot(tmp_path) == before
    done = called("init", str(tmp_path))
    assert done.code == 0, done.err
    assert len(snapshot(tmp_path)) > len(before)


def test_an_internal_error_says_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("krm_function.hosts.write_files.PLACED", [])

    def broken(*_: object) -> int:
        write_file(str(tmp_path / "a"), b"a")
        raise ValueError

    monkeypatch.setattr("krm_function.cli.commands.version.run", broken)
    done = called("version")
    assert done.code == 70
    assert "1 file was written before" in done.err
    assert sys.get_int_max_str_digits() == LONG - 1
