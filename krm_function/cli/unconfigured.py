"""`contrast-krm post-render` without options: pass on a stream without a Contrast workload, and load nothing else.

Rule of this file: Helm calls it for every chart, and most charts have no Contrast workload, so it imports
nothing that only a render needs.
"""

from krm_function.cli.streams import read_in, write_out
from krm_function.hosts.pass_through import passes_through


def run_unconfigured() -> int:
    """Render standard input to standard output as a Helm post-renderer without options; return the exit code."""
    data = read_in()
    if passes_through(data):
        write_out(data)
        return 0
    from krm_function.cli.post_renderer import post_render

    return post_render(data)
