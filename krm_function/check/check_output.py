"""Check rendered output in this order: read -> identity -> objects -> pods -> manifest -> render again."""

import json
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from json import loads
from typing import Any

from krm_function.adapt.secure_pv import claim_findings
from krm_function.check.drift import differing_fields
from krm_function.check.output import (
    ManifestFile,
    Manifests,
    Output,
    differing_bytes,
    differing_manifest,
    find_manifests,
    manifest_problems,
    object_findings,
    parse_output,
    paths_text,
    shared_identities,
)
from krm_function.check.pods import Pod, check_classes, check_manifest, check_pod, pods_of, stale
from krm_function.check.running_pods import RunningPods
from krm_function.config.collect import Config
from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.injected import SECRETS
from krm_function.contrast.manifest import FILE, rtmr0_values
from krm_function.contrast.measurement import vcpus_text
from krm_function.contrast.namespace_admission import refusals
from krm_function.contrast.owned import CONTAINERS
from krm_function.contrast.platforms import is_contrast_name
from krm_function.contrast.profiles import states_users
from krm_function.findings import Finding, Path, Ref, dotted, finding, has_errors
from krm_function.kubernetes.lookup import dig, mapping
from krm_function.kubernetes.objects import objects, reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.quantity import equal
from krm_function.kubernetes.resource import Resource, with_kinds, yaml_finding
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.runtime_classes import parse_runtime_class_object as parse_class
from krm_function.kubernetes.workload import (
    EMITTED,
    INITDATA,
    LOCAL_CONFIG,
    ORIGINAL,
    USER_FIELDS,
    Workload,
    workloads_of,
)
from krm_function.policy.initdata import (
    POLICY,
    annotation,
    decode_toml,
    digest,
    encode_toml,
    from_annotation,
    read_policy_data,
)
from krm_function.policy.users import image_user, stated_user
from krm_function.record import NamedTuple
from krm_function.render.copies import find_duplicates
from krm_function.render.deployment_checks import check_coordinator_service, find_late_injections
from krm_function.render.make_manifest import read_emitted_manifest
from krm_function.render.pipeline import render, unproven
from krm_function.render.read import read
from krm_function.render.rendered import Rendered
from krm_function.render.sealing import Sealer, Sealing
from krm_function.render.select import select
from krm_function.render.unsealed import (
    check_none_confidential,
    check_only_coordinator,
    describe_plain,
    find_applied_configuration,
    find_placeholders,
)
from krm_function.text.changes import ABSENT, Alike, Change, apply, differing_paths, same
from krm_function.text.errors import YamlError
from krm_function.text.parse import Document, parse
from krm_function.text.undo_records import escape, pointer, read_raw

# --- Decide whether two objects are the same although a host or an API server has rewritten one of them
#
# Rule: each excuse is one that a real host or Kubernetes' own defaulting needs, and a test has that host.
# A render keeps what it does not own, so most of what they write stands on both sides; what is left:
#
# - undo records hold bytes of the text that was edited; compared is what each does: its operation, address and value;
# - initdata are compared as what is packed, because another zlib packs to other bytes;
# - a quantity is its value (the API server writes 1024Mi as 1Gi);
# - in what a render puts in anew: defaults of the API server, and only those values (DEFAULTS).


DEFAULTS: dict[Path, tuple[Any, ...]] = {  # what the API server writes there
    ("initContainers", "[]", "terminationMessagePath"): ("/dev/termination-log",),
    ("initContainers", "[]", "terminationMessagePolicy"): ("File",),
    ("initContainers", "[]", "imagePullPolicy"): ("IfNotPresent", "Always"),
    ("ports", "[]", "protocol"): ("TCP",),
    ("startupProbe", "timeoutSeconds"): (1,),
    ("startupProbe", "successThreshold"): (1,),
    ("volumeClaimTemplate", "metadata"): ({},),
}
QUANTITIES = ("limits", "requests", "podFixed")


