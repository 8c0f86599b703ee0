"""Owner keys: public ones in, hex out, and nothing of a key in a message."""

import base64
import re

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_public_key,
)

from krm_function.contrast.owner_keys import (
    KeyProblem,
    seedshare_owner,
    seedshare_problem,
    workload_owner,
    workload_problem,
)

EC = ec.generate_private_key(ec.SECP384R1())
RSA = rsa.generate_private_key(65537, 2048)
PKIX, PKCS1 = PublicFormat.SubjectPublicKeyInfo, PublicFormat.PKCS1
EC_PEM = EC.public_key().public_bytes(Encoding.PEM, PKIX).decode()
RSA_PEM = RSA.public_key().public_bytes(Encoding.PEM, PKCS1).decode()
RSA_PKIX_PEM = RSA.public_key().public_bytes(Encoding.PEM, PKIX).decode()
RSA_HEX = RSA.public_key().public_bytes(Encoding.DER, PKCS1).hex()


def pem(kind: str, der: bytes) -> str:
    return f"-----BEGIN {kind}-----\n{base64.encodebytes(der).decode()}-----END {kind}-----\n"


def ec_der(curve: ec.EllipticCurve) -> bytes:
    return ec.generate_private_key(curve).public_key().public_bytes(Encoding.DER, PKIX)


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1()])
def test_an_ecdsa_key_becomes_the_hex_of_its_pkix_der(curve: ec.EllipticCurve) -> None:
    der = ec_der(curve)
    assert workload_owner(pem("PUBLIC KEY", der)) == der.hex()
    assert workload_problem(der.hex()) == ""


def test_line_ends_indentation_and_text_around_do_not_matter() -> None:
    expected = EC.public_key().public_bytes(Encoding.DER, PKIX).hex()
    assert workload_owner(EC_PEM.replace("\n", "\r\n")) == expected
    assert workload_owner(f"my key\n{EC_PEM}\nthe end") == expected
    assert workload_owner(EC_PEM.rstrip()) == expected


def test_a_compressed_point_is_written_out() -> None:
    curve = bytes.fromhex("3046301006072a8648ce3d020106052b81040022033200")
    point = EC.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    der = curve[:2] + curve[2:] + point
    assert isinstance(load_der_public_key(der), ec.EllipticCurvePublicKey)
    assert workload_owner(pem("PUBLIC KEY", der)) == workload_owner(EC_PEM)
    assert "compressed" in workload_problem(der.hex())


@pytest.mark.parametrize("text", [RSA_PEM, RSA_PKIX_PEM, pem("PUBLIC KEY", bytes.fromhex(RSA_HEX))])
def test_every_encoding_of_an_rsa_key_becomes_the_hex_of_its_pkcs1_der(text: str) -> None:
    assert seedshare_owner(text) == RSA_HEX
    assert seedshare_problem(RSA_HEX) == ""


@pytest.mark.parametrize(
    "text",
    [
        EC.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode(),
        EC.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        RSA.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode(),
        EC_PEM + EC.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        "-----BEGIN ENCRYPTED PRIVATE KEY-----",
    ],
)
def test_a_private_key_is_refused_wherever_it_stands(text: str) -> None:
    for read in (workload_owner, seedshare_owner):
        with pytest.raises(KeyProblem, match="private keys do not belong in the configuration"):
            read(text)


ED25519 = ed25519.Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.DER, PKIX)
WRONG_WORKLOAD_KEYS = [
    ("", "no PEM block"),
    ("hello", "no PEM block"),
    (EC_PEM + EC_PEM, "2 PEM blocks"),
    (EC_PEM.replace("PUBLIC", "CERTIFICATE"), "of an unknown kind"),
    (EC_PEM.replace("PUBLIC KEY", "CERTIFICATE"), "type: CERTIFICATE; PUBLIC KEY is needed"),
    (RSA_PEM, "type: RSA PUBLIC KEY; PUBLIC KEY is needed"),
    (RSA_PKIX_PEM, "must be an ECDSA"),
    (pem("PUBLIC KEY", ED25519), "must be an ECDSA"),
    (pem("PUBLIC KEY", ec_der(ec.SECP256K1())), "P-224"),
    (pem("PUBLIC KEY", b"garbage"), "no public key can be read"),
    (EC_PEM.replace("-----END PUBLIC KEY-----", ""), "damaged"),
    (EC_PEM.replace("M", "*", 1), "damaged"),
    (EC_PEM.replace("-----END", "A-----END"), "base64"),
    ("A" * 70_000, "too long"),
]


@pytest.mark.parametrize(("text", "problem"), WRONG_WORKLOAD_KEYS)
def test_what_is_no_workload_owner_key_is_refused_without_quoting_it(text: str, problem: str) -> None:
    with pytest.raises(KeyProblem, match=re.escape(problem)) as caught:
        workload_owner(text)
    assert not [word for word in text.split() if len(word) > 20 and word in str(caught.value)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (EC_PEM, "must be an RSA"),
        (pem("CERTIFICATE REQUEST", b"x"), "RSA PUBLIC KEY or PUBLIC KEY is needed"),
        (pem("RSA PUBLIC KEY", b"x"), "no public key can be read"),
    ],
)
def test_what_is_no_seedshare_owner_key_is_refused(text: str, problem: str) -> None:
    with pytest.raises(KeyProblem, match=problem):
        seedshare_owner(text)


def test_a_weak_rsa_key_is_refused() -> None:
    weak = rsa.RSAPublicNumbers(65537, (1 << 1535) + 1).public_key()
    with pytest.raises(KeyProblem, match="2048 bits"):
        seedshare_owner(weak.public_bytes(Encoding.PEM, PKCS1).decode())


@pytest.mark.parametrize("digits", ["", "zz", "00", "0", EC_PEM, RSA_HEX])
def test_hex_that_is_no_ecdsa_key_has_a_problem(digits: str) -> None:
    assert workload_problem(digits)


@pytest.mark.parametrize("digits", ["", "00", workload_owner(EC_PEM), RSA_HEX + "00"])
def test_hex_that_is_no_pkcs1_key_has_a_problem(digits: str) -> None:
    assert seedshare_problem(digits)


def test_an_rsa_key_in_pkix_der_is_named_as_another_encoding() -> None:
    der = RSA.public_key().public_bytes(Encoding.DER, PKIX)
    assert "PKCS#1" in seedshare_problem(der.hex())
