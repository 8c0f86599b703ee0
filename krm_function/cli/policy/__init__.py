"""Policies for commands: the programs that make or judge one, and sealed ones read back and compared."""
