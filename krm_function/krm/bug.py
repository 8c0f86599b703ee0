"""One line about an exception that is a bug of the function: where it was raised, and what can be told of it.

Rule of this file: no value of the input is shown. The message of an exception may quote a Secret, so it is left out,
except that of a MisuseError. The name of a missing attribute and a missing key are shown where the code that used them
has them as a word of its own.
"""

import sys
from types import CodeType

from krm_function.krm.errors import MisuseError

_HELPERS = ("krm_function.", "yaml.")  # and what they load


def bug(error: BaseException) -> str:
    """Return the kind of a bug and the last line of the function's own code in it.

    Lines of these helpers and of the standard library are not the author's; without another one, a MisuseError names
    the object in place of a line.
    """
    where, code = _place(error)
    explained = f": {error}" if isinstance(error, MisuseError) else _name(error, code)
    return f"bug of the function: {type(error).__name__}{where}{explained}"


def _place(error: BaseException) -> tuple[str, CodeType | None]:
    """Return ` in FILE:LINE` of the author's innermost line, and its code; without one, that of the helpers' line."""
    where, found = "", None
    inside = ""
    trace = error.__traceback__
    while trace is not None:
        code, module = trace.tb_frame.f_code, str(trace.tb_frame.f_globals.get("__name__"))
        inside = f" in {code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
        if not module.startswith(_HELPERS) and not _is_standard(code.co_filename):
            where, found = inside, code
        trace = trace.tb_next
    return where or ("" if isinstance(error, MisuseError) else inside), found


def _is_standard(file: str) -> bool:
    """Tell whether a file belongs to the standard library."""
    return file.startswith("<frozen ") or (file.startswith(_LIBRARY) and "-packages/" not in file)


_LIBRARY = f"{(sys.modules['os'].__file__ or '').rpartition('/')[0]}/"


def _name(error: BaseException, code: CodeType | None) -> str:
    """Return `: no attribute spec in KubeObject`, `: no key limits`, or "" for what may come from the input."""
    if code is None:
        return ""
    if isinstance(error, AttributeError) and error.name in code.co_names:
        return f": {type(error.obj).__name__} has no attribute {error.name}"
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        key = error.args[0]
        return f": there is no key {key}" if key in code.co_consts else ""
    return ""
