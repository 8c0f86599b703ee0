"""Select: which objects are workloads of Contrast, and which of them the configuration chooses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.generate import Generate, WorkloadEntry, naming
from krm_function.contrast.platforms import FIELD, Platform, is_contrast_name, parse_runtime_class
from krm_function.findings import Finding, Path, Ref, finding, has_errors
from krm_function.kubernetes.kinds import CATALOGUED, EDITED, KINDS
from krm_function.kubernetes.objects import OWNERS, Controller, controller_of, dig, hook_of, listed, objects, reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.resource import Copy, Edit, ObjectAt, Resource
from krm_function.kubernetes.workload import Workload, workloads_of
from krm_function.record import NamedTuple
from krm_function.render.classes import find_class_objects
from krm_function.render.copies import find_owners, index_controllers
from krm_function.render.read import read_values
from krm_function.render.unsealed import (
    UnknownPods,
    find_foreign_pods,
    find_stray_annotations,
    find_unknown_pods,
    find_unsealed,
    report_unsealed_class,
)
from krm_function.schema.values import a_type, type_name
from krm_function.text.changes import ABSENT

# --- Select: find the objects that are Contrast workloads, and the reason why each other one is not
#
# Rule: a pod is Contrast's by its runtimeClassName alone (docs/facts/contrast.md#selection), never by a guess. Every
# object with a pod template is selected, skipped with a reason, or has a finding.


class Selection(NamedTuple):
    """The workloads, the pod templates that are left alone, and the findings."""

    workloads: tuple[Workload, ...] = ()
    skipped: tuple[Workload, ...] = ()
    findings: tuple[Finding, ...] = ()


def select(document: Any, resource: Resource | None = None, kinds: Kinds = SHIPPED) -> Selection:
    """Find the workloads of a document (plain data). resource: its source, which places the findings.

    kinds: those with pod templates, if there is no resource, which has its own.
    """
    kinds = resource.kinds if resource else kinds
    workloads: list[Workload] = []
    skipped: list[Workload] = []
    findings: list[Finding] = []
    for root, value in objects(document):
        ref = reference(value)
        problem = _check_ambiguity(document, root, ref, kinds)
        if problem is not None:
            findings.append(problem)
            continue
        if kinds.of(ref) is None:
            if ref.kind in KINDS and kinds.entry(ref) is None:
                reason = f"apiVersion {ref.api_version or 'missing'} is not {KINDS[ref.kind][0]}"
                skipped.append(Workload({}, root, ref, (), resource, skipped=reason))
            continue
        for workload in workloads_of(value, root, ref, resource, kinds):
            match _classify(document, workload):
                case str() as reason:
                    skipped.append(workload._replace(skipped=reason, owned=controller_of(value) is not None))
                case Finding() as invalid:
                    findings.append(invalid)
                case None:
                    workloads.append(workload)
    located = findings if resource is None else map(resource.placed, findings)
    return Selection(tuple(workloads), tuple(skipped), tuple(located))


def _classify(document: Any, workload: Workload) -> str | Finding | None:
    """Return why a pod template is left alone, or a finding if it is invalid; None if it is Contrast's."""
    invalid = _find_wrong_shape(document, workload.root, (*workload.template, "spec"))
    if invalid is not None:
        path, actual = invalid
        return finding("CC0207", workload.ref, path, key=str(path[-1]), expected="a map", actual=a_type(actual))
    name = workload.pod_spec.get("runtimeClassName")
    if name is None:
        return "no runtimeClassName"
    if not isinstance(name, str):
        path = (*workload.spec_path, "runtimeClassName")
        actual = a_type(type_name(name))
        return finding("CC0207.quotes", workload.ref, path, key=path[-1], expected="a string", actual=actual)
    return None if is_contrast_name(name) else f"runtime class {name or '(empty)'} is not Contrast's"


