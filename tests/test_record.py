"""Our records against the standard library's: the same answers to everything that the project does with one."""

import typing

import pytest

from krm_function import record
from tests.interpreters.record_questions import QUESTIONS, REFUSED, Asked, Late, Ours, Theirs, refusal, standard_refusal


@pytest.mark.parametrize("question", QUESTIONS)
def test_both_give_the_same_answer(question: str) -> None:
    assert QUESTIONS[question](Ours) == QUESTIONS[question](Theirs)


@pytest.mark.parametrize("misuse", REFUSED)
def test_both_refuse_the_same_in_the_same_way(misuse: str) -> None:
    assert refusal(Ours, misuse) is not None
    assert refusal(Ours, misuse) is standard_refusal(misuse)


@pytest.mark.parametrize("module", ["typing", "krm_function.record"])
def test_both_want_defaults_last(module: str) -> None:
    with pytest.raises(TypeError):
        exec(f"from {module} import NamedTuple\nclass Wrong(NamedTuple):\n    x: int = 1\n    y: int")  # noqa: S102


def test_annotations_may_be_text() -> None:
    assert Late._fields == ("first", "rest")
    assert Late(1) == (1, [])


def test_what_a_record_is_asked_may_be_kept() -> None:
    one = Asked([1, 2])
    assert one.total == 3
    one.x.append(3)
    assert one.total == 3, "not asked again"
    assert one == Asked([1, 2, 3])
    assert one._replace(x=[4]).total == 4


def test_what_is_said_of_a_type_is_kept_as_with_typing() -> None:
    said = ({"not": "hashable"}, "a sentence")
    ours, theirs = record.Annotated[int, *said], typing.Annotated[int, *said]
    assert (ours.kind, ours.notes) == (theirs.__origin__, theirs.__metadata__)  # type: ignore[attr-defined]
    for annotated in (record.Annotated, typing.Annotated):
        with pytest.raises(TypeError):
            annotated[int]
