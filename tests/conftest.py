"""Every run tries the same examples, so that a failure is the change's and not the day's.

`HYPOTHESIS_RANDOM=1` tries others.
"""

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=not os.environ.get("HYPOTHESIS_RANDOM"), deadline=None)
settings.load_profile("steady")
