"""Pods that custom resources make: the catalogue, spec.podTemplates, and what controllers add."""
