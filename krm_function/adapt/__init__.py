"""Rules that adapt what the user deploys: volumes, caches, GPU names, vCPUs, memory, misplaced annotations.

Rule of this package: one file a rule. A rewriting is a record of names, chosen by the rule, or read back from a
rendered pod by `undone`. Both ask the same function what forbids it, and make it with the same edits, so an undo record
is believed of exactly what a render does.
"""
