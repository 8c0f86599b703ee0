"""`schema`: one JSON Schema for each kind."""

import json

import jsonschema
import pytest

from krm_function.config.json_schema import KINDS
from tests.cli.conftest import Shop
from tests.failures.world import World


@pytest.mark.parametrize(("kind", "document"), [*zip(KINDS, ("options", "release", "lock"), strict=True)])
def test_the_schema_of_a_kind_accepts_what_the_render_accepts(kind: str, document: str, shop: Shop) -> None:
    run = shop("schema", kind)
    assert (run.code, run.stderr) == (0, "")
    schema = json.loads(run.stdout)
    assert schema["title"] == kind
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(World()[document], schema)
    assert shop("schema", kind.lower()).stdout == run.stdout


def test_all_schemas_come_in_one_object(shop: Shop) -> None:
    every = json.loads(shop("schema").stdout)
    assert every == {kind: json.loads(shop("schema", kind).stdout) for kind in KINDS}


@pytest.mark.parametrize(
    ("kind", "hint"),
    [("contrastrelese", "did you mean ContrastRelease?"), ("Pod", "ContrastGenerate, ContrastRelease, ImageLock")],
)
def test_an_unknown_kind_is_refused_with_the_nearest_one(kind: str, hint: str, shop: Shop) -> None:
    run = shop("schema", kind)
    assert (run.code, run.stdout) == (2, b"")
    assert run.stderr.startswith(f"error CC0905: unknown kind {kind}")
    assert hint in run.stderr
