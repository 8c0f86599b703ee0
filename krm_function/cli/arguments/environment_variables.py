"""Options that the environment gives where the command line does not.

    option      variable              called as                                     value
    given       any                   any                                           the option's
    not given   unset or empty        any                                           the default
    not given   set                   fn, post-render, the legacy plugin            the default: nothing is read
    not given   CONTRAST_KRM_CONFIG   generate, plan, explain, diff, check, lock    the variable's, and CC0911 says so
    not given   CONTRAST_KRM_CONFIG   another command                               the default
    not given   CONTRAST_KRM_FORMAT   any other command that prints findings        the variable's

kustomize, kpt and Helm pass their environment on and can hide standard error, so a variable that is left over from
elsewhere would change unseen what they deploy. `policy` reads what is sealed unless it is told otherwise.

Rule of this file: a variable names what its option names, never more than one option, and no program to run.
"""

import os
from argparse import Namespace

from krm_function.cli.arguments.options import FORMATS


def take_from_environment(options: Namespace) -> None:
    """Fill in what the command line of a call leaves open. Raises Exit for a value that cannot be meant.

    `options.config_from` is the variable that the paths of `options.config` are from, "" if it is none.
    """
    if hasattr(options, "config"):
        options.config_from = ""
        if not options.config:
            options.config = _config(options)
            options.config_from = options.config_variable if options.config else ""
    if hasattr(options, "format") and not options.format:
        options.format = _format(options)


def _config(options: Namespace) -> list[str]:
    variable = options.config_variable
    value = os.environ.get(variable, "") if variable else ""
    if not value:
        return []
    paths: list[str] = value.split(os.pathsep)  # as PATH separates them
    if "" in paths:
        options.parser.error(f"{variable}: one of its paths is empty")
    return paths


def _format(options: Namespace) -> str:
    variable = options.format_variable
    value = os.environ.get(variable, "") if variable else ""
    if value and value not in FORMATS:
        options.parser.refuse_value(variable, value, FORMATS)
    return value or FORMATS[0]
