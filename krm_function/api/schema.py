"""JSON Schemas (draft 7, which editors know best) of the three kinds, from the tables that also read the documents.

Rule of this file: what `read` accepts, the schema accepts. It cannot express every `check` (a list without doubles, the
text of a JSON object), so the reverse holds but for those.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.api.contrast_generate import GENERATE
from krm_function.api.contrast_release import RELEASE
from krm_function.api.document import CONFIG_KINDS, document_spec
from krm_function.api.image_lock import IMAGE_LOCK
from krm_function.api.records import API_VERSION
from krm_function.api.schema_parts import with_shared_parts
from krm_function.schema.kinds import (
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

DRAFT = "http://json-schema.org/draft-07/schema#"
KINDS: tuple[str, ...] = CONFIG_KINDS

Schema = dict[str, Any]

TITLES: Mapping[str, str] = {
    "ContrastGenerate": "The options of a render.",
    "ContrastRelease": "The facts of one Contrast release.",
    "ImageLock": "What is known of the images that pods name.",
}


def schema(kind: str) -> Schema:
    """Make the schema of one kind. Raises KeyError for another."""
    whole = {
        "ContrastGenerate": document_spec("ContrastGenerate", GENERATE, required=False),
        "ContrastRelease": document_spec("ContrastRelease", RELEASE, required=True),
        "ImageLock": document_spec("ImageLock", IMAGE_LOCK, required=True),
    }[kind]
    head = {"$schema": DRAFT, "$id": f"https://{API_VERSION}/{kind}.json", "title": kind, "description": TITLES[kind]}
    return with_shared_parts({**head, **schema_of(whole)})


def schema_text(kind: str) -> str:
    """Return the schema of one kind as it is published: as JSON, for people too. Raises KeyError."""
    import json

    return f"{json.dumps(schema(kind), indent=2)}\n"


def schema_of(spec: Spec) -> Schema:  # noqa: C901 (one case for each spec)
    """Make the schema of one value."""
    match spec:
        case Text():
            return _text(spec)
        case Choice():
            exact: Schema = {"enum": list(spec.values)}
            return {"anyOf": [exact, {"type": "string", "pattern": _folded(spec.values)}]} if spec.fold else exact
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
            return {"anyOf": [{"const": spec.word}, schema_of(spec.spec)]}
        case OrNull():
            return _nullable(schema_of(spec.spec))
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
                **({"properties": {name: _field(field) for name, field in spec.fields.items()}} if spec.fields else {}),
                **({"additionalProperties": False} if spec.closed else {}),
            }


def _text(spec: Text) -> Schema:
    return {
        "type": "string",
        **({"pattern": f"^(?:{spec.pattern})$"} if spec.pattern else {}),
        **({} if spec.empty else {"minLength": 1}),
        **({"maxLength": spec.longest} if spec.longest else {}),
        **({"examples": [spec.example]} if spec.example else {}),
    }


def _field(field: Field) -> Schema:
    """Make the schema of a field: null is as good as absent, where absent is good."""
    made = schema_of(field.spec)
    if field.about:
        made = {"description": field.about} | made
    if field.default is not None:
        made["default"] = field.default
    return made if field.required else _nullable(made)


def _nullable(made: Schema) -> Schema:
    if not made:  # anything at all
        return made
    if "type" in made:
        return {**made, "type": [made["type"], "null"]}
    if "enum" in made:
        return {**made, "enum": [*made["enum"], None]}
    if "const" in made:
        return {key: value for key, value in made.items() if key != "const"} | {"enum": [made["const"], None]}
    return {**made, "anyOf": [*made["anyOf"], {"type": "null"}]}


def _folded(values: tuple[str, ...]) -> str:
    """Write a pattern for any letter case: JSON Schema's patterns have no flags."""
    any_case = ("".join(f"[{c.upper()}{c}]" if c.isalpha() else c for c in value) for value in values)
    return f"^(?:{'|'.join(any_case)})$"
