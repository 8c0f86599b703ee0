"""Check rendered output: against itself, its manifest and, with a configuration, another render.

Rule of this package: it restores and edits nothing, as the verdict is about the bytes that will be applied; the
pipeline shows how a render would change them.
"""
