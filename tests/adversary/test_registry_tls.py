"""What holds of a registry over plain HTTP holds over TLS and through a proxy: every wait ends there as well."""

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from krm_function.findings import Finding
from krm_function.kubernetes.image import Image, parse_image
from krm_function.lock.connections import Pace, Transport
from krm_function.lock.registry import Credentials, Registry
from krm_function.lock.resolve import LockLimits, Run, resolve_all
from tests.adversary.hostile_registry import Mode, Server, Talk
from tests.adversary.registry_modes import NEVER, OK, SLOW, half, on, then
from tests.lock.content import PASSWD, image
from tests.wording import wording

# a handshake takes a while on a busy machine, so the pace is slower than elsewhere
PACE = Pace(connect=10, quiet=1.0, wait=0.01)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate of its own for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture(autouse=True)
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def context(certificate: Path) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate)
    return made


def locked(name: str, directory: Path, *plain: str) -> Run:
    made = parse_image(name)
    assert isinstance(made, Image)
    source = Registry(Transport(plain, 2, PACE), Credentials(str(directory / "none")))
    return resolve_all([made], [source], {}, LockLimits(1 << 20, 20), 2, lambda _: None)


def only(run: Run) -> Finding:
    ((found,),) = run.findings
    return found


def test_a_registry_over_tls(context: ssl.SSLContext, tmp_path: Path) -> None:
    server = Server(image(), Talk.good, tls=context)
    try:
        run = locked(server.name, tmp_path)
    finally:
        server.close()
    assert run.entries[server.name]["passwd"] == PASSWD, run.findings


def test_a_certificate_that_nobody_knows(
    context: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty.pem").write_text("")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "empty.pem"))
    server = Server(image(), Talk.good, tls=context)
    try:
        found = only(locked(server.name, tmp_path))
    finally:
        server.close()
    assert "TLS fails: self-signed certificate" in found.message
    assert not server.heads


MODES: dict[str, tuple[Mode, str]] = {
    "drips a header": (then(OK + b"X: ", Talk.drip), SLOW),
    "drips 100 Continue": (then(b"", lambda talk: talk.drip(b"HTTP/1.1 100 Continue\r\n\r\n")), SLOW),
    "is silent": (then(b"", Talk.hang), NEVER),
    "stops inside of a body": (on("/blobs/", lambda talk: half(talk, Talk.hang)), SLOW),
    "floods with 100 Continue": (
        then(b"", lambda talk: talk.flood(b"HTTP/1.1 100 Continue\r\n\r\n")),
        wording("CC1250.endless"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "says"), MODES.values(), ids=list(MODES))
def test_a_registry_over_tls_that(mode: Mode, says: str, context: ssl.SSLContext, tmp_path: Path) -> None:
    server = Server(image(), mode, tls=context)
    try:
        found = only(locked(server.name, tmp_path))
    finally:
        server.close()
    assert found.code == "CC1250"
    assert says in found.message


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("no_proxy", "NO_PROXY", "https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_a_proxy_that_drips_its_answer_to_connect(proxied: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server = Server(image(), lambda talk: talk.drip(b"HTTP/1.1 200 a"))
    proxied.setenv("https_proxy", f"http://CANARY:CANARY@{server.address}")
    try:
        found = only(locked(f"registry.example.com/a/b@{image().digest}", tmp_path))
    finally:
        server.close()
    assert found.code == "CC1250"
    assert SLOW in found.message
    assert "CANARY" not in found.message
    assert server.heads[0].startswith(b"CONNECT registry.example.com:443 HTTP/1.")


def test_a_proxy_that_passes_on(proxied: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server = Server(image(), Talk.good)
    proxied.setenv("http_proxy", f"http://{server.address}")
    name = f"registry.example.com/a/b@{image().digest}"
    try:
        run = locked(name, tmp_path, "registry.example.com")
    finally:
        server.close()
    assert run.entries[name]["passwd"] == PASSWD, run.findings
