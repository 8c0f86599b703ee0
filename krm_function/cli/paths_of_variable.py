"""Paths that a variable of the environment names, which every command reports that uses them."""

import os


class PathsOfVariable(list[str]):
    """The value of --config where it comes from the environment: a list of paths like any other, and its origin."""

    def __init__(self, variable: str, value: str) -> None:
        """Separate the paths of `value`, as PATH separates them."""
        super().__init__(value.split(os.pathsep))
        self.variable = variable
        self.value = value
