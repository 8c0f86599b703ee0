"""The manual page of contrast-krm: every command and option out of the parsers, as roff.

Rule of this file: the page depends on the parsers alone. No line of it is wrapped here and nothing of argparse's own
layout is used, so that every Python writes the same bytes. It has neither a date nor a version: `contrast-krm version`
has both. Macros: man(7) alone, which mandoc and groff both read.
"""

import argparse
import re
from collections.abc import Iterator

from krm_function.cli.command_line import DESCRIPTION, EPILOG, PROGRAM, every_parser
from krm_function.cli.commands import GROUPS, SUMMARIES

SEE_ALSO = (
    ("documentation", "https://github.com/contrast-krm/contrast-krm/tree/main/docs"),
    ("Contrast", "https://docs.edgeless.systems/contrast"),
)


def man_page() -> str:
    """Return the text of contrast-krm.1."""
    parser = every_parser()
    codes, _, variables = EPILOG.partition("\n")
    lines = [
        '.\\" Written by `python -m tools.make_docs` out of the parsers.',
        f'.TH {PROGRAM.upper()} 1 "" "{PROGRAM}" "User Commands"',
        ".ad l",  # options and addresses stay in one piece
        ".nh",
        ".SH NAME",
        f"{_text(PROGRAM)} \\- confidential workloads for Contrast, declaratively",
        ".SH SYNOPSIS",
        f".B {_text(PROGRAM)}",
        ".RI [ command ]",
        ".RI [ options ]",
        *_section("DESCRIPTION", DESCRIPTION),
        ".SH COMMANDS",
        *(line for name in SUMMARIES if name not in GROUPS for line in _command(name, _parser_of(parser, name))),
        ".SH EXIT STATUS",
        *_codes(codes.partition(":")[2]),
        *_section("ENVIRONMENT", variables.partition(":")[2].strip()),
        ".SH SEE ALSO",
        *(line for name, address in SEE_ALSO for line in (f"{name}: {_text(address)}", ".br")),
        ".BR kustomize (1),",
        ".BR helm (1),",
        ".BR kpt (1)",
    ]
    return "\n".join(lines) + "\n"


def _section(title: str, text: str) -> Iterator[str]:
    """Yield a section of prose, its paragraphs apart."""
    yield f".SH {title}"
    for number, paragraph in enumerate(re.split(r"\n\n", text)):
        if number:
            yield ".PP"
        yield from map(_text, paragraph.splitlines())


def _codes(text: str) -> Iterator[str]:
    """`0 ok, 1 error findings` as a list."""
    for one in text.split(","):
        number, _, meaning = one.strip().partition(" ")
        yield from (f".TP\n.B {number}", _text(meaning))


def _parser_of(parser: argparse.ArgumentParser, name: str) -> argparse.ArgumentParser:
    """Return the parser of a command of one or two words."""
    for word in name.split():
        (below,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))  # noqa: SLF001
        parser = below.choices[word]
    return parser


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield a subsection: what the command does, its arguments, its options in their groups."""
    yield f".SS {_text(f'{PROGRAM} {name}')}"
    yield _text(parser.description or "")
    for group in parser._action_groups:  # noqa: SLF001 (argparse has no public list)
        inner = (argparse._HelpAction, argparse._SubParsersAction)  # noqa: SLF001
        actions = [action for action in group._group_actions if not isinstance(action, inner)]  # noqa: SLF001
        if actions and group.title not in {"positional arguments", "options"}:
            yield f".PP\n.I {_text(group.title or '')}"
        for action in actions:
            yield f".TP\n{_invocation(action)}"
            yield _text((action.help or "") % {"default": action.default, "prog": PROGRAM})


def _invocation(action: argparse.Action) -> str:
    """`-o, --output FILE`: names in bold, the value in italics."""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices and not action.metavar else ""
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    value = f"\\fI{_text(metavar or choices or action.dest.upper())}\\fR"
    if not action.option_strings:
        return f"{value} ..." if action.nargs in {"*", "+"} else value
    names = ", ".join(f"\\fB{_text(one)}\\fR" for one in action.option_strings)
    return names if action.nargs == 0 else f"{names} {value}"


_ESCAPES = str.maketrans({"\\": "\\e", "-": "\\-", "`": "\\(ga", "'": "\\(aq"})


def _text(text: str) -> str:
    """Return a line of prose in roff: one line, no control line, hyphens and quotes as they are typed."""
    escaped = " ".join(text.split()).translate(_ESCAPES)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
