"""Where a code is explained: in the published documentation if this build knows its address, else by a command.

Rule of this file: DOCUMENTATION is the only address of the documentation in the program. It is empty in the repository;
the release workflow writes it (tools/stamp.py), so no build names a page that nobody has published.
"""

DOCUMENTATION = ""  # of the folder docs/ of this version, without a slash at the end
PAGE = "reference/findings.md"


def documentation_url(code: str) -> str:
    """Return the address of a code's section, "" in a build that knows none."""
    return f"{DOCUMENTATION}/{PAGE}#{code.lower()}" if DOCUMENTATION else ""


def documentation_of(code: str) -> str:
    """Return the address of a code's section, or the command that prints the same."""
    return documentation_url(code) or f"contrast-krm explain {code}"


def documentation_of_all(codes: list[str]) -> str:
    """Say where several codes are explained: one as `documentation_of`, more by the page or the command, and which."""
    if len(codes) == 1:
        return documentation_of(codes[0])
    place = f"{DOCUMENTATION}/{PAGE}" if DOCUMENTATION else "contrast-krm explain CODE"
    return f"{place} ({', '.join(codes)})"
