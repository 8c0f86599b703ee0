"""`contrast-krm help [COMMAND]`: the same as `contrast-krm COMMAND --help`.

Rule of this file: a command has one help text, which its parser prints.
"""

from argparse import Namespace

from krm_function.cli.exits import OK
from krm_function.cli.parser import Parser

DESCRIPTION = "The same as contrast-krm COMMAND --help; without a command the list of all. A code: see explain."


def add_arguments(parser: Parser) -> None:
    """Add the words of a command."""
    text = "the command, such as generate or release import"
    parser.add_argument("words", metavar="COMMAND", nargs="*", help=text)


def run(options: Namespace) -> int:
    """Print the help of a command. Raises Exit, as --help does."""
    word = options.words[0] if options.words else ""
    if word[:2].upper() == "CC" and word[2:].isdecimal():
        options.parser.refuse("a code has an explanation and no help", f"contrast-krm explain {word}")
    options.parse([*options.words, "--help"])
    return OK
