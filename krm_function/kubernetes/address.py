"""Parse and look up the workload addresses of the command line: KIND/[NAMESPACE/]NAME, or KIND/[NAMESPACE/]NAME#PART.

Rule of this file: an address that matches nothing is an error that suggests the nearest one; an address that matches
several objects is an error, too. Kinds are read as kubectl reads them: any letter case, plural, or the short name. A
namespace that is not given may be any.
"""

from collections.abc import Iterable

from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.kinds import KINDS
from krm_function.record import NamedTuple
from krm_function.schema.check import nearest

OPTION = "KIND/NAME"
SHORT = {
    "po": "Pod",
    "rc": "ReplicationController",
    "deploy": "Deployment",
    "ds": "DaemonSet",
    "sts": "StatefulSet",
    "rs": "ReplicaSet",
    "cj": "CronJob",
}
SPELLINGS = {
    **{kind.lower(): kind for kind in KINDS},
    **{f"{kind.lower()}s": kind for kind in KINDS},
    **SHORT,
}


class Address(NamedTuple):
    """A parsed address. kind: in Kubernetes' spelling if it is known, else as given; namespace, part: "" means any."""

    kind: str
    namespace: str
    name: str
    part: str = ""

    def matches(self, ref: Ref) -> bool:
        """Tell whether the address matches an object. One without a namespace is in `default`, as Contrast reads it."""
        return (
            self.kind.lower() == ref.kind.lower()
            and self.name == ref.name
            and self.namespace in {"", ref.namespace or "default"}
            and self.part in {"", ref.part}
        )


def parse_address(text: str) -> Address | None:
    """Split an address into its parts; None if they are not two or three, or one is empty."""
    parts = text.split("/")
    if len(parts) not in {2, 3} or not all(parts):
        return None
    name, _, part = parts[-1].partition("#")
    if not name:
        return None
    return Address(SPELLINGS.get(parts[0].lower(), parts[0]), parts[1] if len(parts) == 3 else "", name, part)


def address_of(ref: Ref) -> str:
    """Return the address that matches exactly this object or pod template."""
    name = f"{ref.name}#{ref.part}" if ref.part else ref.name
    return "/".join(part for part in (ref.kind, ref.namespace, name) if part)


def find_by_address(text: str, refs: Iterable[Ref]) -> Ref | Finding:
    """Find the one object that an address matches; else a usage error (CC0909) with the nearest address as remedy."""
    all_refs = list(dict.fromkeys(refs))
    address = parse_address(text)
    if address is None:
        return _make_not_found(text, all_refs, address=False)
    matching = [ref for ref in all_refs if address.matches(ref)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        several = ", ".join(address_of(ref) for ref in matching)
        return finding("CC0909.several", option=OPTION, text=text, count=len(matching), known=several)
    return _make_not_found(text, all_refs, address=True)


def _nearest_address(text: str, refs: list[Ref]) -> str:
    name = text.rpartition("/")[2]
    alike = [ref for ref in refs if name and ref.name.lower() == name.lower()] or refs
    text = _expand_kind(text)
    full = {address_of(ref): ref for ref in alike}
    short = {address_of(ref._replace(namespace="")): ref for ref in alike}
    close = full.get(nearest(text, full)) or short.get(nearest(text, short))
    if close is None and alike is not refs:
        close = alike[0]
    if close is None:
        names = {ref.name: ref for ref in refs}
        close = names.get(nearest(name, names)) if name else None
    return address_of(close) if close is not None else ""


def _expand_kind(text: str) -> str:
    """Write a short kind out: `deploy/voet` is nearer to Deployment/vote than it looks."""
    kind, separator, rest = text.partition("/")
    return f"{SPELLINGS.get(kind.lower(), kind)}{separator}{rest}" if separator else text


def _make_not_found(text: str, refs: list[Ref], *, address: bool) -> Finding:
    """Make the finding for an unmatched text. address: whether it has the form of an address."""
    near, some = _nearest_address(text, refs), ", ".join(address_of(ref) for ref in refs[:8])
    if near:
        code = "CC0909.absent-near" if address else "CC0909.no-address-near"
    elif some:
        code = "CC0909.absent-known" if address else "CC0909.no-address-known"
    else:
        code = "CC0909.absent" if address else "CC0909.no-address"
    return finding(code, option=OPTION, text=text or "an empty text", near=near, known=some)
