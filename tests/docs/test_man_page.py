"""The manual page: roff that mandoc and groff read alike, with every command and every option."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from krm_function.cli.command_line import every_parser
from krm_function.cli.commands import GROUPS, SUMMARIES

PAGE = Path(__file__).parents[2] / "krm_function" / "cli" / "shell" / "contrast-krm.1"
LINES = PAGE.read_text(encoding="ascii").splitlines()
MACROS = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I", ".BR", ".RI", ".br", ".ad", ".nh", '.\\"'}
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"]
ESCAPES = r"\\(?:-|e|&|\(ga|\(aq|f[BIR]|\")"


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command that does something, with its parser."""
    waiting: list[tuple[str, argparse.ArgumentParser]] = [("", every_parser())]
    while waiting:
        name, parser = waiting.pop()
        below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        if name and name not in GROUPS:
            yield name, parser
        waiting += [(f"{name} {word}".strip(), one) for action in below for word, one in action.choices.items()]


def text_of(line: str) -> str:
    """What a reader sees of a line."""
    return re.sub(r"\\f[BIR]", "", line).replace("\\-", "-").replace("\\(aq", "'").replace("\\(ga", "`")


def test_every_line_is_text_or_a_known_macro() -> None:
    for line in LINES:
        assert line, "an empty line is a paragraph of groff's and an error of mandoc's"
        assert not line.startswith("'"), line
        if line.startswith("."):
            assert line.split()[0] in MACROS, line
        assert "\\" not in re.sub(ESCAPES, "", line), line


def test_it_has_the_sections_of_a_page_in_their_order() -> None:
    assert [line.removeprefix(".SH ") for line in LINES if line.startswith(".SH ")] == SECTIONS
    assert LINES[1].startswith(".TH CONTRAST-KRM 1 ")
    assert text_of(LINES[LINES.index(".SH NAME") + 1]).startswith("contrast-krm \\- ".replace("\\-", "-"))


def test_every_command_is_there_with_its_options() -> None:
    shown = {text_of(part.splitlines()[0]): part for part in "\n".join(LINES).split("\n.SS ")[1:]}
    known = dict(commands())
    assert set(shown) == {f"contrast-krm {name}" for name in known}
    assert set(known) <= set(SUMMARIES)
    for name, parser in known.items():
        said = {text_of(line) for line in shown[f"contrast-krm {name}"].splitlines()}
        for action in parser._actions:
            wanted = ", ".join(action.option_strings)
            if wanted and not isinstance(action, argparse._HelpAction):
                assert any(line == wanted or line.startswith(f"{wanted} ") for line in said), (name, wanted)
