"""The open variables of a workload in one line: those of which the host may choose any value.

Rule of this file: names only; an open variable has no value that anybody here could know.
"""

from krm_function.pipeline import Planned


def variables_text(planned: Planned) -> str:
    """Write `web DB_PASSWORD (Secret db, key password), web DB_USER (Secret db, key user)`; "" if there are none."""
    return ", ".join(f"{one.container} {one.name} ({one.source})" for one in planned.open)
