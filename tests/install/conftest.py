"""Which files of this directory need what a target of its own builds: they are collected where its variable is set."""

import os

BUILT = {
    "test_bundle.py": "CONTRAST_KRM_BUNDLE",  # the archive; `make bundle`
}

collect_ignore = [name for name, variable in BUILT.items() if not os.environ.get(variable)]
