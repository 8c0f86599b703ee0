"""JSON Schemas of the three kinds, and the comment that tells an editor which one to use."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.config.document import API_VERSION, CONFIG_KINDS, document_spec
from krm_function.config.generate import GENERATE
from krm_function.config.image_lock import IMAGE_LOCK
from krm_function.config.release import RELEASE
from krm_function.schema.values import (
    Anything,
    Choice,
    Field,
    Flag,
    JsonObject,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Only,
    OrNull,
    Record,
    Scalar,
    Spec,
    Text,
    Word,
)

# --- Repeated parts of a JSON Schema, written once under `definitions`
#
# Rule: it changes the text of a schema, never what it accepts. A description stays beside the reference, where editors
# show it and draft 7 lets a validator ignore it.


Schema = dict[str, Any]
SMALLEST = 200  # characters of JSON; a smaller part reads better in its place
ABOUT = "description"


def with_shared_parts(whole: Schema) -> Schema:
    """Name each repeated part of a schema after a field that has it; the meaning stays."""
    counts = Counter(_part_key(part) for part in _list_parts(whole))
    names: dict[str, str] = {}
    definitions: dict[str, Schema] = {}

    def rewritten(part: Any, name: str) -> Any:
        if isinstance(part, list):
            return [rewritten(item, name) for item in part]
        if not isinstance(part, dict):
            return part
        key = _part_key(part) if "properties" in part else ""
        if key and counts[key] > 1 and len(key) >= SMALLEST:
            if key not in names:
                names[key] = _find_free_name(name, definitions)
                definitions[names[key]] = {}  # reserves its place, before the parts inside it
                definitions[names[key]] = inside(
                    {member: value for member, value in part.items() if member != ABOUT}, name
                )
            about = {ABOUT: part[ABOUT]} if ABOUT in part else {}
            return {**about, "$ref": f"#/definitions/{names[key]}"}
        return inside(part, name)

    def inside(part: Schema, name: str) -> Schema:
        return {
            key: {field: rewritten(value, field) for field, value in item.items()}
            if key == "properties"
            else rewritten(item, name)
            for key, item in part.items()
        }

    result = inside(whole, "")
    return {**result, "definitions": definitions} if definitions else result


def _list_parts(value: Any) -> Iterator[Schema]:
    if isinstance(value, dict):
        if "properties" in value:
            yield value
        for item in value.values():
            yield from _list_parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _list_parts(item)


def _part_key(part: Schema) -> str:
    return json.dumps({member: value for member, value in part.items() if member != ABOUT}, sort_keys=True)


def _find_free_name(name: str, used: dict[str, Schema]) -> str:
    if name not in used:
        return name
    return next(f"{name}{number}" for number in range(2, len(used) + 2) if f"{name}{number}" not in used)


# --- The comment that tells an editor the JSON Schema of a YAML file
#
# Rule: the comment has a relative path to a copy that was made with the file, because it has to work without a network
# and on any machine.


DIRECTORY = ".contrast-krm"
SUFFIX = ".schema"  # not .json: kpt reads every JSON file of a package as a resource, in hidden directories too


def schema_file(kind: str) -> str:
    """Return the copy of a kind's schema beside a configuration file."""
    return f"{DIRECTORY}/{kind}{SUFFIX}"


def modeline(schema: str) -> str:
    """Return the first line of a file whose schema is at this path; "" for no schema."""
    return f"# yaml-language-server: $schema={schema}\n" if schema else ""


# --- JSON Schemas (draft 7, which editors support best) of the three kinds, from the tables that read the documents
#
# Rule: the schema accepts every document that the program accepts. The reverse holds except for some checks that it
# cannot express (a list without duplicates, the text of a JSON object).


DRAFT = "http://json-schema.org/draft-07/schema#"
KINDS: tuple[str, ...] = CONFIG_KINDS


TITLES: Mapping[str, str] = {
    "ContrastGenerate": "The options of a render.",
    "ContrastRelease": "The facts of one Contrast release.",
    "ImageLock": "What is known of the images that pods name.",
}


