"""Search for sequences of requests that break an invariant, on every policy of the examples.

Rule of this file: it counts requests, and divides them among the policies and among the processors.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from tests.policy.lifetimes.search import LENGTH, HostileHost, search
from tests.policy.oracle import workloads

PART = 100  # sequences of one call: a process has the policy loaded, and the report comes in time


class Lived(NamedTuple):
    """requests: how many were sent; broken: of each policy with one, the shortest sequence that was found."""

    requests: int
    broken: tuple[str, ...]
    policies: int = 1


def try_lifetimes(requests: int, seed: int) -> Lived:
    """Send at least so many requests, in sequences."""
    policies = {rego: name for name, rego in workloads.examples().items()}  # hosts seal the same pod alike
    parts = max(1, -(-requests // (len(policies) * PART * LENGTH)))
    work = [(name, rego, seed + number) for rego, name in policies.items() for number in range(parts)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(_tried, work))
    return Lived(
        sum(each.requests for each in found), tuple(line for each in found for line in each.broken), len(policies)
    )


def _tried(work: tuple[str, str, int]) -> Lived:
    name, rego, seed = work
    before = HostileHost.steps
    try:
        search(rego, PART, seed=seed)
    except AssertionError as wrong:
        return Lived(HostileHost.steps - before, (f"{name}: {wrong}",))
    return Lived(HostileHost.steps - before, ())
