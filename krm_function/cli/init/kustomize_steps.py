"""The lines that belong to the form in which kustomize runs the function: to build, to look, to install a plugin.

    form        to build                                 what `lock` and `assess` read, unchanged by the function
    exec        --enable-alpha-plugins --enable-exec     the same without --enable-exec: kustomize skips the program
    others      --enable-alpha-plugins                   the same in the form exec, and back again

Rule of this file: commands as text; of the machine it looks only at whether the legacy plugin is there.
"""

import os
import shlex

from krm_function.api.records import API_VERSION
from krm_function.wiring import Function, function_of

PLUGIN = f"{API_VERSION}/contrastgenerate/ContrastGenerate"
HOME_VARIABLE = "KUSTOMIZE_PLUGIN_HOME"


def function_in(values: list[dict[str, object]]) -> Function:
    """Return the form of the ContrastGenerate among these objects."""
    return next((function_of(value) for value in values if value.get("kind") == "ContrastGenerate"), Function("exec"))


def options_of(function: Function) -> str:
    """Return the options of `init` that say this form."""
    return f"--function {function.form}" + (f" --image {function.image}" if function.image else "")


def build(function: Function, directory: str) -> str:
    """Return the line that renders. directory: quoted."""
    return f"kustomize build {function.flags} {directory}"


def look(function: Function, directory: str, pipe: str) -> str:
    """Return the line that hands to `pipe` what the function would get. directory: quoted."""
    line = f"kustomize build --enable-alpha-plugins {directory} | {pipe}"
    if function.form == "exec":
        return line
    init = f"contrast-krm init {directory} --kustomize"
    return f"{init} --function exec > /dev/null 2>&1 && {line}; {init} {options_of(function)}"


def install_plugin(function: Function) -> str:
    """Return the command that puts a legacy plugin where kustomize looks for it; "" if it is there or not needed."""
    home = _plugin_home()
    if function.form != "legacy" or os.access(os.path.join(home, PLUGIN), os.X_OK):
        return ""
    if os.path.basename(home) == "plugin":
        return f"contrast-krm install {shlex.quote(os.path.dirname(home))}"
    return f"contrast-krm install contrast && export {HOME_VARIABLE}=$PWD/contrast/plugin"


def _plugin_home() -> str:
    """Return where kustomize looks: docs/facts/kustomize.md#legacy-plugin."""
    named = os.environ.get(HOME_VARIABLE, "").rstrip("/")
    if named:
        return named
    user = os.path.expanduser("~")
    settings = os.environ.get("XDG_CONFIG_HOME", "")
    below = ([settings] if settings else []) + [os.path.join(user, ".config"), user]
    homes = [os.path.join(place, "kustomize", "plugin") for place in below]
    return next((home for home in homes if os.path.isdir(home)), homes[0])
