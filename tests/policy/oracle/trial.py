"""Rule of this file: a trial is one mutation of one request of a correct host, with the verdict that it must have."""

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.policy.host import Json
from tests.policy.oracle.meaningless import FIRST, LINK, NO_LINK, TABLE, Free, reason
from tests.policy.oracle.mutations import mutations
from tests.policy.oracle.requests import Asked

WITHOUT_CONDITION = ("DestroySandboxRequest",)


class Trial(NamedTuple):
    """what: "create app: OCI.Root.Readonly flip"; reason: why it is allowed, or empty: it must be denied."""

    what: str
    shape: tuple[str, str, str]
    entry_point: str
    state: Json
    request: Any
    reason: str


def trials(asked: Asked, profile: str) -> Iterator[Trial]:
    """Every mutation of a request. profile: of the policy."""
    if asked.entry_point in WITHOUT_CONDITION:
        return
    rows = _rows(asked)
    for mutation in mutations(asked.request):
        yield Trial(
            f"{asked.name}: {mutation.place} {mutation.way}",
            (asked.entry_point, *mutation.shape),
            asked.entry_point,
            asked.state,
            mutation.request,
            reason(rows, profile, asked.entry_point, mutation.place, mutation.way),
        )


def sample(life: tuple[Asked, ...], profile: str) -> list[Trial]:
    """One trial for each shape and verdict, always the same one."""
    chosen: dict[tuple[str, str, str, bool], Trial] = {}
    for asked in life:
        for trial in trials(asked, profile):
            key = (*trial.shape, not trial.reason)
            if key not in chosen or _rank(trial) < _rank(chosen[key]):
                chosen[key] = trial
    return [chosen[key] for key in sorted(chosen)]


def _rank(trial: Trial) -> str:
    return hashlib.sha256(trial.what.encode()).hexdigest()


def _rows(asked: Asked) -> tuple[Free, ...]:
    rows: tuple[Free, ...] = TABLE
    if asked.entry_point == "CreateContainerRequest" and not asked.state:
        rows += FIRST
    if asked.entry_point == "CopyFileRequest":
        rows += LINK if asked.request["file_type"] == "Symlink" else NO_LINK
    return rows
