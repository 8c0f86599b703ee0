"""The deployment of tests/cli, for forms that are asked of the command line."""

from tests.cli.conftest import call, shop

__all__ = ["call", "shop"]
