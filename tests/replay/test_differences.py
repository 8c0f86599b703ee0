"""What is said of a condition that does not hold, on requests and policies made here."""

from typing import Any

import pytest

from krm_function.operations.replay import Compared, differences
from krm_function.operations.rule_conditions import CONDITIONS, Condition

MOUNT = {"destination": "/data", "type_": "bind", "options": ["rbind", "ro"], "source": "^/run/a$"}


def row(says: str) -> Condition:
    return next(one for one in CONDITIONS if one.says == says)


def told(says: str, asked: Any, sealed: Any, *keys: Any) -> list[str]:
    """The sentences for the field of a condition, asked and sealed."""
    found = row(says)
    return list(differences(found, Compared(within(found.field, asked), within(found.field, sealed), {}, {}, "", keys)))


def within(path: str, value: Any) -> Any:
    for step in reversed(path.split(".")):
        value = {step: value}
    return value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"destination": "/other"}, "a mount at /other that the policy does not have"),
        ({"type_": "tmpfs"}, "the mount at /data: its type is tmpfs, sealed was bind"),
        ({"options": ["rbind"]}, "the mount at /data: its options are rbind; sealed were rbind, ro"),
        ({"options": []}, "the mount at /data: its options are none; sealed were rbind, ro"),
        (
            {"type_": "tmpfs", "options": ["rw"]},
            "the mount at /data: its type is tmpfs, sealed was bind; its options are rw; sealed were rbind, ro",
        ),
        (
            {"source": "/run/b"},
            "the mount at /data: it comes from /run/b, which is not where the policy has it from",
        ),
    ],
)
def test_a_mount_is_named_with_what_differs(change: dict[str, Any], said: str) -> None:
    assert told("mounts", [MOUNT, {**MOUNT, **change}], [MOUNT], 1) == [said]


@pytest.mark.parametrize(
    ("says", "asked", "sealed", "said"),
    [
        ("value", 0, 1000, "the node asked for 0; the pod was sealed with 1000"),
        (
            "value",
            None,
            {"a": 1},
            "the node asked for nothing; the pod was sealed with something that is no single value",
        ),
        ("values", [1, 2], [], "the node asked for 1, 2; the pod was sealed with none"),
    ],
)
def test_a_value_is_named_beside_the_sealed_one(says: str, asked: Any, sealed: Any, said: str) -> None:
    assert told(says, asked, sealed) == [said]
