"""The closed set of confidential platforms: where one is added.

Source: docs/facts/contrast.md#platforms.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from krm_function.record import NamedTuple


class Platform(NamedTuple):
    """One platform. name: as in runtime class names. marker: as in the manifest's `Platform` field.

    rtmr0_by_vcpus: whether the first of the VM's measurements depends on its number of vCPUs (TDX only).
    """

    name: str
    marker: str
    tee: Literal["snp", "tdx"]
    gpu: bool
    rtmr0_by_vcpus: bool = False


PLATFORMS: Mapping[str, Platform] = MappingProxyType(
    {
        platform.name: platform
        for platform in (
            Platform("metal-qemu-snp", "Metal-QEMU-SNP", "snp", gpu=False),
            Platform("metal-qemu-snp-gpu", "Metal-QEMU-SNP-GPU", "snp", gpu=True),
            Platform("metal-qemu-tdx", "Metal-QEMU-TDX", "tdx", gpu=False, rtmr0_by_vcpus=True),
            Platform("metal-qemu-tdx-gpu", "Metal-QEMU-TDX-GPU", "tdx", gpu=True),  # of one vCPU, always
        )
    }
)


def find_platform(name: str) -> Platform | None:
    """Find the platform of this name, letter case ignored as in `contrast generate --reference-values`."""
    return PLATFORMS.get(name.lower())


def with_gpu(platform: Platform) -> Platform:
    """Return the variant of the same TEE with GPU; a GPU platform itself."""
    return platform if platform.gpu else PLATFORMS[platform.name + "-gpu"]
