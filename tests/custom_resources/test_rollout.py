"""A Rollout is refused if its strategy makes other pods than its template describes."""

from typing import Any

import pytest

from tests.custom_resources.objects import rendered, template
from tests.custom_resources.planted import thing

METADATA = {"annotations": {"io.katacontainers.config.hypervisor.cc_init_data": "other"}}
EXPERIMENT = {"templates": [{"name": "new", "specRef": "canary", "metadata": METADATA}]}


@pytest.mark.parametrize(
    "strategy",
    [
        {"canary": {"canaryMetadata": METADATA}},
        {"canary": {"stableMetadata": METADATA}},
        {"blueGreen": {"activeMetadata": METADATA}},
        {"blueGreen": {"previewMetadata": METADATA}},
        {"canary": {"steps": [{"setWeight": 5}, {"experiment": EXPERIMENT}]}},
        {"canary": {"steps": [{"name": "first", "experiment": None}, {"experiment": EXPERIMENT}]}},
        {"canary": {"steps": [{"name": "experiment"}, {"experiment": EXPERIMENT}]}},
    ],
)
def test_a_strategy_that_changes_pods_is_refused(strategy: dict[str, Any]) -> None:
    run = rendered(thing("argoproj.io/v1alpha1", "Rollout", template=template(), strategy=strategy))
    assert (run.code, run.out, "CC0694" in run.err) == (1, b"", True)


@pytest.mark.parametrize(
    "strategy", [{"canary": {"steps": [{"setWeight": 5}, {"pause": {}}]}}, {"blueGreen": {"activeService": "web"}}]
)
def test_any_other_strategy_is_sealed(strategy: dict[str, Any]) -> None:
    rendered(thing("argoproj.io/v1alpha1", "Rollout", template=template(), strategy=strategy)).ok()
