"""`python -m tools.release_check TAG`: make a release as the release workflow does, but publish nothing.

The tree of the tag is cloned into an empty directory, out/release-check, and built there with an environment of its
own; what is there at the end has to be all that a release has (tools/built.py).

Rule of this file: the commands are those of .github/workflows/release.yml, in its order. Its key is a throwaway one
here, its base image is made of Debian's packages, and the image is for this kind of machine alone. The first command
that fails ends it.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence

from tools.cache import HERE, ToolError, say
from tools.real import tool
from tools.release import PROJECT

ROOT = os.path.dirname(HERE)
TREE = os.path.join(ROOT, "out", "release-check")
DOCS = f"{PROJECT}/blob/{{tag}}/docs"
PYTHON = ".venv/bin/python"


def commands(tag: str, commit: str, keys: str) -> tuple[Sequence[str], ...]:
    """Return what is run in the tree of the tag, in order. keys: directory with the key that signs the plugins."""
    sign = f"{tool('openpgp')} clearsign {keys}/secret.gpg"
    return (
        (sys.executable, "-m", "tools.release", tag),
        ("make", "plugins", f"SIGN={sign}"),
        ("mv", "dist", "plugins"),
        (sys.executable, "-m", "tools.stamp", commit, DOCS.format(tag=tag)),
        ("make", "dist", ".venv/installed-dev"),
        (PYTHON, "-m", "tools.bundle", "dist"),
        (PYTHON, "-m", "tools.other_bundle", "dist"),
        ("sh", "-c", f"SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) {PYTHON} -m tools.image"),
        (PYTHON, "-m", "tools.image_index", "dist", platform.machine()),
        (PYTHON, "-m", "tools.sbom", "dist"),
        (PYTHON, "-m", "tools.catalogue", "dist"),
        ("sh", "-c", f"mv plugins/* dist/ && cp {keys}/public.gpg dist/release-key.gpg"),
        (PYTHON, "-m", "tools.checksums", "dist"),
        (PYTHON, "-m", "tools.built", "dist", tag, commit),
        ("sh", "-c", f"{PYTHON} -m twine check --strict dist/contrast_krm-*"),
    )


def main(arguments: Sequence[str]) -> int:
    """Check one tag; 1 with the name of what failed."""
    if len(arguments) != 1:
        print("usage: python -m tools.release_check TAG", file=sys.stderr)
        return 2
    (tag,) = arguments
    question = ["git", "-C", ROOT, "rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}"]
    asked = subprocess.run(question, capture_output=True, text=True, check=False)
    if asked.returncode:
        print(f"release-check: error: there is no tag {tag} here", file=sys.stderr)
        return 1
    commit = asked.stdout.strip()
    shutil.rmtree(TREE, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", ROOT, TREE], check=True)
    subprocess.run(["git", "-C", TREE, "checkout", "--quiet", "--detach", commit], check=True)
    keys = os.path.join(TREE, "out", "keys")
    os.makedirs(keys)
    subprocess.run([tool("openpgp"), "generate", keys, "Release check"], check=True)
    for command in commands(tag, commit, keys):
        say(f"release-check: {' '.join(command)}")
        if subprocess.run(command, cwd=TREE, check=False).returncode:
            print(f"release-check: error: {' '.join(command)}: failed", file=sys.stderr)
            return 1
    say(f"release-check: all of {tag} is in {os.path.join(TREE, 'dist')}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ToolError as error:
        sys.exit(f"release-check: error: {error}")
