"""The command line: the only room that touches files, standard streams and the exit code."""

from krm_function.cli.main import main

__all__ = ["main"]
