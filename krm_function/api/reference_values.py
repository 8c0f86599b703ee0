"""Reference values as a release or an operator gives them: the manifest's own fields, each of them optional.

Rule of this file: the fields are those of the manifest package's tables; nothing about them is written here a second
time.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.manifest.ordered_fields import ENTRIES
from krm_function.model.platforms import Platform
from krm_function.schema.kinds import Choice, Field, ListOf, Problems, Record

NEEDED: Mapping[str, tuple[str, ...]] = {"snp": ("ProductName", "TrustedMeasurement"), "tdx": ("MrTd", "Rtmrs")}


def released(platform: Platform) -> Record:
    """Return the reference values of one platform in a release: `{snp: [...]}` or `{tdx: [...]}`."""
    tee = platform.tee
    about = f"{platform.marker}, which is also what is meant when it is left out"
    fields = {**ENTRIES[tee].fields, "Platform": Field(Choice((platform.marker,)), about)}
    fields |= {name: fields[name]._replace(required=True) for name in NEEDED[tee]}

    def check(values: dict[str, Any]) -> Problems:
        from krm_function.manifest.merge_reference_values import check_selectors

        entries = [{**entry, "Platform": platform.marker} for entry in values.get(tee, ())]
        return tuple((found.path, found.problem) for found in check_selectors(tee, entries))

    return Record({tee: Field(ListOf(Record(fields)), "one entry for each product", required=True)}, check)


def operated(tee: str) -> Record:
    """Return what an operator sets in the entries of a platform or of a TEE; ProductName narrows it to one product."""
    return Record({name: field for name, field in ENTRIES[tee].fields.items() if name != "Platform"})
