"""The configuration that `adopt` writes into: which file has the ContrastGenerate, and which one the lock.

Rule of this file: the ContrastGenerate is in a file that the operator has named. A lock goes where one is already, else
beside it.
"""

import os
from collections.abc import Sequence
from typing import Any

from krm_function.adoption import config_with
from krm_function.api.collect_config import collect
from krm_function.api.document import ConfigDocument
from krm_function.api.image_lock import KIND as LOCK
from krm_function.api.records import Config
from krm_function.cli.configuration import from_files_and_resources
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.hosts.staged_file import NewFile
from krm_function.model.lookup import mapping
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.wiring.generate_spec import KIND, generate_with_spec

NEW_LOCK = "images.yaml"


class Configured(NamedTuple):
    """A configuration. generate: its ContrastGenerate, in a file. documents: all of it."""

    config: Config
    generate: ConfigDocument
    documents: tuple[ConfigDocument, ...]

    @property
    def lock(self) -> str:
        """The file for the lock."""
        return next(
            (one.file for one in self.documents if _is(one, LOCK) and one.file),
            os.path.join(os.path.dirname(self.generate.file), NEW_LOCK),
        )

    def config_with(self, spec: dict[str, Any]) -> Config:
        """Return the configuration with this spec of the ContrastGenerate."""
        return config_with(self.config, self.generate, spec)

    def changed(self, spec: dict[str, Any]) -> list[NewFile]:
        """Return the file of the ContrastGenerate with this spec; none if it has it. Raises FileProblem, YamlError."""
        before = read_file(self.generate.file)
        data = generate_with_spec(before, spec)
        return [NewFile(self.generate.file, data)] if data != before else []


def configured(
    paths: Sequence[str], resources: Sequence[Resource], variable: str
) -> tuple[Configured | None, tuple[Finding, ...]]:
    """Read the configuration. Parameters as of `from_files_and_resources`."""
    documents, findings = from_files_and_resources(paths, resources, variable)
    config, problems = collect(documents)
    findings += problems
    if has_errors(findings) or config is None:
        return None, findings
    generates = [one for one in documents if _is(one, KIND) and one.file]
    files = {os.path.realpath(one.file) for one in generates}
    if len(files) != 1:
        code = "CC0909.generates" if files else "CC0909.no-generate"
        return None, (*findings, finding(code, option="--config"))
    return Configured(config, generates[0], tuple(documents)), findings


def _is(document: ConfigDocument, kind: str) -> bool:
    return bool(mapping(document.value).get("kind") == kind)
