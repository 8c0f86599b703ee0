"""`contrast-krm completion SHELL`: a script with which a shell completes commands, flags and files.

Rule of this file: the script is derived from the parser of every command, so it offers exactly what `--help` shows.
"""

from argparse import Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterator

from krm_function.cli.exits import OK
from krm_function.cli.parser import Parser
from krm_function.cli.streams import write_out

DESCRIPTION = (
    'For bash: eval "$(contrast-krm completion bash)". For zsh: the same into a file _contrast-krm of your fpath. '
    "For fish: contrast-krm completion fish | source."
)
SHELLS = ("bash", "zsh", "fish")
FILES = frozenset(("FILE", "PATH"))
DIRECTORIES = frozenset(("DIR",))


def add_arguments(parser: Parser) -> None:
    """Add the shell."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def run(options: Namespace) -> int:
    """Print the script of one shell."""
    import shtab

    parser = options.every_parser()
    for action in _actions(parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in DIRECTORIES:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    write_out(f"{shtab.complete(parser, options.shell)}\n".encode())
    return OK


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    for action in parser._actions:  # noqa: SLF001 (argparse has no public list)
        if isinstance(action, _SubParsersAction):
            for below in set(action.choices.values()):
                yield from _actions(below)
        else:
            yield action
