"""Rule of this file: a build of regorus refuses a policy for its length, and by these limits only.

A line ends at most in the last column, so it holds one byte less; a tab takes four columns, a comment none.
"""

from typing import NamedTuple

TAB = 4


class Limits(NamedTuple):
    """The columns, lines and bytes up to which a build of regorus loads a policy."""

    columns: int
    lines: int
    size: int

    def admit(self, policy: str) -> bool:
        """Whether a policy is short enough; one with a long comment is taken for too long."""
        lines = policy.encode().split(b"\n")
        widest = max(len(line) + (TAB - 1) * line.count(b"\t") for line in lines)
        return widest < self.columns and len(lines) <= self.lines and sum(map(len, lines)) + len(lines) - 1 <= self.size


PUBLISHED = Limits(1024, 20_000, 1 << 20)  # built into 0.9.1
AGENT = Limits(64 * 1024, 200_000, 16 << 20)  # set by Kata's agent, and by tools/regorus-agent
