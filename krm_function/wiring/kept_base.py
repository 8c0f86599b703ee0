"""The manifest that is active, as the base of the next render, in a ContrastGenerate.

Rule of this file: `spec.manifest.base` and `spec.manifest.keep` alone; all other text stays.
"""

from krm_function.findings import Path
from krm_function.model.lookup import dig
from krm_function.wiring.generate_fields import deep_change
from krm_function.wiring.owner_key import changed
from krm_function.yamltext import Change

BASE: Path = ("spec", "manifest", "base")
KEEP: Path = ("spec", "manifest", "keep")


def with_kept_base(data: bytes, manifest: str) -> bytes:
    """Make a manifest the base of which a render keeps the policies. Raises YamlError and ValueError."""
    data = changed(data, lambda value: deep_change(value, BASE, manifest))
    return changed(data, lambda value: deep_change(value, KEEP, "previous"))


def without_keep(data: bytes) -> bytes:
    """Take `keep` out; the base stays. Raises YamlError, and ValueError if it is not there."""

    def removal(value: object) -> Change:
        if dig(value, KEEP) is None:
            raise ValueError("it has no spec.manifest.keep")
        return Change(KEEP, "remove", None)

    return changed(data, removal)