def _is_default(values: tuple[Any, ...]) -> Alike:
    """Make an excuse for values of the input that a render leaves out."""
    return lambda first, second: second is ABSENT and any(same(first, value) for value in values)


EXCUSES: dict[Path, Alike] = {  # first: of the input; second: of a render
    **{("**", *path): _is_default(values) for path, values in DEFAULTS.items()},
    **{("**", name, "*"): equal for name in QUANTITIES},
}


def comparable(value: Any, kinds: Kinds = SHIPPED) -> Any:
    """Decode the undo record and initdata of an object, so that their content is compared. Paths stay the same."""
    changes = []
    records: Path = ("metadata", "annotations", ORIGINAL)
    if isinstance(text := dig(value, records), str):
        changes.append(Change(records, "set", _records(text)))
    for template in kinds.paths(reference(value), value):
        initdata: Path = (*template, "metadata", "annotations", INITDATA)
        if isinstance(text := dig(value, initdata), str):
            changes.append(Change(initdata, "set", _initdata(text)))
    return apply(value, changes)


def _records(text: str) -> Any:
    """Decode what undo records do, in an order that does not depend on the order of keys in the text."""
    try:
        return sorted(json.dumps(_record(*record), sort_keys=True) for record in json.loads(text))
    except (ValueError, TypeError, YamlError):
        return text


def _record(operation: str, address: str, value: Any = None, *_: Any) -> list[Any]:
    """Return operation, address and value. `~` counts as `=` with its bytes; the number behind `-` is left out."""
    match operation:
        case "-":
            return ["-", address]
        case "~":
            return ["=", address, read_raw(value)]
        case _:
            return [operation, address, value]


def _initdata(text: str) -> Any:
    """Decode the document inside of initdata; return the text where there is none."""
    try:
        packed = from_annotation(text)
    except ValueError:
        return text
    try:
        return {**tomllib.loads(packed.decode()), "": packed.decode()}
    except (ValueError, RecursionError):
        return {"": packed.decode("utf-8", "replace")}


# --- Compare every object of rendered output with what another render makes of it
#
# Rule: nothing is left out. An object whose text that render does not change is the same; any other is
# compared as plain data, and an object without a counterpart on the other side is an error.
#
#     the input has    the render has    answer
#     an object        the same          nothing
#     an object        another value     CC1103 where the policy differs, CC1114 where anything else does
#     an object        nothing           CC1115: it drops the object
#     nothing          an object         CC1115: it adds the object; not if it is local to the package, which hosts drop


MANIFEST: Path = ("data", FILE)

ObjectAt = tuple[Path, Any]


def compare_objects(output: Output, rendered: Rendered) -> list[Finding]:
    """Compare with another render, a finding for each difference."""
    findings: list[Finding] = []
    for resource, text in zip(output.resources, rendered.texts, strict=True):
        if text == resource.text:
            continue
        try:
            given = resource.given()
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource))
            continue
        after = None if text is None else parse(text)
        findings += map(given.placed, _compared(given, after))
    for value in rendered.added:
        if dig(value, ("metadata", "annotations", LOCAL_CONFIG)) != "true":
            findings.append(finding("CC1115.adds", reference(value)))
    return findings


def written_by_a_cluster(output: Output) -> Iterator[Finding]:
    """Yield a finding for each object of a render with a status or an owner: no render writes these, all keep them.

    Those that come out of a cluster have a uid, which nothing but a cluster gives, and may have both. An empty status
    is what `kubectl create --dry-run` prints.
    """
    for resource, root, ref, value in output.objects():
        rendered = any(dig(value, ("metadata", "annotations", name)) is not None for name in (ORIGINAL, EMITTED))
        if not rendered or dig(value, ("metadata", "uid")):
            continue
        for path in (("status",), ("metadata", "ownerReferences")):
            if dig(value, path):
                yield resource.placed(finding("CC1114", ref, root + path, fields=dotted(path)))


