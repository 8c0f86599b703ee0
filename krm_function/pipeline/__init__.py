"""The pipeline.

read -> select -> identity -> namespace -> resolve -> inject -> schedule -> policy -> manifest -> write -> prove

Rule of this package: `render` calls the stages in this order, the first half of them by `prepare`, which others share;
the other files hold what is handed from one to the next.
"""

from krm_function.pipeline.prepare import NO_RELEASE, Prepared, prepare
from krm_function.pipeline.render import render
from krm_function.pipeline.result import Planned, Rendered

__all__ = ["NO_RELEASE", "Planned", "Prepared", "Rendered", "prepare", "render"]
