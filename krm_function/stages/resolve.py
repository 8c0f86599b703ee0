"""Resolve: replace the runtime class placeholder by the handler of the release.

Rule of this file: the platform set is closed and comes from the name alone; a name that is not understood is an error
and never a default (docs/facts/contrast.md#runtime-class-names). What a name means is `model.platforms`; which handler
it gets is decided here:

    the pod names                        GPU limit   default set   handler of
    contrast-cc, kata-cc-isolation       no          yes           the default platform
    contrast-cc, kata-cc-isolation       yes         yes           the default platform's GPU variant
    contrast-cc, kata-cc-isolation       any         no            CC0402
    contrast-cc-<platform>[-<hash>]      any         any           that platform (never promoted)
    contrast-insecure*                   any         any           CC0405
    contrast-<anything else>             any         any           CC0401
"""

from typing import Any

from krm_function.api.records import Release
from krm_function.findings import Finding, finding
from krm_function.model.edits import Edit
from krm_function.model.gpu import wants_gpu
from krm_function.model.platforms import PLATFORMS, Platform, with_gpu
from krm_function.model.runtime_class_names import Bare, Insecure, parse_runtime_class, placeholder, suggest_placeholder
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple


class Resolved(NamedTuple):
    """A workload's platform (None where its class names none), and the edit of its runtime class."""

    platform: Platform | None
    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()


def resolve(workload: Workload, release: Release, default: str) -> Resolved:
    """Decide the platform of one workload. `default` is a platform name or ""."""
    name = workload.runtime_class
    path = (*workload.spec_path, "runtimeClassName")

    def failed(code: str, **values: Any) -> Resolved:
        return Resolved(None, findings=(finding(code, workload.ref, path, **values),))

    parsed = parse_runtime_class(name)
    match parsed:
        case Bare():
            if not default:
                return failed("CC0402", name=name)
            platform = with_gpu(PLATFORMS[default]) if wants_gpu(workload.pod_spec) else PLATFORMS[default]
        case Platform():
            platform = parsed
        case Insecure():
            return failed("CC0405", platform=name)
        case _:
            near = suggest_placeholder(name)
            known = ", ".join(placeholder(entry) for entry in PLATFORMS.values())
            return failed("CC0401.near" if near else "CC0401", name=name, known=known, near=near)
    facts = release.platforms.get(platform.name)
    if facts is None:
        known = ", ".join(sorted(release.platforms)) or "none"
        return failed("CC0403", platform=platform.name, release=release.version, known=known)
    edits: tuple[Edit, ...] = ()
    if name != facts.handler:
        reason = f"{placeholder(platform)} is {facts.handler} in release {release.version}"
        edits = (Edit("set", path, name, facts.handler, "CC0404", reason),)
    return Resolved(platform, edits)
