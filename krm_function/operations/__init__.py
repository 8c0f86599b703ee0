"""What an operator does on the days after a render: why, guard, upgrade, policy replay, the comparison with a cluster.

Rule of this package: a render, and what prepares or reviews one, never imports it. Objects come in as plain data. What
a cluster says is recognised by tables of its words (docs/facts/pod-status.md), and nothing is guessed.
"""
