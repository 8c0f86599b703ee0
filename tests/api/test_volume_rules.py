"""`spec.volumes` of ContrastGenerate: what is read, what is refused, and how a ConfigMap says it."""

from typing import Any

import pytest

from krm_function.config.generate import VolumeRules, parse_generate
from tests.api.documents import GENERATE, RELEASE, document
from tests.api.test_api_collect import config, config_map

IMAGE = f"busybox:1.37@sha256:{'a' * 64}"


def read(volumes: Any) -> Any:
    """What ContrastGenerate has of `spec.volumes`, else the path and the problem of its first fault."""
    made, findings = parse_generate(document({**GENERATE, "spec": {"volumes": volumes}}))
    return made.volumes if made else (findings[0].path, findings[0].message)


@pytest.mark.parametrize("nothing", [None, {}, {"splitSubPaths": False}, {"securePV": None}, {"imageVolumes": None}])
def test_no_rule_is_on_by_itself(nothing: Any) -> None:
    assert read(nothing) == VolumeRules(split_sub_paths=False, secure_claims=(), image_volumes=False, cache_paths=())


def test_each_rule_is_read() -> None:
    rules = {
        "splitSubPaths": True,
        "securePV": {"claims": ["data", "*-db-0"]},
        "imageVolumes": "emptyDir",
        "hostPathCaches": {"paths": ["/models", "/var/lib/cache/"]},
    }

    assert read(rules) == VolumeRules(True, ("data", "*-db-0"), True, ("/models", "/var/lib/cache/"))
    owner = {"claims": ["data"], "owner": "fsGroup", "image": IMAGE}
    assert read({"securePV": owner}) == VolumeRules(secure_claims=("data",), owner_image=IMAGE)
    assert read({"splitSubPaths": "divideSizeLimit"}).split_sub_paths == "divideSizeLimit"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"splitSubPaths": "yes"}, "splitSubPaths"),
        ({"splitSubPaths": 1}, "splitSubPaths"),
        ({"splitSubpaths": True}, "splitSubpaths"),
        ({"securePV": True}, "securePV"),
        ({"securePV": {}}, "securePV.claims"),
        ({"securePV": {"claims": "data"}}, "securePV.claims"),
        ({"securePV": {"claims": ["Data"]}}, "securePV.claims[0]"),
        ({"securePV": {"claims": ["data"], "owner": "fsGroup"}}, "securePV"),
        ({"securePV": {"claims": ["data"], "image": IMAGE}}, "securePV"),
        ({"securePV": {"claims": ["data"], "owner": "root", "image": IMAGE}}, "securePV.owner"),
        ({"securePV": {"claims": ["data"], "owner": "fsGroup", "image": "busybox:1.37"}}, "securePV.image"),
        ({"securePV": {"owner": "fsGroup", "image": IMAGE}}, "securePV.claims"),
        ({"imageVolumes": True}, "imageVolumes"),
        ({"hostPathCaches": {"paths": ["models"]}}, "hostPathCaches.paths[0]"),
        ({"hostPathCaches": {"paths": ["/"]}}, "hostPathCaches.paths[0]"),
        ({"hostPathCaches": {"paths": ["/a/../etc"]}}, "hostPathCaches.paths[0]"),
        ({"hostPathCaches": {"paths": ["/a//b"]}}, "hostPathCaches.paths[0]"),
        ({"hostPathCaches": {"paths": ["/dev/cache"]}}, "hostPathCaches.paths[0]"),
        ({"hostPathCaches": {"paths": ["/proc"]}}, "hostPathCaches.paths[0]"),
    ],
)
def test_what_is_no_rule_is_a_finding_at_its_field(wrong: Any, field: str) -> None:
    made, findings = parse_generate(document({**GENERATE, "spec": {"volumes": wrong}}))

    assert made is None
    text = ".".join(str(part) for part in findings[0].path).replace(".0", "[0]")
    assert text == f"spec.volumes.{field}"


def test_a_config_map_sets_each_rule() -> None:
    data = {
        "volumes.splitSubPaths": "true",
        "volumes.securePV.claims": "data, cache",
        "volumes.imageVolumes": "emptyDir",
        "volumes.hostPathCaches.paths": "/models",
    }

    assert config(RELEASE, config_map(**data)).generate.volumes == VolumeRules(
        split_sub_paths=True, secure_claims=("data", "cache"), image_volumes=True, cache_paths=("/models",)
    )