def _check_ambiguity(document: Any, root: Path, ref: Ref, kinds: Kinds) -> Finding | None:
    """Report an object that only some readers take for a pod, because of its items or of the kind of its list."""
    if ref.kind in EDITED or kinds.of(ref):
        return finding("CC0111", ref, (*root, "items"), kind=ref.kind) if "items" in dig(document, root) else None
    members = dig(document, (*root, "items"))
    if ref.kind.endswith("List") and members is not None and not isinstance(members, list):
        actual = a_type(type_name(members))
        return finding("CC0207", ref, (*root, "items"), key="items", expected="a list", actual=actual)
    if not root or ref.kind or ref.api_version:
        return None
    list_kind = reference(dig(document, root[:-2])).kind
    kind = list_kind.removesuffix("List")
    if kind not in EDITED:
        return None
    return finding("CC0113", ref._replace(kind=kind), (*root, "kind"), list=list_kind, kind=kind)


def _find_wrong_shape(document: Any, root: Path, steps: Path) -> tuple[Path, str] | None:
    """Find the first step from the object to its pod spec that is neither a map nor absent; a list where one leads."""
    path = root
    for index, part in enumerate(steps):
        path = (*path, part)
        value = dig(document, path)
        into_list = index + 1 < len(steps) and isinstance(steps[index + 1], int)  # the list exists, or has no entries
        if value is not None and not isinstance(value, dict) and not into_list:
            return path, type_name(value)
    return None


# --- Choose: apply `spec.workloads` of the configuration to the pod templates that select has found
#
# Rule: the configuration selects and the input cannot deselect, so only kind, namespace, name and runtimeClassName of
# an object count. An entry and the pod's own class must agree:
#
#     runtimeClassName of the pod           an entry with platform P    without platform    plain
#     absent, null, ""                      P's placeholder             contrast-cc         stays plain
#     contrast-cc, kata-cc-isolation        P's placeholder             stays               CC0253.plain
#     contrast-cc-P, a handler of P         stays                       stays               CC0253.plain
#     the same of another platform          CC0253.platform             stays               CC0253.plain
#     an unknown name of Contrast's         stays, and is refused       the same            CC0253.plain
#     another runtime class                 CC0253.other                CC0253.other        stays plain


class Chosen(NamedTuple):
    """The decisions about some pod templates. plain: with the reason in `skipped`. unnamed: no entry names them."""

    confidential: list[Workload]
    plain: list[Workload]
    unnamed: list[Workload]
    findings: list[Finding]


def choose(skipped: Iterable[Workload], workloads: Iterable[Workload], generate: Generate) -> Chosen:
    """Apply the entries. skipped: pod templates without a class of Contrast's; workloads: those with one."""
    chosen = Chosen([], [], [], [finding for workload in workloads for finding in _check_own_class(workload, generate)])
    for template in skipped:
        conflict = find_contradiction(template.ref, generate)
        entry = find_entry(template.ref, generate)
        if conflict:
            chosen.findings.append(template.placed(conflict._replace(path=template.spec_path)))
        elif entry is None:
            chosen.unnamed.append(template)
        elif entry.plain:
            chosen.plain.append(template._replace(skipped=explain_plain(template.ref, generate)))
        elif template.runtime_class:
            chosen.findings.append(_report_class("CC0253.other", template, entry, template.runtime_class))
        elif not isinstance(template.at(template.spec_path), dict):
            chosen.findings.append(template.placed(finding("CC0206", template.ref, template.template_path)))
        else:
            chosen.confidential.append(template._replace(skipped=""))
    return chosen


def write_class(workload: Workload, generate: Generate) -> Workload:
    """Write the placeholder of its entry into a workload."""
    entry = find_entry(workload.ref, generate)
    if entry is None or entry.plain:
        return workload
    present = workload.runtime_class
    if present and not (entry.platform and parse_runtime_class(present) == "bare"):
        return workload
    old = workload.pod_spec.get(FIELD, ABSENT)
    reason = f"spec.workloads of the configuration names {entry.text}"
    edit = Edit("set", (*workload.spec_path, FIELD), old, entry.placeholder, "CC0250", reason)
    return workload.after((edit,))


