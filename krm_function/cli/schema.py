"""`contrast-krm schema [KIND]`: the JSON Schema of a kind, or of all three."""

import json

from krm_function.api.schema import KINDS, schema, schema_text
from krm_function.cli.say import complain
from krm_function.cli.streams import write_out
from krm_function.findings import finding
from krm_function.schema.nearest import nearest


def run_schema(kind: str) -> int:
    """Print one schema, or an object with all of them by kind."""
    if kind and kind not in KINDS:
        by_fold = {known.lower(): known for known in KINDS}
        if kind.lower() not in by_fold:
            close = nearest(kind, KINDS) or ", ".join(KINDS)
            return complain([finding("CC0905", kind=kind, suggestion=close)])
        kind = by_fold[kind.lower()]
    text = schema_text(kind) if kind else f"{json.dumps({known: schema(known) for known in KINDS}, indent=2)}\n"
    write_out(text.encode())
    return 0
