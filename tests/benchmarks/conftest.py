"""Requests of Kata's cases go to the engines in the same turns as those of the policy tests."""

from tests.policy.conftest import turns_of_the_slow_engine

__all__ = ["turns_of_the_slow_engine"]
