"""What a label selector of Kubernetes selects, as far as it can be read.

Rule of this file: an operator that nobody knows selects, so that what it may select counts. An empty selector selects
everything; who reads it otherwise says so.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.model.lookup import mapping, maps


def selects(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Tell whether `matchLabels` and `matchExpressions` may select an object with these labels."""
    wanted = mapping(selector.get("matchLabels"))
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_fits(one, labels) for one in maps(selector.get("matchExpressions")))


def _fits(expression: dict[str, Any], labels: Mapping[str, Any]) -> bool:
    key, values = str(expression.get("key")), expression.get("values")
    values = values if isinstance(values, list) else []
    match expression.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return True
