"""Which RTMR0 a manifest gets: docs/facts/contrast-manifest.md#rtmr0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.contrast.measurement import UnknownVcpuCount, select_rtmr0

TABLE = {"1": "cc", "2": "aa", "3": "bb", "4": "aa"}


def test_the_smallest_comes_first_and_the_rest_follow_in_order() -> None:
    assert select_rtmr0(TABLE, [1, 2, 3]) == ("aa", ("bb", "cc"))


def test_equal_values_of_different_counts_are_named_once() -> None:
    assert select_rtmr0(TABLE, [2, 4, 2]) == ("aa", ())


def test_a_count_the_table_lacks_is_named() -> None:
    with pytest.raises(UnknownVcpuCount) as caught:
        select_rtmr0(TABLE, [9, 1, 7])
    assert caught.value.count == 7
    assert str(caught.value) == "no RTMR0 for 7 vCPUs"
    assert isinstance(caught.value, KeyError)


def test_no_counts_are_no_selection() -> None:
    with pytest.raises(ValueError, match="no vCPU counts"):
        select_rtmr0(TABLE, [])


@given(st.permutations([1, 2, 3, 4, 1, 2]))
def test_the_order_of_workloads_is_irrelevant(counts: list[int]) -> None:
    assert select_rtmr0(TABLE, counts) == ("aa", ("bb", "cc"))