def _compared(given: Resource, after: Document | None) -> Iterator[Finding]:
    before, now = list(objects(given.value)), list(objects(after.value)) if after else []
    pairs = zip(before, now, strict=True) if len(before) == len(now) == 1 else _paired(before, now)
    for old, new in pairs:
        if old is None and new is not None:
            yield finding("CC1115.adds", reference(new[1]))
        elif old is not None and new is None:
            yield finding("CC1115.drops", reference(old[1]), (*old[0], "metadata"))
        elif old is not None and new is not None:
            yield from _differing(old[0], old[1], new[1], given.kinds)


def _paired(before: list[ObjectAt], now: list[ObjectAt]) -> Iterator[tuple[ObjectAt | None, ObjectAt | None]]:
    """Pair the objects of two lists by identity, None where one side has none. Equal ones are paired in order."""
    left: dict[Any, list[ObjectAt]] = {}
    for standing in now:
        left.setdefault(reference(standing[1]), []).append(standing)
    for standing in before:
        found = left.get(reference(standing[1]))
        yield standing, found.pop(0) if found else None
    for rest in left.values():
        for standing in rest:
            yield None, standing


def _differing(root: Path, before: Any, now: Any, kinds: Kinds) -> Iterator[Finding]:
    """Yield the findings of one object, which stands at `root` of its document."""
    paths = differing_paths(comparable(before, kinds), comparable(now, kinds), EXCUSES)
    ref = reference(before)
    fields = list(paths)
    for workload in workloads_of(before, root, ref, kinds=kinds):
        initdata: Path = (*workload.template, "metadata", "annotations", INITDATA)
        policy = (*initdata, "data", POLICY)
        inside = [path for path in paths if path[: len(initdata)] == initdata]
        if policy in paths:
            yield from (stale(workload, field) for field in _moved(dig(before, initdata), dig(now, initdata)))
        fields = [path for path in fields if path not in inside]
        if others := {*inside} - {policy, (*initdata, "")}:
            fields += sorted(others, key=str)
        elif inside and policy not in inside:
            fields.append(initdata)  # the same files in another document
    if read_emitted_manifest(before) is not None:
        fields = [path for path in fields if path != MANIFEST]  # CC1113 names its fields
    if fields:
        yield finding("CC1114", ref, root + fields[0], fields=paths_text(fields))


def _moved(before: Any, now: Any) -> list[str]:
    """Return the fields of a pod by which the policies of two initdata annotations differ."""
    try:
        sealed, again = (read_policy_data(decode_toml(from_annotation(text)).data[POLICY]) for text in (before, now))
    except (ValueError, KeyError, TypeError, AttributeError):
        return ["its policy"]
    return differing_fields(sealed, again)


# --- Describe the images of rendered output by what stands in it, to render again without an ImageLock
#
# Rule: like the policies, which are read back too, the users count as they are. They are in the policies,
# so a change of them is found there; here they only have to explain each other: one image has one user. With the rule
# `imageVolumes` a VOLUME of an image is what each container of the image mounts; one that a mount of the input covers
# is covered again, so only those of the rule are made again.


Stated = tuple[dict[str, Any], dict[str, Any]]  # the securityContext of a pod, and what a container adds to it


def assumed_images(workloads: Iterable[Workload], *, always: bool, volumes: bool = False) -> dict[str, ImageFacts]:
    """Return facts for each image of an injected container that states a user. always: as for `stated_user`.

    volumes: also for all other images, with their VOLUMEs.
    """
    workloads = tuple(workloads)
    declared = _declared(workloads) if volumes else {}
    return {image: ImageFacts("", {"Volumes": paths}) for image, paths in declared.items()} | _of_injected(
        workloads, always=always
    )


def _declared(workloads: Iterable[Workload]) -> dict[str, dict[str, Any]]:
    """Return by image the paths that all containers of the image mount, without that of the secrets."""
    mounted: dict[str, set[str]] = {}
    for workload in workloads:
        for each in workload.all_containers:
            if not (each.is_init and each.name in CONTAINERS):
                paths = {str(mount.get("mountPath")) for mount in each.mounts if mount.get("name") != SECRETS}
                image = str(each.container.get("image"))
                mounted[image] = mounted.get(image, paths) & paths
    return {image: {path: {} for path in sorted(paths)} for image, paths in mounted.items()}


