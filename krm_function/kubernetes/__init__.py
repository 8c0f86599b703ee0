"""Kubernetes as data: kinds, pod fields, quantities, names, RuntimeClasses, nodes; and the resources of an input.

Rule of this package: of Contrast it has only the names of its annotations, in `workload`; it edits no text.
"""
