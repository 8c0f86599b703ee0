"""What to do about a fault.

Rule of this file: an imperative, made from the table alone. It is loaded only when something is wrong.
"""

from krm_function.schema.check import Fault
from krm_function.schema.kinds import (
    Choice,
    Flag,
    JsonObject,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Record,
    Scalar,
    Text,
    Word,
)
from krm_function.schema.nearest import nearest


def remedy_of(fault: Fault, value: object) -> str:  # noqa: C901 (one sentence for each kind of fault)
    """Say what to do about a fault other than an unknown field. value: the one that is at fault."""
    match fault.kind, fault.spec:
        case "missing", Record():
            about = fault.spec.fields[str(fault.path[-1])].about
            return "add it" + (f": {about}" if about else "")
        case "type", Text() if isinstance(value, bool | int | float):
            return "put it in quotes"
        case _, Text():
            return _write(fault.spec)
        case _, Choice():
            close = nearest(value, fault.spec.values) if isinstance(value, str) else ""
            return f"did you mean {close}?" if close else f"write one of {', '.join(fault.spec.values)}"
        case "type", Flag():
            return "write true or false, without quotes"
        case _, Flag():
            return "set it to false"
        case "type", Number():
            return "write it in digits, without quotes"
        case _, Number():
            return "correct the number"
        case _, Scalar():
            return fault.spec.remedy
        case _, JsonObject():
            return f"correct it: {fault.spec.what}" if isinstance(value, dict) else f"write {fault.spec.what}"
        case "type", ListOf() | OneOrMany():
            return "correct the list" if isinstance(value, list) else "write a list, even for a single entry"
        case "type", MapOf():
            return "write a map"
        case _, Word():
            return f"write {fault.spec.word}, or the other form"
        case "type", Record():
            return f"write a map of {', '.join(fault.spec.fields)}"
        case _:
            return "correct the value"


def suggestion(fault: Fault) -> str:
    """Say what an unknown field may be meant to be: the nearest one, one a level further down, or all there are."""
    if not isinstance(fault.spec, Record) or not isinstance(fault.path[-1], str):
        return ""
    name, fields = fault.path[-1], fault.spec.fields
    close = nearest(name, fields)
    if close:
        return close
    for other, field in fields.items():
        below = nearest(name, field.spec.fields) if isinstance(field.spec, Record) else ""
        if below:
            return f"{other}.{below}"
    return f"one of {', '.join(fields)}" if len(fields) > 1 else "".join(fields)


def _write(spec: Text) -> str:
    return f"write {spec.what}" + (f", for instance {spec.example}" if spec.example else "")
