"""Rule of this file: a condition whose loss no request can show stands here, with the reason.

(rule, regular expression for the whole condition, reason)
"""

EQUIVALENT: tuple[tuple[str, str, str], ...] = ()
