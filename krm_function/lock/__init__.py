"""From image references to what a policy has to know of the images: the entries of an ImageLock.

Rule of this package: it is the only one with network, and no byte of a registry or an archive is believed before its
digest is. Whatever comes from there is bounded in size and time; whatever has two readings is refused. It never prints,
and nothing of a credential leaves it but in a request to the registry that it belongs to.
"""

from krm_function.lock.lock_text import new_lock, silent, updated_lock
from krm_function.lock.problem import Problem
from krm_function.lock.resolve import Limits, Locked
from krm_function.lock.run import Run, resolve_all
from krm_function.lock.sources import FORMS, Place, open_sources, parse_place

__all__ = [
    "FORMS",
    "Limits",
    "Locked",
    "Place",
    "Problem",
    "Run",
    "new_lock",
    "open_sources",
    "parse_place",
    "resolve_all",
    "silent",
    "updated_lock",
]
