"""Resolve image references to the entries of an ImageLock: digests, configurations and accounts that a policy needs.

Rule of this package: it is the only one with network, and no byte of a registry or an archive is believed before its
digest is. Whatever comes from there is bounded in size and time; whatever has two readings is refused. It never prints,
and nothing of a credential leaves it but in a request to the registry that it belongs to.
"""
