"""The schema language: what a value may be, and everything that is wrong with one.

Rule of this package: it knows JSON values and nothing of Contrast or Kubernetes. The configuration kinds, the manifest
and the pod spec are tables in this language. `check` knows one form of a value; who reads a document brings it to that
form first (`read` for YAML, `manifest.canonical` for Go's zero values).
"""

from krm_function.schema.check import Fault, expected, faults, unknown_fields, wrong_type
from krm_function.schema.kinds import (
    ANY_TEXT,
    Anything,
    Checked,
    Choice,
    Field,
    Flag,
    JsonObject,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Only,
    Path,
    Record,
    Scalar,
    Spec,
    Text,
    hexadecimal,
)
from krm_function.schema.read import Reading, read

__all__ = [
    "ANY_TEXT",
    "Anything",
    "Checked",
    "Choice",
    "Fault",
    "Field",
    "Flag",
    "JsonObject",
    "ListOf",
    "MapOf",
    "Number",
    "OneOrMany",
    "Only",
    "Path",
    "Reading",
    "Record",
    "Scalar",
    "Spec",
    "Text",
    "expected",
    "faults",
    "hexadecimal",
    "read",
    "unknown_fields",
    "wrong_type",
]
