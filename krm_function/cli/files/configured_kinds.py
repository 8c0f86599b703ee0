"""The kinds with pod templates that configuration files add, for commands that need nothing else of a configuration.

Rule of this file: everything but `spec.podTemplates` is left alone, so neither a release nor a lock has to be there.
"""

from collections.abc import Sequence

from krm_function.api.contrast_generate import KIND, parse_generate
from krm_function.api.document import config_reference
from krm_function.cli.configuration import from_files
from krm_function.findings import Finding
from krm_function.model.pod_kinds import SHIPPED, Kinds


def configured_kinds(paths: Sequence[str]) -> tuple[Kinds, tuple[Finding, ...]]:
    """Return the kinds that are known with these configuration files, and what is wrong with the files."""
    documents, findings = from_files(paths)
    kinds = SHIPPED
    for document in documents:
        if config_reference(document).kind == KIND:
            generate, problems = parse_generate(document)
            findings += problems
            kinds = generate.kinds if generate else kinds
    return kinds, findings
