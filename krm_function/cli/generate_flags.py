"""Flags of `contrast generate` on top of the configuration: the command line wins, and may name files.

Rule of this file: a flag changes the same record that the configuration file would; there is no second way through.
"""

from argparse import Namespace
from collections.abc import Callable, Sequence

from krm_function.api.contrast_generate import rules_problem
from krm_function.api.records import Config, Generate
from krm_function.cli.settings import SettingsProblem, read_settings
from krm_function.findings import Finding, finding
from krm_function.hosts.files import read_file
from krm_function.manifest import KeyProblem, ManifestError, decode, seedshare_owner, workload_owner
from krm_function.model.platforms import PLATFORMS, find_platform
from krm_function.release.replacements import replacements
from krm_function.schema.nearest import nearest


def apply_flags(config: Config, options: Namespace) -> tuple[Config, tuple[Finding, ...]]:
    """The configuration with the flags of one call. Raises FileProblem for a file that cannot be read."""
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
    generate, problems = _policy(generate, options)
    findings += problems
    generate, problems = _manifest(generate, options)
    findings += problems
    release = config.release
    if options.image_replacements:
        images, problems = _replacements(options.image_replacements)
        findings += problems
        release = release._replace(images=images)
    return config._replace(generate=generate, release=release), tuple(findings)


def _policy(generate: Generate, options: Namespace) -> tuple[Generate, list[Finding]]:
    policy = generate.policy
    if options.policy:
        rules = _text(options.policy)
        if "\ufffd" in rules:
            return generate, [finding("CC0909.rules-encoding", option="--policy", file=options.policy)]
        if error := rules_problem(rules):
            return generate, [finding("CC0909.rules", option="--policy", file=options.policy, error=error)]
        policy = policy._replace(rules=rules)
    if options.settings:
        try:
            policy = policy._replace(settings=read_settings(options.settings))
        except SettingsProblem as wrong:
            return generate, [finding(wrong.code, option="--settings", file=wrong.file, error=wrong.error)]
    return generate._replace(policy=policy), []


def _manifest(generate: Generate, options: Namespace) -> tuple[Generate, list[Finding]]:
    manifest = generate.manifest
    owners, findings = _keys("--add-workload-owner-key", options.add_workload_owner_key, workload_owner)
    seedshare, problems = _keys("--add-seedshare-owner-key", options.add_seedshare_owner_key, seedshare_owner)
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
                manifest = manifest._replace(base=decode(read_file(options.manifest)))
            except ManifestError as problem:
                found = finding("CC0909.base", option="--manifest", error=str(problem))
                findings.append(found._replace(line=problem.line, file=options.manifest))
    return generate._replace(manifest=manifest), findings


def _keys(option: str, paths: Sequence[str], check: Callable[[str], str]) -> tuple[list[str], list[Finding]]:
    """The public keys, as PEM, of some files; check raises KeyProblem for one that does not fit."""
    keys: list[str] = []
    findings: list[Finding] = []
    for path in paths:
        try:
            key = public_key(_text(path))
            check(key)
        except KeyProblem as problem:
            findings.append(finding("CC0909.key", option=option, file=path, error=str(problem)))
        else:
            keys.append(key)
    return keys, findings


def public_key(text: str) -> str:
    """The public half of a private key, both PEM; Contrast's own commands are given the file of the private key.

    Any other text is answered as it is. Nothing of a private key leaves this function. Raises KeyProblem.
    """
    if "PRIVATE KEY" not in text:
        return text
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    try:
        key = load_pem_private_key(text.encode("utf-8"), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyProblem("the private key cannot be read") from None
    public = key.public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")


def _text(path: str) -> str:
    return read_file(path).decode("utf-8", "replace")


def _replacements(path: str) -> tuple[dict[str, str], list[Finding]]:
    """Read `image = replacement` lines (docs/facts/contrast.md#image-replacements); each one must be pinned."""
    images: dict[str, str] = {}
    findings: list[Finding] = []
    for entry in replacements(_text(path)):
        if not entry.usable:
            findings.append(finding("CC0909.replacement", option="--image-replacements", line=entry.line, file=path))
        else:
            images[entry.image] = entry.pinned
    return images, findings
