"""OpenKruise: pods are made anew for a new version; an update in place is refused."""

from typing import Any

import pytest

from tests.custom_resources.objects import rendered, template
from tests.custom_resources.planted import thing

Json = dict[str, Any]
ROLLING = "rollingUpdate"
STRATEGIES: dict[tuple[str, str], tuple[Json, str]] = {
    ("v1alpha1", "CloneSet"): ({"type": "{}"}, "ReCreate"),
    ("v1alpha1", "StatefulSet"): ({ROLLING: {"podUpdatePolicy": "{}"}}, "ReCreate"),
    ("v1beta1", "StatefulSet"): ({ROLLING: {"podUpdatePolicy": "{}"}}, "ReCreate"),
    ("v1alpha1", "DaemonSet"): ({ROLLING: {"rollingUpdateType": "{}"}}, "Standard"),
}


def strategy(value: Any, word: str) -> Any:
    """An update strategy with the word in it."""
    if isinstance(value, dict):
        return {key: strategy(one, word) for key, one in value.items()}
    return value.format(word)


@pytest.mark.parametrize(("version", "kind"), STRATEGIES)
def test_an_update_in_place_is_refused(version: str, kind: str) -> None:
    form, anew = STRATEGIES[version, kind]
    for word, code in ((anew, 0), ("InPlaceIfPossible", 1)):
        value = thing(f"apps.kruise.io/{version}", kind, template=template(), updateStrategy=strategy(form, word))
        made = rendered(value)
        assert made.code == code, made.err
        assert ("CC0694" in made.err) == (f"to {anew}" in made.err) == bool(code)
