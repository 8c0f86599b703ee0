"""Flags of `contrast generate` on top of the configuration: the command line wins, and may name files.

Rule of this file: a flag changes the same record that the configuration file would; there is no second way through.
"""

from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from krm_function.api.policy_options import rules_problem
from krm_function.api.records import Config, Generate
from krm_function.cli.files.readers import Read, read_plainly
from krm_function.cli.rendering.public_key import public_key
from krm_function.cli.rendering.settings_files import SettingsProblem, read_settings
from krm_function.findings import Finding, finding
from krm_function.manifest.decode import ManifestError, decode
from krm_function.manifest.owner_keys import KeyProblem, seedshare_owner, workload_owner
from krm_function.model.platforms import PLATFORMS, find_platform
from krm_function.release.replacement_lines import replacements
from krm_function.schema.nearest import nearest

if TYPE_CHECKING:
    from krm_function.provenance.statement_parts import Role


def apply_flags(config: Config, options: Namespace, read: Read = read_plainly) -> tuple[Config, tuple[Finding, ...]]:
    """Put the flags of one call into the configuration. Raises FileProblem for a file that cannot be read."""
    findings: list[Finding] = []
    generate = config.generate
    if options.reference_values:
        platform = find_platform(options.reference_values)
        if platform is None:
            close = nearest(options.reference_values, PLATFORMS) or ", ".join(PLATFORMS)
            values = {"platform": options.reference_values, "known": close}
            findings.append(finding("CC0909.platform", option="--reference-values", **values))
        else:
            generate = generate._replace(platform=platform.name)
    generate = generate._replace(
        initializer=generate.initializer and not options.skip_initializer,
        service_mesh=generate.service_mesh and not options.skip_service_mesh,
        image_store=generate.image_store or options.inject_image_store,
    )
    generate, problems = _policy(generate, options, read)
    findings += problems
    generate, problems = _manifest(generate, options, read)
    findings += problems
    release = config.release
    if options.image_replacements:
        images, problems = _replacements(options.image_replacements, read)
        findings += problems
        release = release._replace(images=images)
    return config._replace(generate=generate, release=release), tuple(findings)


def _policy(generate: Generate, options: Namespace, read: Read) -> tuple[Generate, list[Finding]]:
    policy = generate.policy
    if options.policy:
        rules = _text(read("policy", options.policy))
        if "\ufffd" in rules:
            return generate, [finding("CC0909.rules-encoding", option="--policy", file=options.policy)]
        if error := rules_problem(rules):
            return generate, [finding("CC0909.rules", option="--policy", file=options.policy, error=error)]
        policy = policy._replace(rules=rules)
    if options.settings:
        try:
            policy = policy._replace(settings=read_settings(options.settings, partial(read, "settings")))
        except SettingsProblem as wrong:
            return generate, [finding(wrong.code, option="--settings", file=wrong.file, error=wrong.error)]
    return generate._replace(policy=policy), []


def _manifest(generate: Generate, options: Namespace, read: Read) -> tuple[Generate, list[Finding]]:
    manifest = generate.manifest
    owners, findings = _keys("add-workload-owner-key", options.add_workload_owner_key, workload_owner, read)
    seedshare, problems = _keys("add-seedshare-owner-key", options.add_seedshare_owner_key, seedshare_owner, read)
    findings += problems
    manifest = manifest._replace(
        workload_owner_keys=(*manifest.workload_owner_keys, *owners),
        seedshare_owner_keys=(*manifest.seedshare_owner_keys, *seedshare),
        disable_updates=manifest.disable_updates or options.disable_updates,
    )
    if options.disable_updates and options.add_workload_owner_key:
        findings.append(finding("CC0909.no-updates", option="--disable-updates"))
    if options.manifest:
        import os

        if os.path.exists(options.manifest):
            try:
                manifest = manifest._replace(base=decode(read("manifest", options.manifest)))
            except ManifestError as problem:
                unread = finding("CC0909.base", option="--manifest", error=str(problem))
                findings.append(unread._replace(line=problem.line, file=options.manifest))
    return generate._replace(manifest=manifest), findings


def _keys(
    role: "Role", paths: Sequence[str], check: Callable[[str], str], read: Read
) -> tuple[list[str], list[Finding]]:
    """Return the public keys, as PEM, of some files; check raises KeyProblem for one that does not fit."""
    keys: list[str] = []
    findings: list[Finding] = []
    for path in paths:
        try:
            key = public_key(_text(read(role, path)))
            check(key)
        except KeyProblem as problem:
            findings.append(finding("CC0909.key", option=f"--{role}", file=path, error=str(problem)))
        else:
            keys.append(key)
    return keys, findings


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _replacements(path: str, read: Read) -> tuple[dict[str, str], list[Finding]]:
    """Read `image = replacement` lines (docs/facts/contrast.md#image-replacements); each one must be pinned."""
    images: dict[str, str] = {}
    findings: list[Finding] = []
    for entry in replacements(_text(read("image-replacements", path))):
        if not entry.usable:
            findings.append(finding("CC0909.replacement", option="--image-replacements", line=entry.line, file=path))
        else:
            images[entry.image] = entry.pinned
    return images, findings
