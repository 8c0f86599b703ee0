"""The open variables of a workload in one line: those of which the host may choose any value.

Rule of this file: names only; an open variable has no value that anybody here could know.
"""

from krm_function.model.pod_kind import OF_CONTROLLER
from krm_function.pipeline.result import Planned


def variables_text(planned: Planned, *, of_controller: bool | None = None) -> str:
    """Write `web DB_PASSWORD (Secret db, key password), web DB_USER (Secret db, key user)`; "" if there are none.

    of_controller: only those that the controller of a custom resource writes, each with its form, or only the others.
    """
    return ", ".join(
        f"{one.container} {one.name} ({one.source.removeprefix(OF_CONTROLLER) if of_controller else one.source})"
        for one in planned.open
        if of_controller is None or one.source.startswith(OF_CONTROLLER) is of_controller
    )
