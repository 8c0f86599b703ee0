"""`python -m tools [--basic | NAME...]`: build every real tool of the tests; one line and exit 1 if any is missing.

--basic: those of `make test`. NAME: build these alone; the only way to build those of `build.APART`.
"""

import sys

from tools import ajv, browser, interpreters
from tools.build import BASIC, build_all
from tools.cache import ToolError
from tools.wheels import wheels


def _all() -> None:
    build_all()
    browser.install()
    ajv.install()
    interpreters.install()
    wheels()


try:
    if sys.argv[1:] == ["--basic"]:
        build_all(BASIC)
    elif len(sys.argv) > 1:
        build_all(sys.argv[1:])
    else:
        _all()
except (ToolError, OSError) as error:
    sys.exit(f"tools: error: {error}")
