"""`lock` as it is typed: which images it takes, what it says to mistakes, and that a render takes what it wrote."""

import datetime as dt
import io
import ipaddress
import json
import os
import pty
import ssl
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.failures.running import EXECUTABLE, Run, environment
from tests.failures.world import CONTRAST, NOTE, World
from tests.lock.conftest import Locking
from tests.lock.content import Image, digest, image, index, layer, layout_files, pods, tar, written
from tests.lock.registries import Front, Registry


def layout(lock: Locking, **images: Image) -> str:
    """One layout with several images."""
    files: dict[str, bytes] = {}
    for made in images.values():
        files |= layout_files(made)
    return f"oci:{written(files, lock.directory / 'layout')}"


def one_by_one(names: list[str]) -> dict[str, Image]:
    return {name: image(layer(tar({f"bin/{name}": "x"})), settings={"Cmd": [name]}) for name in names}


# --- which images


@pytest.fixture
def world() -> World:
    made = World()
    del made.documents["lock"]
    return made


def deployed(lock: Locking, world: World, *arguments: str) -> Run:
    """Write the world as files and lock its images out of a layout that has them all."""
    (lock.directory / "resources.yaml").write_bytes(world.stream())
    (lock.directory / "config.yaml").write_bytes(world.config())
    return lock("resources.yaml", "--config", "config.yaml", "-o", "images.yaml", *arguments)


def pinned(world: World, names: dict[str, Image]) -> None:
    """Make the release and the pod name images that exist."""
    images = world["release"]["spec"]["images"]
    for name in ("coordinator", "initializer", "service-mesh-proxy"):
        images[f"{CONTRAST}/{name}:latest"] = f"{CONTRAST}/{name}:v1.25.0@{names[name].digest}"
    world.container["image"] = f"registry.example.com/shop/web:1.0@{names['web'].digest}"


NAMES = ["coordinator", "initializer", "service-mesh-proxy", "web", "init", "model", "plain"]


def test_what_a_render_injects_is_locked_and_the_render_takes_it(lock: Locking, world: World) -> None:
    names = one_by_one(NAMES)
    pinned(world, names)
    world.notes[f"{NOTE}servicemesh-egress"] = "backend#127.137.0.1:8081#backend:8080"
    world.pod["initContainers"] = [{"name": "init", "image": f"shop/init@{names['init'].digest}"}]

    run = deployed(lock, world, "--from", layout(lock, **names))

    assert run.code == 0, run.stderr
    assert set(lock.written()) == {
        *(f"{CONTRAST}/{name}:v1.25.0@{names[name].digest}" for name in NAMES[:3]),
        f"registry.example.com/shop/web:1.0@{names['web'].digest}",
        f"shop/init@{names['init'].digest}",
    }
    rendered = lock._call(
        *("generate", "resources.yaml", "--config", "config.yaml", "--config", "images.yaml", "-o", "rendered.yaml"),
        directory=lock.directory,
    )
    assert rendered.code == 0, rendered.stderr

    lock.lock.unlink()
    run = deployed(lock, world, "--from", layout(lock, **names))
    assert run.code == 0
    first = lock.lock.read_bytes()
    again = lock("rendered.yaml", "--config", "config.yaml", "--from", layout(lock, **names))
    assert again.code == 0, again.stderr
    assert again.stdout == first, "rendered output needs the same images as its input"
    bare = lock("rendered.yaml", "--from", layout(lock, **names))
    assert bare.stdout == first, "and names them all itself"
    assert "CC1211" in bare.stderr


def test_without_a_mesh_or_with_an_image_store(lock: Locking, world: World) -> None:
    names = one_by_one(NAMES)
    pinned(world, names)
    world.spec["imageStore"] = {"enabled": True}
    world.spec["initializer"] = {"enabled": False}
    assert deployed(lock, world, "--from", layout(lock, **names)).code == 0
    assert {name.partition(":")[0].rpartition("/")[2] for name in lock.written()} == {
        "coordinator",
        "initializer",
        "web",
    }


def test_image_volumes_are_images_too(lock: Locking, world: World) -> None:
    names = one_by_one(NAMES)
    source = layout(lock, **names)
    pod: dict[str, Any] = yaml.safe_load(pods(f"shop/web@{names['web'].digest}"))
    pod["spec"]["volumes"] = [{"name": "model", "image": {"reference": f"shop/model@{names['model'].digest}"}}]
    run = lock("--from", source, data=yaml.safe_dump(pod).encode())
    assert run.code == 0, run.stderr
    assert f"shop/model@{names['model'].digest}" in yaml.safe_load(run.stdout)["spec"]["images"]


def test_pods_that_are_not_confidential_are_left_alone(lock: Locking) -> None:
    text = pods("shop/web:1.0").replace(b"contrast-cc-metal-qemu-snp", b"runc")
    run = lock(data=text)
    assert run.code == 0
    assert run.stdout == b""
    assert "warning CC1210" in run.stderr


