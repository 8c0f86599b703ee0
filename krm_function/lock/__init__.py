"""Resolve image references to the entries of an ImageLock: digests, configurations and accounts that a policy needs.

Rule of this package: it is the only one with network, and no byte of a registry or an archive is used before its
digest is verified. Data from there are bounded in size and time, and refused if they have two readings. It never
prints, and sends a credential only to the registry that it belongs to.
"""
