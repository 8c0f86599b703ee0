"""An upgrade from the present Contrast release to another one, as a plan of waves."""

import json
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from krm_function.config.release import Release, profile_of
from krm_function.contrast.platforms import PLATFORMS
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.kinds import KINDS, template_paths
from krm_function.kubernetes.nodes import Node
from krm_function.kubernetes.objects import dig, listed, reference
from krm_function.kubernetes.workload import delete_command
from krm_function.record import NamedTuple
from krm_function.render.copies import find_owners, find_retirement, index_controllers
from krm_function.report.findings import on_one_line
from krm_function.report.release_forms import write_table

# --- What changes between two Contrast releases for one deployment: runtimes of its platforms, measurements, images
#
# Rule: facts of both releases and of the workloads; no command, no cluster.


class PlatformChange(NamedTuple):
    """One platform of the workloads. old, new: its handlers. measured: its reference values change."""

    name: str
    old: str
    new: str
    measured: bool
    workloads: tuple[Ref, ...]


class Change(NamedTuple):
    """From one release to another. images: names in the image map whose image changes.

    coordinator: None if another deployment has it. profiles: of the old and new policies, "" if a release names no
    known one. jobs: whose templates no host replaces.
    """

    old: str
    new: str
    platforms: tuple[PlatformChange, ...]
    images: tuple[str, ...]
    profiles: tuple[str, str]
    workloads: tuple[Ref, ...]
    coordinator: Ref | None = None
    jobs: tuple[Ref, ...] = ()

    @property
    def handlers(self) -> Mapping[str, str]:
        """The handlers of the present release, with their successors."""
        return {platform.old: platform.new for platform in self.platforms if platform.old != platform.new}


def change_between(
    old: Release, new: Release, workloads: Sequence[tuple[Ref, str]], coordinator: Ref | None
) -> tuple[Change, list[Finding]]:
    """Compare two releases. workloads: each with the name of its platform."""
    findings: list[Finding] = []
    platforms: list[PlatformChange] = []
    for name in sorted({platform for _, platform in workloads}):
        refs = tuple(ref for ref, platform in workloads if platform == name)
        if name not in new.platforms:
            offered = ", ".join(sorted(new.platforms)) or "none"
            findings += [finding("CC1377", ref, version=new.version, name=name, known=offered) for ref in refs]
        elif name in old.platforms:
            sides = old.platforms[name], new.platforms[name]
            old_values, new_values = ((side.snp, side.tdx, side.rtmr0_by_vcpu) for side in sides)
            platforms.append(PlatformChange(name, sides[0].handler, sides[1].handler, old_values != new_values, refs))
    names = old.images.keys() | new.images.keys()
    images = tuple(sorted(name for name in names if old.images.get(name) != new.images.get(name)))
    before_profile, after_profile = (profile.name if (profile := profile_of(side)[0]) else "" for side in (old, new))
    refs = tuple(ref for ref, _ in workloads)
    profiles = (before_profile, after_profile)
    change = Change(old.version, new.version, tuple(platforms), images, profiles, refs, coordinator)
    differs = images or change.handlers or any(platform.measured for platform in platforms)
    if not findings and not (workloads and differs):
        code = "CC1378.same" if workloads else "CC1378.nothing"
        findings.append(finding(code, before=old.version, after=new.version))
    if workloads and coordinator is None:
        findings.append(finding("CC1380"))
    return change, findings


# --- The commands that render and apply, for each host, as texts with places to fill in
#
# Rule: one row for each host, and nothing that holds for all of them. `alone` applies the coordinator before the
# workloads; if a host cannot, it is empty, and `note` describes the consequence.


HostName = Literal["kubectl", "kustomize", "helm3", "helm4", "kpt", "argo-cd", "flux"]

TEMPLATE = "helm template NAME {chart} --namespace {namespace}"
UPGRADE = "helm upgrade --install NAME {chart} --namespace {namespace} --post-renderer contrast-krm "
APPLY = "kubectl apply -f rendered.yaml"
TOGETHER = (
    "one command applies the coordinator and the workloads; the new pods wait in their initializer until the "
    "coordinator is ready, and a Deployment keeps its earlier pods until then"
)

FROZEN = ". The API server refuses another template for a Job that is there, so delete it once it has ended"


