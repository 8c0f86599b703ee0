"""Kubernetes as data: kinds, pod fields, quantities, names, RuntimeClasses, nodes; and the resources of an input.

Rule of this package: it knows nothing of Contrast but the names of its annotations in `workload`, and edits no text.
"""
