"""A manifest as bytes: the one encoder, since Contrast compares and signs manifests byte for byte.

Rule of this file: the bytes are those of Go's json.MarshalIndent with two spaces and a trailing newline.
Nothing else in the project may print a manifest. Source: docs/facts/contrast-manifest.md#manifest.
"""

import json
from collections.abc import Mapping
from typing import Any

from krm_function.manifest.canonical import canonical

_GO_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"},
)
"""What Go escapes beyond JSON's need, to be safe in HTML and JavaScript. All of it can only stand inside strings."""


def encode(manifest: Mapping[str, Any]) -> bytes:
    r"""Write a manifest as Contrast's CLI would: UTF-8 and canonical, so equal manifests give equal bytes.

    Control characters are written as Go 1.22 and later do, with \b and \f. Raises FieldProblem for a value of the
    wrong type and for an unknown field, since neither can be written without loss.
    """
    text = json.dumps(canonical(manifest), ensure_ascii=False, indent=2)
    return f"{text.translate(_GO_ESCAPES)}\n".encode()
