"""Our own program on an input: the same text gives the same record, so what is asked for twice is measured once."""

import os
import sys

from benchmarks.inputs import CONFIG, written
from benchmarks.measure import Program


def function(directory: str, text: str) -> Program:
    """Return the KRM function, on a ResourceList."""
    return Program("contrast-krm", (_tool(),), written(directory, text))


def post_render(directory: str, text: str, options: str) -> Program:
    """Return the post-renderer on a stream, with release, lock and options in files."""
    config = [*CONFIG, written(directory, options)]
    named = tuple(word for path in config for word in ("--config", path))
    return Program("contrast-krm", (_tool(), "post-render", *named), written(directory, text))


def bare_post_render(directory: str, text: str) -> Program:
    """Return the post-renderer on a stream, without configuration."""
    return Program("contrast-krm", (_tool(), "post-render"), written(directory, text))


def assess(directory: str, text: str) -> Program:
    """Return the command that needs no configuration, on a stream."""
    return Program("contrast-krm assess", (_tool(), "assess"), written(directory, text))


def plan(directory: str, text: str, options: str) -> Program:
    """Return the plan of the same stream without nodes, with release, lock and options in files."""
    config = [*CONFIG, written(directory, options)]
    named = tuple(word for path in config for word in ("--config", path))
    return Program("contrast-krm plan", (_tool(), "plan", *named), written(directory, text))


def older(tree: str, ours: Program) -> Program:
    """Return the same command of another tree, which has a virtual environment of its own, on the same bytes."""
    tool = os.path.join(os.path.abspath(tree), ".venv", "bin", "contrast-krm")
    return ours._replace(name=tree, command=(tool, *ours.command[1:]))


def _tool() -> str:
    return os.path.join(os.path.dirname(sys.executable), "contrast-krm")