class Host(NamedTuple):
    """A host. render: to the file {out}, of the unchanged input. lock: looks up new images.

    publish: the source that the host applies from, if not the file. apply: everything. alone: the coordinator, by its
    {label} or name. note: about `alone`. recreate: how the host itself replaces a Job.
    """

    title: str
    render: tuple[str, ...]
    lock: str
    apply: tuple[str, ...]
    alone: str = ""
    publish: tuple[str, ...] = ()
    note: str = ""
    recreate: str = ""


_KUBECTL = Host(
    "kubectl",
    ("contrast-krm generate {paths} {config} -o {out}",),
    "contrast-krm lock {paths} {config} -o {lock}",
    (APPLY,),
    f"{APPLY} -l {{label}}",
)
_KUSTOMIZE = _KUBECTL._replace(
    title="kustomize and kubectl",
    render=("kustomize build --enable-alpha-plugins --enable-exec {directory} > {out}",),
    lock="kustomize build --enable-alpha-plugins {directory} | contrast-krm lock {config} -o {lock}",
)
_GITOPS = _KUSTOMIZE._replace(alone="", publish=('git commit -am "Contrast {version}"', "git push"))
_HELM = Host(
    "Helm 3",
    (TEMPLATE + " | contrast-krm post-render {config} > {out}",),
    TEMPLATE + " | contrast-krm lock {config} -o {lock}",
    (UPGRADE + "--post-renderer-args post-render {arguments}",),
    note=TOGETHER,
    recreate="helm.sh/hook, and helm.sh/hook-delete-policy: before-hook-creation, annotations of the Job",
)
HOSTS: dict[HostName, Host] = {
    "kubectl": _KUBECTL,
    "kustomize": _KUSTOMIZE,
    "helm3": _HELM,
    "helm4": _HELM._replace(
        title="Helm 4",
        apply=(UPGRADE + "{arguments} --post-renderer-args --report --post-renderer-args findings.txt",),
        note=TOGETHER + "; if somebody has changed a field by hand, add --force-conflicts",
    ),
    "kpt": Host(
        "kpt",
        ("kpt fn render --allow-exec {directory}", "kpt fn source {directory} > {out}"),
        "contrast-krm lock {directory} -o {lock}",
        ("kpt live apply {directory} --reconcile-timeout 15m",),
        note=f"{TOGETHER}; an annotation config.kubernetes.io/depends-on of the workloads makes kpt wait by itself",
    ),
    "argo-cd": _GITOPS._replace(
        title="Argo CD",
        apply=("argocd app sync NAME", "argocd app wait NAME --health"),
        alone="argocd app sync NAME --resource apps:StatefulSet:{coordinator}",
        note="switch automated sync off before: argocd app set NAME --sync-policy none",
        recreate="argocd.argoproj.io/sync-options: Force=true,Replace=true, an annotation of the Job",
    ),
    "flux": _GITOPS._replace(
        title="Flux",
        apply=("flux reconcile kustomization NAME --with-source",),
        note=f"{TOGETHER}; a Flux Kustomization of its own for the coordinator, which that of the workloads names "
        "under dependsOn, keeps the two apart",
        recreate="kustomize.toolkit.fluxcd.io/force: enabled, an annotation of the Job",
    ),
}


# --- The waves of an upgrade: each with its effect, its commands for each host, and the gate before the next one
#
#     wave           what is new after it                           why not earlier
#     render         files; the earlier policies stay in the        -
#                    manifest beside the new ones
#     runtime        the handlers on the nodes, beside the old ones  the release's file is one of wave `render`'s
#     classes        the RuntimeClasses                              a class without its handler takes pods that fail
#     manifest       what the coordinator accepts: both              -
#     coordinator    its pod                                         the manifest must have its policy
#     workloads      all other pods                                  their coordinator has to be ready
#     prune          the manifest: no earlier policies               no earlier pod may be left
#
# Rule: texts with the places of a call filled in; nothing is run. Source for the rules of `contrast set`:
# docs/facts/contrast-manifest.md#set-and-verify.


COORDINATOR = "HOST:1313"  # words in capitals are the reader's to replace
SET = f"contrast set --coordinator {COORDINATOR} --manifest manifest.json"


NO_NOTES: Mapping[HostName, str] = MappingProxyType({})


class Gate(NamedTuple):
    """The question before the next wave, and the answer that it needs."""

    command: str
    answer: str


class Wave(NamedTuple):
    """One wave. commands: for each host; those of `every` are the same for all. notes: by host."""

    name: str
    task: str
    commands: Mapping[HostName, Sequence[str]]
    gates: tuple[Gate, ...]
    notes: Mapping[HostName, str] = NO_NOTES


