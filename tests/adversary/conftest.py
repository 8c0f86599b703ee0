"""The real tools, as the tests of the hosts have them."""

from tests.hosts.conftest import krm_machine

__all__ = ["krm_machine"]
