"""One fact about a release, and where it stands.

Rule of this file: a path says what the fact is about, so that the same fact of two files can be compared.

    path                                            value
    version                                         "v1.25.0"
    policyProfile                                   "contrast-1.25", in no file: it follows from the version
    platforms, <platform>, handler                  "contrast-cc-<platform>-<hash>"
    platforms, <platform>, overhead                 {"memory": "682Mi"}
    platforms, <platform>, snp, Milan, <field>      a measured value of the entry for this product
    platforms, <platform>, tdx, "", <field>         a measured value of the entry
    platforms, <platform>, tdx, "", Rtmrs, <n>      one of the four
    platforms, <platform>, rtmr0ByVCPU, "<n>"       RTMR0 for n vCPUs
    images, <image as a pod names it>               the pinned image
"""

from typing import Any

from krm_function.api.records import NO_VERSION
from krm_function.findings import Finding, Path
from krm_function.manifest import ordered_fields as manifest
from krm_function.record import NamedTuple

__all__ = ["MEASURED", "NO_VERSION", "POLICY_PROFILE", "Fact", "Facts"]

POLICY_PROFILE: Path = ("policyProfile",)
MEASURED = {
    tee: tuple(
        name for name, field in entry.fields.items() if manifest.MEASURED in field.marks and name != "Rtmr0Alternatives"
    )
    for tee, entry in manifest.ENTRIES.items()
}


class Fact(NamedTuple):
    """One fact. weak: it depends on more than the release, so any other source is preferred."""

    path: Path
    value: Any
    file: str
    line: int = 0
    weak: bool = False

    @property
    def field(self) -> str:
        """The path as text: `platforms.metal-qemu-snp.handler`, `platforms.metal-qemu-snp.Milan.APEIP`."""
        names = [str(part) for part in self.path if part not in {"snp", "tdx", ""}]
        return ".".join(names)


class Facts(NamedTuple):
    """The facts of one file."""

    facts: tuple[Fact, ...] = ()
    findings: tuple[Finding, ...] = ()