class Places(NamedTuple):
    """The words of the call for the commands. Words in capitals are the reader's to replace.

    paths: the input. config: the options --config. configured: their paths. generate, release, lock: files of the
    configuration. next_release: the file of --to. earlier: the file of --from. coordinator_file: the coordinator's
    file, "" if other objects are in it or it is unknown. label: of the coordinator's own object, "" if others have it
    too. emits: the output has RuntimeClasses.
    """

    paths: str
    config: str
    configured: tuple[str, ...]
    generate: str
    release: str
    lock: str
    next_release: str
    namespace: str
    earlier: str = "earlier-release.yaml"
    coordinator_file: str = ""
    directory: str = "OVERLAY"
    chart: str = "CHART"
    label: str = ""
    emits: bool = False


Fill = Callable[..., list[str]]  # texts, and the file that they render to -> the commands of a call


def waves(change: Change, places: Places, names: Sequence[HostName]) -> Iterator[Wave]:
    """Yield the waves in their order, with the commands of some hosts."""
    hosts = {name: HOSTS[name] for name in names}
    coordinator = change.coordinator
    words = places._asdict() | {
        "version": change.new,
        "arguments": " ".join(
            f"--post-renderer-args --config --post-renderer-args {path}" for path in places.configured
        ),
        "coordinator": shlex.quote(f"{coordinator.namespace or 'default'}/{coordinator.name}") if coordinator else "",
    }

    def fill(texts: Iterable[str], out: str = "rendered.yaml") -> list[str]:
        return [text.format(**words, out=out) for text in texts]

    check = f"contrast-krm check rendered.yaml --cluster {places.config}"
    untouched = Gate("contrast-krm check deployed.yaml --cluster", "exit code 0: what runs is untouched")
    change_files = [f"contrast-krm manifest keep deployed.yaml --in {places.generate}"]
    if places.next_release != places.release:
        change_files += [f"cp {places.release} {places.earlier}", f"cp {places.next_release} {places.release}"]
    if coordinator:
        change_files.append(_replace_coordinator(places))
    yield Wave(
        "render",
        f"render once more with {change.old}, then with {change.new}; the manifest keeps the earlier policies and "
        "reference values beside the new ones; nothing is applied",
        {
            name: [*fill(host.render, "deployed.yaml"), *change_files, *fill((host.lock, *host.render))]
            for name, host in hosts.items()
        },
        (
            untouched._replace(answer="exit code 0: what runs is what the present release made"),
            Gate("contrast-krm check rendered.yaml", "exit code 0, and CC0731, the earlier policies that stay"),
            Gate("contrast-krm diff --policy deployed.yaml rendered.yaml", "0 weaker"),
        ),
    )
    files = [
        f"runtime-{platform.name}.yml"
        for platform in change.platforms
        if platform.old != platform.new and platform.name in PLATFORMS
    ]
    write_classes = f"contrast-krm release runtime-classes {places.config}"
    install = (
        command
        for name in files
        for command in (f"{write_classes} {name} > new-{name}", f"kubectl apply -f new-{name}")
    )
    plan = f"contrast-krm plan rendered.yaml {places.config} --cluster"
    yield Wave(
        "runtime",
        f"install the runtime of {change.new} on the nodes, beside the one that is there"
        if files
        else "nothing: the handlers are the same",
        dict.fromkeys(hosts, tuple(install)),
        (Gate(plan, "no CC0313: enough nodes have the handler"),) if files else (),
    )
    apply_classes = (f"{write_classes} > runtime-classes.yaml", "kubectl apply -f runtime-classes.yaml")
    yield Wave(
        "classes",
        _classes(places, files),
        dict.fromkeys(hosts, apply_classes if places.emits and files else ()),
        (Gate(plan, "no CC0319 and no CC1120: the cluster has each class, as this render has it"), untouched),
    )
    verify = Gate(
        f"contrast verify --coordinator {COORDINATOR} --manifest manifest.json", "the manifest is the active one"
    )
    yield Wave(
        "manifest",
        "set the manifest of both releases. contrast set wants each of its policies once among the workloads that it "
        "is given, so it gets those of both renders",
        dict.fromkeys(
            hosts,
            (
                "contrast-krm manifest rendered.yaml > manifest.json",
                "contrast-krm manifest workloads deployed.yaml rendered.yaml > workloads.yaml",
                f"{SET} workloads.yaml",
            ),
        ),
        (verify, untouched),
    )
    alone = {name for name, host in hosts.items() if coordinator and _applies_alone(host, places)}
    yield _coordinator(coordinator, places, hosts, alone, fill, check)
    jobs = (ref._replace(namespace=ref.namespace or "default") for ref in change.jobs)
    delete = [f"{delete_command(ref)} --ignore-not-found" for ref in jobs]
    yield Wave(
        "workloads",
        "roll out the workloads; pods of both releases are attested, and may restart at any moment"
        + (FROZEN if delete else ""),
        {
            name: [*(() if name in alone else fill(host.publish)), *delete, *fill(host.apply)]
            for name, host in hosts.items()
        },
        (Gate(check, "exit code 0 without CC1133, a rollout that is not finished"),),
        {
            name: f"instead of kubectl delete: {host.recreate}"
            for name, host in hosts.items()
            if delete and host.recreate
        },
    )
    prune = (
        f"contrast-krm manifest prune rendered.yaml {places.config} --cluster > manifest.json",
        f"{SET} rendered.yaml",
        f"contrast-krm manifest keep --end --in {places.generate}",
    )
    old = ", ".join(change.handlers)
    leftovers = (
        f"When no pod of the cluster names {old} any more, its class and its node installer can go"
        if old
        else "Nothing else is left of the earlier release"
    )
    yield Wave(
        "prune",
        "take the earlier policies and reference values out of the manifest; as long as they are in it, an old pod is "
        "attested as before",
        {name: [*prune, *fill((*host.render, *host.publish, *host.apply))] for name, host in hosts.items()},
        (verify, Gate(check, f"exit code 0, no CC0731. {leftovers}")),
    )


