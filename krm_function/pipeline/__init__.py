"""The pipeline.

read -> select -> identity -> namespace -> resolve -> inject -> schedule -> policy -> manifest -> write -> prove

Rule of this package: `render` calls the stages in this order; the other files hold what is handed from one to the next.
"""

from krm_function.pipeline.render import NO_RELEASE, render
from krm_function.pipeline.result import Planned, Rendered

__all__ = ["NO_RELEASE", "Planned", "Rendered", "render"]
