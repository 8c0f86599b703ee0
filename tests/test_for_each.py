import pytest

from tests.for_each import for_each


def test_each_value_that_fails_is_named() -> None:
    @for_each("number", [1, 2, 3, 4])
    def even(number: int) -> None:
        assert number % 2 == 0, "odd"

    with pytest.raises(AssertionError, match=r"(?s)2 of 4\n1: AssertionError: odd.*3: AssertionError: odd"):
        even()


@for_each("number", [1, 2])
def test_another_parameter_is_a_fixture(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(monkeypatch, pytest.MonkeyPatch)
    assert number


def test_no_value_is_no_test() -> None:
    with pytest.raises(AssertionError, match="cannot fail"):
        for_each("number", [])
