"""Reading a value by its spec: a clean value and everything that is wrong with it.

Rule of this file: every fault is named, none raises, and no fault quotes a value: a configuration may hold keys, and
env values of an image. What is faulty is left out of the clean value, which therefore always fits the spec but for
required fields.
"""

import re
from typing import Any

from krm_function.api.fields import (
    Amount,
    Checked,
    Choice,
    Flag,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Record,
    Spec,
    Text,
    Tree,
)
from krm_function.findings import Path
from krm_function.model.nearest import nearest
from krm_function.model.objects import type_name
from krm_function.model.quantity import nano
from krm_function.record import NamedTuple


class Fault(NamedTuple):
    """What is wrong with one field. problem "": the field does not exist, and remedy is what may have been meant."""

    path: Path
    problem: str
    remedy: str


class Reading(NamedTuple):
    """A clean value, None when nothing of it is left, and the faults."""

    value: Any
    faults: tuple[Fault, ...] = ()


def read(spec: Spec, value: Any, path: Path = ()) -> Reading:
    """Read one value."""
    faults: list[Fault] = []
    return Reading(_read(spec, value, path, faults), tuple(faults))


def _read(spec: Spec, value: Any, path: Path, faults: list[Fault]) -> Any:
    match spec:
        case OneOrMany():
            if not isinstance(value, list):
                entry = _read(spec.items, value, path, faults)
                return [] if entry is None else [entry]
            return _list(ListOf(spec.items), value, path, faults)
        case ListOf():
            return _list(spec, value, path, faults)
        case MapOf():
            return _map(spec, value, path, faults)
        case Record():
            return _record(spec, value, path, faults)
        case _:
            leaf = _leaf(spec, value)
            if leaf.problem:
                faults.append(Fault(path, leaf.problem, leaf.remedy))
            return leaf.value


class Leaf(NamedTuple):
    """A value without fields of its own; None with a problem."""

    value: Any
    problem: str = ""
    remedy: str = ""


def _leaf(spec: Text | Choice | Flag | Number | Amount | Tree, value: Any) -> Leaf:
    match spec:
        case Text():
            if not isinstance(value, str):
                remedy = "put it in quotes" if isinstance(value, bool | int | float) else _write(spec)
                return Leaf(None, f"must be a string, not {_article(value)}", remedy)
            problem = _text_problem(spec, value)
            return Leaf(None, problem, _write(spec)) if problem else Leaf(value)
        case Choice():
            known = {(name.lower() if spec.fold else name): name for name in spec.values}
            found = known.get(value.lower() if spec.fold else value) if isinstance(value, str) else None
            problem = "" if found else f"must be one of {', '.join(spec.values)}"
            return Leaf(found, problem, _choose(spec, value) if problem else "")
        case Flag():
            if not isinstance(value, bool):
                return Leaf(
                    None, f"must be true or false, not {_article(value)}", "write true or false, without quotes"
                )
            return (
                Leaf(None, f"must be false: {spec.danger}", "set it to false") if value and spec.danger else Leaf(value)
            )
        case Number():
            wanted = f"must be an integer from {spec.least} to {spec.most}"
            whole = int(value) if isinstance(value, float) and value.is_integer() else value
            if isinstance(whole, bool) or not isinstance(whole, int):
                return Leaf(None, f"{wanted}, not {_article(value)}", "write it in digits, without quotes")
            return Leaf(whole) if spec.least <= whole <= spec.most else Leaf(None, wanted, "correct the number")
        case Amount():
            problem = _amount_problem(value)
            return Leaf(None, problem, "write a Kubernetes quantity such as 682Mi or 250m") if problem else Leaf(value)
        case Tree():
            return _tree(spec, value)


def _text_problem(spec: Text, text: str) -> str:
    if spec.longest and len(text) > spec.longest:
        return f"is longer than {spec.longest} characters"
    if spec.pattern and not re.fullmatch(spec.pattern, text):
        return f"must be {spec.what}"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "must be valid Unicode"
    return spec.check(text) if spec.check else ""


def _amount_problem(value: Any) -> str:
    try:
        return "must not be negative" if nano(value) < 0 else ""
    except ValueError as error:
        return str(error)


