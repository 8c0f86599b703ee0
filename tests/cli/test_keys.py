"""`keys new`: two halves, each where it belongs, and never over anything that is there."""

import os
import stat
import subprocess
from pathlib import Path
from unittest import mock

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from krm_function.cli.render_inputs import public_key
from krm_function.contrast.owner_keys import seedshare_owner, workload_owner
from krm_function.hosts.files import FileProblem
from krm_function.hosts.write_files import create_file
from tests.failures.running import EXECUTABLE, Zygote, environment, listing

OWNERS = {"workload": workload_owner, "seedshare": seedshare_owner}
GENERATE = """# mine
apiVersion: contrast-krm.dev/v1alpha1
kind: ContrastGenerate
metadata: {name: contrast}
spec:
  platform: metal-qemu-snp # ours
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("owner", OWNERS)
def test_the_public_half_is_what_a_configuration_takes(owner: str, tmp_path: Path, call: Zygote) -> None:
    run = call("keys", "new", f"--{owner}-owner", directory=tmp_path)

    assert run.code == 0
    private = (tmp_path / f"{owner}-owner.pem").read_text()
    check = OWNERS[owner]
    assert check(run.stdout.decode()) == check(public_key(private))
    assert "PRIVATE" not in run.stdout.decode() + run.stderr
    assert f"spec.manifest.{owner}OwnerKeys" in run.stderr


def test_the_keys_are_those_that_contrast_makes(tmp_path: Path, call: Zygote) -> None:
    for owner in OWNERS:
        assert call("keys", "new", f"--{owner}-owner", directory=tmp_path).code == 0
    ecdsa = (tmp_path / "workload-owner.pem").read_bytes()
    assert ecdsa.startswith(b"-----BEGIN EC PRIVATE KEY-----\n")
    key = load_pem_private_key(ecdsa, None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    assert key.curve.name == "secp384r1"
    pkcs1 = (tmp_path / "seedshare-owner.pem").read_bytes()
    assert pkcs1.startswith(b"-----BEGIN RSA PRIVATE KEY-----\n")
    other = load_pem_private_key(pkcs1, None)
    assert isinstance(other, rsa.RSAPrivateKey)
    assert (other.key_size, other.public_key().public_numbers().e) == (4096, 65537)


@pytest.mark.parametrize("umask", ["000", "022", "077", "777"])
def test_the_modes_do_not_depend_on_the_umask(umask: str, tmp_path: Path) -> None:
    command = f"umask {umask}; {EXECUTABLE} keys new --workload-owner -o a.pem --public a.pub"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert mode(tmp_path / "a.pem") == 0o600
    assert mode(tmp_path / "a.pub") == 0o644


@pytest.mark.parametrize("there", ["a.pem", "a.pub"])
@pytest.mark.parametrize("what", ["file", "link to nowhere", "directory"])
def test_nothing_that_is_there_is_touched(there: str, what: str, tmp_path: Path, call: Zygote) -> None:
    path = tmp_path / there
    if what == "file":
        path.write_text("precious")
    elif what == "directory":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "elsewhere")
    run = call("keys", "new", "--workload-owner", "-o", "a.pem", "--public", "a.pub", directory=tmp_path)
    assert (run.code, run.stdout) == (3, b"")
    assert run.stderr.startswith(f"error CC1002 {there}: exists; a key is never overwritten")
    assert os.listdir(tmp_path) == [there]
    assert what != "file" or path.read_text() == "precious"


def test_a_key_whose_other_half_cannot_be_written_is_not_left_behind(tmp_path: Path, call: Zygote) -> None:
    run = call("keys", "new", "--workload-owner", "--public", "missing/a.pub", directory=tmp_path)
    assert (run.code, run.stdout) == (3, b"")
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_no_half_of_a_key(tmp_path: Path) -> None:
    path = tmp_path / "a.pem"
    with mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")), pytest.raises(FileProblem):
        create_file(str(path), b"secret", 0o600)
    assert not path.exists()


def test_standard_output_that_is_full_leaves_no_key(tmp_path: Path) -> None:
    command = f"{EXECUTABLE} keys new --workload-owner >/dev/full"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert done.returncode == 3
    assert os.listdir(tmp_path) == []


def test_the_private_half_is_printed_only_on_demand(tmp_path: Path, call: Zygote) -> None:
    run = call("keys", "new", "--workload-owner", "-o", "-", directory=tmp_path)
    assert (run.code, run.stdout) == (2, b"")
    assert "name a file with --public" in run.stderr
    run = call("keys", "new", "--workload-owner", "-o", "-", "--public", "a.pub", directory=tmp_path)
    assert run.code == 0
    assert workload_owner(public_key(run.stdout.decode())) == workload_owner((tmp_path / "a.pub").read_text())
    assert os.listdir(tmp_path) == ["a.pub"]


def test_the_yaml_form_can_be_pasted(tmp_path: Path, call: Zygote) -> None:
    run = call("keys", "new", "--workload-owner", "--yaml", directory=tmp_path)
    (pem,) = yaml.safe_load(run.stdout)
    assert workload_owner(pem) == workload_owner(public_key((tmp_path / "workload-owner.pem").read_text()))


def test_keys_are_added_to_a_configuration_one_after_the_other(tmp_path: Path, call: Zygote) -> None:
    file = tmp_path / "contrast.yaml"
    file.write_text(GENERATE)
    for arguments in (("--workload-owner", "-o", "1"), ("--workload-owner", "-o", "2"), ("--seedshare-owner",)):
        run = call("keys", "new", *arguments, "--add-to", "contrast.yaml", directory=tmp_path)
        assert (run.code, run.stdout) == (0, b"")
    text = file.read_text()
    assert text.startswith(GENERATE)
    manifest = yaml.safe_load(text)["spec"]["manifest"]
    privates = [(tmp_path / name).read_text() for name in ("1", "2")]
    assert [*map(workload_owner, manifest["workloadOwnerKeys"])] == [
        workload_owner(public_key(one)) for one in privates
    ]
    assert len(manifest["seedshareOwnerKeys"]) == 1


def test_keys_that_are_added_at_once_are_all_there(tmp_path: Path) -> None:
    file = tmp_path / "contrast.yaml"
    file.write_text(GENERATE)
    call = [str(EXECUTABLE), "keys", "new", "--workload-owner", "--add-to", "contrast.yaml", "-o"]
    runs = [subprocess.Popen([*call, str(number)], cwd=tmp_path, stderr=subprocess.DEVNULL) for number in range(5)]
    assert {run.wait() for run in runs} == {0}
    assert len(yaml.safe_load(file.read_text())["spec"]["manifest"]["workloadOwnerKeys"]) == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: ConfigMap\napiVersion: v1\n", "it has no ContrastGenerate"),
        (f"{GENERATE}---\n{GENERATE}", "it has 2 ContrastGenerate"),
        (GENERATE + "  manifest: []\n", "spec.manifest is not a map"),
        (GENERATE + "  manifest: x\n", "spec.manifest is not a map"),
        (GENERATE + "  manifest: {workloadOwnerKeys: x}\n", "spec.manifest.workloadOwnerKeys is not a list"),
        (GENERATE + "  manifest: {\n", "not valid YAML"),
    ],
)
def test_a_configuration_that_cannot_take_a_key_costs_no_key(
    text: str, said: str, tmp_path: Path, call: Zygote
) -> None:
    (tmp_path / "contrast.yaml").write_text(text)
    before = listing(tmp_path)
    run = call("keys", "new", "--workload-owner", "--add-to", "contrast.yaml", directory=tmp_path)
    assert run.code in {1, 2}
    assert said in run.stderr
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("keys", "new"), "contrast-krm keys new --help"),
        (("keys", "new", "--workload-owner", "--seedshare-owner"), "contrast-krm keys new --help"),
        (("keys", "nwe"), "did you mean new?"),
        (("keys", "new", "--workload-owner", "--public", "a", "--add-to", "b"), "contrast-krm keys new --help"),
    ],
)
def test_a_wrong_call_makes_nothing(arguments: tuple[str, ...], hint: str, tmp_path: Path, call: Zygote) -> None:
    run = call(*arguments, directory=tmp_path)
    assert (run.code, run.stdout) == (2, b"")
    assert f"hint: {'see ' if 'help' in hint else ''}{hint}" in run.stderr
    assert os.listdir(tmp_path) == []


def test_no_record_shows_the_private_half() -> None:
    from krm_function.contrast.owner_keys import new_workload_owner

    assert "PRIVATE" not in repr(new_workload_owner())
