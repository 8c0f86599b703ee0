"""Rewritings of volumes: what each rule of `spec.volumes` makes of a pod, and when it does not.

Rule of this package: a rewriting is a record of names, chosen by a stage, or read back from a rendered pod by `undone`.
Both ask the same function what forbids it, and make it with the same edits, so an undo record is believed of exactly
what a render does. Which pods a rule is for is decided in the stages.
"""
