"""The waves of an upgrade: what each does, its commands for each host, and what has to be said before the next one.

    wave           what is new after it                           why not earlier
    render         files; the earlier policies stay in the        -
                   manifest beside the new ones
    runtime        the handlers on the nodes, beside the old ones  the release's file is one of wave `render`'s
    classes        the RuntimeClasses                              a class without its handler takes pods that fail
    manifest       what the coordinator accepts: both              -
    coordinator    its pod                                         the manifest has to know it
    workloads      all other pods                                  their coordinator has to be ready
    prune          the manifest: no earlier policies               no pod of them may be left

Rule of this file: texts with the places of a call filled in; nothing is run. Source of what `contrast set` counts:
docs/facts/contrast-manifest.md#set-and-verify.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from krm_function.model.platforms import PLATFORMS
from krm_function.record import NamedTuple
from krm_function.upgrade.change import Change
from krm_function.upgrade.hosts import HOSTS, Host, HostName

COORDINATOR = "HOST:1313"  # words in capitals are the reader's to replace
SET = f"contrast set --coordinator {COORDINATOR} --manifest manifest.json"


NO_NOTES: Mapping[HostName, str] = MappingProxyType({})


class Gate(NamedTuple):
    """What is asked before the next wave, and what it has to answer."""

    command: str
    answer: str


class Wave(NamedTuple):
    """One wave. commands: for each host; those of `every` are the same for all. notes: by host."""

    name: str
    what: str
    commands: Mapping[HostName, Sequence[str]]
    gates: tuple[Gate, ...]
    notes: Mapping[HostName, str] = NO_NOTES


class Places(NamedTuple):
    """The words of the call for the commands. Words in capitals are the reader's to replace.

    paths: the input. config: the options --config. configured: the paths of these. generate, release, lock: files of
    the configuration. next_release: the file of --to. before: that of --from. coordinator_file: where the coordinator
    stands. label: of the coordinator's own object, "" if others have it too. emits: the output has RuntimeClasses.
    """

    paths: str
    config: str
    configured: tuple[str, ...]
    generate: str
    release: str
    lock: str
    next_release: str
    namespace: str
    before: str = "earlier-release.yaml"
    coordinator_file: str = "resources/coordinator.yml"
    directory: str = "OVERLAY"
    chart: str = "CHART"
    application: str = "NAME"
    label: str = ""
    emits: bool = False


def waves(change: Change, places: Places, hosts: Sequence[HostName]) -> tuple[Wave, ...]:
    """Return the waves in their order."""
    return tuple(_waves(change, places, {name: HOSTS[name] for name in hosts}))


def _waves(change: Change, places: Places, hosts: Mapping[HostName, Host]) -> Iterator[Wave]:
    def of_each(*parts: Sequence[str] | str) -> dict[HostName, Sequence[str]]:
        """Fill in each part for each host: a command for all of them, or the name of a field of `Host`."""
        return {name: [*_commands(host, parts, change, places)] for name, host in hosts.items()}

    check = f"contrast-krm check rendered.yaml --cluster {places.config}"
    yield Wave(
        "render",
        f"render once more with {change.before}, then with {change.after}; the manifest keeps the earlier policies and "
        "reference values beside the new ones; nothing is applied",
        of_each(
            ("render", "deployed.yaml"),
            (
                f"contrast-krm manifest keep deployed.yaml --in {places.generate}",
                *(
                    (f"cp {places.release} {places.before}", f"cp {places.next_release} {places.release}")
                    if places.next_release != places.release
                    else ()
                ),
                *([f"cp coordinator.yml {places.coordinator_file}"] if change.coordinator else ()),
            ),
            "lock",
            ("render", "rendered.yaml"),
        ),
        (
            Gate(
                "contrast-krm check deployed.yaml --cluster", "exit code 0: what runs is what the present release made"
            ),
            Gate("contrast-krm check rendered.yaml", "exit code 0, and CC0731, the earlier policies that stay"),
            Gate("contrast-krm diff --policy deployed.yaml rendered.yaml", "0 weaker"),
        ),
    )
    runtimes = [f"runtime-{one.name.removesuffix('-gpu')}.yml" for one in change.platforms if one.before != one.after]
    files = [name for name in dict.fromkeys(runtimes) if name[8:-4] in PLATFORMS]
    installed = [
        command
        for name in files
        for command in (
            f"contrast-krm release runtime-classes {places.config} {name} > new-{name}",
            f"kubectl apply -f new-{name}",
        )
    ]
    plan = f"contrast-krm plan rendered.yaml {places.config} --cluster"
    yield Wave(
        "runtime",
        f"install the runtime of {change.after} on the nodes, beside the one that is there"
        if files
        else "nothing: the handlers are the same",
        of_each(tuple(installed)),
        (Gate(plan, "no CC0313: enough nodes have the handler"),) if files else (),
    )
    yield Wave(
        "classes",
        _classes(places, files),
        of_each(
            (
                f"contrast-krm release runtime-classes {places.config} > runtime-classes.yaml",
                "kubectl apply -f runtime-classes.yaml",
            )
            if places.emits and files
            else ()
        ),
        (
            Gate(plan, "no CC0319 and no CC1120: the cluster has each class, as this render has it"),
            Gate("contrast-krm check deployed.yaml --cluster", "exit code 0: what runs is untouched"),
        ),
    )
    verify = Gate(
        f"contrast verify --coordinator {COORDINATOR} --manifest manifest.json", "the manifest is the active one"
    )
    yield Wave(
        "manifest",
        "set the manifest of both releases. contrast set wants each of its policies once among the workloads that it "
        "is given, so it gets those of both renders",
        of_each(
            (
                "contrast-krm manifest rendered.yaml > manifest.json",
                "contrast-krm manifest workloads deployed.yaml rendered.yaml > workloads.yaml",
                f"{SET} workloads.yaml",
            )
        ),
        (verify, Gate("contrast-krm check deployed.yaml --cluster", "exit code 0: what runs is untouched")),
    )
    yield _coordinator(change, places, hosts, check)
    yield Wave(
        "workloads",
        "roll out the workloads; pods of both releases are attested, and may restart at any moment",
        {
            name: [
                *_commands(host, ("apply",) if _alone(host, change, places) else ("publish", "apply"), change, places)
            ]
            for name, host in hosts.items()
        },
        (Gate(check, "exit code 0 without CC1133, a rollout that is not finished"),),
    )
    yield Wave(
        "prune",
        "take the earlier policies and reference values out of the manifest; as long as they are in it, an old pod is "
        "attested as before",
        of_each(
            (
                f"contrast-krm manifest prune rendered.yaml {places.config} --cluster > manifest.json",
                f"{SET} rendered.yaml",
                f"contrast-krm manifest keep --end --in {places.generate}",
            ),
            ("render", "rendered.yaml"),
            "publish",
            "apply",
        ),
        (verify, Gate(check, f"exit code 0, no CC0731. {_left(change)}")),
    )


def _alone(host: Host, change: Change, places: Places) -> bool:
    """Tell whether a host can apply the coordinator before the workloads."""
    return change.coordinator is not None and bool(host.alone) and (bool(places.label) or not host.by_label)


def _coordinator(change: Change, places: Places, hosts: Mapping[HostName, Host], check: str) -> Wave:
    if change.coordinator is None:
        what = "that of the deployment that has it: upgrade it there first"
        return Wave("coordinator", what, dict.fromkeys(hosts, ()), ())
    ready = f"kubectl rollout status statefulset/{change.coordinator.name} --namespace {places.namespace}"
    commands: dict[HostName, Sequence[str]] = {}
    notes: dict[HostName, str] = {}
    for name, host in hosts.items():
        alone = _alone(host, change, places)
        commands[name] = [*_commands(host, ("publish", "alone", (ready,)), change, places)] if alone else ()
        if host.note:
            notes[name] = _filled(host.note, change, places)
        elif not alone:
            notes[name] = "its objects have no label of their own; kubectl applies it with the workloads"
    return Wave(
        "coordinator",
        "apply the coordinator; contrast recover if it asks for it. Until it is ready no pod that starts is attested",
        commands,
        (
            Gate(
                check, f"no finding names StatefulSet {change.coordinator}; CC1120 of the others is what wave 6 is for"
            ),
        ),
        notes,
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


def _left(change: Change) -> str:
    old = ", ".join(change.handlers)
    return (
        f"When no pod of the cluster names {old} any more, its class and its node installer can go"
        if old
        else "Nothing else is left of the earlier release"
    )


def _commands(host: Host, parts: Sequence[Sequence[str] | str], change: Change, places: Places) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            field = getattr(host, part)
            for text in (field,) if isinstance(field, str) else field:
                yield _filled(text, change, places)
        elif part and part[0] == "render":
            for text in host.render:
                yield _filled(text, change, places, out=part[1])
        else:
            yield from part


def _filled(text: str, change: Change, places: Places, out: str = "") -> str:
    """Fill the places of a text in."""
    coordinator = change.coordinator
    return text.format(
        paths=places.paths,
        config=places.config,
        directory=places.directory,
        chart=places.chart,
        release=places.application,
        namespace=places.namespace,
        lock=places.lock,
        label=places.label,
        version=change.after,
        out=out,
        arguments=" ".join(f"--post-renderer-args --config --post-renderer-args {path}" for path in places.configured),
        coordinator=f"{coordinator.namespace or places.namespace}/{coordinator.name}" if coordinator else "",
    )
