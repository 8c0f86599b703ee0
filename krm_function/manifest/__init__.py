"""The manifest: its fields, validation, canonical bytes, owner keys, and the merge with a previous one.

Rule of this package: values in, values or bytes out; it reads no files.
"""