def _tree(spec: Tree, value: Any) -> Leaf:
    if isinstance(value, dict):
        return _loaded(spec, value)
    if not isinstance(value, str):
        return Leaf(None, f"must be {spec.what}, not {_article(value)}", f"write {spec.what}")
    try:
        return _loaded(spec, spec.load(value))
    except RecursionError:
        return Leaf(None, "is nested too deeply", f"write {spec.what}")
    except ValueError as error:
        return Leaf(None, str(error), f"write {spec.what}")


def _loaded(spec: Tree, value: dict[str, Any]) -> Leaf:
    problem = spec.check(value) if spec.check else ""
    return Leaf(None, problem, f"correct it: {spec.what}") if problem else Leaf(value)


def _list(spec: ListOf, value: Any, path: Path, faults: list[Fault]) -> Any:
    if not isinstance(value, list):
        faults.append(Fault(path, f"must be a list, not {_article(value)}", "write a list, even for a single entry"))
        return None
    before = len(faults)
    if spec.length is not None and len(value) != spec.length:
        faults.append(Fault(path, f"must have exactly {spec.length} entries, not {len(value)}", "correct the list"))
    clean = [_read(spec.items, item, (*path, index), faults) for index, item in enumerate(value)]
    if len(faults) == before and spec.check:
        faults += _checked(spec.check(clean), path)
    return [item for item in clean if item is not None]


def _map(spec: MapOf, value: Any, path: Path, faults: list[Fault]) -> Any:
    if not isinstance(value, dict):
        faults.append(Fault(path, f"must be a map, not {_article(value)}", "write a map"))
        return None
    before = len(faults)
    clean: dict[str, Any] = {}
    for key, item in value.items():
        name = str(key) if isinstance(key, int) and not isinstance(key, bool) else key
        problem = _text_problem(spec.keys, name) if isinstance(name, str) else "must be a string"
        if problem:
            shown = name if isinstance(name, str) else str(name)
            faults.append(Fault((*path, shown), f"the key {problem}", _write(spec.keys)))
            continue
        entry = _read(spec.values, item, (*path, name), faults)
        if entry is not None:
            clean[name] = entry
    if len(faults) == before and spec.check:
        faults += _checked(spec.check(clean), path)
    return clean


def _record(spec: Record, value: Any, path: Path, faults: list[Fault]) -> Any:
    if not isinstance(value, dict):
        fields = ", ".join(spec.fields)
        faults.append(Fault(path, f"must be a map, not {_article(value)}", f"write a map of {fields}"))
        return None
    before = len(faults)
    unknown = [str(key) for key in value if key not in spec.fields] if spec.closed else []
    faults += [Fault((*path, key), "", _meant(key, spec)) for key in unknown]
    clean: dict[str, Any] = {}
    for name, field in spec.fields.items():
        item = value.get(name)
        if item is not None:
            entry = _read(field.spec, item, (*path, name), faults)
            if entry is not None:
                clean[name] = entry
        elif field.required:
            faults.append(Fault((*path, name), "is missing", "add it" + (f": {field.about}" if field.about else "")))
    if len(faults) == before and spec.check:
        faults += _checked(spec.check(clean), path)
    return clean


def _checked(problems: Checked, path: Path) -> list[Fault]:
    return [Fault((*path, *inside), problem, "correct the value") for inside, problem in problems]


def _meant(key: str, spec: Record) -> str:
    """What an unknown field may have been: the nearest field, or the nearest one a level further down, or all."""
    close = nearest(key, spec.fields)
    if close:
        return close
    for name, field in spec.fields.items():
        below = nearest(key, field.spec.fields) if isinstance(field.spec, Record) else ""
        if below:
            return f"{name}.{below}"
    names = ", ".join(spec.fields)
    return f"one of {names}" if len(spec.fields) > 1 else names


def _choose(spec: Choice, value: Any) -> str:
    close = nearest(value, spec.values) if isinstance(value, str) else ""
    return f"did you mean {close}?" if close else f"write one of {', '.join(spec.values)}"


def _write(spec: Text) -> str:
    return f"write {spec.what}" + (f", for instance {spec.example}" if spec.example else "")


def _article(value: Any) -> str:
    return "null" if value is None else f"a {type_name(value)}"
