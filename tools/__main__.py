"""`python -m tools`: build and find every real tool that the tests use; one line and exit 1 if any is missing."""

import sys

from tools import browser, interpreters
from tools.build import build_all
from tools.cache import ToolError
from tools.found import FOUND, locate

try:
    build_all()
    browser.install()
    interpreters.install()
    for known in FOUND:
        locate(known)
except (ToolError, OSError) as error:
    sys.exit(f"tools: error: {error}")