def _replace_coordinator(places: Places) -> str:
    if places.coordinator_file:
        return f"cp coordinator.yml {places.coordinator_file}"
    return "# in your files, replace the objects of the coordinator by those of the new release's coordinator.yml"


def _applies_alone(host: Host, places: Places) -> bool:
    return bool(host.alone) and (bool(places.label) or "{label}" not in host.alone)


def _coordinator(
    coordinator: Ref | None,
    places: Places,
    hosts: Mapping[HostName, Host],
    alone: Collection[HostName],
    fill: Fill,
    check: str,
) -> Wave:
    """Return the wave of the coordinator. alone: the hosts that apply it before the workloads."""
    if coordinator is None:
        task = "that of the deployment that has it: upgrade it there first"
        return Wave("coordinator", task, dict.fromkeys(hosts, ()), ())
    stateful_set = shlex.quote(f"statefulset/{coordinator.name}")
    ready = f"kubectl rollout status {stateful_set} --namespace {places.namespace}"
    together = "its objects have no label of their own; kubectl applies it with the workloads"
    return Wave(
        "coordinator",
        "apply the coordinator; contrast recover if it asks for it. Until it is ready no pod that starts is attested",
        {name: [*fill((*host.publish, host.alone)), ready] if name in alone else () for name, host in hosts.items()},
        (Gate(check, f"no finding names StatefulSet {coordinator}; CC1120 of the others is what wave 6 is for"),),
        {name: host.note or together for name, host in hosts.items() if host.note or name not in alone},
    )


def _classes(places: Places, files: Sequence[str]) -> str:
    if not files:
        return "nothing: the classes are the same"
    if places.emits:
        return "apply the RuntimeClasses before the output that has them (runtimeClasses: emit): Helm 4 makes them last"
    return (
        "nothing, if the file of wave 2 had the class: two files with one object undo each other. Who has the classes "
        f"in a file of their own: contrast-krm release runtime-classes {places.config} > runtime-classes.yaml"
    )


# --- The progress of an upgrade, as a cluster shows it
#
#     wave          done                                              open
#     runtime       each node with an old handler has the new one     one has not
#     classes       each new class is there                           one is not
#     coordinator   its template has the new class, all pods run it   otherwise
#     workloads     the same for all the others                       otherwise
#
# `render`, `manifest` and `prune` leave no trace in a cluster: "unknown". So is everything that the cluster does not
# show.
#
# Rule: pure, and by handlers alone; `check --cluster` compares policies.


State = Literal["done", "open", "unknown"]


class Seen(NamedTuple):
    """The state of one wave, and a sentence about it."""

    state: State
    text: str = ""


class ClusterState(NamedTuple):
    """The state of a cluster; None: not shown. classes: names of its RuntimeClasses. objects: of the namespaces.

    namespace: of the workloads that name none.
    """

    nodes: Sequence[Node] | None = None
    classes: Iterable[str] | None = None
    objects: Sequence[Any] | None = None
    namespace: str = "default"


