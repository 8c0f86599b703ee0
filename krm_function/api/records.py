"""The whole configuration of a render, and the records it consists of, for those that read them.

Rule of this file: nothing downstream looks at the documents again. Each record is declared, field by field, in the
module of its kind.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from krm_function.api.contrast_generate import Generate, Scheduling
from krm_function.api.contrast_release import NO_VERSION, InjectedMemory, PlatformRelease, Release
from krm_function.api.document import API_VERSION, GROUP
from krm_function.api.gpu_rules import GpuRules
from krm_function.api.image_lock import ImageFacts
from krm_function.api.manifest_options import Coordinator, ManifestOptions, SharedSecret, WorkloadPolicy
from krm_function.api.policy_options import ExternalSource, PolicyOptions
from krm_function.api.volume_rules import VolumeRules
from krm_function.api.workload_entries import WorkloadEntry
from krm_function.findings import Finding, Ref
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY

__all__ = [
    "API_VERSION",
    "EMPTY",
    "GROUP",
    "NO_VERSION",
    "Config",
    "Coordinator",
    "ExternalSource",
    "Generate",
    "GpuRules",
    "ImageFacts",
    "InjectedMemory",
    "ManifestOptions",
    "PlatformRelease",
    "PolicyOptions",
    "Release",
    "Scheduling",
    "SharedSecret",
    "VolumeRules",
    "WorkloadEntry",
    "WorkloadPolicy",
]


class Config(NamedTuple):
    """The whole configuration of a render. images is None when no ImageLock was given.

    places: by object, what gives a finding about it its position; only objects that were read from files are there.
    """

    generate: Generate
    release: Release
    images: Mapping[str, ImageFacts] | None = None
    places: Mapping[Ref, Callable[[Finding], Finding]] = MappingProxyType({})

    def placed(self, found: Finding) -> Finding:
        """Give a finding its position in a file of the configuration, if it is about one and has none."""
        place = self.places.get(found.ref) if found.ref and not found.line and found.severity != "info" else None
        return place(found) if place else found
