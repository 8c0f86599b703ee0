"""`python -m tools.workflows`: lint `.github` and `action.yml`, without network; exit 1 if anything is wrong.

actionlint checks the workflows' syntax, expressions and types; it is built from its pin if it is missing, so that `make
lint` needs no other tool. zizmor looks for what makes a workflow unsafe: actions that are not pinned by a commit,
credentials that stay, values of strangers in scripts, more permissions than needed.
"""

import os
import subprocess
import sys
import sysconfig

from tools.build import build_one
from tools.cache import HERE, ToolError

ROOT = os.path.dirname(HERE)


def main() -> int:
    """Run both; 0 if neither has anything to say."""
    try:
        actionlint = build_one("actionlint")
    except (ToolError, OSError) as error:
        print(f"tools: error: {error}", file=sys.stderr)
        return 1
    # with what lies on PATH of one machine (shellcheck, pyflakes), another one would say something else
    commands = (
        [actionlint, "-shellcheck=", "-pyflakes="],
        [
            os.path.join(sysconfig.get_path("scripts"), "zizmor"),
            "--offline",
            "--strict-collection",
            "--quiet",
            ".github",
            "action.yml",
        ],
    )
    codes = [subprocess.run(command, cwd=ROOT, check=False).returncode for command in commands]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
