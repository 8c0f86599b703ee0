"""KIND/[NAMESPACE/]NAME: how a person names one workload on a command line.

Rule of this file: an address finds what is there or says what is near; it never picks one of several. Kinds are read as
kubectl reads them: any letter case, plural, or the short name. A namespace that is not given may be any.
"""

from collections.abc import Iterable

from krm_function.findings import Finding, Ref, finding
from krm_function.model.kinds import KINDS
from krm_function.record import NamedTuple
from krm_function.schema.nearest import nearest

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
    """What was asked for. kind: as Kubernetes spells it where we know it; namespace: "" means any."""

    kind: str
    namespace: str
    name: str

    def matches(self, ref: Ref) -> bool:
        """Whether an object is meant. An object without a namespace is in `default`, as Contrast reads it."""
        return (
            self.kind.lower() == ref.kind.lower()
            and self.name == ref.name
            and self.namespace in {"", ref.namespace or "default"}
        )


def parse_address(text: str) -> Address | None:
    """The parts of an address; None when it is none: not two or three parts, or an empty one."""
    parts = text.split("/")
    if len(parts) not in {2, 3} or not all(parts):
        return None
    return Address(SPELLINGS.get(parts[0].lower(), parts[0]), parts[1] if len(parts) == 3 else "", parts[-1])


def address_of(ref: Ref) -> str:
    """The address that means exactly this object."""
    return "/".join(part for part in (ref.kind, ref.namespace, ref.name) if part)


def find(text: str, refs: Iterable[Ref]) -> Ref | Finding:
    """The one object that is meant, or why there is none: a usage error with the nearest address as remedy."""
    known = list(dict.fromkeys(refs))
    address = parse_address(text)
    if address is None:
        return _wrong(text, known, address=False)
    found = [ref for ref in known if address.matches(ref)]
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(address_of(ref) for ref in found)
        return finding("CC0909.several", option=OPTION, text=text, count=len(found), known=several)
    return _wrong(text, known, address=True)


def _near(text: str, known: list[Ref]) -> str:
    """The nearest address, or ""; an object of the same name comes before one that only reads alike."""
    name = text.rpartition("/")[2]
    alike = [ref for ref in known if name and ref.name.lower() == name.lower()] or known
    full = {address_of(ref): ref for ref in alike}
    short = {f"{ref.kind}/{ref.name}": ref for ref in alike}
    close = full.get(nearest(text, full)) or short.get(nearest(text, short))
    if close is None and alike is not known:
        close = alike[0]
    if close is None:
        names = {ref.name: ref for ref in known}
        close = names.get(nearest(name, names)) if name else None
    return address_of(close) if close is not None else ""


def _wrong(text: str, known: list[Ref], *, address: bool) -> Finding:
    """What is said of a text that means no object. address: whether it is one."""
    near, some = _near(text, known), ", ".join(address_of(ref) for ref in known[:8])
    if near:
        code = "CC0909.absent-near" if address else "CC0909.no-address-near"
    elif some:
        code = "CC0909.absent-known" if address else "CC0909.no-address-known"
    else:
        code = "CC0909.absent" if address else "CC0909.no-address"
    return finding(code, option=OPTION, text=text or "an empty text", near=near, known=some)
