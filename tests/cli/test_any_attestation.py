"""Whatever stands in an attestation: it is read as a statement of ours, or refused with a reason, and nothing else."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from krm_function.findings import finding
from krm_function.provenance.attestation import AttestationProblem, Statement, parse_attestation
from krm_function.provenance.statement import Artefact, Call, Material, make_statement
from tests.cli.test_check_attestation import FORMS

DIGEST = "0" * 64
CALL = Call("generate", ("resources",), ("config",), {"in-place": True}, "v1.25.0", "contrast-1.25", "native")
MATERIALS = (Material("input", "resources/web.yaml", DIGEST), Material("config", "config/contrast.yaml", "1" * 64))
OUTPUTS = (Artefact("out.yaml", "2" * 64), Artefact("manifest.json", "3" * 64))
GOOD = make_statement(CALL, MATERIALS, OUTPUTS, {"contrast-krm": "1.0.0", "commit": "", "build": "release"})

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
ANYTHING = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def read(data: bytes) -> Statement | None:
    """The statement; None if it is refused, in words that the table of findings has."""
    try:
        return parse_attestation(data)
    except AttestationProblem as problem:
        cause = problem.cause
    assert finding(cause.code, **cause.values).code == "CC1330"
    return None


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    assert read(data) is None


@given(ANYTHING)
def test_any_value_is_refused(value: Any) -> None:
    assert read(json.dumps(value).encode()) is None


@given(st.data(), st.sampled_from(sorted(FORMS)))
def test_any_value_at_any_place_is_read_or_refused(data: st.DataObject, form: str) -> None:
    wrapped = FORMS[form](json.loads(GOOD))
    place: Any = wrapped
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        below = place[key]
        if not isinstance(below, dict | list) or not below or data.draw(st.booleans()):
            place[key] = data.draw(ANYTHING)
            break
        place = below
    made = read(json.dumps(wrapped).encode())
    if made is not None:
        assert made.outputs
        assert all(len(one.sha256) == 64 for one in made.outputs)
        assert all(len(one.sha256) == 64 for one in made.materials)


@given(
    st.lists(st.builds(Artefact, st.text(max_size=50), st.just(DIGEST)), min_size=1, max_size=5),
    st.lists(
        st.builds(Material, st.sampled_from(["input", "config", "settings"]), st.text(max_size=50), st.just(DIGEST))
    ),
)
def test_what_is_written_is_read_back(outputs: list[Artefact], materials: list[Material]) -> None:
    data = make_statement(CALL, materials, outputs, {"contrast-krm": "1.0.0", "commit": "f" * 40, "build": "git"})
    assert data.isascii()
    made = read(data)
    assert made is not None
    assert [one.sha256 for one in made.outputs] == [one.sha256 for one in outputs]
    assert [(one.role, one.sha256) for one in made.materials] == [(one.role, one.sha256) for one in materials]
    assert not made.signed