def _of_injected(workloads: Iterable[Workload], *, always: bool) -> dict[str, ImageFacts]:
    found: dict[str, list[Stated]] = {}
    for workload in workloads:
        pod = mapping(workload.pod_spec.get("securityContext"))
        for container in workload.init_containers:
            if container["name"] in CONTAINERS:
                own = mapping(container.get("securityContext"))
                stated = {key: own[key] for key in USER_FIELDS if key in own}
                found.setdefault(container["image"], []).append((pod, stated))
    images: dict[str, ImageFacts] = {}
    for name, uses in found.items():
        users = [stated for _, stated in uses if isinstance(stated.get("runAsUser"), int)]
        if users:
            uid, gid = users[0]["runAsUser"], users[0].get("runAsGroup", 0)
            candidates = list(_candidates(uid, gid))
            images[name] = next((one for one in candidates if _explains(one, uses, always=always)), candidates[0])
    return images


def _candidates(uid: int, gid: int) -> Iterator[ImageFacts]:
    """Yield images with this user: as a number or as a name, with a group or without."""
    for user, passwd in (
        (str(uid), f"user:x:{uid}:{gid}:::\n"),
        (f"{uid}:{gid}", ""),
        ("user", f"user:x:{uid}:{gid}:::\n"),
        (f"user:{gid}", f"user:x:{uid}:0:::\n"),
    ):
        yield ImageFacts("", {"User": user}, passwd, "")


def _explains(image: ImageFacts, uses: Iterable[Stated], *, always: bool) -> bool:
    own = image_user(image)
    return own is not None and all(stated_user(own, image, pod, always=always) == stated for pod, stated in uses)


# --- Render rendered output again under its configuration: the result must be the same
#
# Rule: a render of rendered output changes nothing, so a difference is a later change. What cannot be
# compared is reported, never skipped.


OTHER_TAG = "CC0510"  # of what a render warns of, the one that output and manifest cannot show


def compare_renders(
    resources: Sequence[Resource], output: Output, pods: Sequence[Pod], manifests: Manifests, config: Config
) -> list[Finding]:
    """Render again under this configuration, and return a finding for each difference, also where no policy differs."""
    findings = [found for pod in pods for found in _rtmr0(pod, config, manifests.decoded)]
    locked = config.images is not None or config.generate.policy.engine != "native"
    if config.images is None:
        always = states_users(config.generate.policy.profile)
        volumes = config.generate.volumes.image_volumes
        assumed = assumed_images([pod.workload for pod in pods], always=always, volumes=volumes)
        config = config._replace(images=assumed)
    sealer = None if locked else _existing_policy(pods, config)
    rendered = render(resources, config, sealer=sealer, live=True)
    if rendered.failed:
        return findings + [found for found in rendered.findings if found.severity == "error"]
    findings += [found for found in rendered.findings if found.code == OTHER_TAG]
    changed = compare_objects(output, rendered)
    findings += [*changed, *written_by_a_cluster(output)]
    findings += _ignored(output, pods, rendered, config)
    if config.generate.policy.engine == "native":
        findings += [found for pod in pods for found in _policy_kept_by_undo(pod)]
    digests = {workload.digest for workload in rendered.plan if not workload.skipped}
    sealed_otherwise = bool(changed) and digests != {pod.checked.digest for pod in pods}
    findings += differing_manifest(manifests, rendered.manifest, sealed_otherwise=sealed_otherwise)
    if not locked and pods:
        findings.append(finding("CC1117.no-lock"))
    return findings


