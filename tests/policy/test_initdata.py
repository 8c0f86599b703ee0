import base64
import gzip
import hashlib
import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.policy.initdata import (
    Initdata,
    _pack_prefix,
    annotation,
    annotation_and_digest,
    decode_toml,
    digest,
    encode_toml,
    fits_literal,
    from_annotation,
    host_data,
    pretty,
    read_policy_data,
)
from tests.policy.pods import rego_document

TEXT = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("'\"\\\n\r\t\0\x7f")))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=8,
)


def test_layout() -> None:
    document = Initdata("0.1.0", "sha256", {"policy.rego": "package x\n", "aa.toml": "a = 'b'"})
    assert encode_toml(document) == (
        b'version = "0.1.0"\nalgorithm = "sha256"\n\n[data]\n'
        b'"aa.toml" = "a = \'b\'"\n'
        b"\"policy.rego\" = '''\npackage x\n'''\n"
    )


@given(data=st.dictionaries(TEXT, TEXT, max_size=4))
def test_always_valid_toml(data: dict[str, str]) -> None:
    document = Initdata("0.1.0", "sha384", data)
    toml = encode_toml(document)

    assert tomllib.loads(toml.decode()) == {"version": "0.1.0", "algorithm": "sha384", "data": data}
    assert decode_toml(toml) == document
    assert encode_toml(document._replace(data=dict(reversed(data.items())))) == toml


@given(toml=st.binary(max_size=200))
def test_annotations_read_back(toml: bytes) -> None:
    value = annotation(toml)

    assert from_annotation(value) == toml
    assert gzip.decompress(base64.b64decode(value, validate=True)) == toml
    assert annotation(toml) == value


def with_policy(rules: bytes, data: bytes) -> bytes:
    """A document in the order in which `seal` writes it."""
    return rules + b"\npolicy_data := {" + data


@given(rules=st.binary(max_size=70_000), rest=st.lists(st.binary(max_size=2_000), max_size=4))
def test_packing_a_shared_beginning_once_changes_nothing(rules: bytes, rest: list[bytes]) -> None:
    toml = with_policy(rules, b'"Annotations": {'.join(rest))
    _pack_prefix.cache_clear()
    first = annotation_and_digest(toml)

    assert annotation_and_digest(toml) == first == (annotation(toml), digest(toml))
    assert from_annotation(first[0]) == toml


def test_annotations_of_equal_rules_begin_with_the_same_text_so_that_helm_stores_it_once() -> None:
    rules = hashlib.shake_128(b"rules").digest(6_000)  # does not compress
    one, other = (annotation(with_policy(rules, name * 40)) for name in (b"web", b"db, and more"))

    assert one != other

    assert one[:8_000] == other[:8_000]  # 6 000 bytes in base64


def test_the_gzip_header_tells_nothing() -> None:
    assert base64.b64decode(annotation(b"x"))[:10].hex() == "1f8b08000000000000ff"


def test_bombs() -> None:
    bomb = base64.b64encode(gzip.compress(bytes(17 * 1024 * 1024), mtime=0)).decode()
    with pytest.raises(ValueError, match="more than"):
        from_annotation(bomb)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "cut off"),
        ("%", "not base64"),
        ("\u00e4", "not base64"),
        ("YWJj", "not gzip"),
        (annotation(b"x" * 99)[:-8], "cut off"),
        (base64.b64encode(gzip.compress(b"a", mtime=0) + b"b").decode(), "followed"),
    ],
)
def test_annotations_that_are_none(value: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        from_annotation(value)


@pytest.mark.parametrize(
    ("toml", "problem"),
    [
        (b"\xff", "not UTF-8"),
        (b"a", "not TOML"),
        (b"a = " + b"[" * 100_000, "not TOML"),
        (b"", "version"),
        (b'version = "0.2.0"\nalgorithm = "sha256"\n[data]', "version"),
        (b'version = "0.1.0"\nalgorithm = "md5"\n[data]', "algorithm"),
        (b'version = "0.1.0"\nalgorithm = 256\n[data]', "algorithm"),
        (b'version = "0.1.0"\nalgorithm = "sha256"', "table of strings"),
        (b'version = "0.1.0"\nalgorithm = "sha256"\n[data]\na = 1', "table of strings"),
    ],
)
def test_documents_that_are_none(toml: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        decode_toml(toml)


def test_the_spelling_with_a_dash() -> None:
    assert decode_toml(b'version = "0.1.0"\nalgorithm = "sha-256"\n[data]').algorithm == "sha256"


def test_digests() -> None:
    assert digest(b"x") == hashlib.sha256(b"x").hexdigest()
    assert digest(b"x", "sha512") == hashlib.sha512(b"x").hexdigest()
    with pytest.raises(ValueError, match="algorithm"):
        digest(b"x", "md5")


def test_widths_of_the_hardware() -> None:
    assert host_data("ab" * 32, "snp") == b"\xab" * 32
    assert host_data("ab" * 32, "tdx") == b"\xab" * 32 + bytes(16)
    assert host_data("ab" * 48, "snp") == b"\xab" * 32
    assert host_data("ab" * 32, "cca") == b"\xab" * 32 + bytes(32)


@given(value=JSON)
def test_pretty_json_reads_back(value: object) -> None:
    text = pretty(value)
    assert fits_literal(f"{text}\n}}"), "the seal does not look"

    assert json.loads(text) == value
    assert "'''" not in text
    assert "\x7f" not in text


def test_pretty_json_looks_like_genpolicy_s() -> None:
    value = {"a": [], "b": {}, "c": ["x", {"d": None}], "e": True, "f": -1}
    assert pretty(value) == json.dumps(value, indent=2)
    assert pretty("'''''''") == "\"''\\u0027''\\u0027'\""


def test_a_policy_reads_back() -> None:
    data = {"containers": [{"a": "it's '''\n\u20ac"}], "common": {}}
    rego = rego_document("package agent_policy\n", data)

    assert rego.startswith('package agent_policy\n\npolicy_data := {\n  "containers": [\n')
    assert read_policy_data(rego) == data
    assert read_policy_data(rego + "\n# more\n") == data


@pytest.mark.parametrize(
    "rego",
    [
        *("", "package x", "\npolicy_data := {", "\npolicy_data := []", "\npolicy_data := {}"),
        *('\npolicy_data := {"containers": [], "containers": []}', f"\npolicy_data := {'[' * 100_000}"),
    ],
)
def test_what_is_no_policy(rego: str) -> None:
    with pytest.raises(ValueError, match="policy"):
        read_policy_data(rego)


def test_data_of_another_kind_is_a_bug() -> None:
    with pytest.raises(TypeError, match="float"):
        pretty([1.5])
