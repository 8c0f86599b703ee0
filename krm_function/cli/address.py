"""KIND/NAME and KIND/NAMESPACE/NAME: one workload, as a person names it on the command line.

Rule of this file: a name that fits none or several workloads is a mistake of the call, and the answer names those that
may have been meant.
"""

from collections.abc import Iterable

from krm_function.findings import Finding, Ref, finding
from krm_function.model.nearest import nearest
from krm_function.model.workload import KINDS

FORM = "KIND/NAME or KIND/NAMESPACE/NAME"
SHORT = {"po": "Pod", "deploy": "Deployment", "sts": "StatefulSet", "ds": "DaemonSet", "rs": "ReplicaSet"}
SHORT |= {"rc": "ReplicationController", "cj": "CronJob"}
# every spelling in lower case -> kind: as kubectl understands them
SPELLINGS = {form: kind for kind in KINDS for form in (kind.lower(), f"{kind.lower()}s")} | SHORT
SHOWN = 5  # candidates in one message


def address(ref: Ref) -> str:
    """How a workload is named on the command line."""
    return "/".join(filter(None, (ref.kind, ref.namespace, ref.name)))


def find(text: str, refs: Iterable[Ref]) -> Ref | Finding:
    """The one workload that is meant, or why there is none (CC0909)."""
    parts = text.split("/")
    if len(parts) not in {2, 3} or not all(parts):
        return _wrong(text, "names no workload", f"write {FORM}, such as Deployment/web")
    kind = SPELLINGS.get(parts[0].lower())
    if kind is None:
        close = nearest(parts[0], SPELLINGS) or ", ".join(KINDS)
        return _wrong(text, f"{parts[0]} is no kind of workload", f"use {SPELLINGS.get(close, close)}")
    known = list(dict.fromkeys(refs))
    namespace, name = ("", parts[1]) if len(parts) == 2 else (parts[1], parts[2])
    fitting = [
        one for one in known if one.kind == kind and one.name == name and (not namespace or one.namespace == namespace)
    ]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        return _wrong(text, f"{len(fitting)} workloads have this name", f"use one of {_list(fitting)}")
    addresses = {address(one): one for one in known}
    close = nearest("/".join((kind, *parts[1:])), addresses) or nearest(name, {one.name: one for one in known})
    alike = [one for one in known if address(one) == close or one.name == close]
    if alike:
        return _wrong(text, "no such workload in the input", f"did you mean {_list(alike)}?")
    remedy = f"use one of {_list(known)}" if known else "give files with a workload of Contrast's runtime class"
    return _wrong(text, "no such workload in the input", remedy)


def _list(refs: list[Ref]) -> str:
    more = f" and {len(refs) - SHOWN} more" if len(refs) > SHOWN else ""
    return ", ".join(sorted(map(address, refs))[:SHOWN]) + more


def _wrong(text: str, problem: str, remedy: str) -> Finding:
    return finding("CC0909", option=text, problem=problem, remedy=remedy)
