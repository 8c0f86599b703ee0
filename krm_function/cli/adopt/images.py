"""The lock of an adoption: the images of all pods that ask, also of those that something else is wrong with.

Rule of this file: what is known is not fetched again, as with `lock`.
"""

from argparse import Namespace

from krm_function.api.document import ConfigDocument
from krm_function.api.image_lock import KIND, parse_image_lock
from krm_function.api.records import API_VERSION, Config
from krm_function.cli.adopt.configuration_files import Configured
from krm_function.cli.lock.lock_file import LockFile, known_entries, open_lock
from krm_function.cli.lock.look_up import LookedUp, look_up
from krm_function.cli.lock.needed_images import needed
from krm_function.cli.lock.task import task_of, wants_sizes
from krm_function.findings import Finding, has_errors
from krm_function.lock import LockLimits, SourceOption
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple


class AdoptedImages(NamedTuple):
    """file: where the lock goes. config: the configuration with what is known of the images now."""

    file: LockFile
    looked_up: LookedUp
    config: Config
    findings: tuple[Finding, ...] = ()


def adopted_images(
    options: Namespace,
    configured: Configured,
    config: Config,
    resources: tuple[Resource, ...],
    sources: list[SourceOption],
    limits: LockLimits,
) -> AdoptedImages:
    """Look up what the lock lacks. config: with all that was chosen. Raises FileProblem."""
    file, findings = open_lock(options.output)
    documents = [*configured.documents, *([file.lock] if file.lock else [])]
    entries, problems = known_entries(documents)
    findings += problems
    needs = needed(resources, config, refused_too=True)
    if has_errors(findings) or not needs.images:
        return AdoptedImages(file, LookedUp({}), config, tuple(findings))
    task = task_of(
        needs,
        entries,
        file,
        resources,
        config.generate.policy.profile,
        sizes=wants_sizes(options, config),
    )
    found = look_up(options, task, sources, limits)
    if has_errors(found.findings):
        return AdoptedImages(file, found, config, (*findings, *found.findings))
    spec = {"images": {**entries, **found.entries}}
    made = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "images"}, "spec": spec}
    images, wrong = parse_image_lock(ConfigDocument(made))
    config = config._replace(images={**(config.images or {}), **(images or {})})
    return AdoptedImages(file, found, config, (*findings, *found.findings, *wrong))
