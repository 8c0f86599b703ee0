"""One process that forks all calls, as in tests/cli."""

from tests.cli.conftest import call

__all__ = ["call"]