def _existing_policy(pods: Sequence[Pod], config: Config) -> Sealer:
    """Make a sealer that keeps the policy that a pod has, and adds the files of the configuration to it."""
    annotations = {(pod.workload.ref, pod.workload.template): pod.workload.annotations.get(INITDATA) for pod in pods}

    def seal(workload: Workload) -> Sealing:
        value = str(annotations.get((workload.ref, workload.template)))
        try:
            toml = from_annotation(value)
            before = decode_toml(toml)
            files = {**config.generate.policy.initdata, POLICY: before.data[POLICY]}
        except (ValueError, KeyError):
            return Sealing()
        if files != before.data:
            toml = encode_toml(before._replace(data=files))
            value = annotation(toml)
        edits = workload.annotate([(INITDATA, value, "the policy that stands there")], "CC0606")
        return Sealing(edits, (), digest(toml))

    return seal


def _ignored(output: Output, pods: Sequence[Pod], rendered: Rendered, config: Config) -> list[Finding]:
    """Return findings for pods and RuntimeClasses of Contrast that the render ignored, and for needless additions."""
    sealed = {(workload.place, workload.template) for workload in rendered.plan if not workload.skipped}
    findings = [
        pod.workload.placed(finding("CC1115.not-sealed", pod.workload.ref, pod.workload.spec_path))
        for pod in pods
        if (pod.workload.place, pod.workload.template) not in sealed
    ]
    handlers = {facts.handler for facts in config.release.platforms.values()}
    for resource, root, ref, value in output.objects():
        emitted = dig(value, ("metadata", "annotations", EMITTED)) is not None
        is_contrast = ref.kind == "RuntimeClass" and any(
            map(is_contrast_name, (ref.name, str(dig(value, ("handler",)))))
        )
        if (emitted and not sealed) or (is_contrast and not emitted and ref.name not in handlers):
            code = "CC1115.drops" if emitted else "CC1115.not-known"
            findings.append(resource.placed(finding(code, ref, (*root, "metadata"))))
    return findings


def _policy_kept_by_undo(pod: Pod) -> list[Finding]:
    """Return an error if the undo record of a pod does not remove its policy: then no render has sealed this pod."""
    path = (*pod.workload.root, "metadata", "annotations", ORIGINAL)
    addresses = _addresses(pod.workload)
    text = pod.workload.at(path)
    records = loads(text) if isinstance(text, str) else []  # `object_findings` has read them before
    if any(at == record[1] or at.startswith(f"{record[1]}/") for record in records for at in addresses):
        return []
    return [
        pod.workload.placed(
            finding("CC1114", pod.workload.ref, path, fields=f"{ORIGINAL} does not take the policy back")
        )
    ]


def _addresses(workload: Workload) -> list[str]:
    """Return the addresses by which a record may name the initdata of a pod: entries of lists by number, or by name."""
    place: Path = (*workload.template, "metadata", "annotations", INITDATA)
    made = [""]
    for index, part in enumerate(place):
        name = dig(workload.object, (*place[: index + 1], "name")) if isinstance(part, int) else None
        named = [f"/@{escape(name)}"] if isinstance(name, str) else []
        made = [f"{start}{end}" for start in made for end in (pointer((part,)), *named)]
    return made


def _rtmr0(pod: Pod, config: Config, manifest: Mapping[str, Any] | None) -> list[Finding]:
    """Tell whether the manifest accepts a TDX VM of this size; only the release knows its RTMR0."""
    platform = pod.checked.platform
    if manifest is None or platform is None or not platform.rtmr0_by_vcpus:
        return []
    facts = config.release.platforms.get(platform.name)
    wanted = facts.rtmr0_by_vcpu.get(str(pod.vcpus)) if facts else None
    if wanted is None or wanted in rtmr0_values(mapping(manifest.get("ReferenceValues"))):
        return []
    found = finding(
        "CC1112", pod.workload.ref, pod.workload.spec_path, vcpus=vcpus_text(pod.vcpus), platform=platform.name
    )
    return [pod.workload.placed(found)]