def note_entries(workload: Workload, generate: Generate) -> tuple[str, ...]:
    """Return the note of the plan about the entries that name a workload."""
    entries = naming(generate.workloads, workload.ref, generate.namespace)
    texts = [f"spec.workloads[{index}] ({entry.text})" for index, entry in entries]
    return (f"named by {listed(texts)}",) if texts else ()


def find_entry(ref: Ref, generate: Generate) -> WorkloadEntry | None:
    """Return the first entry that names an object; `find_contradiction` reports others with another meaning."""
    entries = naming(generate.workloads, ref, generate.namespace)
    return entries[0][1] if entries else None


def is_confidential(ref: Ref, generate: Generate) -> bool:
    """Tell whether the configuration gives a runtime class to the pods of an object that have none."""
    entry = find_entry(ref, generate)
    return entry is not None and not entry.plain


def explain_plain(ref: Ref, generate: Generate) -> str:
    """Return why an object is plain, "" if no entry makes it so."""
    for index, entry in naming(generate.workloads, ref, generate.namespace):
        if entry.plain:
            return f"plain by spec.workloads[{index}] ({entry.text}): {entry.plain}"
    return ""


def find_contradiction(ref: Ref, generate: Generate) -> Finding | None:
    """Return CC0252 if entries that name an object contradict each other."""
    entries = naming(generate.workloads, ref, generate.namespace)
    if len({entry.placeholder for _, entry in entries}) < 2:
        return None
    texts = [
        f"spec.workloads[{index}] ({entry.text}): {'plain' if entry.plain else entry.placeholder}"
        for index, entry in entries
    ]
    return finding("CC0252", ref, entries=listed(texts))


def find_idle_entries(refs: Sequence[Ref], generate: Generate) -> Iterator[Finding]:
    """Yield CC0251 for each entry that names none of the objects of the input, and is not optional."""
    used = {index for ref in refs for index, _ in naming(generate.workloads, ref, generate.namespace)}
    for index, entry in enumerate(generate.workloads):
        if not isinstance(entry, str) and index not in used and not entry.optional:
            alike = [ref for ref in refs if _is_elsewhere(entry, ref)]
            code = "CC0251.namespace" if alike else "CC0251.none"
            namespace = (alike[0].namespace or generate.namespace if alike else "") or "no namespace"
            path = ("spec", "workloads", index)
            yield finding(code, generate.ref, path, index=index, entry=entry.text, namespace=namespace)


def report_unnamed_pods(workload: Workload) -> Finding:
    """Make CC0255 for a pod template that is neither confidential nor named as plain."""
    field = ", optional: true" if hook_of(workload.object) else ""  # Helm 3 sends no hooks
    return workload.placed(report_unnamed(workload.ref, field=field)._replace(path=workload.spec_path))


def report_unnamed(ref: Ref, code: str = "CC0255", field: str = "") -> Finding:
    """Make CC0255 or a variant for an object. field: one more of the entry in the hint, with a comma before it."""
    return finding(code, ref, entry=f"{{kind: {ref.kind or 'KIND'}, name: {ref.name or 'NAME'}{field}}}")


def _is_elsewhere(entry: WorkloadEntry, ref: Ref) -> bool:
    return bool(entry.namespace) and bool(naming((entry._replace(namespace=""),), ref, ""))


def _check_own_class(workload: Workload, generate: Generate) -> Iterator[Finding]:
    """Yield the conflicts between a workload's own class of Contrast's and its entries."""
    conflict = find_contradiction(workload.ref, generate)
    if conflict:
        yield workload.placed(conflict._replace(path=workload.spec_path))
        return
    entry = find_entry(workload.ref, generate)
    if entry is None:
        return
    present = workload.runtime_class
    if entry.plain:
        yield _report_class("CC0253.plain", workload, entry, present)
    parsed = parse_runtime_class(present)
    if entry.platform and isinstance(parsed, Platform) and parsed.name != entry.platform:
        yield _report_class("CC0253.platform", workload, entry, present)


def _report_class(code: str, workload: Workload, entry: WorkloadEntry, present: str) -> Finding:
    path = (*workload.spec_path, FIELD)
    expected = entry.placeholder or "plain"
    return workload.placed(finding(code, workload.ref, path, own=present, entry=entry.text, wanted=expected))


