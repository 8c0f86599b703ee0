"""What every form of installation has to render: examples/quickstart, to its committed bytes."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "quickstart"
ARGUMENTS = ("generate", str(EXAMPLE / "resources"), "--config", str(EXAMPLE / "config"))
EXPECTED = (EXAMPLE / "expected" / "rendered.yaml").read_bytes()


def assert_renders(command: Sequence[str], variables: Mapping[str, str] = {}) -> None:
    """Render the quickstart with this program, with nothing else in its environment."""
    done = subprocess.run([*command, *ARGUMENTS], env=dict(variables), capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == EXPECTED
