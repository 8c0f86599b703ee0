"""The deployment of tests/cli and the machine of tests/hosts."""

from tests.cli.conftest import call, rendered, shop
from tests.hosts.conftest import krm_machine

__all__ = ["call", "krm_machine", "rendered", "shop"]
