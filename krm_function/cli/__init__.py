"""The command line: the only package that touches files, standard streams and the exit code."""

from krm_function.cli.main import main

__all__ = ["main"]
