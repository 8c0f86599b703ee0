"""Numbers, texts and lists of a request as a sentence has them.

Rule of this file: a text is cut off after LONGEST characters, and of a variable there is the name alone.
"""

import json
from typing import Any

from krm_function.model.lookup import dig

LONGEST = 200  # characters of a path, a reference or a list


def at(value: Any, path: str) -> Any:
    """Return the value at a dotted path, whose last step may be a key in brackets and quotes."""
    head, _, key = path.partition('["')
    steps: list[str | int] = [*head.split(".")] if head else []
    return dig(value, (*steps, key.removesuffix('"]')) if key else tuple(steps))


def shown(value: Any) -> str:
    """Write a number, a boolean or a text; of anything else, say what it is."""
    if isinstance(value, str):
        return short(value) if value else "nothing"
    if value is None:
        return "nothing"
    return json.dumps(value) if isinstance(value, int | float) else "something that is no single value"


def listed(value: Any) -> str:
    """Write the members of a list, or `none`."""
    members = [shown(one) for one in value] if isinstance(value, list) else []
    return short(", ".join(members)) if members else "none"


def variable_name(text: Any) -> str:
    """Return what stands before the first `=`; nothing of a text without one, as it may be a value."""
    name, equals, _ = text.partition("=") if isinstance(text, str) else ("", "", "")
    return short(name) if equals and name else "without a name"


def short(text: str) -> str:
    """Put a text on one line and cut it at its longest length."""
    text = " ".join(text.split("\n"))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
