"""Measure: write the SNP ID blocks of every pod, from the launch digest of the VM that it will run in.

Rule of this file: a pod on SNP gets the ID blocks of its size and platform, or an error; all others are removed.
"""

from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.findings import finding
from krm_function.measurement.vcpu_count import vcpus_text
from krm_function.model.edits import Edit, Outcome
from krm_function.model.lookup import mapping
from krm_function.model.platforms import Platform
from krm_function.model.workload import ID_BLOCKS, Workload
from krm_function.record import NamedTuple
from krm_function.yamltext.comparison import ABSENT

PRODUCTS = ("Genoa", "Milan")  # the order in which Contrast writes them (docs/facts/contrast-manifest.md#id-block)


class IdBlocks(NamedTuple):
    """The annotations of the VMs of one platform and size: key, value, reason. problem: why there are none on SNP."""

    platform: str
    annotations: tuple[tuple[str, str, str], ...] = ()
    problem: str = ""


def id_blocks(platform: Platform, vcpus: int, reference_values: Sequence[Mapping[str, Any]]) -> IdBlocks:
    """Make the SNP ID blocks of all pods with this platform and vCPU count (docs/facts/contrast-manifest.md#id-block).

    reference_values: the manifest's `snp` entries. One product may fail (its entry may have been deleted), not both.
    """
    wanted: list[tuple[str, str, str]] = []
    problems: list[str] = []
    for product in PRODUCTS if platform.tee == "snp" else ():
        found = _entry(reference_values, platform, product)
        if isinstance(found, str):
            problems.append(found)
            continue
        try:
            made_of = _annotations(found, product, vcpus)
        except ValueError as problem:  # a base manifest is free to hold anything of the right type
            problems.append(f"{product}: {problem}")
            continue
        reason = f"launch digest of a {product} VM with {vcpus_text(vcpus)}"
        wanted += [(key, value, reason) for key, value in made_of.items()]
    return IdBlocks(platform.name, tuple(wanted), "" if wanted else "; ".join(problems))


def measure(workload: Workload, made: IdBlocks) -> Outcome:
    """Give one pod its ID blocks; stale ones of another render are removed."""
    if made.problem:
        path = workload.metadata_path
        wrong = finding("CC0608", workload.ref, path, platform=made.platform, problem=made.problem)
        return Outcome(findings=(wrong,))
    edits = list(workload.annotate(made.annotations, "CC0607"))
    written = {key for key, _, _ in made.annotations}
    for key, before in workload.annotations.items():
        if key.startswith(ID_BLOCKS) and key not in written:
            path = (*workload.metadata_path, "annotations", key)
            edits.append(Edit("remove", path, before, ABSENT, "CC0607", "belongs to another platform or product"))
    return Outcome(tuple(edits))


def _entry(reference_values: Sequence[Mapping[str, Any]], platform: Platform, product: str) -> Mapping[str, Any] | str:
    """Return the first reference value of a product, or the reason why there is none to use."""
    for entry in map(mapping, reference_values):  # `check` reads them from a manifest of any shape
        if entry.get("Platform") == platform.marker and entry.get("ProductName") == product:
            needed = ("TrustedMeasurement", "APEIP")
            missing = [key for key in needed if not entry.get(key) or not isinstance(entry[key], str)]
            return f"{product} has no {missing[0]}" if missing else entry
    return f"no entry for {product}"


def _annotations(entry: Mapping[str, Any], product: str, vcpus: int) -> dict[str, str]:
    """Make the three annotations of one product."""
    from krm_function.measurement.guest_policy import as_u64, guest_policy

    policy = as_u64(guest_policy(mapping(entry.get("GuestPolicy"))))
    block, auth = _block_and_auth(entry["TrustedMeasurement"], entry["APEIP"], product, vcpus, policy)
    values = (block, auth, str(policy))
    return {f"{key}_{product}": value for key, value in zip(ID_BLOCKS, values, strict=True)}


def _block_and_auth(measurement: str, ap_eip: str, product: str, vcpus: int, policy: int) -> tuple[str, str]:
    """Make ID block and ID auth in base64."""
    from krm_function.measurement.id_block import id_auth, id_block
    from krm_function.measurement.launch_digest import SIGNATURES, ap_eip_of, extend, seed_of

    block = id_block(extend(seed_of(measurement), vcpus, ap_eip_of(ap_eip), SIGNATURES[product]), policy)
    return _base64(block), _base64(id_auth(block))


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")
