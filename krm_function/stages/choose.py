"""Choose: what `spec.workloads` of the configuration makes of the pod templates that select has found.

Rule of this file: the configuration selects and the input cannot deselect, so nothing of an object counts but its kind,
namespace and name, and the runtimeClassName that it has. An entry and a class of the pod's own must say the same:

    runtimeClassName of the pod           an entry with platform P    without platform    plain
    absent, null, ""                      P's placeholder             contrast-cc         stays plain
    contrast-cc, kata-cc-isolation        P's placeholder             stays               CC0253.plain
    contrast-cc-P, a handler of P         stays                       stays               CC0253.plain
    the same of another platform          CC0253.platform             stays               CC0253.plain
    no name that is understood            stays, and is refused       the same            CC0253.plain
    another runtime class                 CC0253.other                CC0253.other        stays plain
"""

from collections.abc import Iterable, Iterator, Sequence

from krm_function.api.contrast_generate import Generate
from krm_function.api.workload_entries import WorkloadEntry, naming
from krm_function.findings import Finding, Ref, finding
from krm_function.model.edits import Edit
from krm_function.model.listed_names import listed
from krm_function.model.platforms import Platform
from krm_function.model.runtime_class_names import FIELD, Bare, parse_runtime_class
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple
from krm_function.yamltext.comparison import ABSENT


class Chosen(NamedTuple):
    """What the entries make of some pod templates. plain: why a template is plain, by its place in what was given."""

    confidential: tuple[Workload, ...] = ()
    plain: tuple[tuple[Workload, str], ...] = ()
    unnamed: tuple[Workload, ...] = ()
    findings: tuple[Finding, ...] = ()


def choose(skipped: Iterable[Workload], workloads: Iterable[Workload], generate: Generate) -> Chosen:
    """Apply the entries. skipped: pod templates without a class of Contrast's; workloads: those that have one."""
    findings = [found for one in workloads for found in _own_class(one, generate)]
    confidential: list[Workload] = []
    plain: list[tuple[Workload, str]] = []
    unnamed: list[Workload] = []
    for one in skipped:
        wrong = contradiction(one.ref, generate)
        entry = entry_of(one.ref, generate)
        if wrong:
            findings.append(one.placed(wrong._replace(path=one.spec_path)))
        elif entry is None:
            unnamed.append(one)
        elif entry.plain:
            plain.append((one, plain_reason(one.ref, generate)))
        elif one.runtime_class:
            findings.append(_wrong_class("CC0253.other", one, entry, one.runtime_class))
        elif not isinstance(one.at(one.spec_path), dict):
            findings.append(one.placed(finding("CC0206", one.ref, one.template_path)))
        else:
            confidential.append(one)
    return Chosen(tuple(confidential), tuple(plain), tuple(unnamed), tuple(findings))


def with_chosen_class(workload: Workload, generate: Generate) -> tuple[tuple[Edit, ...], Workload]:
    """Write the placeholder of its entry into a workload; also returns the workload after the edit."""
    entry = entry_of(workload.ref, generate)
    if entry is None or entry.plain:
        return (), workload
    own = workload.runtime_class
    if own and not (entry.platform and isinstance(parse_runtime_class(own), Bare)):
        return (), workload
    before = workload.pod_spec.get(FIELD, ABSENT)
    reason = f"spec.workloads of the configuration names {entry.text}"
    edit = Edit("set", (*workload.spec_path, FIELD), before, entry.placeholder, "CC0250", reason)
    return (edit,), workload.after((edit,))


def chosen_note(workload: Workload, generate: Generate) -> tuple[str, ...]:
    """Return the sentence for the plan about the entries that name a workload."""
    found = naming(generate.workloads, workload.ref, generate.namespace)
    said = [f"spec.workloads[{index}] ({entry.text})" for index, entry in found]
    return (f"named by {listed(said)}",) if said else ()


def entry_of(ref: Ref, generate: Generate) -> WorkloadEntry | None:
    """Return the first entry that names an object; others say the same, or `contradiction` tells."""
    found = naming(generate.workloads, ref, generate.namespace)
    return found[0][1] if found else None


def is_confidential(ref: Ref, generate: Generate) -> bool:
    """Tell whether the configuration gives the pods of an object a runtime class where they have none."""
    entry = entry_of(ref, generate)
    return entry is not None and not entry.plain


def plain_reason(ref: Ref, generate: Generate) -> str:
    """Return why an object is plain, "" if no entry says so."""
    for index, entry in naming(generate.workloads, ref, generate.namespace):
        if entry.plain:
            return f"plain by spec.workloads[{index}] ({entry.text}): {entry.plain}"
    return ""


def contradiction(ref: Ref, generate: Generate) -> Finding | None:
    """Return CC0252 if two entries name an object and say different things of it."""
    found = naming(generate.workloads, ref, generate.namespace)
    if len({entry.placeholder for _, entry in found}) < 2:
        return None
    said = [
        f"spec.workloads[{index}] ({entry.text}): {'plain' if entry.plain else entry.placeholder}"
        for index, entry in found
    ]
    return finding("CC0252", ref, entries=listed(said))


def idle_entries(refs: Sequence[Ref], generate: Generate) -> Iterator[Finding]:
    """Yield CC0251 for each entry that names none of the objects of the input."""
    used = {index for ref in refs for index, _ in naming(generate.workloads, ref, generate.namespace)}
    for index, entry in enumerate(generate.workloads):
        if not isinstance(entry, str) and index not in used:
            alike = [ref for ref in refs if _is_elsewhere(entry, ref)]
            code = "CC0251.namespace" if alike else "CC0251.none"
            where = alike[0].namespace or generate.namespace if alike else ""
            path = ("spec", "workloads", index)
            yield finding(code, generate.ref, path, index=index, entry=entry.text, namespace=where or "no namespace")


def unnamed_pods(workload: Workload) -> Finding:
    """Make CC0255 for a pod template that is neither confidential nor named as plain."""
    return workload.placed(not_named(workload.ref)._replace(path=workload.spec_path))


def not_named(ref: Ref) -> Finding:
    """Make CC0255 for an object."""
    return finding("CC0255", ref, entry=f"{{kind: {ref.kind or 'KIND'}, name: {ref.name or 'NAME'}}}")


def _is_elsewhere(entry: WorkloadEntry, ref: Ref) -> bool:
    """Tell whether an entry would name an object of another namespace."""
    return bool(entry.namespace) and bool(naming((entry._replace(namespace=""),), ref, ""))


def _own_class(workload: Workload, generate: Generate) -> Iterator[Finding]:
    """Yield what keeps a workload with a class of Contrast's from being what its entries say."""
    wrong = contradiction(workload.ref, generate)
    if wrong:
        yield workload.placed(wrong._replace(path=workload.spec_path))
        return
    entry = entry_of(workload.ref, generate)
    if entry is None:
        return
    own = workload.runtime_class
    if entry.plain:
        yield _wrong_class("CC0253.plain", workload, entry, own)
    parsed = parse_runtime_class(own)
    if entry.platform and isinstance(parsed, Platform) and parsed.name != entry.platform:
        yield _wrong_class("CC0253.platform", workload, entry, own)


def _wrong_class(code: str, workload: Workload, entry: WorkloadEntry, own: str) -> Finding:
    path = (*workload.spec_path, FIELD)
    wanted = entry.placeholder or "plain"
    return workload.placed(finding(code, workload.ref, path, own=own, entry=entry.text, wanted=wanted))
