"""What these rooms may load: start-up is part of the product."""

import subprocess
import sys

CODE = """
import sys
import krm_function.contrast.measurement
from krm_function.contrast.manifest import encode, validate
from krm_function.contrast.manifest_merge import merge
values = {"snp": [{"Platform": "Metal-QEMU-SNP", "ProductName": "Milan"}]}
made = merge(None, {"ab" * 32: {"SANs": ["c"], "Role": "coordinator"}}, values)
validate(made), encode(made)
print(*sys.modules)
"""


def test_making_a_manifest_without_keys_loads_nothing_heavy() -> None:
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    forbidden = {
        "cryptography",
        "difflib",
        "dataclasses",
        "pathlib",
        "argparse",
        "subprocess",
        "logging",
        "socket",
        "yaml",
    }
    assert not loaded & forbidden
