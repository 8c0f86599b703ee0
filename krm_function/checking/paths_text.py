"""Write the paths at which two values differ, for a finding.

Rule of this file: it is given paths only, never values, so that no value can get into a finding.
"""

from krm_function.findings import Path, dotted

SHOWN = 4  # places in one sentence


def paths_text(paths: list[Path]) -> str:
    """Return the first paths as text, and how many more there are."""
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(dotted(path) or "all of it" for path in paths[:SHOWN]) + more
