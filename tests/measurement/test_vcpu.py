"""How vCPUs are counted: docs/facts/contrast.md#vcpus."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.contrast.measurement import vcpu_count

MILLI = st.lists(st.integers(0, 300_000), max_size=5)


@pytest.mark.parametrize(
    ("containers", "sidecars", "init", "pod", "expected"),
    [
        ((), (), (), 0, 1),
        ((0, 0), (), (0,), 0, 1),
        ((1500,), (), (), 0, 3),  # the worked example of section 14
        ((1000,), (), (), 0, 2),
        ((1001,), (), (), 0, 3),
        ((1,), (), (), 0, 2),
        ((500, 500), (), (), 0, 2),
        ((500,), (501,), (501,), 0, 3),  # a sidecar runs beside the containers
        ((500,), (), (800, 900), 0, 3),  # init containers are summed, not maximised
        ((500,), (700,), (700, 2000), 0, 4),
        ((500,), (), (500,), 7000, 8),
    ],
)
def test_the_largest_of_the_three_sums_is_rounded_up_and_one_is_added(
    containers: tuple[int, ...], sidecars: tuple[int, ...], init: tuple[int, ...], pod: int, expected: int
) -> None:
    assert vcpu_count(containers, sidecars, init, pod) == expected


def test_iterators_do() -> None:
    assert vcpu_count(iter([1000]), iter([1000]), iter([1000]), 0) == 3


@pytest.mark.parametrize("where", range(4))
def test_a_negative_limit_is_refused(where: int) -> None:
    limits = [[0], [0], [0], [0]]
    limits[where] = [-1]
    with pytest.raises(ValueError, match="negative"):
        vcpu_count(limits[0], limits[1], limits[2], limits[3][0])


@given(MILLI, MILLI, MILLI, st.integers(0, 300_000))
def test_the_count_covers_every_sum_with_one_to_spare(
    containers: list[int], sidecars: list[int], plain: list[int], pod: int
) -> None:
    count = vcpu_count(containers, sidecars, sidecars + plain, pod)
    needed = max(sum(containers) + sum(sidecars), sum(sidecars) + sum(plain), pod)
    assert (count - 2) * 1000 < max(needed, 1) <= max((count - 1) * 1000, 1)