def not_rendered_again(pods: Sequence[Pod], output: Output) -> list[Finding]:
    """Check what needs no configuration: records that no render writes; and say what was not compared, CC1117.

    Of what controllers made and runs no pod any more, the record is left alone: it may be a copy of the record of an
    object that somebody had changed since.
    """
    restored = read(map(_as_rendered, output.resources), ())
    findings = [*restored.findings, *unproven(restored.resources, None, rendered=False, seals=False, taken_back=True)]
    if pods or any(item.ref.kind == "RuntimeClass" for item in output.objects()):
        findings.append(finding("CC1117.no-configuration"))
    return findings


def _as_rendered(resource: Resource) -> Resource:
    """Return a resource to read as a render would; only its copies that run no pod any more keep their records."""
    retired = {root: copy for root, copy in resource.copies.items() if copy.retired}
    return resource._replace(state="unread", document=None, copies=retired)


# --- Check rendered output in this order: read -> identity -> objects -> pods -> manifest -> render again
#
# Rule: it only calls stages and the other files of this package, in order. It checks what `contrast set`
# and `contrast verify` will check. Without configuration it reads the policies back; with one it renders again and
# compares.


NOT_COMPARED = "CC1117"  # the info that says what was not looked at


class Verdict(NamedTuple):
    """The findings, how many Contrast workloads were checked, and the pods that are none.

    beside: how many policies of the manifest belong to workloads that are known not to be in this output.
    """

    findings: tuple[Finding, ...] = ()
    workloads: int = 0
    plain: tuple[Ref, ...] = ()
    beside: int = 0

    @property
    def summary(self) -> str:
        """The summary as lines of text: how many workloads, what was not compared, and what is not confidential."""
        left_out = [f"{found.message}\n" for found in self.findings if found.code == NOT_COMPARED]
        checked = f"checked {self.workloads} Contrast workload{'' if self.workloads == 1 else 's'}\n"
        return checked + "".join(left_out) + describe_plain(self.plain)


def beside_summary(findings: Sequence[Finding], form: str) -> list[Finding]:
    """Return the findings to print beside the summary, which as text already lists what was not compared."""
    return [found for found in findings if form != "text" or found.code != NOT_COMPARED]


def check_output(
    resources: Sequence[Resource],
    file: ManifestFile | None = None,
    config: Config | None = None,
    *,
    as_function: bool = False,
    elsewhere: Collection[str] = (),
) -> Verdict:
    """Check rendered output. file: its manifest, if in a file; config: to render again with; None skips that.

    as_function: the caller is a KRM function, so no hint names an option of the command line. elsewhere: digests of
    policies of workloads that are known not to be in this output.
    """
    resources = with_kinds(resources, config.generate.kinds if config else SHIPPED)
    output = parse_output(resources)
    findings = list(output.findings)
    values = [item.value for item in output.objects()]
    manifests, wrong = find_manifests(file, values)
    findings += wrong
    if has_errors(findings):
        return Verdict(tuple(findings), sum(len(select(one.value, one).workloads) for one in output.parsed))
    every: list[Pod] = []
    plain: list[Ref] = []
    references = References(values)
    for resource in output.parsed:
        found = pods_of(resource, references)
        every += found.pods
        plain += found.plain
        findings += found.findings
    pods = [pod for pod in every if pod.made_of is None]
    classes = _classes(values)
    coordinators = [pod.workload.ref for pod in pods if pod.workload.is_coordinator]
    for ref in coordinators[:1]:  # of several, or of one that the configuration has chosen, the render speaks
        findings += check_coordinator_service(output.resources, ref, ref.namespace or "default")
    findings += find_applied_configuration(output.resources)
    findings += find_placeholders(output.resources)
    findings += find_late_injections(output.resources, [pod.workload for pod in pods])
    findings += check_only_coordinator([pod.workload for pod in pods], plain)
    findings += check_none_confidential(plain, config.generate) if config and not every else ()
    if pods or any(is_contrast_name(name) for name in classes):
        findings += find_duplicates(output.resources)
    findings += object_findings(output)
    for pod in every:
        if of := pod.made_of:
            code = "CC1119.earlier" if pod.is_earlier else "CC1119.copy"
            findings.append(finding(code, pod.workload.ref, kind=of.kind, name=of.name))
    findings += _about(every, classes, manifests.decoded) + _rollouts(values)
    findings += claim_findings(output.resources, [pod.workload for pod in pods])
    named = [name for name in classes if is_contrast_name(name)]
    findings += check_classes([pod.workload for pod in pods], named, emitted=_emits_classes(values))
    findings += _without_manifest(config, as_function=as_function) if pods and manifests.decoded is None else []
    findings += manifest_problems(manifests) + _digests(manifests.decoded, pods, config, elsewhere)
    if config is None:
        sealed = [pod.workload._replace(digest=pod.checked.digest) for pod in pods]
        findings += shared_identities(sealed, manifests.decoded)
    findings += refusals(output.resources, [pod.workload for pod in pods])
    if not has_errors(findings):
        findings += differing_bytes(manifests)
    if not has_errors(findings):
        if config is None:
            findings += not_rendered_again(pods, output)
        else:
            findings += compare_renders(resources, output, pods, manifests, config)
    policies = {*mapping((manifests.decoded or {}).get("Policies"))} - {pod.checked.digest for pod in pods}
    beside = len(policies & set(elsewhere))
    return Verdict(tuple(dict.fromkeys(findings)), len(pods), tuple(plain), beside)


