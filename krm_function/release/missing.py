"""Warn about facts that a release lacks, and say where to find them.

Rule of this file: warnings only. A render fails without a fact that it needs, so a release may hold one platform of
several.
"""

from collections.abc import Iterator

from krm_function.api import Release
from krm_function.findings import Finding, finding
from krm_function.manifest.fields import TDX_MULTI_VCPU
from krm_function.model.injected.initializer import INITIALIZER_IMAGE
from krm_function.model.injected.mesh_sidecar import SERVICE_MESH_IMAGE
from krm_function.model.platforms import PLATFORMS, Platform

FROM_A_MANIFEST = "import a manifest.json that `contrast generate` made for this platform"
NEEDED_IMAGES = (INITIALIZER_IMAGE, SERVICE_MESH_IMAGE)


def missing(release: Release) -> tuple[Finding, ...]:
    """Warnings about what a render may need."""
    return tuple(_missing(release))


def _missing(release: Release) -> Iterator[Finding]:
    if not release.platforms:
        yield _warning("any platform", "import the release's runtime-<platform>.yml")
    for name, facts in release.platforms.items():
        platform = PLATFORMS[name]
        if not facts.snp and not facts.tdx:
            yield _warning(f"the reference values of platform {name}", FROM_A_MANIFEST)
        for entry in facts.snp:
            if not entry.get("APEIP"):
                what = f"APEIP of platform {name}, {entry['ProductName']}"
                yield _warning(what, f"{FROM_A_MANIFEST}; without it only pods with one vCPU can be measured")
        yield from _rtmr0(platform, bool(facts.rtmr0_by_vcpu))
    for image in NEEDED_IMAGES:
        if image not in release.images:
            yield _warning(
                f"the pinned image for {image}", "import the release's image replacements, or add it by hand"
            )


def _rtmr0(platform: Platform, known: bool) -> Iterator[Finding]:
    if platform.marker == TDX_MULTI_VCPU and not known:
        remedy = "import a manifest.json made for pods with N vCPUs with --vcpus N, once for each N in use"
        yield _warning(f"RTMR0 of platform {platform.name} by number of vCPUs", remedy)


def _warning(what: str, remedy: str) -> Finding:
    return finding("CC1307", what=what, remedy=remedy)
