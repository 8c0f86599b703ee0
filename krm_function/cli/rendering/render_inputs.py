"""Render what a command has read, under the configuration of its call.

Rule of this file: `generate`, `plan`, `explain`, `diff` and `policy` all render here, so they cannot disagree.
"""

import os
from argparse import Namespace
from collections.abc import Sequence
from functools import partial

from krm_function.api.collect_config import collect
from krm_function.api.document import ConfigDocument
from krm_function.api.records import Config
from krm_function.cli.configuration import from_files_and_resources, with_namespace
from krm_function.cli.files.inputs import Inputs
from krm_function.cli.files.readers import Read, read_plainly
from krm_function.findings import Finding
from krm_function.pipeline.render import render
from krm_function.pipeline.result import Rendered
from krm_function.policy.genpolicy import Engine


def render_inputs(
    options: Namespace,
    inputs: Inputs,
    engine: Engine | None = None,
    engine_findings: tuple[Finding, ...] = (),
    *,
    live: bool = False,
) -> Rendered:
    """Render all resources. engine, engine_findings: of `genpolicy_program.engine`. Raises FileProblem.

    live: what controllers made of workloads of the input is skipped; otherwise it is an error.
    Options of `contrast generate` count where the command has them.
    """
    config, findings = configured(options, inputs)
    findings += engine_findings
    return render(inputs.resources, config, findings, engine, live=live)


def configured(
    options: Namespace, inputs: Inputs, read: Read = read_plainly
) -> tuple[Config | None, tuple[Finding, ...]]:
    """Return the configuration of a call, with its findings and those of the input. Raises FileProblem."""
    documents, findings = from_files_and_resources(
        options.config, inputs.resources, options.config_from, partial(read, "config")
    )
    config, unmet = collect(_once(documents))
    config = with_namespace(config, getattr(options, "namespace", None))
    if config is not None and hasattr(options, "reference_values"):
        from krm_function.cli.rendering.generate_flags import apply_flags

        config, problems = apply_flags(config, options, read)
        findings += problems
    return config, inputs.findings + findings + unmet


def _once(documents: Sequence[ConfigDocument]) -> list[ConfigDocument]:
    """Count a configuration file inside a rendered directory once, also if --config names it again."""
    positions = [(os.path.realpath(one.file), one.line) if one.file else index for index, one in enumerate(documents)]
    return list(dict(zip(positions, documents, strict=True)).values())
