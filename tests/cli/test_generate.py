"""`generate` and the flags it shares with `contrast generate`."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from krm_function.contrast.profiles import DEFAULT
from krm_function.policy.rules import load_rules
from krm_function.policy.settings import default_document
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG, RESOURCES
from tests.failures.running import Run, listing
from tests.failures.world import CONTRAST, IMAGES, NOTE, World, canaries

BARE = "contrast-cc-metal-qemu-snp-1a2b3c4d"


def documents(run: Run) -> dict[str, Any]:
    """The rendered objects by kind and name."""
    assert run.code == 0, run.stderr
    made = [value for value in yaml.load_all(run.stdout, yaml.CSafeLoader) if value]
    return {f"{value['kind']}/{value['metadata']['name']}": value for value in made}


def pod(run: Run, name: str = "Deployment/web") -> Any:
    return documents(run)[name]["spec"]["template"]["spec"]


def manifest(run: Run) -> Any:
    return json.loads(documents(run)["ConfigMap/contrast-manifest"]["data"]["manifest.json"])


def refused(run: Run, option: str, says: str, file: str = "", line: int = 0) -> None:
    """One CC0909 about the flag, and nothing else."""
    assert run.code == 2
    assert run.stdout == b""
    (error,) = run.errors
    assert error["code"] == "CC0909"
    assert error["message"].startswith(f"{option}: ")
    assert says in error["message"]
    assert error["hint"]
    assert error.get("file", "") == file
    assert error.get("line", 0) == line


# --- where it goes


def test_everything_goes_into_one_stream_without_our_configuration(shop: Shop) -> None:
    made = documents(shop.generate())
    assert list(made) == [
        "StatefulSet/coordinator", "Deployment/web", "Service/web", "ConfigMap/settings", "Secret/login",
        "ConfigMap/contrast-manifest",
    ]  # fmt: skip


def test_a_file_gets_what_standard_output_would(shop: Shop) -> None:
    printed = shop.generate().stdout
    run = shop.generate("-o", "out.yaml")
    assert (run.code, run.stdout) == (0, b"")
    assert (shop.directory / "out.yaml").read_bytes() == printed


def test_in_place_rewrites_only_what_changes_and_only_once(shop: Shop) -> None:
    other = b"apiVersion: v1\nkind: Service\nmetadata: {name: other}\n"
    shop.write("deployment/other.yaml", other)
    inode = (shop.directory / "deployment/other.yaml").stat().st_ino
    assert shop.generate("--in-place").code == 0
    first = listing(shop.directory)
    assert first["deployment/other.yaml"] == other
    assert (shop.directory / "deployment/other.yaml").stat().st_ino == inode
    assert BARE.encode() in first[RESOURCES]
    assert b"manifest.json" in first["deployment/contrast-manifest.yaml"]
    assert shop.generate("--in-place").code == 0
    assert listing(shop.directory) == first


def test_in_place_by_file_names_may_be_repeated(shop: Shop) -> None:
    arguments = ("generate", RESOURCES, "--config", CONFIG, "--in-place")
    assert shop(*arguments).code == 0
    first = listing(shop.directory)
    assert shop(*arguments).code == 0
    assert listing(shop.directory) == first


def test_in_place_never_replaces_a_file_that_only_has_the_same_name(shop: Shop) -> None:
    shop.write("deployment/contrast-manifest.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: mine}\n")
    before = listing(shop.directory)
    run = shop("generate", RESOURCES, "--config", CONFIG, "--in-place")
    assert run.code == 3
    assert "deployment/contrast-manifest.yaml: cannot be written: exists and contains more" in run.stderr
    assert listing(shop.directory) == before


def test_in_place_adds_to_a_file_of_that_name_among_the_inputs(shop: Shop) -> None:
    mine = b"apiVersion: v1\nkind: Service\nmetadata: {name: mine}\n"
    shop.write("deployment/contrast-manifest.yaml", mine)
    assert shop.generate("--in-place").code == 0
    after = (shop.directory / "deployment/contrast-manifest.yaml").read_bytes()
    assert after.startswith(mine)
    assert b"manifest.json" in after


@pytest.mark.parametrize("paths", [(), ("-",), ("deployment", "-")])
def test_standard_input_cannot_be_rewritten(paths: tuple[str, ...], shop: Shop) -> None:
    before = listing(shop.directory)
    run = shop("generate", *paths, "--config", CONFIG, "--in-place", "--format", "json", data=World().stream())
    refused(run, "--in-place", "standard input cannot be rewritten")
    assert listing(shop.directory) == before


@pytest.mark.parametrize("link", [False, True])
def test_the_output_is_never_one_of_the_inputs(link: bool, shop: Shop) -> None:
    target = RESOURCES
    if link:
        os.link(shop.directory / RESOURCES, shop.directory / "same.yaml")
        target = "same.yaml"
    before = listing(shop.directory)
    refused(shop.generate("-o", target, "--format", "json"), "--output", "one of the inputs")
    assert listing(shop.directory) == before


def test_nothing_is_written_through_a_symbolic_link(shop: Shop) -> None:
    shop.write("precious", "precious")
    (shop.directory / "out.yaml").symlink_to("precious")
    run = shop.generate("-o", "out.yaml")
    assert run.code == 3
    assert "out.yaml: cannot be written: not a regular file" in run.stderr
    assert (shop.directory / "precious").read_text() == "precious"


@pytest.mark.parametrize(
    ("make", "path", "says"),
    [
        (lambda directory: (directory / "empty").mkdir(), "empty", "no .yml or .yaml files in it"),
        (lambda directory: None, "nothing", "no such file or directory"),
        (lambda directory: (directory / "loop").symlink_to("loop"), "loop", "no such file or directory"),
        (lambda directory: None, f"{RESOURCES}/inside", "no such file"),
    ],
)
def test_a_path_that_gives_nothing_is_an_environment_error(
    make: Callable[[Path], object], path: str, says: str, shop: Shop
) -> None:
    make(shop.directory)
    for arguments in (["generate", path, "--config", CONFIG], ["generate", "deployment", "--config", path]):
        run = shop(*arguments, "--format", "json")
        assert run.code == 3
        assert run.stdout == b""
        (error,) = run.errors
        assert (error["code"], error["file"]) == ("CC1001", path)
        assert says in error["message"]


def test_a_file_of_a_directory_that_cannot_be_read_is_an_environment_error(shop: Shop) -> None:
    (shop.directory / "deployment/dangling.yaml").symlink_to("nothing")
    run = shop.generate("--format", "json")
    assert run.code == 3
    assert [(error["code"], error["file"]) for error in run.errors] == [("CC1001", "deployment/dangling.yaml")]


@pytest.mark.parametrize("path", ["nowhere/out.yaml", f"{RESOURCES}/out.yaml", "deployment", "/proc/out.yaml"])
def test_a_place_that_cannot_be_written_is_an_environment_error(path: str, shop: Shop) -> None:
    before = listing(shop.directory)
    run = shop.generate("-o", path, "--format", "json")
    assert run.code == 3
    assert run.stdout == b""
    assert [(error["code"], error["file"]) for error in run.errors] == [("CC1002", path)]
    assert listing(shop.directory) == before


def test_the_function_keeps_its_items_when_a_configuration_file_is_missing(shop: Shop) -> None:
    sent = World().resource_list()
    run = shop("fn", "--config", "nothing.yaml", "--format", "json", data=sent)
    assert run.code == 3
    assert run.stdout.startswith(sent)
    assert [error["code"] for error in run.errors] == ["CC1001"]


def test_a_resource_list_is_answered_with_a_resource_list(shop: Shop) -> None:
    run = shop("generate", data=World().resource_list())
    assert run.code == 0
    assert yaml.safe_load(run.stdout)["kind"] == "ResourceList"


# --- --reference-values


@pytest.mark.parametrize("platform", ["metal-qemu-snp", "Metal-QEMU-SNP", "METAL-QEMU-SNP"])
def test_the_platform_of_bare_placeholders_may_be_given_in_any_case(platform: str, shop: Shop) -> None:
    world = World()
    del world.spec["platform"]
    shop.change(world)
    assert pod(shop.generate("--reference-values", platform), "StatefulSet/coordinator")["runtimeClassName"] == BARE


def test_an_unknown_platform_is_refused_with_the_nearest_one(shop: Shop) -> None:
    run = shop.generate("--reference-values", "metal-qemu-snb", "--format", "json")
    refused(run, "--reference-values", "unknown platform metal-qemu-snb")
    assert run.errors[0]["hint"] == "use metal-qemu-snp"


# --- --manifest


def test_the_manifest_is_written_byte_for_byte(shop: Shop) -> None:
    run = shop.generate("--manifest", "manifest.json")
    data = (shop.directory / "manifest.json").read_bytes()
    stored = documents(run)["ConfigMap/contrast-manifest"]["data"]["manifest.json"]
    assert data == stored.encode()
    assert shop("manifest", data=run.stdout).stdout == data


def test_an_existing_manifest_is_the_base(shop: Shop) -> None:
    shop.generate("--manifest", "manifest.json")
    path = shop.directory / "manifest.json"
    value = json.loads(path.read_bytes())
    value["Policies"]["f" * 64] = {"SANs": ["elsewhere"], "WorkloadSecretID": "elsewhere", "Role": ""}
    path.write_text(json.dumps(value))
    made = manifest(shop.generate("--manifest", "manifest.json"))
    assert made["Policies"]["f" * 64]["SANs"] == ["elsewhere"]
    assert json.loads(path.read_bytes()) == made


@pytest.mark.parametrize(
    ("text", "line"), [("{", 1), ("{\n\n,}", 3), ("[]", 0), ('{"Policies": {}, "policies": {}}', 0)]
)
def test_a_manifest_that_is_none_is_refused_and_left_alone(text: str, line: int, shop: Shop) -> None:
    shop.write("manifest.json", text)
    run = shop.generate("--manifest", "manifest.json", "--format", "json")
    refused(run, "--manifest", "", "manifest.json", line)
    assert (shop.directory / "manifest.json").read_text() == text


def test_a_manifest_that_is_not_made_cannot_be_written(shop: Shop) -> None:
    world = World()
    for name in ("web", "coordinator"):
        del world.documents[name]
    shop.change(world)
    refused(shop.generate("--manifest", "manifest.json", "--format", "json"), "--manifest", "no manifest was made")
    assert not (shop.directory / "manifest.json").exists()


# --- what is injected


def test_the_initializer_can_be_skipped(shop: Shop) -> None:
    assert [one["name"] for one in pod(shop.generate())["initContainers"]] == ["contrast-initializer"]
    assert "initContainers" not in pod(shop.generate("--skip-initializer"))


def test_the_service_mesh_can_be_skipped(shop: Shop) -> None:
    world = World()
    world.notes[f"{NOTE}servicemesh-ingress"] = ""
    shop.change(world)
    names = [one["name"] for one in pod(shop.generate())["initContainers"]]
    assert names == ["contrast-initializer", "contrast-service-mesh"]
    names = [one["name"] for one in pod(shop.generate("--skip-service-mesh"))["initContainers"]]
    assert names == ["contrast-initializer"]


def test_the_image_store_can_be_injected(shop: Shop) -> None:
    assert "image-store" not in json.dumps(pod(shop.generate()))
    assert "image-store" in json.dumps(pod(shop.generate("--inject-image-store")))


# --- --policy and --settings


def test_rules_and_settings_are_read_from_files(shop: Shop) -> None:
    before = manifest(shop.generate())["Policies"]
    shop.write("rules.rego", load_rules())
    shop.write("settings.json", json.dumps(default_document(DEFAULT)))
    same = manifest(shop.generate("--policy", "rules.rego", "--settings", "settings.json"))["Policies"]
    assert same == before
    shop.write("rules.rego", f"{load_rules()}\n# changed\n")
    other = manifest(shop.generate("-p", "rules.rego"))["Policies"]
    assert other.keys().isdisjoint(before)


@pytest.mark.parametrize(
    ("option", "data", "says"),
    [
        ("--settings", "{", "is not JSON"),
        ("--settings", "[]", "is not a JSON object"),
        ("--settings", '{"a": 1, "a": 2}', "twice"),
        ("--settings", "[" * 100_000, ""),
        ("--policy", "", "must be Rego of package agent_policy"),
        ("--policy", "package other\n", "must be Rego of package agent_policy"),
        ("--policy", b"package agent_policy\n\xff", "is not UTF-8"),
    ],
)
def test_rules_and_settings_that_are_none_are_refused(option: str, data: str | bytes, says: str, shop: Shop) -> None:
    shop.write("file", data)
    refused(shop.generate(option, "file", "--format", "json"), option, says, "file")


def test_settings_that_lack_a_part_are_refused(shop: Shop) -> None:
    shop.write(
        "settings.json", json.dumps({key: part for key, part in default_document(DEFAULT).items() if key != "common"})
    )
    run = shop.generate("--settings", "settings.json", "--format", "json")
    assert (run.code, [error["code"] for error in run.errors]) == (1, ["CC0641"])


# --- --image-replacements


def test_image_replacements_take_the_place_of_the_release(shop: Shop) -> None:
    lines = [f"{name} = {pinned}" for name, pinned in IMAGES.items()]
    shop.write("images.txt", "# pinned\n\n" + "\n".join(lines) + "\n")
    assert shop.generate("--image-replacements", "images.txt").stdout == shop.generate().stdout
    shop.write("images.txt", "\n".join(line for line in lines if "coordinator" not in line))
    run = shop.generate("--image-replacements", "images.txt", "--format", "json")
    assert [error["code"] for error in run.errors] == ["CC0502"]
    assert f"{CONTRAST}/coordinator:latest" in run.errors[0]["message"]


@pytest.mark.parametrize("line", ["nonsense", "a = b", "a = ", "= b@sha256:" + "0" * 64, "a b = c@sha256:" + "0" * 64])
def test_a_line_that_pins_nothing_is_refused_by_its_number(line: str, shop: Shop) -> None:
    shop.write("images.txt", f"# comment\n{line}\n")
    run = shop.generate("--image-replacements", "images.txt", "--format", "json")
    refused(run, "--image-replacements", "image = replacement", "images.txt", 2)


# --- owner keys

EC = ec.generate_private_key(ec.SECP384R1())
RSA = rsa.generate_private_key(65537, 2048)


def private(key: Any, form: PrivateFormat = PrivateFormat.PKCS8, password: bytes = b"") -> bytes:
    how = BestAvailableEncryption(password) if password else NoEncryption()
    data: bytes = key.private_bytes(Encoding.PEM, form, how)
    return data


def public(key: Any) -> bytes:
    data: bytes = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return data


@pytest.mark.parametrize(
    "data", [public(EC), private(EC), private(EC, PrivateFormat.TraditionalOpenSSL)], ids=["public", "private", "sec1"]
)
def test_a_workload_owner_key_comes_from_either_half(data: bytes, shop: Shop) -> None:
    shop.write("owner.pem", data)
    expected = EC.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo).hex()
    run = shop.generate("--add-workload-owner-key", "owner.pem", "-m", "manifest.json")
    made = manifest(run)
    assert expected in made["WorkloadOwnerPubKeys"]
    assert len(made["WorkloadOwnerPubKeys"]) == 2
    body = data.splitlines()[1]
    assert all(body not in written for name, written in listing(shop.directory).items() if name != "owner.pem")
    assert body not in run.stdout


def test_a_seedshare_owner_key_comes_from_either_half(shop: Shop) -> None:
    expected = RSA.public_key().public_bytes(Encoding.DER, PublicFormat.PKCS1).hex()
    for data in (public(RSA), private(RSA)):
        shop.write("seed.pem", data)
        assert manifest(shop.generate("--add-seedshare-owner-key", "seed.pem"))["SeedshareOwnerPubKeys"] == [expected]


def test_several_keys_may_be_given(shop: Shop) -> None:
    others = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    for index, key in enumerate(others):
        shop.write(f"{index}.pem", public(key))
    made = manifest(shop.generate("-w", "0.pem", "-w", "1.pem"))["WorkloadOwnerPubKeys"]
    given = {key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo).hex() for key in others}
    assert len(made) == 3
    assert given < set(made)


@pytest.mark.parametrize("option", ["--add-workload-owner-key", "--add-seedshare-owner-key"])
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no PEM block"),
        (b"CANARY\n", "no PEM block"),
        (private(EC, password=b"secret"), "the private key cannot be read"),
        (b"-----BEGIN PRIVATE KEY-----\nCANARY\n-----END PRIVATE KEY-----\n", "the private key cannot be read"),
        (private(ed25519.Ed25519PrivateKey.generate()), "this is another kind"),
        (public(EC) + public(EC), "2 PEM blocks"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused_and_not_repeated(option: str, data: bytes, says: str, shop: Shop) -> None:
    shop.write("owner.pem", data)
    run = shop.generate(option, "owner.pem", "--format", "json")
    refused(run, option, says, "owner.pem")
    assert not list(canaries(run.stderr))
    for line in data.decode().splitlines():
        assert line not in run.stderr or not line


@pytest.mark.parametrize(
    ("option", "key"), [("--add-workload-owner-key", RSA), ("--add-seedshare-owner-key", EC)], ids=["RSA", "ECDSA"]
)
def test_a_key_of_the_other_kind_is_refused(option: str, key: Any, shop: Shop) -> None:
    shop.write("owner.pem", public(key))
    refused(shop.generate(option, "owner.pem", "--format", "json"), option, "this is another kind", "owner.pem")


def test_updates_can_be_disabled(shop: Shop) -> None:
    assert not manifest(shop.generate("--disable-updates"))["WorkloadOwnerPubKeys"]
    shop.write("owner.pem", public(EC))
    run = shop.generate("--disable-updates", "-w", "owner.pem", "--format", "json")
    refused(run, "--disable-updates", "contradicts --add-workload-owner-key")


@pytest.mark.parametrize(
    "option",
    ["--policy", "--settings", "--image-replacements", "--add-workload-owner-key", "--add-seedshare-owner-key"],
)
def test_a_file_named_by_a_flag_must_be_there(option: str, shop: Shop) -> None:
    run = shop.generate(option, "nothing", "--format", "json")
    assert run.code == 3
    assert [(error["code"], error["file"]) for error in run.errors] == [("CC1001", "nothing")]


@pytest.mark.slow
def test_an_output_that_no_command_reads_again_is_a_warning(shop: Shop) -> None:
    for name in ("one", "two"):  # 36 MB each
        head = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n"
        shop.write(f"deployment/{name}.yaml", head + "".join(f"  k{at}: {'x' * 9000}\n" for at in range(4000)))
    run = shop.generate("-o", "out.yaml")
    assert run.code == 0
    assert "warning CC1005: the output has 72" in run.stderr
    again = shop("manifest", "out.yaml")
    assert "error CC0103" in again.stderr
