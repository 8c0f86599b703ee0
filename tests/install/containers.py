"""The image that `make image` has built, run by a real engine: podman with runc.

Rule of this file: STRICT is stricter than any host: no network, nothing writable, no capability, no new privileges.
What works there works in kustomize, in kpt and in a pod that the restricted policy of Kubernetes admits.
"""

import subprocess
from collections.abc import Sequence

from tests.hosts.running import Ran
from tools.engine import environment
from tools.image import IMAGE

STRICT = (
    *("--network=none", "--read-only", "--read-only-tmpfs=false", "--ipc=none"),
    *("--cap-drop=all", "--security-opt=no-new-privileges"),
)
PYTHON = "/opt/contrast-krm/bin/python"


def contain(
    *arguments: str, stdin: bytes = b"", flags: Sequence[str] = STRICT, image: str = IMAGE, entry: str = ""
) -> Ran:
    """Run the image's program, or another one of the image, to its end."""
    command = ["podman", "run", "--rm", "--interactive", "--pull=never", *flags]
    done = subprocess.run(
        [*command, *([f"--entrypoint={entry}"] if entry else []), image, *arguments],
        env=environment(),
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def python(code: str, flags: Sequence[str] = STRICT) -> str:
    """What a program of ours prints that the image's Python runs."""
    return contain("-c", code, flags=flags, entry=PYTHON).ok().decode()
