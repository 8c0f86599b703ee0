"""Every run tries the same examples, so that a failure is the change's and not the day's.

`HYPOTHESIS_RANDOM=1` tries others. Signals that the caller of the tests ignores (`nohup`, a shell's background jobs)
have their default effect again, since programs under test inherit that.
"""

import os
import signal

from hypothesis import settings

for ignorable, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(ignorable) is signal.SIG_IGN:
        signal.signal(ignorable, usual)

settings.register_profile("steady", derandomize=not os.environ.get("HYPOTHESIS_RANDOM"), deadline=None)
settings.load_profile("steady")
