"""What `lock` has to do: the images of some resources, and what is known of them already.

Rule of this file: what a lock has is never fetched again. Only an entry without passwd or group is looked up, to add
them; where the sizes of layers are wanted, one without these as well; and with --upgrade the tags that it names.
"""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from krm_function.api.collect_config import collect
from krm_function.api.contrast_generate import CALCULATE
from krm_function.api.records import EMPTY, Config
from krm_function.cli.configuration import from_files_and_resources
from krm_function.cli.files.inputs import read_inputs
from krm_function.cli.lock.lock_file import LockFile, known_entries, open_lock
from krm_function.cli.lock.needed_images import Needed, Use, needed
from krm_function.cli.lock.pinned_files import named_images
from krm_function.cli.lock.upgrade import Upgrade, chosen_images
from krm_function.findings import Finding, finding, has_errors
from krm_function.lock import LAYERS, silent
from krm_function.model.image import Image
from krm_function.model.image_sizes import is_sized
from krm_function.model.profiles import ProfileName, states_users
from krm_function.model.resource import Resource
from krm_function.pipeline.prepare import NO_RELEASE
from krm_function.record import NamedTuple


class Task(NamedTuple):
    """images: with their first use. file: where the lock goes.

    known: entries by digest. partial: by reference, those that lack passwd or group, or sizes that are wanted. uses: of
    images in pods that have to state their users; () if the policy profile takes those of the images. profile: its
    name, "" for the default. entries: all of them by reference. upgrade: images that are asked for by their tags,
    whatever is known. sizes: whether all layers are read for their sizes.
    """

    images: dict[Image, Use]
    known: dict[str, dict[str, Any]]
    partial: dict[str, dict[str, Any]]
    file: LockFile
    uses: tuple[tuple[Image, Use], ...] = ()
    profile: str = ""
    resources: tuple[Resource, ...] = ()
    entries: Mapping[str, dict[str, Any]] = EMPTY
    upgrade: frozenset[Image] = frozenset()
    sizes: bool = False

    def asked(self, image: Image) -> Image:
        """Return the reference to look up: without its digest if its tag decides."""
        return image._replace(digest="") if image in self.upgrade else image


def read_task(options: Namespace) -> tuple[Task, list[Finding]]:
    """Read resources, configuration and lock. Without a release nothing is injected, which is a finding."""
    inputs = read_inputs(options.paths)
    documents, problems = from_files_and_resources(options.config, inputs.resources, options.config_from)
    file, more = open_lock(options.output)
    config, unmet = collect(documents)
    entries, lock_findings = known_entries([*documents, *([file.lock] if file.lock else [])])
    findings = [*inputs.findings, *problems, *more, *unmet, *lock_findings]
    if not inputs.findings and not any(resource.kind or not resource.certain for resource in inputs.resources):
        findings.append(finding("CC0108.no-document"))  # the command before failed
    findings = [finding("CC1211") if found.code == NO_RELEASE else found for found in dict.fromkeys(findings)]
    if has_errors(findings):
        return Task({}, {}, {}, file, entries=entries), findings
    needs = needed(inputs.resources, config)
    profile = config.generate.policy.profile if config is not None else None
    upgrade = Upgrade()
    if options.upgrade is not None and needs.images:
        released = set(config.release.images.values()) if config is not None else set()
        written = {text for _, text in named_images(inputs.resources)}
        upgrade = chosen_images(options.upgrade, needs.images, written, released)
    sizes = wants_sizes(options, config)
    task = task_of(needs, entries, file, inputs.resources, profile, sizes=sizes)
    return task._replace(upgrade=upgrade.images), [*findings, *needs.findings, *upgrade.findings]


def task_of(
    needs: Needed,
    entries: Mapping[str, dict[str, Any]],
    file: LockFile,
    resources: tuple[Resource, ...],
    profile: ProfileName | None,
    *,
    sizes: bool = False,
) -> Task:
    """Make the task for some images. entries: of all locks, by reference. sizes: of layers are wanted."""
    partial = {name: entry for name, entry in entries.items() if lacks(entry, sizes=sizes)}
    full = {entry["digest"]: entry for name, entry in entries.items() if name not in partial}
    uses = needs.uses if states_users(profile) else ()
    return Task(needs.images, full, partial, file, uses, profile or "", resources, entries, sizes=sizes)


def wants_sizes(options: Namespace, config: Config | None) -> bool:
    """Tell whether all layers are read for their sizes: on demand, or since the configuration needs them."""
    return options.sizes or (config is not None and config.generate.memory == CALCULATE)


def lacks(entry: Mapping[str, Any], *, sizes: bool) -> bool:
    """Tell whether an entry has to be looked up again: it has no users, or not the sizes that are wanted."""
    return silent(entry) or (sizes and not is_sized(entry.get(LAYERS)))


def completed(
    fetched: dict[str, dict[str, Any]], partial: dict[str, dict[str, Any]], *, sizes: bool
) -> dict[str, dict[str, Any]]:
    """Complete entries that were known in part with what was found; what people wrote in them counts.

    sizes: those of layers are wanted; else an old entry keeps the layers that it has, or none.
    """
    return {
        name: _completed(entry, partial[name], sizes) if name in partial else entry for name, entry in fetched.items()
    }


def _completed(entry: dict[str, Any], old: dict[str, Any], sizes: bool) -> dict[str, Any]:
    found = {key: value for key, value in entry.items() if key != LAYERS or sizes}
    return {**found, **{key: value for key, value in old.items() if value is not None and (key != LAYERS or not sizes)}}
