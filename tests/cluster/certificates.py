"""The certificate of the API server and the key of its service accounts, for one session of tests."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

DAYS = 2


def write_certificates(directory: Path) -> None:
    """Write ca.crt, server.crt, server.key and service-accounts.key (which signs tokens and verifies them)."""
    authority_key, server_key, tokens_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    authority, server = _named("cluster-ca"), _named("kube-apiserver")
    ca = _certificate(authority, authority, authority_key, authority_key)
    ca = ca.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    leaf = _certificate(server, authority, server_key, authority_key).add_extension(here, critical=False)
    for name, made in (("ca.crt", ca), ("server.crt", leaf)):
        (directory / name).write_bytes(made.sign(authority_key, hashes.SHA256()).public_bytes(Encoding.PEM))
    for name, key in (("server.key", server_key), ("service-accounts.key", tokens_key)):
        text = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        (directory / name).write_bytes(text)
        (directory / name).chmod(0o600)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    # Python 3.13 and later verify strictly: both key identifiers have to be there
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    issued = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    builder = builder.add_extension(issued, critical=False)
    usage = x509.KeyUsage(True, False, False, False, False, subject == issuer, subject == issuer, False, False)
    builder = builder.add_extension(usage, critical=True).serial_number(x509.random_serial_number())
    before, after = now - dt.timedelta(hours=1), now + dt.timedelta(days=DAYS)
    return builder.not_valid_before(before).not_valid_after(after)