def test_a_resource_list_is_understood(lock: Locking) -> None:
    made = image()
    pod = yaml.safe_load(pods(f"shop/web@{made.digest}"))
    listed = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [pod]}
    run = lock("--from", layout(lock, web=made), data=json.dumps(listed).encode())
    assert run.code == 0, run.stderr


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda world: world.container.update(image="Not An Image"), "CC0503"),
        (lambda world: world.container.pop("image"), "CC0501"),
        (lambda world: world.container.update(image=[1]), "CC0207"),
        (lambda world: world.notes.update({f"{NOTE}servicemesh-egress": "x"}), "CC0204"),
        (lambda world: world.raw("web", lambda text: text + "  bad: [\n"), "CC0101"),
    ],
)
def test_a_workload_that_no_render_would_take(
    change: Callable[[World], object], code: str, lock: Locking, world: World
) -> None:
    change(world)
    run = deployed(lock, world, "--format", "json", "--from", "registry")
    assert run.code == 1, run.stderr
    assert [found["code"] for found in run.errors] == [code]
    assert run.errors[0].get("line", 0) > 0 or code == "CC0501"
    assert not lock.lock.exists()


# --- mistakes


@pytest.mark.parametrize(
    ("flags", "option"),
    [
        (("--from", "skopeo:x"), "--from"),
        (("--from", "oci:"), "--from"),
        (("--insecure-registry", "http://a"), "--insecure-registry"),
        (("--max-layer-size", "8GB"), "--max-layer-size"),
        (("--max-layer-size", "0"), "--max-layer-size"),
        (("--jobs", "0"), "--jobs"),
        (("--timeout", "-1"), "--timeout"),
        (("--prune",), "--prune"),
    ],
)
def test_flags_that_make_no_sense(flags: tuple[str, ...], option: str, lock: Locking) -> None:
    run = lock("--format", "json", *flags, data=pods("shop/web:1.0"))
    assert run.code == 2
    (error,) = run.errors
    assert error["code"] == "CC0909"
    assert error["message"].startswith(f"{option}: ")
    assert error["hint"]


@pytest.mark.parametrize("flag", ["--jobs", "--timeout"])
def test_a_number_that_is_none(flag: str, lock: Locking) -> None:
    run = lock(flag, "many", data=b"")
    assert run.code == 2
    assert run.stderr.startswith(f"contrast-krm: {flag}")


def test_an_output_that_cannot_be_written(lock: Locking) -> None:
    made = image()
    run = lock("-o", "none/images.yaml", "--from", layout(lock, web=made), data=pods(f"shop/web@{made.digest}"))
    assert run.code == 3
    assert "CC1002" in run.stderr


def test_a_report(lock: Locking) -> None:
    lock("--report", "said.json", "--format", "json", "--from", "oci:none", data=pods("shop/web:1.0"))
    (found,) = [
        one for one in json.loads((lock.directory / "said.json").read_text())["findings"] if one["severity"] == "error"
    ]
    assert found["code"] == "CC1254"


# --- TLS, and a terminal


def certificate(directory: Path) -> None:
    """A key and a certificate for 127.0.0.1 that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = made.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    signed = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(key, SHA256())
    (directory / "cert.pem").write_bytes(signed.public_bytes(Encoding.PEM))
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (directory / "key.pem").write_bytes(secret)


def test_tls_with_a_certificate_that_is_known_and_one_that_is_not(hub: Registry, front: Front, lock: Locking) -> None:
    certificate(lock.directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(lock.directory / "cert.pem", lock.directory / "key.pem")
    front.server.socket = context.wrap_socket(front.server.socket, server_side=True)
    name = front.named(hub.push(image(), "command/tls"))

    run = lock("-o", "images.yaml", "--format", "json", data=pods(name))
    assert run.code == 3
    assert "TLS fails: self-signed certificate" in run.errors[0]["message"].replace("self signed", "self-signed")
    assert "SSL_CERT_FILE" in run.errors[0]["hint"]

    lock.variables["SSL_CERT_FILE"] = str(lock.directory / "cert.pem")
    run = lock("-o", "images.yaml", data=pods(name))
    assert run.code == 0, run.stderr
    assert list(lock.written()) == [name]


@pytest.mark.parametrize("quiet", [False, True], ids=["usual", "quiet"])
def test_a_bar_on_a_terminal_only(quiet: bool, lock: Locking) -> None:
    made = image()
    command = [EXECUTABLE, "lock", "--from", layout(lock, web=made), *(["-q"] if quiet else [])]
    data = pods(f"shop/web@{made.digest}")
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 80))
    done = subprocess.run(
        command,
        input=data,
        stdout=subprocess.PIPE,
        stderr=follower,
        env=environment(TERM="xterm"),
        check=True,
        timeout=60,
    )
    os.write(follower, b"\nend\n")  # or there is nothing to read
    said = os.read(leader, 65536)
    os.close(follower)
    os.close(leader)
    assert (b"images: " in said) is not quiet
    assert yaml.safe_load(io.BytesIO(done.stdout))
    piped = subprocess.run(command, input=data, capture_output=True, env=environment(), check=True, timeout=60)
    assert b"images: " not in piped.stderr
    assert (b"1 image: 1 fetched" in piped.stderr) is not quiet


def test_an_index_in_a_layout_counts_as_one_image(lock: Locking) -> None:
    made = index([("linux/amd64", image())])
    entries = lock.entries(f"shop/web@{made.digest}", flags=("--from", layout(lock, web=made)))
    assert [entry["digest"] for entry in entries.values()] == [made.digest]
    assert digest(made.manifest) == made.digest
