"""Say why a render failed where Helm 4 shows it.

Helm 4 throws away what its plugin writes to standard error. It shows the error of its YAML parser, which quotes a line
that begins like a separator and is none (docs/facts/helm.md#helm-4-stream). So a render that failed, called by our
plugin without any option, prints such a line and nothing else: Helm stops with that text.

Rule of this file: only in a process that Helm 4 has started by our own plugin, where no program but Helm reads the
output; and the line is no YAML, so that whoever reads it stops.
"""

import io
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr

from krm_function.cli.exits import OK
from krm_function.cli.streams import write_out
from krm_function.report.order import on_one_line

PLUGIN = "contrast-krm"  # the name in helm_plugin/plugin.yaml
HOW = "by Helm: --post-renderer-args --config --post-renderer-args FILE"
ONLY_OTHER_PLUGINS = "HELM_BIN"  # set for commands of Helm that are plugins, not for post-renderers


def called_by_our_plugin() -> bool:
    """Tell whether Helm 4 post-renders by our plugin: a wrapper, or a plugin that is a command, counts as neither."""
    return os.environ.get("HELM_PLUGIN_NAME") == PLUGIN and ONLY_OTHER_PLUGINS not in os.environ


def told_by_helm(run: Callable[[], int]) -> int:
    """Run a render that prints nothing when it fails; then print the line for Helm, and return 0 so that it is read."""
    with redirect_stderr(io.StringIO()) as said:
        code = run()
    text = said.getvalue()
    sys.stderr.write(text)
    if code == OK:
        return code
    finding, *others = text.splitlines() or ["error"]
    hint = next((line.strip() for line in others[:1] if line.strip().startswith("hint:")), "")
    line = f"{PLUGIN}: {finding} ({hint}; {HOW})" if hint else f"{PLUGIN}: {finding} ({HOW})"
    write_out(f"\n--- {on_one_line(line)}\n".encode())  # only a second document has a separator that Helm looks at
    return OK
