"""The wheels of `requirements/run.txt` for the running Python, fetched once by their hashes into the cache.

With them `pip install` works without an index, as on a machine whose mirror has exactly these files:

    PIP_NO_INDEX=1 PIP_FIND_LINKS=<directory> pip install .

Standard library only.
"""

import hashlib
import os
import sys

from tools.cache import HERE, ToolError, cache, fresh, locked, run, say

LOCK_FILE = os.path.join(os.path.dirname(HERE), "requirements", "run.txt")


def wheels() -> str:
    """Return the directory of the wheels, after fetching them where they are missing. Raises ToolError."""
    with open(LOCK_FILE, "rb") as file:
        pin = hashlib.sha256(file.read()).hexdigest()[:16]
    place = os.path.join(cache(), f"wheels-{sys.version_info[0]}.{sys.version_info[1]}-{pin}")
    if os.path.isdir(place):
        return place
    with locked():
        if not os.path.isdir(place):
            say("fetching the wheels of requirements/run.txt")
            with fresh(place) as made:
                pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
                done = run([*pip, "--require-hashes", "-d", made, "-r", LOCK_FILE], "", os.environ)
                if done.returncode != 0:
                    raise ToolError(f"wheels: pip could not fetch them: {done.stderr.strip()[-200:]}")
    return place
