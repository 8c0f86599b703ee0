"""A configuration document, strict JSON, and the common parts of the three kinds."""

import json
from collections.abc import Callable
from typing import Any, Literal, NoReturn, get_args

from krm_function.findings import Finding, Path, Ref, dotted, finding, has_errors
from krm_function.krm.group_version import plain_api_version
from krm_function.kubernetes.objects import DNS_LABEL, DNS_SUBDOMAIN, LONGEST_SUBDOMAIN, dig, mapping
from krm_function.kubernetes.resource import origin_of_object
from krm_function.record import NamedTuple
from krm_function.schema.check import Fault, remedy_of, suggestion
from krm_function.schema.table import filled, read_value
from krm_function.schema.values import Choice, Field, Record, Text

# --- Strict JSON, for lock, import and configuration
#
# Rule: one reading or none. Duplicate keys, NaN, half surrogates and numbers beyond float64 are refused, because other
# readers may read them differently.


LONGEST = 309  # digits of the largest float64: Go's limit for an integer; Python's is 4300 digits
TOO_LARGE = "contains a number that is too large for JSON readers: it is beyond 1.8e308"


def load_object(text: str) -> dict[str, Any]:
    """Read one JSON object. Raises ValueError with a problem text, RecursionError for extreme nesting."""
    value = load_any(text)
    if not isinstance(value, dict):
        raise ValueError("is not a JSON object")  # noqa: TRY004 (about the text)
    return value


def load_any(text: str) -> Any:
    """Read any JSON value. Raises like `load_object`."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_make_object,
            parse_constant=_refuse_constant,
            parse_int=_parse_integer,
            parse_float=_parse_finite,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg.lower()} (line {error.lineno}, column {error.colno})") from error
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("must be valid Unicode") from error
    return value


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("has a key twice in one object")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"contains {name}, which is not JSON")


def _parse_integer(digits: str) -> int:
    if len(digits.lstrip("-")) > LONGEST:
        raise ValueError(TOO_LARGE)
    return int(digits)


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise ValueError(TOO_LARGE)
    return number


# --- A configuration document, and the common fields of the three kinds: apiVersion, kind, metadata, spec
#
# Rule: faults become findings here, with the object, the field and, if the caller knows it, the position.


GROUP = "contrast-krm.dev"
API_VERSION = GROUP + "/v1alpha1"
ConfigKind = Literal["ContrastGenerate", "ContrastRelease", "ImageLock"]
CONFIG_KINDS: tuple[ConfigKind, ...] = get_args(ConfigKind)
LONGEST_SHOWN = 64  # characters of a field's name in a message


class ConfigDocument(NamedTuple):
    """One document that may be configuration. locate: path -> line and column from 1, if the caller knows it."""

    value: Any
    file: str = ""
    line: int = 0
    locate: Callable[[Path], tuple[int, int]] | None = None


SUBDOMAIN = Text("a DNS subdomain", DNS_SUBDOMAIN, LONGEST_SUBDOMAIN)
NAMESPACE = Text("a namespace", DNS_LABEL, 63)
NAME = Field(SUBDOMAIN, "the object's name", required=True)
METADATA = Record({"name": NAME}, closed=False)


def is_config(api_version: str) -> bool:
    """Tell whether an apiVersion means the group contrast-krm.dev.

    A wrong version, or a typing mistake in the group's letter case or ending, counts too, so that `collect` can refuse
    it.
    """
    return api_version.partition("/")[0].lower().partition(".")[0] == GROUP.partition(".")[0]


def document_spec(kind: ConfigKind, spec: Record, *, required: bool) -> Record:
    """Make the spec of a whole document of a kind. required: whether the document must have a spec."""
    return Record(
        {
            "apiVersion": Field(Choice((API_VERSION,)), required=True),
            "kind": Field(Choice((kind,)), required=True),
            "metadata": Field(METADATA, required=True),
            "spec": Field(spec, required=required),
        }
    )


def config_reference(document: ConfigDocument) -> Ref:
    """Return the object's identity, as far as it has one."""
    root = mapping(document.value)
    metadata = mapping(root.get("metadata"))
    parts = (root.get("apiVersion"), root.get("kind"), metadata.get("namespace"), metadata.get("name"))
    version, *rest = (part[:LONGEST_SUBDOMAIN] if isinstance(part, str) else "" for part in parts)
    return Ref(plain_api_version(version), *rest)


def read_body(
    document: ConfigDocument, kind: ConfigKind, spec: Record, *, required: bool = True
) -> tuple[str, dict[str, Any], tuple[Finding, ...]]:
    """Read name and spec of a document. Every fault is a finding; with a fault, the spec may contain anything."""
    value, faults = read_value(document_spec(kind, spec, required=required), document.value)
    root = mapping(value)
    findings = tuple(_make_finding(document, kind, fault, value) for fault in faults)
    return mapping(root.get("metadata")).get("name", ""), mapping(root.get("spec")), findings


def read_kind(
    document: ConfigDocument, kind: ConfigKind, table: Record, *, required: bool = True
) -> tuple[Any, tuple[Finding, ...]]:
    """Read a document into the record of its kind, which has a name; None if a finding is an error."""
    name, spec, findings = read_body(document, kind, table, required=required)
    return None if has_errors(findings) else filled(table, spec, name=name), findings


def _make_finding(document: ConfigDocument, kind: str, fault: Fault, value: Any) -> Finding:
    if fault.kind == "unknown":
        return unknown_field(document, kind, fault.path, suggestion(fault))
    return wrong_value(document, kind, fault.path, fault.problem, remedy_of(fault, dig(value, fault.path)))


def wrong_value(document: ConfigDocument, kind: str, path: Path, problem: str, remedy: str) -> Finding:
    """Make CC0901: a field that is wrong or missing."""
    return _report_field("CC0901", document, kind, path, problem=problem, remedy=remedy)


def unknown_field(document: ConfigDocument, kind: str, path: Path, suggestion: str) -> Finding:
    """Make CC0902: a field that the kind does not have. suggestion: the field that the user may have meant."""
    return _report_field("CC0902", document, kind, path, suggestion=suggestion)


def _report_field(code: str, document: ConfigDocument, kind: str, path: Path, **values: Any) -> Finding:
    ref = config_reference(document)
    field = dotted(tuple(part[:LONGEST_SHOWN] if isinstance(part, str) else part for part in path)) or "document"
    values |= {"kind": kind, "name": ref.name or "(unnamed)", "field": field}
    return located(finding(code, ref, path, **values), document)


def located(problem: Finding, document: ConfigDocument) -> Finding:
    """Give a finding its position in the file."""
    line, column = document.locate(problem.path) if document.locate else (document.line, 0)
    origin = None if document.file else origin_of_object(document.value)
    return problem._replace(line=line, column=column, file=document.file, origin=origin)