def progress(change: Change, cluster: ClusterState) -> tuple[dict[str, Seen], list[Finding]]:
    """Return the state of the waves by their names, and a finding for a wave that began too early."""
    if not change.handlers or (cluster.nodes is None and cluster.classes is None and cluster.objects is None):
        return {}, []
    runs = _count_handlers(change, cluster.objects, cluster.namespace) if cluster.objects is not None else None
    coordinator = {change.coordinator} if change.coordinator else set()
    seen = {
        "runtime": _check_runtime(change, cluster.nodes),
        "classes": _check_classes(change, cluster.classes),
        "coordinator": _check_rollout(runs, coordinator),
        "workloads": _check_rollout(runs, {*change.workloads} - coordinator),
    }
    begun = [ref for ref, (_, new) in (runs or {}).items() if new]
    if not begun:
        return seen, []
    handlers = set(change.handlers.values())
    nowhere = sorted(handlers.difference(*(node.handlers or () for node in cluster.nodes or ())))
    early = []
    if nowhere and seen["runtime"].state == "open":
        early.append(finding("CC1379.runtime", begun[0], after=change.new, names=listed(nowhere)))
    if seen["classes"].state == "open":
        names = listed(sorted(handlers - set(cluster.classes or ())))
        early.append(finding("CC1379.classes", begun[0], after=change.new, names=names))
    return seen, early


def _check_runtime(change: Change, nodes: Sequence[Node] | None) -> Seen:
    handlers_by_node = [(node.name, node.handlers) for node in nodes or () if node.handlers is not None]
    if not handlers_by_node:
        return Seen("unknown", "no node says which handlers it has")
    pairs = change.handlers.items()
    lacking = [
        name
        for name, handlers in handlers_by_node
        if any(old in handlers and new not in handlers for old, new in pairs)
    ]
    having = [name for name, handlers in handlers_by_node if not handlers.isdisjoint(change.handlers.values())]
    if lacking or not having:
        return Seen("open", f"not yet on {listed(lacking) if lacking else 'any node'}; on {len(having)} of them")
    return Seen("done", f"on {listed(having)}")


def _check_classes(change: Change, classes: Iterable[str] | None) -> Seen:
    if classes is None:
        return Seen("unknown", "the cluster does not show its RuntimeClasses")
    lacking = sorted(set(change.handlers.values()) - set(classes))
    if lacking:
        return Seen("open", f"the cluster has no RuntimeClass {listed(lacking)}")
    return Seen("done", "all are there")


def _count_handlers(change: Change, objects: Sequence[Any], namespace: str) -> dict[Ref, tuple[int, int]]:
    """Return how many templates and pods of each workload have an old handler, and how many a new one."""
    old, new = change.handlers.keys(), set(change.handlers.values())
    runs: dict[Ref, tuple[int, int]] = {}
    names = {(ref.kind, ref.namespace or namespace, ref.name): ref for ref in change.workloads}
    by_owner = index_controllers(objects)
    for value in objects:
        ref = reference(value)
        made_by = reference((find_owners(value, by_owner) or [value])[-1])
        owner = names.get((made_by.kind, made_by.namespace, made_by.name))
        if owner is None or ref.kind not in KINDS or (ref.kind != "Job" and find_retirement(value)):
            continue
        for path in template_paths(ref.kind, value):
            name = dig(value, (*path, "spec", "runtimeClassName"))
            counts = runs.get(owner, (0, 0))
            runs[owner] = (counts[0] + (name in old), counts[1] + (name in new))
    return runs


def _check_rollout(runs: Mapping[Ref, tuple[int, int]] | None, of: set[Ref]) -> Seen:
    if runs is None or not of:
        return Seen("unknown", "the cluster does not show it" if of else "")
    present = {ref: runs[ref] for ref in of if ref in runs}
    old = sorted(str(ref) for ref, (old_count, _) in present.items() if old_count)
    if old:
        return Seen("open", f"of the present release: {listed(old)}")
    if len(present) < len(of):
        return Seen("open", f"not there: {listed(sorted(str(ref) for ref in of - present.keys()))}")
    return Seen("done", "all are of the next release")


