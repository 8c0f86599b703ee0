"""Short cuts for speed: each gives what the parser would give, or nothing, in which case the parser is used.

Rule of this package: a short cut stays only if removing it costs at least 10 % of a render; the measured figure of each
stands in docs/explanation/speed.md.
"""
