"""Resolve image references to the entries of an ImageLock: digests, configurations and accounts that a policy needs.

Rule of this package: it is the only one with network, and no byte of a registry or an archive is believed before its
digest is. Whatever comes from there is bounded in size and time; whatever has two readings is refused. It never prints,
and nothing of a credential leaves it but in a request to the registry that it belongs to.
"""

from krm_function.lock.lock_problem import LockProblem
from krm_function.lock.lock_text import FOUND_AS, LAYERS, new_lock, silent, updated_lock
from krm_function.lock.resolve_image import Locked, LockLimits
from krm_function.lock.run import Run, resolve_all
from krm_function.lock.sources import FORMS, SourceOption, open_sources, parse_source

__all__ = [
    "FORMS",
    "FOUND_AS",
    "LAYERS",
    "LockLimits",
    "LockProblem",
    "Locked",
    "Run",
    "SourceOption",
    "new_lock",
    "open_sources",
    "parse_source",
    "resolve_all",
    "silent",
    "updated_lock",
]