# --- Apply `spec.workloads` of the configuration to the selection
#
# Rule: this runs only where the configuration has entries. An object that a controller made is judged like its origin
# and gets no class by itself; an entry that names it is an error, since anybody can write an owner.


def choose_all(
    resources: Sequence[Resource],
    workloads: Sequence[Workload],
    skipped: Sequence[Workload],
    generate: Generate,
    *,
    failed: bool,
    live: bool,
) -> Selection:
    """Choose among the pod templates of the input. failed: an object has errors, and an entry may name that object.

    All workloads are in the order of the input.
    """
    owners = index_controllers(read_values(resources)) if live else {}
    copies: list[Workload] = []
    originals: list[Workload] = []
    for template in skipped:
        is_copy = bool(template.object) and bool(find_owners(template.object, owners))
        (copies if is_copy else originals).append(template)
    chosen = choose([template for template in originals if template.object], workloads, generate)
    reasons = {template.ref: template.skipped for template in chosen.plain}
    sealed = {(template.place, template.template) for template in chosen.confidential}
    findings = list(chosen.findings)
    plain: list[Workload] = []
    for template in skipped:
        if template.object and (template.place, template.template) in sealed:
            continue
        reason = reasons.get(template.ref, "") if template.object else explain_plain(template.ref, generate)
        plain.append(template._replace(skipped=reason or template.skipped))
    findings += [
        problem for template in originals if not template.object for problem in _check_version(template.ref, generate)
    ]
    # an object that claims a controller, to be left alone
    findings += [problem for copy in copies if is_confidential(copy.ref, generate) for problem in _check_owner(copy)]
    refs = [template.ref for template in (*workloads, *skipped)]
    if any(
        isinstance(entry, str) or entry.kind not in KINDS or entry.kind in CATALOGUED for entry in generate.workloads
    ):
        for unknown in find_unknown_pods(resources):
            if isinstance(unknown, UnknownPods):
                refs.append(unknown.ref)
                findings += _check_unknown(unknown, generate)
            else:
                findings += [unknown] if generate.requires_all else []
    if generate.requires_all:
        findings += map(report_unnamed_pods, chosen.unnamed)
        findings += [report_unnamed_pods(copy) for copy in copies if not _is_plain(copy, owners, generate)]
    if not failed:
        findings += find_idle_entries(refs, generate)
    ordered = sorted((*workloads, *chosen.confidential), key=lambda workload: (*workload.place, workload.template))
    return Selection(tuple(ordered), tuple(plain), tuple(findings))


def _check_version(ref: Ref, generate: Generate) -> Iterator[Finding]:
    """Yield the problems of an object of a sealed kind with a group or version that no render seals."""
    entry = find_entry(ref, generate)
    if conflict := find_contradiction(ref, generate):
        yield conflict
    elif entry is None:
        if generate.requires_all:
            yield report_unnamed(ref)
    elif not entry.plain:
        yield finding("CC0254", ref, kind=f"{ref.api_version} {ref.kind}".strip(), version=KINDS[ref.kind][0])


def _check_unknown(unknown: UnknownPods, generate: Generate) -> Iterator[Finding]:
    """Yield the problem of an object of another kind: no entry declares its pods plain, and no render seals them.

    Or an entry declares them confidential, although no render seals them in this group and version.
    """
    entry = find_entry(unknown.ref, generate)
    if entry is not None and not entry.plain:
        place = (*unknown.root, *(unknown.pod or ()), FIELD)
        problem = report_unsealed_class(unknown.ref, place, entry.placeholder, unknown.resource.kinds, unknown.root)
        yield unknown.resource.placed(problem)
    elif generate.requires_all and entry is None and unknown.makes != "none":
        unnamed = report_unnamed(unknown.ref, "CC0255.other", ", plain: REASON")
        yield unknown.resource.placed(unnamed._replace(path=(*unknown.root, "kind")))


