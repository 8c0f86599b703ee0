import re

from hypothesis import example, given
from hypothesis import strategies as st

from krm_function.kubernetes.objects import fits


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
@example("a*a", "a")
@example("**", "")
@example("*a*ba", "aba")
def test_a_pattern_is_the_regular_expression_of_its_pieces(pattern: str, name: str) -> None:
    regex = ".*".join(re.escape(piece) for piece in pattern.split("*"))
    assert fits(pattern, name) == bool(re.fullmatch(regex, name))


def test_no_character_but_the_star_has_a_meaning() -> None:
    assert not fits("a.c", "abc")
    assert not fits("a?", "ab")
    assert not fits("[ab]", "a")
    assert fits("a.*", "a.b")
    assert not fits("a.*", "ab")


def test_many_stars_take_no_time() -> None:
    assert not fits("*a" * 500, "a" * 499 + "b" * 100_000)