def _without_manifest(config: Config | None, *, as_function: bool) -> list[Finding]:
    """Return what is said of output without a manifest: CC1106, unless its configuration wants none."""
    if config is not None and config.generate.manifest.emit == "none":
        return [finding("CC1117.no-manifest")]
    return [finding("CC1106.function" if as_function else "CC1106")]


def _about(
    every: Sequence[Pod], classes: Mapping[str, RuntimeClass], manifest: Mapping[str, Any] | None
) -> list[Finding]:
    """Return what is to say of each pod; of what a controller made, once what its workload or another copy says too."""
    findings: list[Finding] = []
    told: dict[Ref, set[tuple[str, str]]] = {}
    for pod in sorted(every, key=lambda one: one.made_of is not None):
        said = told.setdefault(pod.made_of or pod.workload.ref, set())
        about = (*pod.checked.findings, *check_pod(pod, classes.get(pod.workload.runtime_class), manifest))
        new = [one for one in about if not pod.made_of or (one.code, one.message) not in said]
        said |= {(one.code, one.message) for one in new}
        findings += map(pod.workload.placed, new)
    return findings


def _rollouts(values: Sequence[Any]) -> list[Finding]:
    """Return a line for each rollout that is not finished, as far as the pods of a cluster are among the objects."""
    pods = [value for value in values if reference(value).kind == "Pod"]
    running = RunningPods([value for value in values if reference(value).kind != "Pod"], None)
    for pod in pods:
        running.add(pod)
    return list(running.rollouts())


def _classes(values: Sequence[Any]) -> Mapping[str, RuntimeClass]:
    """Return the RuntimeClass objects by name."""
    found = ((reference(value), value) for value in values)
    return {ref.name: parse_class(value).runtime_class for ref, value in found if ref.kind == "RuntimeClass"}


def _emits_classes(values: Sequence[Any]) -> bool:
    """Tell whether a render added a RuntimeClass."""
    return any(
        reference(value).kind == "RuntimeClass" and dig(value, ("metadata", "annotations", EMITTED)) is not None
        for value in values
    )


def _digests(
    manifest: Mapping[str, Any] | None, pods: Sequence[Pod], config: Config | None, elsewhere: Collection[str]
) -> list[Finding]:
    """Return what `contrast set` would refuse in the manifest beside the workloads, in its base, and `elsewhere`."""
    if manifest is None:
        return []
    base = mapping(mapping(config.generate.manifest.base if config else None).get("Policies"))
    sealed = [pod.workload._replace(digest=pod.checked.digest) for pod in pods]
    return list(check_manifest(sealed, manifest, (*base, *elsewhere)))