def _is_plain(copy: Workload, controllers: Mapping[Controller, Any], generate: Generate) -> bool:
    """Tell whether an object that a controller made comes from a workload that an entry names as plain."""
    owners = find_owners(copy.object, controllers) or ()
    return any(explain_plain(reference(owner), generate) for owner in owners[-1:])


# --- Select the parts of an input that a render concerns: workloads, RuntimeClass objects, and the objects it skips


class Selected(NamedTuple):
    """The selection in all resources. stray: findings about objects that are not selected."""

    workloads: tuple[Workload, ...]
    classes: tuple[ObjectAt, ...]
    skipped: tuple[Workload, ...]
    findings: tuple[Finding, ...]
    stray: tuple[Finding, ...] = ()


def select_all(
    resources: Sequence[Resource], read_findings: tuple[Finding, ...], config: Config | None, *, live: bool
) -> Selected:
    """Select in every resource that was read; RuntimeClasses of the release only with a configuration.

    read_findings: of reading them. live: the copies that controllers made are skipped; otherwise every object that a
    controller owns is CC0220.
    """
    parsed = [resource for resource in resources if resource.document is not None and resource.state != "added"]
    selections = [select(resource.value, resource) for resource in parsed]
    workloads = [workload for selection in selections for workload in selection.workloads]
    skipped = [template for selection in selections for template in selection.skipped]
    findings = [problem for selection in selections for problem in selection.findings]
    if config and config.generate.workloads:
        failed = has_errors((*read_findings, *findings))
        originals = [workload for workload in workloads if not (live and _find_copy_of(workload))]
        copies = [workload for workload in workloads if live and _find_copy_of(workload)]
        chosen = choose_all(resources, originals, skipped, config.generate, failed=failed, live=live)
        workloads, skipped = [*chosen.workloads, *copies], list(chosen.skipped)
        findings += chosen.findings
    if live:
        copied = [(workload, _find_copy_of(workload)) for workload in workloads]
        skipped += [workload._replace(skipped=_describe_copy(copy), owned=True) for workload, copy in copied if copy]
        workloads = [workload for workload, copy in copied if not copy]
    else:
        findings += [problem for workload in workloads for problem in _check_owner(workload)]
    skipped += _list_foreign_pods(resources, config.generate if config else None)
    unsealable: tuple[Finding, ...] = ()
    if not has_errors(read_findings):  # otherwise this would repeat them
        handlers = [facts.handler for facts in config.release.platforms.values()] if config else []
        chosen_places = {(*workload.place, workload.template) for workload in workloads}
        unsealable = find_unsealed(resources, handlers, chosen_places)
    return Selected(
        tuple(workloads),
        tuple(find_class_objects(parsed, config.release)) if config else (),
        tuple(skipped),
        (*findings, *unsealable),
        find_stray_annotations(resources, workloads) if workloads else (),
    )


def _list_foreign_pods(resources: Iterable[Resource], generate: Generate | None) -> Iterator[Workload]:
    """Yield the pods of kinds that no render seals, as skipped workloads."""
    for item in find_foreign_pods(resources):
        reason = explain_plain(item.ref, generate) if generate else ""
        reason = reason or f"a controller creates the pods of this {item.ref.kind}; no render seals them"
        yield Workload({}, item.root, item.ref, (), item.resource, skipped=reason)


def _find_copy_of(workload: Workload) -> Copy | None:
    return workload.resource.copies.get(workload.root) if workload.resource else None


def _check_owner(workload: Workload) -> Iterator[Finding]:
    """Yield CC0220 for a workload that a controller owns: its pods would be sealed, and run as something else."""
    owner = controller_of(workload.object)
    if owner is not None:
        path = (*workload.root, "metadata", OWNERS)
        yield workload.placed(finding("CC0220", workload.ref, path, kind=owner.kind, name=owner.name))


def _describe_copy(copy: Copy) -> str:
    ref = reference(copy.origin)
    state = {"": "with the same policy", "earlier": "of an earlier template"}.get(copy.retired, "and runs no pod")
    return f"created by {ref.kind} {ref.name}, {state}"
