"""Adopt an application: find all that a configuration can do for its pods, in one round.

Rule of this package: it proposes and tries, and chooses nothing: each choice is named by who calls. What is tried is
the configuration that would be written, and the stages of a render judge it.
"""

from krm_function.adoption.adopt import Adoption, adopt, config_with
from krm_function.adoption.choices import Choice, choice_names, is_choice
from krm_function.adoption.decisions import Request

__all__ = ["Adoption", "Choice", "Request", "adopt", "choice_names", "config_with", "is_choice"]
