"""The container engine of this machine: buildah and podman with runc, their storage in out/image.

Rule of this file: nothing that the engine has or makes is outside out/image, and no setting makes a container weaker
than the engine's own defaults. It needs no registry, no daemon, no cgroup delegation and no right to raise limits, so
that it runs in a virtual machine of CI as well as in a sandbox that is root without CAP_SYS_RESOURCE.
"""

import os
import shutil
import subprocess

from tools.cache import ToolError

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "out", "image")
PROGRAMS = ("mmdebstrap", "buildah", "podman", "runc")
STORAGE = """[storage]
driver = "{driver}"
graphroot = "{here}/storage"
runroot = "{here}/run"
[storage.options.overlay]
skip_mount_home = "true"
"""
# skip_mount_home: a mount that outlives the engine would keep `make clean` from removing out/.
# The engine's default limits are higher than what a sandbox may set. runc: crun refuses a machine that has cgroups of
# both versions. cgroupfs: there may be no systemd to ask.
CONTAINERS = """[containers]
default_ulimits = ["nofile=1024:2048", "nproc=2048:2048"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
"""


def environment() -> dict[str, str]:
    """Return what buildah and podman are started with. Raises ToolError, in one line, if a program is missing."""
    if missing := [name for name in PROGRAMS if not shutil.which(name)]:
        raise ToolError(
            f"{', '.join(missing)}: not on PATH; on Debian and Ubuntu: "
            f"apt-get install --no-install-recommends {' '.join(missing)}"
        )
    os.makedirs(HERE, exist_ok=True)
    storage, containers = os.path.join(HERE, "storage.conf"), os.path.join(HERE, "containers.conf")
    made = {
        **os.environ,
        "CONTAINERS_STORAGE_CONF": storage,
        "CONTAINERS_CONF": containers,
        "BUILDAH_ISOLATION": "chroot",
    }
    _write(containers, CONTAINERS)
    if not os.path.exists(storage):
        for driver in ("overlay", "vfs"):  # vfs works everywhere and copies everything, each time
            _write(storage, STORAGE.format(driver=driver, here=HERE))
            if subprocess.run(["podman", "info"], env=made, capture_output=True, check=False).returncode == 0:
                break
    return made


def engine(*command: str) -> str:
    """Return what a command of buildah or podman prints. Raises ToolError with the end of what it says if it fails."""
    done = subprocess.run(
        command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ToolError(f"{' '.join(command[:2])}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
