"""Render the input of a command, with the configuration and the flags of its call."""

import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from krm_function.cli.configuration import from_files_and_resources, overridden
from krm_function.cli.inputs import Inputs, Read, read_plainly
from krm_function.config.collect import Config, collect
from krm_function.config.document import ConfigDocument, is_config, load_any, load_object
from krm_function.config.generate import Generate, rules_problem
from krm_function.config.release_files import replacements
from krm_function.contrast.manifest import ManifestError, decode
from krm_function.contrast.owner_keys import KeyProblem, seedshare_owner, workload_owner
from krm_function.contrast.platforms import PLATFORMS, find_platform
from krm_function.findings import Finding, finding
from krm_function.hosts.files import FileProblem, read_file
from krm_function.policy.settings import patched
from krm_function.render.pipeline import render
from krm_function.render.rendered import Rendered
from krm_function.schema.check import nearest

if TYPE_CHECKING:
    from krm_function.cli.inputs import ReadFile
    from krm_function.provenance.statement import Role


# --- The public half of an owner's key file
#
# Rule: no part of a private key leaves this function, not even in a digest or in a message.


def public_key(text: str) -> str:
    """Return the public half of a private key, both PEM; Contrast's own commands take the file of the private key.

    Any other text is returned unchanged. Raises KeyProblem.
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


# --- The argument of --settings: a settings file, or a directory with one and its drop-ins, as genpolicy reads them
#
# Rule: a directory holds genpolicy-settings.json and may hold genpolicy-settings.d with drop-ins, which apply in the
# order of their names. No other file is read (docs/facts/kata.md#settings-files).


BASE = "genpolicy-settings.json"
DROPINS = "genpolicy-settings.d"


class SettingsProblem(ValueError):
    """Why settings cannot be used. code: CC0909 with a variant; file: the wrong one; error: a parser's words."""

    def __init__(self, code: str, file: str, error: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.file = file
        self.error = error


def read_settings(path: str, read: "ReadFile" = read_file) -> dict[str, Any]:
    """Read the settings of a file or directory. Raises SettingsProblem, and FileProblem for an unreadable file.

    read: reads one file.
    """
    directory = os.path.isdir(path)
    file = os.path.join(path, BASE) if directory else path
    wrong_settings = "CC0909.settings", "CC0909.settings-encoding", "CC0909.settings-depth"
    document: Any = _parse_file(file, path if directory else "", read, load_object, *wrong_settings)
    for dropin in _list_dropins(os.path.join(path, DROPINS)) if directory else ():
        wrong_patch = "CC0909.drop-in", "CC0909.drop-in-encoding", "CC0909.drop-in-depth"
        patch = _parse_file(dropin, path, read, load_any, *wrong_patch)
        try:
            document = patched(document, patch)
        except ValueError as error:
            raise SettingsProblem("CC0909.drop-in", dropin, str(error)) from None
        if not isinstance(document, dict):
            raise SettingsProblem("CC0909.drop-in-root", dropin)
    settings: dict[str, Any] = document
    return settings


def _list_dropins(directory: str) -> list[str]:
    if not os.path.isdir(directory):
        return []
    try:
        names = sorted((name for name in os.listdir(directory) if name.endswith(".json")), key=os.fsencode)
    except OSError as problem:
        raise FileProblem(directory, problem.strerror or "not readable") from problem
    return [os.path.join(directory, name) for name in names]


def _parse_file(
    file: str, root: str, read: "ReadFile", parse: Any, wrong_text: str, wrong_encoding: str, too_deep: str
) -> Any:
    """Parse one file. root: as for `read`. The last three are the codes of possible errors."""
    try:
        return parse(read(file, root).decode("utf-8"))
    except UnicodeDecodeError:
        raise SettingsProblem(wrong_encoding, file) from None
    except RecursionError:
        raise SettingsProblem(too_deep, file) from None
    except ValueError as error:
        raise SettingsProblem(wrong_text, file, str(error)) from None


# --- Flags of `contrast generate` on top of the configuration: the command line wins, and may name files
#
# Rule: a flag changes the same record as the configuration file; there is no second path.


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
    generate, problems = _apply_policy_flags(generate, options, read)
    findings += problems
    generate, problems = _apply_manifest_flags(generate, options, read)
    findings += problems
    release = config.release
    if options.image_replacements:
        images, problems = _read_replacements(options.image_replacements, read)
        findings += problems
        release = release._replace(images=images)
    return config._replace(generate=generate, release=release), tuple(findings)


def _apply_policy_flags(generate: Generate, options: Namespace, read: Read) -> tuple[Generate, list[Finding]]:
    policy = generate.policy
    if options.policy:
        rules = _decode_text(read("policy", options.policy))
        if "\ufffd" in rules:
            return generate, [finding("CC0909.rules-encoding", option="--policy", file=options.policy)]
        if error := rules_problem(rules):
            return generate, [finding("CC0909.rules", option="--policy", file=options.policy, error=error)]
        policy = policy._replace(rules=rules)
    if options.settings:
        try:
            policy = policy._replace(settings=read_settings(options.settings, partial(read, "settings")))
        except SettingsProblem as problem:
            return generate, [finding(problem.code, option="--settings", file=problem.file, error=problem.error)]
    return generate._replace(policy=policy), []


def _apply_manifest_flags(generate: Generate, options: Namespace, read: Read) -> tuple[Generate, list[Finding]]:
    manifest = generate.manifest
    owners, findings = _read_keys("add-workload-owner-key", options.add_workload_owner_key, workload_owner, read)
    seedshare, problems = _read_keys("add-seedshare-owner-key", options.add_seedshare_owner_key, seedshare_owner, read)
    findings += problems
    manifest = manifest._replace(
        workload_owner_keys=(*manifest.workload_owner_keys, *owners),
        seedshare_owner_keys=(*manifest.seedshare_owner_keys, *seedshare),
        disable_updates=manifest.disable_updates or options.disable_updates,
    )
    if options.disable_updates and options.add_workload_owner_key:
        findings.append(finding("CC0909.no-updates", option="--disable-updates"))
    if options.manifest and os.path.exists(options.manifest):
        try:
            manifest = manifest._replace(base=decode(read("manifest", options.manifest)))
        except ManifestError as problem:
            unread = finding("CC0909.base", option="--manifest", error=str(problem))
            findings.append(unread._replace(line=problem.line, file=options.manifest))
    return generate._replace(manifest=manifest), findings


def _read_keys(
    role: "Role", paths: Sequence[str], check: Callable[[str], str], read: Read
) -> tuple[list[str], list[Finding]]:
    """Return the public keys, as PEM, of some files; check raises KeyProblem for one that does not fit."""
    keys: list[str] = []
    findings: list[Finding] = []
    for path in paths:
        try:
            key = public_key(_decode_text(read(role, path)))
            check(key)
        except KeyProblem as problem:
            findings.append(finding("CC0909.key", option=f"--{role}", file=path, error=str(problem)))
        else:
            keys.append(key)
    return keys, findings


def _decode_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _read_replacements(path: str, read: Read) -> tuple[dict[str, str], list[Finding]]:
    """Read `image = replacement` lines (docs/facts/contrast.md#image-replacements); each one must be pinned."""
    images: dict[str, str] = {}
    findings: list[Finding] = []
    for line, image, pinned, usable in replacements(_decode_text(read("image-replacements", path))):
        if not usable:
            findings.append(finding("CC0909.replacement", option="--image-replacements", line=line, file=path))
        else:
            images[image] = pinned
    return images, findings


# --- Render the input of a command, with the configuration of its call
#
# Rule: `generate`, `plan`, `explain`, `diff` and `policy` all render here, so they cannot disagree.


def render_inputs(options: Namespace, inputs: Inputs, *, live: bool = False) -> Rendered:
    """Render all resources, with the options of `contrast generate` if the command has them. Raises FileProblem.

    live: skip objects that controllers made from workloads of the input; otherwise they are an error.
    """
    config, findings = configured(options, inputs)
    return render(inputs.resources, config, findings, live=live)


def configured(
    options: Namespace, inputs: Inputs, read: Read = read_plainly
) -> tuple[Config | None, tuple[Finding, ...]]:
    """Return the configuration of a call, with its findings and the input's. Raises FileProblem."""
    documents, findings = from_files_and_resources(
        options.config, inputs.resources, options.config_from, partial(read, "config")
    )
    only_ours = all(is_config(resource.api_version) for resource in inputs.resources)
    if inputs.resources and only_ours and not inputs.findings:
        findings += (finding("CC0289"),)
    config, unmet = collect(_drop_repeats(documents))
    strict = getattr(options, "warnings_as_errors", False)
    config = overridden(config, getattr(options, "namespace", None), strict=strict)
    if config is not None and hasattr(options, "reference_values"):
        config, problems = apply_flags(config, options, read)
        findings += problems
    return config, inputs.findings + findings + unmet


def _drop_repeats(documents: Sequence[ConfigDocument]) -> list[ConfigDocument]:
    """Drop the second copy of a configuration file that is in a rendered directory and that --config names too."""
    positions = [
        (os.path.realpath(document.file), document.line) if document.file else index
        for index, document in enumerate(documents)
    ]
    return list(dict(zip(positions, documents, strict=True)).values())
