"""Required node affinity: every operator, present and absent, and what is no operator at all."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.nodes import holds, required_terms, requirement_text, unmatched

LABELS = {"tee": "snp", "cores": "64", "zero": "", "odd": "064", "big": "9223372036854775808", "word": "6_4"}


def one(key: str, operator: Any, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


@pytest.mark.parametrize(
    ("requirement", "answer"),
    [
        (one("tee", "In", "snp", "tdx"), True),
        (one("tee", "In", "tdx"), False),
        (one("none", "In", "snp"), False),
        (one("zero", "In", ""), True),
        (one("tee", "NotIn", "snp"), False),
        (one("tee", "NotIn", "tdx"), True),
        (one("none", "NotIn", "tdx"), True),  # what is absent is in no list
        (one("tee", "In"), False),  # without values: invalid, so never
        (one("tee", "NotIn"), False),
        (one("tee", "Exists"), True),
        (one("none", "Exists"), False),
        (one("tee", "Exists", "snp"), False),  # with values: invalid
        (one("tee", "DoesNotExist"), False),
        (one("none", "DoesNotExist"), True),
        (one("none", "DoesNotExist", "x"), False),
        (one("cores", "Gt", "63"), True),
        (one("cores", "Gt", "64"), False),
        (one("cores", "Lt", "65"), True),
        (one("cores", "Lt", "64"), False),
        (one("cores", "Gt", "-1"), True),
        (one("cores", "Gt", "+63"), True),
        (one("odd", "Gt", "63"), True),  # base 10, whatever it begins with
        (one("tee", "Gt", "1"), False),
        (one("none", "Lt", "1"), False),  # unlike NotIn, an absent label is not less than anything
        (one("zero", "Lt", "1"), False),
        (one("big", "Gt", "1"), False),  # more than 64 bits
        (one("word", "Gt", "1"), False),  # Python would read an underscore, Go does not
        (one("cores", "Gt", "1", "2"), False),
        (one("cores", "Gt"), False),
        (one("cores", "Gt", "1.5"), False),
        (one("cores", "Gt", " 1"), False),
        (one("tee", "in", "snp"), False),
        (one("tee", None, "snp"), False),
        ({"operator": "Exists"}, False),
        ({"key": "tee", "operator": "In", "values": "snp"}, False),
        ({"key": "tee", "operator": "In", "values": [1]}, False),
    ],
)
def test_an_operator(requirement: dict[str, Any], answer: bool) -> None:
    assert holds(requirement, LABELS) is answer


def term(*expressions: dict[str, Any], fields: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"matchExpressions": list(expressions), "matchFields": list(fields)}


def reason(*terms: dict[str, Any]) -> str:
    return unmatched(list(terms), "snp-1", LABELS)


def test_one_term_is_enough() -> None:
    assert not reason(term(one("tee", "In", "tdx")), term(one("tee", "In", "snp")))


def test_within_a_term_everything_must_hold() -> None:
    assert reason(term(one("tee", "Exists"), one("zone", "In", "a", "b"))) == "zone in (a, b)"


def test_all_terms_that_fail_are_told() -> None:
    assert reason(term(one("tee", "In", "tdx")), term(one("cores", "Gt", "64"))) == "tee in (tdx) or cores > 64"


def test_no_affinity_matches_every_node() -> None:
    assert required_terms({}) is None
    assert (
        required_terms({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}}) is None
    )
    assert unmatched(None, "snp-1", {}) == ""


@pytest.mark.parametrize("required", [{}, {"nodeSelectorTerms": []}, {"nodeSelectorTerms": "no"}, "no"])
def test_a_required_affinity_without_terms_matches_no_node(required: Any) -> None:
    spec = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}
    assert unmatched(required_terms(spec), "snp-1", LABELS)


def test_an_empty_term_matches_no_node() -> None:
    assert reason({}) == "an empty term, which matches no node"
    assert not reason({}, term(one("tee", "Exists")))


@pytest.mark.parametrize(
    ("field", "answer"),
    [
        (one("metadata.name", "In", "snp-1"), True),
        (one("metadata.name", "In", "snp-2"), False),
        (one("metadata.name", "NotIn", "snp-2"), True),
        (one("metadata.name", "NotIn", "snp-1"), False),
        (one("metadata.name", "In", "snp-1", "snp-2"), False),  # one value, says the API
        (one("metadata.name", "Exists"), False),
        (one("metadata.uid", "In", "snp-1"), False),
    ],
)
def test_a_field(field: dict[str, Any], answer: bool) -> None:
    assert (not reason(term(fields=(field,)))) is answer
    assert (not reason(term(one("tee", "Exists"), fields=(field,)))) is answer


@given(st.sampled_from(sorted(LABELS)), st.lists(st.sampled_from(["snp", "tdx", "64", ""]), min_size=1))
def test_in_and_not_in_are_opposites_for_a_label_that_is_there(key: str, values: list[str]) -> None:
    assert holds(one(key, "In", *values), LABELS) is not holds(one(key, "NotIn", *values), LABELS)


@given(st.dictionaries(st.text(max_size=3), st.recursive(st.none() | st.text(max_size=3), st.lists, max_leaves=4)))
def test_any_shape_has_an_answer(requirement: dict[str, Any]) -> None:
    assert holds(requirement, LABELS) in {True, False}
    assert requirement_text(requirement)