# --- The plan of an upgrade as text and JSON
#
#     from release v1.25.0 to v1.26.0: 2 workloads with their coordinator
#
#     PLATFORM        HANDLER NOW                          HANDLER NEXT                         WORKLOADS
#     metal-qemu-snp  contrast-cc-metal-qemu-snp-18a1a065  contrast-cc-metal-qemu-snp-28a1a065  2
#
#     wave 1: render
#       render once more with v1.25.0, ...
#       kubectl:
#         contrast-krm generate resources --config config -o deployed.yaml
#       before wave 2:
#         contrast-krm check rendered.yaml -> exit code 0
#
# Rule: text that is the same for all hosts appears once. The JSON form is versioned; version 1 only ever gains fields.
# Names come from the input, so their control characters are made visible.


def upgrade_text(change: Change, planned: Sequence[Wave], seen: Mapping[str, Seen], again: str) -> str:
    """Write the changes, and each wave with its commands. again: the command that shows the progress."""
    count = len(change.workloads)
    whose = "with their coordinator" if change.coordinator else "whose coordinator is elsewhere"
    platforms = [("PLATFORM", "HANDLER NOW", "HANDLER NEXT", "REFERENCE VALUES", "WORKLOADS")]
    for platform in change.platforms:
        values = "others" if platform.measured else "the same"
        platforms.append((platform.name, platform.old, platform.new, values, str(len(platform.workloads))))
    lines = [f"from release {change.old} to {change.new}: {count} workload{'' if count == 1 else 's'} {whose}", ""]
    lines += write_table(platforms).splitlines()
    if change.images:
        lines.append(f"images of the release that are others: {len(change.images)}")
    if change.profiles[0] != change.profiles[1]:
        lines.append(f"policy profile {change.profiles[1] or 'of none'}, in place of {change.profiles[0] or 'none'}")
    lines.append(f"how far it is: {again}")
    lines.append(
        "HOST, NAME, OVERLAY, CHART and other words in capitals are yours to replace; nothing of this was run."
    )
    for number, wave in enumerate(planned, 1):
        lines += ["", f"wave {number}: {wave.name}", f"  {wave.task}"]
        state = seen.get(wave.name)
        if state is not None and (state.state != "unknown" or state.text):
            lines.append(f"  now: {state.state}{f', {state.text}' if state.text else ''}")
        lines += _command_lines(wave)
        if wave.gates:
            lines.append(f"  before wave {number + 1}:" if number < len(planned) else "  at the end:")
            for gate in wave.gates:
                lines += [f"    {gate.command}", f"      {gate.answer}"]
    return "".join(f"{on_one_line(line)}\n" for line in lines)


def upgrade_json(change: Change, planned: Sequence[Wave], seen: Mapping[str, Seen], again: str) -> str:
    """Write `{"version": 1, "from": ..., "to": ..., "platforms": [...], "workloads": [...], "waves": [...]}`."""
    told = [
        {
            "wave": number,
            "name": wave.name,
            "what": wave.task,
            "commands": {host: [*commands] for host, commands in wave.commands.items()},
            "notes": dict(wave.notes),
            "before": [{"command": gate.command, "answer": gate.answer} for gate in wave.gates],
            "state": seen[wave.name].state if wave.name in seen else "unknown",
            "seen": on_one_line(seen[wave.name].text) if wave.name in seen else "",
        }
        for number, wave in enumerate(planned, 1)
    ]
    data = {
        "version": 1,
        "from": change.old,
        "to": change.new,
        "profiles": {"from": change.profiles[0], "to": change.profiles[1]},
        "platforms": [
            {
                "name": platform.name,
                "from": platform.old,
                "to": platform.new,
                "otherReferenceValues": platform.measured,
                "workloads": [f"{ref.kind}/{ref}" for ref in platform.workloads],
            }
            for platform in change.platforms
        ],
        "images": [*change.images],
        "coordinator": f"{change.coordinator.kind}/{change.coordinator}" if change.coordinator else None,
        "howFar": again,
        "waves": told,
    }
    return json.dumps(data, indent=2) + "\n"


def _command_lines(wave: Wave) -> Iterator[str]:
    """Yield the commands of each host; hosts with the same ones share them."""
    shared: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for host, commands in wave.commands.items():
        shared.setdefault((tuple(commands), wave.notes.get(host, "")), []).append(HOSTS[host].title)
    for (commands, note), titles in shared.items():
        if not commands and not note:
            continue
        yield f"  {', '.join(titles)}:"
        if note:
            yield f"    note: {note}"
        if any(" | " in line for line in commands):
            yield "    set -o pipefail"
        yield from (f"    {line}" for line in commands)
        if not commands:
            yield "    (with the next wave)"
