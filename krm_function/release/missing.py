"""Warn about facts that a release lacks, and say where to find them.

Rule of this file: warnings only. A render fails without a fact that it needs, so a release may hold one platform of
several.
"""

from collections.abc import Iterator

from krm_function.api.records import Release
from krm_function.findings import Finding, finding
from krm_function.model.injected.initializer import INITIALIZER_IMAGE
from krm_function.model.injected.mesh_sidecar import SERVICE_MESH_IMAGE
from krm_function.model.platforms import PLATFORMS, Platform

NEEDED_IMAGES = (INITIALIZER_IMAGE, SERVICE_MESH_IMAGE)


def missing(release: Release) -> tuple[Finding, ...]:
    """Return warnings about what a render may need."""
    return tuple(_missing(release))


def _missing(release: Release) -> Iterator[Finding]:
    if not release.platforms:
        yield finding("CC1307.platform")
    for name, facts in release.platforms.items():
        platform = PLATFORMS[name]
        if not facts.snp and not facts.tdx:
            yield finding("CC1307.reference-values", platform=name)
        for entry in facts.snp:
            if not entry.get("APEIP"):
                yield finding("CC1307.apeip", platform=name, product=entry["ProductName"])
        yield from _rtmr0(platform, bool(facts.rtmr0_by_vcpu))
    for image in NEEDED_IMAGES:
        if image not in release.images:
            yield finding("CC1307.image", image=image)


def _rtmr0(platform: Platform, has_rtmr0: bool) -> Iterator[Finding]:
    if platform.rtmr0_by_vcpus and not has_rtmr0:
        yield finding("CC1307.rtmr0", platform=platform.name)
