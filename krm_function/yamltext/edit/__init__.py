"""Edit a document in place: changes of its data become replacements of the few characters that they concern.

Rule of this package: `splice` is the entry point; its result was parsed again and equals the value of `changes.apply`.
"""
