"""Name several objects in one sentence: the first ones, and how many more there are."""

from collections.abc import Sequence

LIMIT = 5


def listed(names: Sequence[str]) -> str:
    """Write `Deployment/a, Deployment/b and 3 more`: at most five names."""
    more = len(names) - LIMIT
    return ", ".join(names[:LIMIT]) + (f" and {more} more" if more > 0 else "")
