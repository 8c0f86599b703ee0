"""Text in, positions and splices out: the package that reads and edits YAML and JSON without re-serialising it.

Rule of this package: untouched bytes stay untouched, and no edit leaves it that has not been parsed back and compared
with what `apply` says it means. It knows nothing of Contrast, and of Kubernetes only its scalar typing. Why nothing is
re-serialised: docs/facts/python.md#round-trips.
"""
