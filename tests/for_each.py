"""One test that holds for each of many values, where a value of its own test would be nothing but a line of a list.

Rule of this file: all values are tried, and each that fails is named with its reason. It is for checks without effects,
such as one of every code or module: what makes files, or runs a program, stays a test for each value.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

SHOWN = 20


def for_each(name: str, values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a test that takes one of the values under that name. Its other parameters stay fixtures."""
    every = list(values)
    assert every, "a test of no value cannot fail"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def test_of_all(**fixtures: Any) -> None:
            failed = []
            for value in every:
                try:
                    test(**{name: value}, **fixtures)
                except Exception as error:  # noqa: BLE001  # an error of one value hides none of another
                    failed.append(f"{value}: {type(error).__name__}: {error}")
            assert not failed, "\n".join([f"{len(failed)} of {len(every)}", *failed[:SHOWN]])

        signature = inspect.signature(test)
        rest = [each for each in signature.parameters.values() if each.name != name]
        assert len(rest) < len(signature.parameters), f"the test takes no {name}"
        test_of_all.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        test_of_all.__name__, test_of_all.__doc__ = test.__name__, test.__doc__
        test_of_all.__module__ = test.__module__
        return test_of_all

    return decorate
