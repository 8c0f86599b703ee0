"""contrast-krm with one kind more: a made-up custom resource with three pod templates, two of them in a list."""

import sys

from krm_function.model import kinds

kinds.KINDS["Fleet"] = (
    "example.com/v1",
    ("spec", "leader"),
    ("spec", "groups", "*", "template"),
)
kinds.EDITED = frozenset((*kinds.EDITED, "Fleet"))

from krm_function.cli.main import main  # noqa: E402  after the table is complete
from krm_function.policy.pod_metadata import PATTERNS  # noqa: E402

PATTERNS["Fleet"] = "-[a-z0-9-]+"  # what its controller would put behind the name

if __name__ == "__main__":
    sys.exit(main())
