"""The process that forks calls, as the tests of the command line have it."""

from tests.cli.conftest import call

__all__ = ["call"]
