"""Text in, positions and splices out: the package that reads and edits YAML and JSON without re-serialising it.

Rule of this package: unedited bytes stay, and every edit is parsed back and compared with the result of `apply` before
it is returned. Nothing here depends on Contrast; only scalar typing comes from Kubernetes. Nothing is re-serialised;
docs/facts/python.md#round-trips gives the reason.
"""
