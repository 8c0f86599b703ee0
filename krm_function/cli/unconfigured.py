"""`contrast-krm post-render` alone: Helm calls it for every chart, and most charts have nothing of Contrast's.

Rule of this file: such a stream leaves before anything is imported that only a render needs.
"""

from krm_function.cli.streams import read_in, write_out
from krm_function.hosts.pass_through import passes_through


def run_unconfigured() -> int:
    """Standard input to standard output as a Helm post-renderer without options."""
    data = read_in()
    if passes_through(data):
        write_out(data)
        return 0
    from krm_function.cli.post_render import rendered

    return rendered(data)
