"""What makes a function fail because of its input.

Rule of this file: these are said to the user as one error result; any other exception is a bug of the function.
"""


class FunctionError(ValueError):
    """The input is not what the function needs: raise it, with a one-line message, to stop with an error result."""


class NotAResourceListError(FunctionError):
    """The bytes on stdin are not one ResourceList."""
