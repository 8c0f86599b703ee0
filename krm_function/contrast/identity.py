"""The manifest's facts about a workload before its digest is known: a role, names in its certificate, a secret.

Rule of this file: an object is identified by kind, namespace and name, never by a value that it writes about itself.
Only the WorkloadSecretID that Contrast derives from those three proves that a base entry belongs to the same object.

    Deployment/shop/web            the key of an object, as the configuration writes it
    apps/v1/Deployment/shop/web    its derived WorkloadSecretID (docs/facts/contrast-manifest.md#policy-entries)
"""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from krm_function.contrast.manifest_merge import secret_id
from krm_function.findings import Ref
from krm_function.kubernetes.objects import mapping
from krm_function.record import NamedTuple

_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


class Identity(NamedTuple):
    """One workload as the manifest will describe it.

    role: "" or "coordinator". chosen: the WorkloadSecretID of its annotation, "" for none. sans: the names that the
    configuration adds. has_entry: whether spec.manifest.policies has its full key.
    """

    ref: Ref
    role: str = ""
    chosen: str = ""
    sans: tuple[str, ...] = ()
    has_entry: bool = False

    @property
    def key(self) -> str:
        """`Deployment/shop/web`; `RayCluster/shop/llm#head` of an object with several pod templates."""
        return object_key(self.ref)

    @property
    def keys(self) -> tuple[str, ...]:
        """Its own key, and its object's."""
        return tuple(dict.fromkeys((self.key, object_key(self.ref.whole))))

    @property
    def derived(self) -> str:
        """The WorkloadSecretID that Contrast derives."""
        return secret_id(*self.ref[:4])

    @property
    def secret(self) -> str:
        """Its WorkloadSecretID, chosen or derived."""
        return self.chosen or self.derived

    @property
    def names(self) -> tuple[str, ...]:
        """All names of its certificate that the base does not have, its own first."""
        return (self.ref.name, *self.sans)


class BaseEntry(NamedTuple):
    """One entry of the base manifest. owner: the proven workload of this render, None for another.

    has_wildcard: whether its names had `*`, which `names` lacks.
    """

    digest: str
    names: tuple[str, ...] = ()
    secret: str = ""
    role: str = ""
    owner: Ref | None = None
    has_wildcard: bool = False

    @property
    def own_name(self) -> str:
        """The name of its workload, "" if it has none."""
        return self.names[0] if self.names else ""

    def __str__(self) -> str:
        """Return its name for a sentence: `Deployment/shop/web of manifest.base`."""
        return f"{key_of_derived(self.secret) or self.own_name or self.digest[:16]} of manifest.base"


class Identities(NamedTuple):
    """All facts that one render puts into the manifest.

    base: the entries of the base, in the order of their digests.
    """

    workloads: tuple[Identity, ...] = ()
    base: tuple[BaseEntry, ...] = ()

    @cached_property
    def by_ref(self) -> Mapping[Ref, Identity]:
        """The identities by workload."""
        return {identity.ref: identity for identity in self.workloads}

    @cached_property
    def replaced(self) -> Mapping[str, Ref]:
        """The digests of the base whose workload is in this render: digest -> workload."""
        return {entry.digest: entry.owner for entry in self.base if entry.owner}

    @cached_property
    def kept(self) -> tuple[BaseEntry, ...]:
        """The entries of the base that belong to no workload of this render."""
        return tuple(entry for entry in self.base if entry.owner is None)


def object_key(ref: Ref) -> str:
    """Make the key of an object; an absent namespace is `default`, as in a WorkloadSecretID."""
    part = f"#{ref.part}" if ref.part else ""
    return f"{ref.kind}/{ref.namespace or 'default'}/{ref.name}{part}"


def key_of_derived(secret: str) -> str:
    """Return the key of the object for a derived WorkloadSecretID; "" for a chosen one."""
    parts = secret.split("/")
    if len(parts) != 5 or not all(parts) or parts[1][:1] != "v" or not parts[1][1:2].isdigit():
        return ""
    return "/".join(parts[2:]) if parts[2][0].isupper() else ""


def base_entries(base: Mapping[str, Any] | None) -> tuple[BaseEntry, ...]:
    """Read the entries of a base manifest, of any shape; owners are not known yet.

    Releases before September 2026 generated "*" after the name; it names no workload.
    """
    entries = []
    for digest, value in sorted(mapping((base or {}).get("Policies")).items()):
        entry = mapping(value)
        sans = entry.get("SANs")
        names = [str(name) for name in sans] if isinstance(sans, list) else []
        has_wildcard = "*" in names[1:]
        names = [*names[:1], *(name for name in names[1:] if name != "*")]
        secret, role = (str(entry.get(field) or "") for field in ("WorkloadSecretID", "Role"))
        entries.append(BaseEntry(str(digest), tuple(names), secret, role, has_wildcard=has_wildcard))
    return tuple(entries)


def quoted(text: str) -> str:
    """Write a text as YAML reads it within a line, for lines that hints print."""
    plain = re.fullmatch("[A-Za-z][A-Za-z0-9_./-]*", text) and text.casefold() not in _WORDS
    return text if plain else json.dumps(text)


class Names:
    """Names and their holders, to find a name that a client could mistake for another one.

    A client that asks for one name may accept a certificate of an equal one, in any letter case, or of a wildcard.
    """

    def __init__(self) -> None:
        self._holders: dict[str, list[str]] = {}

    def add(self, name: str, holder: str) -> None:
        """Keep a name. holder: its description for a sentence."""
        self._holders.setdefault(_fold(name), []).append(holder)

    def holders(self, name: str) -> list[str]:
        """List the holders of a name, of a wildcard above it, and, for a wildcard, of the names below it."""
        folded = _fold(name)
        rest = folded.partition(".")[2]
        alike = dict.fromkeys((folded, "*", f"*.{rest}" if rest else "*"))
        if folded.startswith("*"):
            alike |= dict.fromkeys(held for held in self._holders if _is_below(folded, held))
        return list(dict.fromkeys(holder for pattern in alike for holder in self._holders.get(pattern, ())))


def _fold(name: str) -> str:
    return name.casefold().rstrip(".")


def _is_below(wildcard: str, name: str) -> bool:
    return wildcard == "*" or (wildcard.startswith("*.") and name.partition(".")[2] == wildcard[2:])
