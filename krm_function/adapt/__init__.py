"""Rules that adapt what the user deploys: volumes, caches, GPU names, vCPUs, memory, misplaced annotations.

Rule of this package: one file a rule. A rewriting is a record of names, chosen by the rule or read back from a rendered
pod by `undone`. Both use the same function to refuse it and the same edits to make it, so an undo record is believed
only for rewritings that a render makes.
"""
