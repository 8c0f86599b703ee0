"""`contrast-krm install DIR`: this program and its dependencies, in a directory; cli/installation.py makes the copy.

Rule of this file: a refusal by the system is an error that names the file.
"""

import os
import sys
from argparse import Namespace

from krm_function.cli.parser import Parser, add_findings

DESCRIPTION = (
    "Creates DIR/contrast-krm, which needs a Python of the same version and no pip, and DIR/plugin, a "
    "KUSTOMIZE_PLUGIN_HOME. A bundle copies itself and needs no Python. A second run changes nothing."
)


def add_arguments(parser: Parser) -> None:
    """Add the directory, the interpreter, findings."""
    parser.add_argument("directory", metavar="DIR", help="target directory; created if there is none")
    parser.add_argument(
        "--python",
        metavar="PATH",
        default="",
        help="the Python that will run it: a path, or a name to be found on PATH (default: the one that runs this)",
    )
    add_findings(parser)


def run(options: Namespace) -> int:
    """Install. Raises FileProblem."""
    from krm_function import __version__
    from krm_function.cli.build import NotCopied, bundle_root
    from krm_function.cli.installation import PROGRAM, install
    from krm_function.cli.messages import print_findings
    from krm_function.findings import finding, has_errors
    from krm_function.hosts.files import FileProblem
    from krm_function.report.findings import on_one_line

    directory = options.directory
    bundle = "" if options.python else bundle_root()
    # else the interpreter below any virtual environment, which may no longer exist when the copy runs
    python = options.python or os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
    try:
        changed, findings = install(directory, python, bundle)
    except NotCopied as problem:
        changed, findings = False, [finding("CC1320.copy", error=str(problem))]
    except FileProblem:
        raise
    except OSError as problem:
        raise FileProblem(problem.filename or directory, problem.strerror or "not writable", writing=True) from problem
    summary = ""
    if not has_errors(findings):
        where = on_one_line(os.path.join(directory, PROGRAM))
        home = on_one_line(os.path.join(os.path.abspath(directory), "plugin"))
        runs = "with a Python of its own" if bundle else f"for {on_one_line(python)}"
        summary = f"{where}: contrast-krm {__version__} {runs}" + ("" if changed else ", as before") + "\n"
        summary += f"for legacy plugins: export KUSTOMIZE_PLUGIN_HOME={home}\n"
    return print_findings(findings, options.format, options.report, summary)
