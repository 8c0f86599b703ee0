"""Bytes of a manifest: Go's layout, strict reading, and the round trip."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.contrast.manifest import (
    MANIFEST,
    MAX_BYTES,
    MAX_DEPTH,
    OPERATOR,
    FieldProblem,
    ManifestError,
    canonical,
    decode,
    encode,
)
from krm_function.schema.values import Field, Flag, ListOf, MapOf, Number, Record, Spec, Text

GOLDEN = b"""{
  "Policies": {
    "0000000000000000000000000000000000000000000000000000000000000001": {
      "SANs": [
        "coordinator"
      ],
      "WorkloadSecretID": "apps/v1/StatefulSet/default/coordinator",
      "Role": "coordinator"
    },
    "0000000000000000000000000000000000000000000000000000000000000002": {
      "SANs": null
    }
  },
  "ReferenceValues": {
    "snp": [
      {
        "Platform": "Metal-QEMU-SNP",
        "ProductName": "Milan",
        "TrustedMeasurement": "",
        "APEIP": "0080b004",
        "MinimumTCB": {
          "BootloaderVersion": 3,
          "TEEVersion": null,
          "SNPVersion": null,
          "MicrocodeVersion": null
        },
        "GuestPolicy": {
          "ABIMinor": 0,
          "ABIMajor": 0,
          "SMT": true,
          "MigrateMA": false,
          "Debug": false,
          "SingleSocket": false,
          "CXLAllowed": false,
          "MemAES256XTS": false,
          "RAPLDis": false,
          "CipherTextHidingDRAM": false,
          "PageSwapDisable": false
        },
        "PlatformInfo": {
          "SMTEnabled": false,
          "TSMEEnabled": false,
          "ECCEnabled": false,
          "RAPLDisabled": false,
          "CiphertextHidingDRAMEnabled": false,
          "AliasCheckComplete": false,
          "TIOEnabled": false
        },
        "MinimumMitigationVector": 0,
        "AllowedChipIDs": []
      }
    ],
    "tdx": [
      {
        "Platform": "Metal-QEMU-TDX",
        "MinTCBEvaluationDataNumber": 0,
        "MrTd": "",
        "MrSeam": "",
        "Rtmrs": [
          "",
          "",
          "",
          ""
        ],
        "Rtmr0Alternatives": [
          "aa"
        ],
        "Xfam": "e702060000000000",
        "AllowedPIIDs": null,
        "MemoryIntegrity": false,
        "SMTDisabled": false,
        "StaticPlatform": false
      }
    ]
  },
  "WorkloadOwnerPubKeys": null,
  "SeedshareOwnerPubKeys": null
}
"""


def test_order_indentation_nulls_and_omissions_are_those_of_go() -> None:
    manifest = {
        "ReferenceValues": {
            "tdx": [{"Xfam": "e702060000000000", "Rtmr0Alternatives": ["aa"], "Platform": "Metal-QEMU-TDX"}],
            "snp": [
                {
                    "AllowedChipIDs": [],
                    "GuestPolicy": {"SMT": True},
                    "APEIP": "0080b004",
                    "MinimumTCB": {"BootloaderVersion": 3},
                    "ProductName": "Milan",
                    "Platform": "Metal-QEMU-SNP",
                    "PlatformInfo": None,
                }
            ],
        },
        "Policies": {
            f"{2:064x}": {"Role": "", "WorkloadSecretID": None},
            f"{1:064x}": {
                "Role": "coordinator",
                "WorkloadSecretID": "apps/v1/StatefulSet/default/coordinator",
                "SANs": ["coordinator"],
            },
        },
    }
    assert encode(manifest).decode() == GOLDEN.decode()
    assert encode(decode(GOLDEN)) == GOLDEN


def test_nothing_at_all_is_still_complete() -> None:
    assert json.loads(encode({})) == {
        "Policies": None,
        "ReferenceValues": {},
        "WorkloadOwnerPubKeys": None,
        "SeedshareOwnerPubKeys": None,
    }
    assert b'"ReferenceValues": {},' in encode({"ReferenceValues": {"snp": [], "tdx": None}})


def test_text_is_escaped_as_go_does() -> None:
    san = '<&>\u2028\u2029 \u00e4 \U0001f511 \x7f " \\ / \b\f\n\r\t\x00\x1f'
    line = next(line for line in encode({"Policies": {"x": {"SANs": [san]}}}).splitlines() if b"u003c" in line)
    expected = '"\\u003c\\u0026\\u003e\\u2028\\u2029 ä 🔑 \x7f \\" \\\\ / \\b\\f\\n\\r\\t\\u0000\\u001f"'
    assert line.strip() == expected.encode()


@pytest.mark.parametrize(
    ("manifest", "field"),
    [
        ({"Policy": {}}, "Policy"),
        ({1: {}}, "1"),
        ({"Policies": []}, "Policies"),
        ({"Policies": {"a": {"SANs": "web"}}}, "Policies.a.SANs"),
        ({"Policies": {"a": {"SANs": ["\ud800"]}}}, "Policies.a.SANs[0]"),
        ({"Policies": {"\ud800": {}}}, "Policies.\\ud800"),
        ({"Policies": {1: {}}}, "Policies.1"),
        (
            {"ReferenceValues": {"snp": [{"MinimumTCB": {"TEEVersion": True}}]}},
            "ReferenceValues.snp[0].MinimumTCB.TEEVersion",
        ),
        ({"ReferenceValues": {"tdx": [{}, {"Rtmrs": ["", ""]}]}}, "ReferenceValues.tdx[1].Rtmrs"),
        (
            {"ReferenceValues": {"tdx": [{"MinTCBEvaluationDataNumber": 1.0}]}},
            "ReferenceValues.tdx[0].MinTCBEvaluationDataNumber",
        ),
    ],
)
def test_what_cannot_be_written_without_loss_is_refused(manifest: Any, field: str) -> None:
    with pytest.raises(FieldProblem) as caught:
        encode(manifest)
    assert caught.value.problem.field == field
    assert str(caught.value).startswith(f"{field}: ")


def test_names_in_any_case_are_understood_as_go_does() -> None:
    text = '{"policies": {"AB": {"sans": ["x"], "ROLE": "coordinator"}}, "referencevalues": {"SNP": [{"apeip": "00"}]}}'
    assert decode(text.encode()) == {
        "Policies": {"AB": {"SANs": ["x"], "Role": "coordinator"}},
        "ReferenceValues": {"snp": [{"APEIP": "00"}]},
    }
    kelvin = '{"WorkloadOwnerPub\u212aeys": [], "Tru\ufb06edMeasurement": 1}'
    assert decode(kelvin.encode()) == {"WorkloadOwnerPubKeys": [], "Tru\ufb06edMeasurement": 1}


def test_what_is_unknown_or_of_the_wrong_type_is_kept_for_validation() -> None:
    text = b'{"Policies": [1], "Extra": {"a": 1.5}, "ReferenceValues": {"snp": {"platform": 1}}}'
    assert decode(text) == json.loads(text)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'{"a": 1} x', "not JSON"),
        (b'{"a": 1,}', "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": "\x01"}', "not JSON"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b'{"a": 1, "a": 1}', "duplicate key a"),
        (b'{"Policies": {"x": {"Role": "", "role": "coordinator"}}}', "duplicate key Policies.x.Role"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"\\udfff": 1}', "surrogate"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
        (b'{"a": ' + b"1" * 5000 + b"}", "too long"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, f"deeper than {MAX_DEPTH}"),
        (b'{"a":' + b"[" * 100_000, f"deeper than {MAX_DEPTH}"),
        (b" " * (MAX_BYTES + 1), "the limit is"),
    ],
)
def test_bytes_that_two_readers_could_read_differently_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ManifestError, match=message):
        decode(data)


def test_a_syntax_error_has_a_place() -> None:
    with pytest.raises(ManifestError) as caught:
        decode(b'{\n  "a" 1}')
    assert (caught.value.line, caught.value.column) == (2, 7)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def values_of(spec: Spec) -> st.SearchStrategy[Any]:
    """Any value of the spec's type, whether valid or not."""
    match spec:
        case Number():
            return st.integers(spec.least, spec.most)
        case Flag():
            return st.booleans()
        case Text() if spec.pattern:
            return st.binary(max_size=4).map(bytes.hex)
        case ListOf():
            size = spec.length
            lists = st.lists(values_of(spec.items), min_size=size or 0, max_size=2 if size is None else size)
            return lists if size else st.none() | lists
        case Record():
            return st.fixed_dictionaries({}, optional={name: field_of(field) for name, field in spec.fields.items()})
        case MapOf():
            return st.dictionaries(TEXT, values_of(spec.values), max_size=3)
        case _:
            return TEXT


def field_of(field: Field) -> st.SearchStrategy[Any]:
    """Any value of a field: null, too, where Go has a pointer."""
    made = values_of(field.spec)
    return st.none() | made if OPERATOR in field.marks and isinstance(field.spec, Number) else made


MANIFESTS = values_of(MANIFEST)


@settings(max_examples=60, deadline=None)
@given(MANIFESTS)
def test_encoding_and_decoding_are_inverse(manifest: dict[str, Any]) -> None:
    data = encode(manifest)
    assert data.endswith(b"}\n")
    decoded = decode(data)
    assert decoded == canonical(manifest) == canonical(decoded)
    assert encode(decoded) == data
    assert list(decoded["Policies"] or ()) == sorted(decoded["Policies"] or ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    try:
        decoded = decode(data)
    except ManifestError:
        return
    assert isinstance(decoded, dict)
