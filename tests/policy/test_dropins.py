from typing import Any

import pytest

from krm_function.contrast.profiles import DEFAULT
from krm_function.policy.settings import default_document, patched


def test_operations_apply_in_order() -> None:
    before = default_document(DEFAULT)
    patch: list[Any] = [
        {"op": "test", "path": "/kata_config/oci_version", "value": "1.1.0"},
        {"op": "replace", "path": "/kata_config/oci_version", "value": "1.3.0"},
        {"op": "add", "path": "/request_defaults/ExecProcessRequest/allowed_commands/-", "value": ["ls"]},
        {"op": "add", "path": "/request_defaults/ExecProcessRequest/allowed_commands/0", "value": ["id"]},
        {"op": "copy", "from": "/common/spath", "path": "/common/other"},
        {"op": "move", "from": "/common/other", "path": "/common/another"},
        {"op": "remove", "path": "/common/another"},
    ]
    made = patched(default_document(DEFAULT), patch)

    assert made["kata_config"]["oci_version"] == "1.3.0"
    assert made["request_defaults"]["ExecProcessRequest"]["allowed_commands"] == [["id"], ["ls"]]
    made["kata_config"]["oci_version"] = "1.1.0"
    made["request_defaults"]["ExecProcessRequest"]["allowed_commands"].clear()
    assert made == default_document(DEFAULT) == before
    assert patch[2]["value"] == ["ls"]


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ({"op": "remove", "path": "/common"}, "is not a JSON Patch (a list of operations)"),
        ([5], "operation 1 is not an operation of RFC 6902: operation must be an object"),
        (
            [{"op": "drop", "path": "/common"}],
            "operation 1 (drop /common) is not an operation of RFC 6902: unknown operation 'drop'",
        ),
        ([{"op": "add", "path": "/common/x"}], "operation 1 (add /common/x) is not an operation of RFC 6902: "),
        ([{"op": "remove", "path": "/x"}], "operation 1 (remove /x) does not apply: can't remove a non-existent"),
        (
            [{"op": "remove", "path": "/common"}, {"op": "replace", "path": "/common/x", "value": "1"}],
            "operation 2 (replace /common/x) does not apply: ",
        ),
        ([{"op": "move", "from": "/x", "path": "/y"}], "operation 1 (move /x /y) does not apply: "),
        ([{"op": "add", "path": "common", "value": 1}], "operation 1 (add common) does not apply: location must start"),
        ([{"op": "add", "path": "/mount_destinations/99", "value": 1}], "does not apply: "),
        ([{"op": "test", "path": "/cluster_config/guest_pull", "value": 1}], "(test /cluster_config/guest_pull) finds"),
    ],
)
def test_a_patch_that_does_not_apply(patch: Any, problem: str) -> None:
    with pytest.raises(ValueError) as found:
        patched(default_document(DEFAULT), patch)
    assert problem in str(found.value)


def test_no_value_is_told() -> None:
    patch = [{"op": "test", "path": "/kata_config/oci_version", "value": "s3cr3t"}]
    with pytest.raises(ValueError) as found:
        patched(default_document(DEFAULT), patch)
    assert "s3cr3t" not in str(found.value)
    assert "1.1.0" not in str(found.value)
