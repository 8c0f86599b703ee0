"""Replay what an agent was asked against the policy that is sealed into a pod, for `policy replay`.

Rule of this package: no process, no file, no network. The engine is a function that is handed in, and every verdict and
every condition that does not hold is its answer; nothing here judges a request. What is told has no value of a variable
and no argument.

    log_text -> pods_of_log -> judge (state) -> diagnose (rule_text, probes, conditions, differences, shown)
"""