def schema(kind: str) -> Schema:
    """Make the schema of one kind. Raises KeyError for an unknown kind."""
    whole = {
        "ContrastGenerate": document_spec("ContrastGenerate", GENERATE, required=False),
        "ContrastRelease": document_spec("ContrastRelease", RELEASE, required=True),
        "ImageLock": document_spec("ImageLock", IMAGE_LOCK, required=True),
    }[kind]
    head = {"$schema": DRAFT, "$id": f"https://{API_VERSION}/{kind}.json", "title": kind, "description": TITLES[kind]}
    return with_shared_parts({**head, **schema_of(whole)})


def schema_text(kind: str) -> str:
    """Return the published text of one kind's schema: indented JSON. Raises KeyError."""
    return f"{json.dumps(schema(kind), indent=2)}\n"


def schema_of(spec: Spec) -> Schema:  # noqa: C901 (one case for each spec)
    """Make the schema of one value."""
    match spec:
        case Text():
            return _text_schema(spec)
        case Choice():
            exact: Schema = {"enum": list(spec.values)}
            return {"anyOf": [exact, {"type": "string", "pattern": _fold_case(spec.values)}]} if spec.fold else exact
        case Flag():
            return {"const": False, "description": spec.danger} if spec.danger else {"type": "boolean"}
        case Number():
            return {"type": "integer", "minimum": spec.least, "maximum": spec.most}
        case Scalar():
            return dict(spec.json_schema)
        case JsonObject():
            return {"anyOf": [{"type": "object"}, {"type": "string", "contentMediaType": "application/json"}]}
        case OneOrMany():
            return {"anyOf": [schema_of(spec.items), {"type": "array", "items": schema_of(spec.items)}]}
        case Word():
            return {"anyOf": [*({"const": word} for word in spec.words), schema_of(spec.spec)]}
        case OrNull():
            return _allow_null(schema_of(spec.spec))
        case ListOf():
            length = {} if spec.length is None else {"minItems": spec.length, "maxItems": spec.length}
            return {"type": "array", "items": schema_of(spec.items), **length}
        case MapOf():
            names = {key: value for key, value in schema_of(spec.keys).items() if key != "type"}
            keys = {"propertyNames": names} if names else {}
            return {"type": "object", **keys, "additionalProperties": schema_of(spec.values)}
        case Only():
            return {"enum": list(spec.values)}
        case Anything():
            return {}
        case Record():
            return {
                "type": "object",
                **({"required": list(spec.required)} if spec.required else {}),
                **(
                    {"properties": {name: _field_schema(field) for name, field in spec.fields.items()}}
                    if spec.fields
                    else {}
                ),
                **({"additionalProperties": False} if spec.closed else {}),
            }


def _text_schema(spec: Text) -> Schema:
    return {
        "type": "string",
        **({"pattern": f"^(?:{spec.pattern})$"} if spec.pattern else {}),
        **({} if spec.empty else {"minLength": 1}),
        **({"maxLength": spec.longest} if spec.longest else {}),
        **({"examples": [spec.example]} if spec.example else {}),
    }


def _field_schema(field: Field) -> Schema:
    """Make the schema of a field: null is the same as absent if the field may be absent."""
    part = schema_of(field.spec)
    if field.about:
        part = {"description": field.about} | part
    if field.default is not None:
        part["default"] = field.default
    return part if field.required else _allow_null(part)


def _allow_null(part: Schema) -> Schema:
    if not part:  # accepts every value
        return part
    if "type" in part:
        return {**part, "type": [part["type"], "null"]}
    if "enum" in part:
        return {**part, "enum": [*part["enum"], None]}
    if "const" in part:
        return {key: value for key, value in part.items() if key != "const"} | {"enum": [part["const"], None]}
    return {**part, "anyOf": [*part["anyOf"], {"type": "null"}]}


def _fold_case(values: tuple[str, ...]) -> str:
    """Write a pattern for any letter case: JSON Schema's patterns have no flags."""
    any_case = ("".join(f"[{c.upper()}{c}]" if c.isalpha() else c for c in value) for value in values)
    return f"^(?:{'|'.join(any_case)})$"
