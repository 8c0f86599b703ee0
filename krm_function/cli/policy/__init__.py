"""Policies of commands: the programs that make or judge one, and what is sealed into a workload."""
