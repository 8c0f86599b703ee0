"""Contrast as data: platforms, annotations, injected containers, profiles, the manifest, measurements.

Rule of this package: it decides what a name, a class, an annotation or a manifest means, and edits nothing. What a
second stack of runtime classes needs is added here.
"""
