"""The command `why`: status, events and sealed policy of a pod -> what keeps it from starting, and the remedy.

Rule of this package: pure; objects come in as plain data, of a live cluster or of a file. What the cluster says is
recognised by tables of its words (docs/facts/pod-status.md), and a message that no row knows is told as one that is not
known: nothing is guessed. Of a denial by the policy only its kind and the container's name are kept, as in `replay`.
"""
