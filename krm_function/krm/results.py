"""The results of one run: added by severity, returned with errors first, and their exit code.

Rule of this file: a message is a complete text, made by an f-string; nothing is formatted here. kpt shows all results
on one line, older versions the first four, so errors come first.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.krm.fields import check_plain
from krm_function.krm.result import FieldPath, File, MisuseError, Result, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_function.krm.result import Describable

RANK: dict[str, int] = {"error": 0, "warning": 1, "info": 2}


class Results:
    """The results of one run, in the order of addition.

    bug: whether the function stopped by a fault of its own; `run` sets it, `exit_code` is 70 then. cause: the exception
    that stopped it, with its traceback.
    """

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self.bug = False
        self.cause: BaseException | None = None
        self._results: list[Result] = []
        self.extend(results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"Results({self._results!r})"

    def append(self, result: Result) -> None:
        """Add one result.

        Raises ValueError for one that the specification does not allow, MisuseError for values that are no plain data.
        """
        if result.severity not in RANK:
            raise ValueError(f"unknown severity {result.severity}")
        if result.resource_ref is not None and not (result.resource_ref.kind and result.resource_ref.name):
            raise ValueError("a resource_ref needs kind and name")
        if result.field is not None and result.resource_ref is None:
            raise ValueError("a field needs a resource_ref")
        if result.field is not None:
            check_plain(result.field.current_value, ("currentValue",), new=False)
            check_plain(result.field.proposed_value, ("proposedValue",), new=False)
        self._results.append(result)

    def extend(self, results: Iterable[Result]) -> None:
        """Add several."""
        for result in results:
            self.append(result)

    def error(self, message: str, about: "Describable | None" = None, path: FieldPath = ()) -> None:
        """Add an error: the run has failed. It is about an object, and its field at `path`, if they are given."""
        self.append(_make_result(message, "error", about, path))

    def warning(self, message: str, about: "Describable | None" = None, path: FieldPath = ()) -> None:
        """Add what someone should look at."""
        self.append(_make_result(message, "warning", about, path))

    def info(self, message: str, about: "Describable | None" = None, path: FieldPath = ()) -> None:
        """Add what was done."""
        self.append(_make_result(message, "info", about, path))

    def sort(self) -> None:
        """Sort them: errors before warnings before infos; then by file, then by text."""
        self._results.sort(key=_sort_key)

    @property
    def failed(self) -> bool:
        """Whether one of them is an error."""
        return any(result.severity == "error" for result in self._results)

    @property
    def exit_code(self) -> int:
        """0: fine, 1: an error, 70: a bug of the function (EX_SOFTWARE)."""
        return 70 if self.bug else int(self.failed)

    def to_data(self) -> list[dict[str, Any]]:
        """Make the entries for `results` of a ResourceList, sorted."""
        return [result.to_data() for result in sorted(self._results, key=_sort_key)]

    def lines(self, *, infos: bool = True) -> list[str]:
        """Write one line a result, sorted: a function prints them on stderr, since kustomize shows no results."""
        return [str(result) for result in sorted(self._results, key=_sort_key) if infos or result.severity != "info"]


def _make_result(message: str, severity: Severity, about: "Describable | None", path: FieldPath) -> Result:
    if not isinstance(message, str):
        raise MisuseError(f"a message is a text, and comes first, not {type(message).__name__}")
    if about is not None and not hasattr(about, "result"):
        raise MisuseError(f"a result is about an object or a sub-object of the list, not {type(about).__name__}")
    return Result(message, severity) if about is None else about.result(message, severity, path)


def _sort_key(result: Result) -> tuple[int, str, int, str]:
    file = result.file or File("")
    return (RANK[result.severity], file.path, file.position, str(result))
