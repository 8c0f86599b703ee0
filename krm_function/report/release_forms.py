"""Show a ContrastRelease: platforms, handlers, known reference values, images.

Rule of this file: measurements are named, not printed; the file has their 96 digits. The JSON form is versioned;
version 1 only ever gains fields.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.config.release import PlatformRelease, Release, profile_of
from krm_function.contrast.manifest import unfilled, validate
from krm_function.contrast.manifest_merge import merged_reference_values
from krm_function.contrast.measurement import vcpus_text
from krm_function.kubernetes.image import Image, parse_image
from krm_function.report.findings import on_one_line

SHOWN = 12  # hex digits of an image's digest
SELECTORS = ("Platform", "ProductName")


def release_text(release: Release) -> str:
    """Write the tables of the platforms and the images."""
    platforms = [("PLATFORM", "HANDLER", "OVERHEAD")]
    for name, facts in release.platforms.items():
        overhead = ", ".join(f"{key} {value}" for key, value in facts.overhead.items())
        platforms.append((name, facts.handler, overhead or "none"))
    values = [("PLATFORM", "ENTRY", "KNOWN", "LEFT TO THE OPERATOR")]
    for name, facts in release.platforms.items():
        open_values = to_fill_in(facts)
        values += [
            (name, product(entry), ", ".join(known_fields(entry)), ", ".join(open_values[product(entry)]) or "-")
            for entry in (*facts.snp, *facts.tdx)
        ]
        if facts.rtmr0_by_vcpu:
            counts = list(map(int, facts.rtmr0_by_vcpu))
            sizes = vcpus_text(counts[0]) if len(counts) == 1 else f"{_write_ranges(counts)} vCPUs"
            values.append((name, "RTMR0", f"for {sizes}", "-"))
        if not facts.snp and not facts.tdx:
            values.append((name, "none", "-", "-"))
    images = [("IMAGE", "BECOMES", "DIGEST")]
    for image, pinned in release.images.items():
        parsed = parse_image(pinned)
        if isinstance(parsed, Image):
            tagged = str(parsed._replace(digest=""))
            images.append((image, tagged, parsed.digest.removeprefix("sha256:")[:SHOWN]))
    memory = release.memory
    injected = [
        ("INJECTED", "MEMORY"),
        ("initializer", str(memory.initializer)),
        ("initializer with secure-pv", str(memory.secure_pv)),
        ("service mesh", str(memory.service_mesh)),
        ("holder of the image store", str(memory.pvc_holder)),
    ]
    title = f"release {release.version}, policy profile {_find_profile(release) or 'none'}"
    parts = [title, *(write_table(rows) for rows in (platforms, values, images, injected) if len(rows) > 1)]
    return "\n\n".join(parts) + "\n"


def release_json(release: Release) -> str:
    """Write `{"version": 1, "release": "v1.25.0", "policyProfile": ..., "memory": {...}, "platforms": {...}, ...}`."""
    platforms = {
        name: {
            "handler": facts.handler,
            "overhead": dict(facts.overhead),
            "referenceValues": [
                {
                    "entry": product(entry),
                    "known": known_fields(entry),
                    "toFillIn": list(to_fill_in(facts)[product(entry)]),
                }
                for entry in (*facts.snp, *facts.tdx)
            ],
            "rtmr0ForVCPUs": sorted(map(int, facts.rtmr0_by_vcpu)),
        }
        for name, facts in release.platforms.items()
    }
    memory = release.memory
    data = {
        "version": 1,
        "release": release.version,
        "policyProfile": _find_profile(release),
        "memory": {
            "initializer": memory.initializer,
            "securePv": memory.secure_pv,
            "serviceMesh": memory.service_mesh,
            "pvcHolder": memory.pvc_holder,
        },
        "platforms": platforms,
        "images": dict(release.images),
    }
    return json.dumps(data, indent=2) + "\n"


def _find_profile(release: Release) -> str | None:
    """Return the policy profile of the release's nodes: from its field, else from its version."""
    profile, _ = profile_of(release)
    return profile.name if profile else None


def product(entry: Mapping[str, Any]) -> str:
    """Return the name of an entry: Milan, Genoa, or TDX."""
    return str(entry.get("ProductName") or "TDX")


def known_fields(entry: Mapping[str, Any]) -> list[str]:
    """Return the fields that an entry gives."""
    return [name for name, value in entry.items() if name not in SELECTORS and value not in (None, "", [])]


def to_fill_in(facts: PlatformRelease) -> dict[str, tuple[str, ...]]:
    """Return, by entry, the values that an operator has to fill in, as a validation of the manifest reports them."""
    values = merged_reference_values(None, {"snp": list(facts.snp), "tdx": list(facts.tdx)}, None)
    lacking = unfilled(validate({"Policies": {}, "ReferenceValues": values}))
    fields_of: dict[str, tuple[str, ...]] = {}
    for tee in ("snp", "tdx"):
        for index, entry in enumerate(values.get(tee, ())):
            fields = lacking.get(f"{tee}[{index}]", ())
            fields_of[product(entry)] = tuple(dict.fromkeys(field.partition(".")[0] for field in fields))
    return fields_of


def _write_ranges(numbers: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def write_table(rows: Sequence[tuple[str, ...]]) -> str:
    """Write a line per row of equally long rows, columns as wide as their widest cell, two spaces between."""
    cells = [tuple(on_one_line(cell) for cell in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)
