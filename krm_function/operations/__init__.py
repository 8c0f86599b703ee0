"""Commands for the days after a render: why, guard, upgrade, policy replay, the comparison with a cluster.

Rule of this package: a render, and the commands that prepare or review one, never import it. Objects come in as plain
data. Messages of a cluster are recognised by tables (docs/facts/pod-status.md), and nothing is guessed.
"""
