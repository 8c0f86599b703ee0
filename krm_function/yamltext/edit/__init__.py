"""Edit a document in place: changes of its data become replacements of the few characters that they concern.

Rule of this package: `splice` is the way in; its result has been parsed again and equals what `changes.apply` says.
"""
