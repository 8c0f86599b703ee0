"""The owner keys of a configuration and of a manifest: whose they are, since when, and how to name one.

Rule of this file: public keys only. A key's name and date are text in front of its PEM block, which every reader of PEM
skips (RFC 7468, section 2); a manifest has neither. A fingerprint is the beginning of the SHA-256 of the key's bytes as
the manifest has them.

    alice, since 2026-11-25
    -----BEGIN PUBLIC KEY-----
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from krm_function.manifest.owner_keys import seedshare_owner, workload_owner
from krm_function.record import NamedTuple

Owner = Literal["workload", "seedshare"]
FIELDS: Mapping[Owner, tuple[str, str]] = {  # of ContrastGenerate's manifest, and of the manifest
    "workload": ("workloadOwnerKeys", "WorkloadOwnerPubKeys"),
    "seedshare": ("seedshareOwnerKeys", "SeedshareOwnerPubKeys"),
}
NAME = r"[A-Za-z0-9][A-Za-z0-9@._+ -]{0,99}"
NOTE = re.compile(rf"\s*({NAME}?)(?:, since (\d{{4}}-\d{{2}}-\d{{2}}))?[ \t]*\r?\n")
DIGITS = 16  # of a fingerprint as it is shown
LEAST_DIGITS = 8


class KnownKey(NamedTuple):
    """One key. entry: as in a manifest. places: what has it, configuration or manifest. position: in the former."""

    owner: Owner
    entry: str
    name: str = ""
    since: str = ""
    places: tuple[str, ...] = ()
    position: int = -1

    @property
    def fingerprint(self) -> str:
        """The beginning of its digest."""
        from hashlib import sha256

        return sha256(bytes.fromhex(self.entry)).hexdigest()[:DIGITS]


def with_note(pem: str, name: str, since: str) -> str:
    """Return a PEM block with its name and date in front."""
    return f"{name}, since {since}\n{pem}"


def key_of(pem: str, owner: Owner, position: int = -1) -> KnownKey:
    """Return the key of a PEM text. Raises KeyProblem."""
    note = NOTE.match(pem)
    entry = workload_owner(pem) if owner == "workload" else seedshare_owner(pem)
    return KnownKey(
        owner, entry, note[1] if note else "", (note[2] or "") if note else "", ("configuration",), position
    )


def of_manifest(manifest: Mapping[str, Any]) -> list[KnownKey]:
    """Return the keys that a manifest lists; what is no key there is for `manifest --validate`."""
    return [
        KnownKey(owner, entry, places=("manifest",))
        for owner, (_, field) in FIELDS.items()
        for entry in manifest.get(field) or ()
        if isinstance(entry, str) and re.fullmatch("(?:[0-9a-f]{2})+", entry)
    ]


def joined(configured: Iterable[KnownKey], listed: Iterable[KnownKey]) -> list[KnownKey]:
    """Return each key once, with all places that have it; those of the configuration first."""
    every: dict[tuple[str, str], KnownKey] = {}
    for key in (*configured, *listed):
        same = every.get((key.owner, key.entry))
        places = (*same.places, *key.places) if same else key.places
        every[key.owner, key.entry] = (same or key)._replace(places=tuple(dict.fromkeys(places)))
    return sorted(every.values(), key=lambda one: list(FIELDS).index(one.owner))


def named(keys: Iterable[KnownKey], text: str) -> list[KnownKey]:
    """Return the keys that have this name, or a fingerprint that begins so."""
    every = list(keys)
    digits = text.lower()
    by_digits = [one for one in every if len(digits) >= LEAST_DIGITS and one.fingerprint.startswith(digits[:DIGITS])]
    return [one for one in every if one.name == text] or by_digits
