"""Run by wasm.mjs in Pyodide: does what /calls/calls.json asks for, and answers in one line of JSON.

/project is the repository. /libraries holds the libraries of the interpreter that runs the tests; of them, those count
that are written in Python. `yaml._yaml` is pure_parser.py.
"""

import contextlib
import importlib
import importlib.abc
import importlib.util
import io
import json
import pkgutil
import sys
from importlib.machinery import ModuleSpec
from typing import Any


class Finder(importlib.abc.MetaPathFinder):
    """Finds `yaml._yaml`."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name == "yaml._yaml":
            return importlib.util.spec_from_file_location(name, "/project/tests/interpreters/pure_parser.py")
        return None


def called(arguments: list[str], source: str) -> dict[str, Any]:
    """What the command line answers: exit code, standard output, standard error."""
    main = importlib.import_module("krm_function.cli").main
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    sys.argv = ["contrast-krm", *arguments]
    sys.stdin = io.TextIOWrapper(io.BytesIO(source.encode()), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main()
        except SystemExit as ended:
            code = ended.code
        out.flush()
    return {"code": code, "out": out.buffer.getvalue().decode(), "err": err.getvalue()}


def failing() -> dict[str, str]:
    """The modules that cannot be imported, and why."""
    failed = {}
    for package in ("krm_function", "helm_plugin"):
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            try:
                importlib.import_module(module.name)
            except Exception as error:  # noqa: BLE001
                failed[module.name] = f"{type(error).__name__}: {error}"
    return failed


if __name__ == "__main__":
    sys.path[:0] = ["/project", "/libraries"]
    sys.meta_path.insert(0, Finder())
    with open("/calls/calls.json", encoding="utf-8") as file:
        calls = json.load(file)
    records = list(importlib.import_module("tests.interpreters.record_questions").differences())
    answers = {name: called(call["arguments"], call["source"]) for name, call in calls.items()}
    print(json.dumps({"version": sys.version_info[:2], "records": records, "failing": failing(), "answers": answers}))
