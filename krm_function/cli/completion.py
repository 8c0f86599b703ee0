"""`contrast-krm completion SHELL`: what a shell needs to complete verbs, flags and files.

Rule of this file: the script is derived from the parser of arguments.py, so it cannot know less or more than `--help`.
"""

from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator

from krm_function.cli.arguments import whole_parser
from krm_function.cli.streams import write_out

FILES = frozenset(("FILE", "PATH"))
DIRECTORIES = frozenset(("DIR",))


def run_completion(shell: str) -> int:
    """Print the script of one shell."""
    import shtab

    parser = whole_parser()
    for action in _actions(parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in DIRECTORIES:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    write_out(f"{shtab.complete(parser, shell)}\n".encode())
    return 0


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    """Every argument of a parser and of the parsers below it."""
    for action in parser._actions:  # noqa: SLF001 (argparse has no public list)
        if isinstance(action, _SubParsersAction):
            for below in set(action.choices.values()):
                yield from _actions(below)
        else:
            yield action
