"""The JSON Schemas pass what SchemaStore asks of a schema: Ajv's strict mode, good files and bad ones."""

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from krm_function import __version__
from krm_function.config.json_schema import KINDS, schema
from tests.real_tools import needing
from tools import catalogue
from tools.ajv import ajv

ROOT = Path(__file__).parents[2]
CATALOG = ROOT / "tests/tools/data/schema-catalog.json"  # SchemaStore's own, Apache-2.0, as of 2026
FILES = {"ContrastGenerate": "contrast", "ContrastRelease": "release", "ImageLock": "images"}
STRICT = """
const Ajv = require(process.argv[1]), asked = JSON.parse(require("fs").readFileSync(0));
const check = new (Ajv.default || Ajv)({ strict: true }).compile(asked.schema);
console.log(JSON.stringify(asked.values.map((value) => check(value) ? "" : check.errors[0].instancePath)));
"""
BAD: dict[str, dict[str, Any]] = {
    "ContrastGenerate": {"platform": "metal-qemu-sgx"},
    "ContrastRelease": {"platforms": []},
    "ImageLock": {"images": "all"},
}


def by_ajv(made: dict[str, Any], values: list[Any]) -> Any:
    """Where each value does not fit; "" where it does. A schema that strict mode refuses fails the run."""
    node, script = ajv()
    asked = json.dumps({"schema": made, "values": values})
    done = subprocess.run([node, "-e", STRICT, script], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def examples(kind: str) -> list[Any]:
    return [yaml.safe_load(path.read_text()) for path in sorted(ROOT.glob(f"examples/*/config/{FILES[kind]}.yaml"))]


@needing("ajv")
@pytest.mark.parametrize("kind", KINDS)
def test_strict_mode_takes_the_schema_the_examples_and_no_bad_file(kind: str) -> None:
    good = examples(kind)
    bad = {**good[0], "spec": {**good[0]["spec"], **BAD[kind]}}
    (field,) = BAD[kind]
    *fits, where = by_ajv(schema(kind), [*good, bad])
    assert len(good) >= 4
    assert set(fits) == {""}
    assert where == f"/spec/{field}"


@needing("ajv")
def test_strict_mode_refuses_a_word_that_no_draft_has() -> None:
    with pytest.raises(AssertionError, match="unknown keyword"):
        by_ajv({**schema("ImageLock"), "requires": []}, [])


def test_the_entries_are_what_the_schema_of_the_catalogue_asks_for() -> None:
    entries = catalogue.schema_store()
    whole = {"$schema": "https://json.schemastore.org/schema-catalog.json", "version": 1, "schemas": entries}
    jsonschema.Draft4Validator(json.loads(CATALOG.read_text())).validate(whole)
    published = [one["url"].partition(f"/raw/v{__version__}/")[2] for one in entries]
    assert [json.loads((ROOT / path).read_text())["title"] for path in published] == list(KINDS)
