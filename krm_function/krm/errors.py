"""The exceptions of a function: what is wrong with its input, and what is wrong with its own code.

Rule of this file: a FunctionError becomes an error result (exit 1). Any other exception is a bug of the function (exit
70); its message is not shown, because it may quote a Secret, except that of a MisuseError, which holds no value.
"""

from krm_function.krm.result import FieldPath, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_function.krm.describable import Describable


class FunctionError(ValueError):
    """The input is not what the function needs: raise it, with a one-line message, to stop with an error result.

    `raise FunctionError("needs a limit", item, ("spec",))` is about an object and a field of it, as in `Results.error`.
    `result` is what will be shown.
    """

    def __init__(self, message: str, about: "Describable | None" = None, path: FieldPath = ()) -> None:
        """Make it of a message, and of the object and the field that it is about, if they are given."""
        super().__init__(message)
        self.result = Result(message) if about is None else about.result(message, "error", path)


class NotAResourceListError(FunctionError):
    """The bytes on stdin are not one ResourceList."""


class FieldError(FunctionError):
    """A field of an object is not what the function needs. `result` names the object, its file and the field."""

    def __init__(self, result: Result) -> None:
        """Make it of the result that is to be shown."""
        super().__init__(str(result).removeprefix(f"[{result.severity}] "))
        self.result = result


class MisuseError(TypeError):
    """The function's code passes something these helpers cannot take. The message says what to write instead."""
