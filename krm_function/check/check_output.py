"""Check rendered output in this order: read -> identity -> objects -> pods -> manifest -> render again."""

import json
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from json import loads
from typing import Any

from krm_function.adapt.secure_pv import claim_findings
from krm_function.check.drift import compare_policies
from krm_function.check.output import (
    ManifestFile,
    Manifests,
    Output,
    check_manifest_values,
    check_objects,
    compare_bytes,
    compare_manifest,
    find_manifests,
    find_shared_identities,
    format_paths,
    parse_output,
)
from krm_function.check.pods import Pod, check_classes, check_manifest, check_pod, gather_pods, report_change
from krm_function.check.running_pods import RunningPods
from krm_function.config.collect import Config, reported
from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.injected import SECRETS
from krm_function.contrast.manifest import FILE, rtmr0_values
from krm_function.contrast.measurement import vcpus_text
from krm_function.contrast.namespace_admission import refusals
from krm_function.contrast.owned import CONTAINERS, is_injected
from krm_function.contrast.platforms import is_contrast_name
from krm_function.contrast.profiles import states_users
from krm_function.findings import Finding, Path, Ref, dotted, finding, has_errors
from krm_function.kubernetes.objects import dig, mapping, reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.quantity import equal
from krm_function.kubernetes.resource import ObjectAt, Resource, with_kinds, yaml_finding
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
from krm_function.policy.open_guest import OPEN_GUEST
from krm_function.policy.users import image_user, stated_user
from krm_function.record import NamedTuple
from krm_function.render.copies import find_duplicates
from krm_function.render.deployment_checks import check_coordinator_service, find_late_injections
from krm_function.render.make_manifest import read_emitted_manifest
from krm_function.render.pipeline import find_unproven, render
from krm_function.render.policies import Sealer, Sealing
from krm_function.render.read import read
from krm_function.render.rendered import Rendered
from krm_function.render.select import select
from krm_function.render.unsealed import (
    check_none_confidential,
    check_only_coordinator,
    describe_plain,
    find_applied_configuration,
    find_foreign_pods,
    find_placeholders,
)
from krm_function.text.changes import ABSENT, Alike, Change, apply, differing_paths, same
from krm_function.text.errors import YamlError
from krm_function.text.parse import Document, parse
from krm_function.text.undo_records import escape, pointer, read_raw

# --- Decide whether two objects are the same although a host or an API server has rewritten one of them
#
# Rule: each excuse is one that a real host or Kubernetes' own defaulting needs, and a test has that host. A render
# keeps fields that it does not own, so most fields that they write are on both sides. The rest:
#
# - undo records hold bytes of the edited text; the comparison is of their operation, address and value;
# - the comparison of initdata is of the packed content, because another zlib packs to other bytes;
# - a quantity is its value (the API server writes 1024Mi as 1Gi);
# - in parts that a render inserts: defaults of the API server, and only those values (DEFAULTS).


DEFAULTS: dict[Path, tuple[Any, ...]] = {  # values that the API server writes
    ("initContainers", "[]", "terminationMessagePath"): ("/dev/termination-log",),
    ("initContainers", "[]", "terminationMessagePolicy"): ("File",),
    ("initContainers", "[]", "imagePullPolicy"): ("IfNotPresent", "Always"),
    ("ports", "[]", "protocol"): ("TCP",),
    ("startupProbe", "timeoutSeconds"): (1,),
    ("startupProbe", "successThreshold"): (1,),
    ("volumeClaimTemplate", "metadata"): ({},),
}
QUANTITIES = ("limits", "requests", "podFixed")


def _excuse_default(values: tuple[Any, ...]) -> Alike:
    """Make an excuse for values of the input that a render leaves out."""
    return lambda first, second: second is ABSENT and any(same(first, value) for value in values)


EXCUSES: dict[Path, Alike] = {  # first: of the input; second: of a render
    **{("**", *path): _excuse_default(values) for path, values in DEFAULTS.items()},
    **{("**", name, "*"): equal for name in QUANTITIES},
}


def decode_object(value: Any, kinds: Kinds = SHIPPED) -> Any:
    """Decode the undo record and initdata of an object, so that their content is compared. Paths stay the same."""
    changes = []
    records: Path = ("metadata", "annotations", ORIGINAL)
    if isinstance(text := dig(value, records), str):
        changes.append(Change(records, "set", _decode_records(text)))
    for template in kinds.paths(reference(value), value):
        initdata: Path = (*template, "metadata", "annotations", INITDATA)
        if isinstance(text := dig(value, initdata), str):
            changes.append(Change(initdata, "set", _decode_initdata(text)))
    return apply(value, changes)


def _decode_records(text: str) -> Any:
    """Decode undo records, in an order that does not depend on the order of keys in the text."""
    try:
        return sorted(json.dumps(_decode_record(*record), sort_keys=True) for record in json.loads(text))
    except (ValueError, TypeError, YamlError):
        return text


def _decode_record(operation: str, address: str, value: Any = None, *_: Any) -> list[Any]:
    """Return operation, address and value. `~` counts as `=` with its bytes; the number after `-` is left out."""
    match operation:
        case "-":
            return ["-", address]
        case "~":
            return ["=", address, read_raw(value)]
        case _:
            return [operation, address, value]


def _decode_initdata(text: str) -> Any:
    """Decode the document inside of initdata; return the text if there is none."""
    try:
        packed = from_annotation(text)
    except ValueError:
        return text
    try:
        return {**tomllib.loads(packed.decode()), "": packed.decode()}
    except (ValueError, RecursionError):
        return {"": packed.decode("utf-8", "replace")}


# --- Compare every object of rendered output with that of another render
#
# Rule: nothing is left out. An object whose text that render does not change is the same; any other is compared as
# plain data, and an object without a counterpart on the other side is an error.
#
#     the input has    the render has    answer
#     an object        the same          nothing
#     an object        another value     CC1103 where the policy differs, CC1114 where anything else does
#     an object        nothing           CC1115: it drops the object
#     nothing          an object         CC1115: it adds the object; not if it is local to the package, which hosts drop


MANIFEST: Path = ("data", FILE)


def compare_objects(output: Output, rendered: Rendered) -> list[Finding]:
    """Return a finding for each difference from another render."""
    findings: list[Finding] = []
    for resource, text in zip(output.resources, rendered.texts, strict=True):
        if text == resource.text:
            continue
        try:
            source = resource.given()
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource))
            continue
        new = None if text is None else parse(text)
        findings += map(source.placed, _compare(source, new))
    for value in rendered.added:
        if dig(value, ("metadata", "annotations", LOCAL_CONFIG)) != "true":
            findings.append(finding("CC1115.adds", reference(value)))
    return findings


def find_cluster_fields(output: Output) -> Iterator[Finding]:
    """Yield a finding for each object of a render with a status or an owner: no render writes these, all keep them.

    An object from a cluster has a uid, which only a cluster assigns, and may have both. `kubectl create --dry-run`
    prints an empty status.
    """
    for resource, root, ref, value in output.objects():
        rendered = any(dig(value, ("metadata", "annotations", name)) is not None for name in (ORIGINAL, EMITTED))
        if not rendered or dig(value, ("metadata", "uid")):
            continue
        for path in (("status",), ("metadata", "ownerReferences")):
            if dig(value, path):
                yield resource.placed(finding("CC1114", ref, root + path, fields=dotted(path)))


def _compare(source: Resource, document: Document | None) -> Iterator[Finding]:
    olds, news = source.objects, source._replace(document=document).objects if document else ()
    pairs = zip(olds, news, strict=True) if len(olds) == len(news) == 1 else _pair(olds, news)
    for old, new in pairs:
        if old is None and new is not None:
            yield finding("CC1115.adds", new.ref)
        elif old is not None and new is None:
            yield finding("CC1115.drops", old.ref, (*old.root, "metadata"))
        elif old is not None and new is not None:
            yield from _compare_object(old.root, old.value, new.value, source.kinds)


def _pair(olds: Iterable[ObjectAt], news: Iterable[ObjectAt]) -> Iterator[tuple[ObjectAt | None, ObjectAt | None]]:
    """Pair the objects of two documents by identity, None for a missing one. Equal ones are paired in order."""
    unpaired: dict[Ref, list[ObjectAt]] = {}
    for item in news:
        unpaired.setdefault(item.ref, []).append(item)
    for item in olds:
        candidates = unpaired.get(item.ref)
        yield item, candidates.pop(0) if candidates else None
    for rest in unpaired.values():
        for item in rest:
            yield None, item


def _compare_object(root: Path, old: Any, new: Any, kinds: Kinds) -> Iterator[Finding]:
    paths = differing_paths(decode_object(old, kinds), decode_object(new, kinds), EXCUSES)
    ref = reference(old)
    fields = list(paths)
    for workload in workloads_of(old, root, ref, kinds=kinds):
        initdata: Path = (*workload.template, "metadata", "annotations", INITDATA)
        policy = (*initdata, "data", POLICY)
        inside = [path for path in paths if path[: len(initdata)] == initdata]
        if policy in paths:
            for field in _find_changed_fields(dig(old, initdata), dig(new, initdata)):
                yield report_change(workload, field)
        fields = [path for path in fields if path not in inside]
        if rest := {*inside} - {policy, (*initdata, "")}:
            fields += sorted(rest, key=str)
        elif inside and policy not in inside:
            fields.append(initdata)  # the same files in another document
    if read_emitted_manifest(old) is not None:
        fields = [path for path in fields if path != MANIFEST]  # CC1113 names its fields
    if fields:
        yield finding("CC1114", ref, root + fields[0], fields=format_paths(fields))


def _find_changed_fields(old: Any, new: Any) -> list[str]:
    """Return the fields of a pod in which the policies of two initdata annotations differ."""
    try:
        sealed, again = (read_policy_data(decode_toml(from_annotation(text)).data[POLICY]) for text in (old, new))
    except (ValueError, KeyError, TypeError, AttributeError):
        return ["its policy"]
    return compare_policies(sealed, again)


# --- Describe the images of rendered output by its content, to render again without an ImageLock
#
# Rule: like the policies, which are read back too, the users count as they are. They are in the policies, so a change
# of them is found there; here they only have to explain each other: one image has one user. With the rule
# `imageVolumes`, a mount that all containers of an image have is a VOLUME of the image; one that a mount of the input
# covers is covered again, so the second render repeats only those of the rule.


Stated = tuple[dict[str, Any], dict[str, Any]]  # the securityContext of a pod, and a container's additions


def assume_images(workloads: Iterable[Workload], *, always: bool, volumes: bool = False) -> dict[str, ImageFacts]:
    """Return facts for each image of an injected container that states a user. always: as for `stated_user`.

    volumes: also for all other images, with their VOLUMEs.
    """
    workloads = tuple(workloads)
    declared = _find_volumes(workloads) if volumes else {}
    facts = {image: ImageFacts("", {"Volumes": paths}) for image, paths in declared.items()}
    return facts | _find_users(workloads, always=always)


def _find_volumes(workloads: Iterable[Workload]) -> dict[str, dict[str, Any]]:
    """Return by image the paths that all containers of the image mount, except the secrets'."""
    mounted: dict[str, set[str]] = {}
    for workload in workloads:
        for container in workload.all_containers:
            if not is_injected(container):
                paths = {str(mount.get("mountPath")) for mount in container.mounts if mount.get("name") != SECRETS}
                image = str(container.container.get("image"))
                mounted[image] = mounted.get(image, paths) & paths
    return {image: {path: {} for path in sorted(paths)} for image, paths in mounted.items()}


def _find_users(workloads: Iterable[Workload], *, always: bool) -> dict[str, ImageFacts]:
    uses_by_image: dict[str, list[Stated]] = {}
    for workload in workloads:
        pod = mapping(workload.pod_spec.get("securityContext"))
        for container in workload.init_containers:
            if container["name"] in CONTAINERS:
                context = mapping(container.get("securityContext"))
                stated = {key: context[key] for key in USER_FIELDS if key in context}
                uses_by_image.setdefault(container["image"], []).append((pod, stated))
    images: dict[str, ImageFacts] = {}
    for name, uses in uses_by_image.items():
        users = [stated for _, stated in uses if isinstance(stated.get("runAsUser"), int)]
        if users:
            uid, gid = users[0]["runAsUser"], users[0].get("runAsGroup", 0)
            candidates = list(_list_candidates(uid, gid))
            images[name] = next((facts for facts in candidates if _explains(facts, uses, always=always)), candidates[0])
    return images


def _list_candidates(uid: int, gid: int) -> Iterator[ImageFacts]:
    """Yield images with this user: as a number or as a name, with a group or without."""
    for user, passwd in (
        (str(uid), f"user:x:{uid}:{gid}:::\n"),
        (f"{uid}:{gid}", ""),
        ("user", f"user:x:{uid}:{gid}:::\n"),
        (f"user:{gid}", f"user:x:{uid}:0:::\n"),
    ):
        yield ImageFacts("", {"User": user}, passwd, "")


def _explains(image: ImageFacts, uses: Iterable[Stated], *, always: bool) -> bool:
    user = image_user(image)
    return user is not None and all(stated_user(user, image, pod, always=always) == stated for pod, stated in uses)


# --- Render rendered output again under its configuration: the result must be the same
#
# Rule: a render of rendered output changes nothing, so a difference is a later change. A part that cannot be compared
# is reported, never skipped.


OTHER_TAG = "CC0510"  # the one warning of a render that output and manifest cannot show


def compare_renders(
    resources: Sequence[Resource], output: Output, pods: Sequence[Pod], manifests: Manifests, config: Config
) -> list[Finding]:
    """Render again under this configuration, and return a finding for each difference, also where no policy differs."""
    findings = [problem for pod in pods for problem in _check_rtmr0(pod, config, manifests.decoded)]
    locked = config.images is not None or config.generate.policy.engine != "native"
    if config.images is None:
        always = states_users(config.generate.policy.profile)
        volumes = config.generate.volumes.image_volumes
        assumed = assume_images([pod.workload for pod in pods], always=always, volumes=volumes)
        config = config._replace(images=assumed)
    sealer = None if locked else _keep_policies(pods, config)
    rendered = render(resources, config, sealer=sealer, live=True)
    if rendered.failed:
        return findings + [problem for problem in rendered.findings if problem.severity == "error"]
    findings += [problem for problem in rendered.findings if problem.code == OTHER_TAG]
    changed = compare_objects(output, rendered)
    findings += [*changed, *find_cluster_fields(output)]
    findings += _find_ignored(output, pods, rendered, config)
    if config.generate.policy.engine == "native":
        findings += [problem for pod in pods for problem in _check_undo(pod)]
    digests = {workload.digest for workload in rendered.plan if not workload.skipped}
    sealed_otherwise = bool(changed) and digests != {pod.checked.digest for pod in pods}
    findings += compare_manifest(manifests, rendered.manifest, sealed_otherwise=sealed_otherwise)
    if not locked and pods:
        findings.append(finding("CC1117.no-lock"))
    return findings


def _keep_policies(pods: Sequence[Pod], config: Config) -> Sealer:
    """Make a sealer that keeps the policy of a pod, and adds the files of the configuration."""
    annotations = {(pod.workload.ref, pod.workload.template): pod.workload.annotations.get(INITDATA) for pod in pods}

    def seal(workload: Workload) -> Sealing:
        value = str(annotations.get((workload.ref, workload.template)))
        try:
            toml = from_annotation(value)
            initdata = decode_toml(toml)
            files = {**config.generate.policy.initdata, POLICY: initdata.data[POLICY]}
        except (ValueError, KeyError):
            return Sealing()
        if files != initdata.data:
            toml = encode_toml(initdata._replace(data=files))
            value = annotation(toml)
        edits = workload.annotate([(INITDATA, value, "the policy that stands there")], "CC0606")
        return Sealing(edits, (), digest(toml))

    return seal


def _find_ignored(output: Output, pods: Sequence[Pod], rendered: Rendered, config: Config) -> list[Finding]:
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
        names = (ref.name, str(dig(value, ("handler",))))
        is_contrast = ref.kind == "RuntimeClass" and any(map(is_contrast_name, names))
        if (emitted and not sealed) or (is_contrast and not emitted and ref.name not in handlers):
            code = "CC1115.drops" if emitted else "CC1115.not-known"
            findings.append(resource.placed(finding(code, ref, (*root, "metadata"))))
    return findings


def _check_undo(pod: Pod) -> list[Finding]:
    """Return an error if the undo record of a pod does not remove its policy: then no render has sealed this pod."""
    path = (*pod.workload.root, "metadata", "annotations", ORIGINAL)
    addresses = _list_addresses(pod.workload)
    text = pod.workload.at(path)
    records = loads(text) if isinstance(text, str) else []  # `check_objects` has read them before
    if any(at == record[1] or at.startswith(f"{record[1]}/") for record in records for at in addresses):
        return []
    return [
        pod.workload.placed(finding("CC1114", pod.workload.ref, path, fields=f"{ORIGINAL} does not remove the policy"))
    ]


def _list_addresses(workload: Workload) -> list[str]:
    """Return the possible addresses in a record of a pod's initdata: entries of lists by number, or by name."""
    place: Path = (*workload.template, "metadata", "annotations", INITDATA)
    addresses = [""]
    for index, part in enumerate(place):
        name = dig(workload.object, (*place[: index + 1], "name")) if isinstance(part, int) else None
        by_name = [f"/@{escape(name)}"] if isinstance(name, str) else []
        addresses = [f"{start}{end}" for start in addresses for end in (pointer((part,)), *by_name)]
    return addresses


def _check_rtmr0(pod: Pod, config: Config, manifest: Mapping[str, Any] | None) -> list[Finding]:
    """Return CC1112 if the manifest accepts no TDX VM of this size; only the release has its RTMR0."""
    platform = pod.checked.platform
    if manifest is None or platform is None or not platform.rtmr0_by_vcpus:
        return []
    facts = config.release.platforms.get(platform.name)
    expected = facts.rtmr0_by_vcpu.get(str(pod.vcpus)) if facts else None
    if expected is None or expected in rtmr0_values(mapping(manifest.get("ReferenceValues"))):
        return []
    problem = finding(
        "CC1112", pod.workload.ref, pod.workload.spec_path, vcpus=vcpus_text(pod.vcpus), platform=platform.name
    )
    return [pod.workload.placed(problem)]


def check_without_render(pods: Sequence[Pod], output: Output) -> list[Finding]:
    """Check without a configuration: find records that no render writes, and report the missing comparison, CC1117.

    An object that a controller made and that runs no pod any more keeps its record: that may be a copy of the record of
    an object that was changed since.
    """
    restored = read(map(_reset, output.resources), ())
    findings = [
        *restored.findings,
        *find_unproven(restored.resources, None, rendered=False, seals=False, taken_back=True),
    ]
    if pods or any(item.ref.kind == "RuntimeClass" for item in output.objects()):
        findings.append(finding("CC1117.no-configuration"))
    return findings


def _reset(resource: Resource) -> Resource:
    """Return a resource to read as a render would; only copies that run no pod any more keep their records."""
    retired = {root: copy for root, copy in resource.copies.items() if copy.retired}
    return resource._replace(state="unread", document=None, copies=retired)


# --- Check rendered output in this order: read -> identity -> objects -> pods -> manifest -> render again
#
# Rule: this part only calls stages and the other files of this package, in order. It checks everything that
# `contrast set` and `contrast verify` will check. Without configuration it reads the policies back; with one it renders
# again and compares.


NOT_COMPARED = "CC1117"  # the info about parts that were not compared


class Verdict(NamedTuple):
    """The findings, the number of Contrast workloads checked, and the plain pods.

    beside: the number of policies of the manifest for workloads that are known not to be in this output. manifest: its
    bytes, b"" without a valid one.
    """

    findings: tuple[Finding, ...] = ()
    workloads: int = 0
    plain: tuple[Ref, ...] = ()
    beside: int = 0
    manifest: bytes = b""

    @property
    def summary(self) -> str:
        """The summary as lines of text: number of workloads, parts that were not compared, plain pods."""
        notes = [f"{problem.message}\n" for problem in self.findings if problem.code == NOT_COMPARED]
        checked = f"checked {self.workloads} Contrast workload{'' if self.workloads == 1 else 's'}\n"
        return checked + "".join(notes) + describe_plain(self.plain)


def list_beside_summary(findings: Sequence[Finding], form: str) -> list[Finding]:
    """Return the findings to print beside the summary; its text form includes those about missing comparisons."""
    return [problem for problem in findings if form != "text" or problem.code != NOT_COMPARED]


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
    manifests, problems = find_manifests(file, values)
    findings += problems
    if has_errors(findings):
        count = sum(len(select(resource.value, resource).workloads) for resource in output.parsed)
        return Verdict(tuple(findings), count)
    all_pods: list[Pod] = []
    plain = [item.ref for item in find_foreign_pods(output.resources)]
    references = References(values)
    for resource in output.parsed:
        pods_of_resource = gather_pods(resource, references)
        all_pods += pods_of_resource.pods
        plain += pods_of_resource.plain
        findings += pods_of_resource.findings
    pods = [pod for pod in all_pods if pod.made_of is None]
    workloads = [pod.workload._replace(digest=pod.checked.digest) for pod in pods]
    classes, emitted = _index_classes(values)
    names = [name for name in classes if is_contrast_name(name)]
    coordinators = [workload.ref for workload in workloads if workload.is_coordinator]
    for ref in coordinators[:1]:  # the second render reports several, or another that the configuration chooses
        findings += check_coordinator_service(output.resources, ref, ref.namespace or "default")
    findings += find_applied_configuration(output.resources)
    findings += find_placeholders(output.resources)
    findings += find_late_injections(output.resources, workloads)
    findings += check_only_coordinator(workloads, plain)
    findings += check_none_confidential(plain, config.generate) if config and not all_pods else ()
    if pods or names:
        findings += find_duplicates(output.resources)
    findings += check_objects(output)
    for pod in all_pods:
        if origin := pod.made_of:
            code = "CC1119.earlier" if pod.is_earlier else "CC1119.copy"
            findings.append(finding(code, pod.workload.ref, kind=origin.kind, name=origin.name))
    findings += _check_pods(all_pods, classes, manifests.decoded) + _find_rollouts(values)
    findings += claim_findings(output.resources, workloads)
    findings += check_classes(workloads, names, emitted=emitted)
    if manifests.decoded is not None:
        findings += _check_manifest(manifests.decoded, workloads, config, elsewhere)
    elif pods:
        findings += _report_missing_manifest(findings, config, as_function=as_function)
    findings += find_shared_identities(workloads, manifests.decoded) if config is None else ()
    findings += refusals(output.resources, workloads)
    if not has_errors(findings):
        findings += compare_bytes(manifests)
    if not has_errors(findings):
        findings += (
            compare_renders(resources, output, pods, manifests, config)
            if config
            else check_without_render(pods, output)
        )
    policies = {*mapping((manifests.decoded or {}).get("Policies"))} - {pod.checked.digest for pod in pods}
    about = tuple(dict.fromkeys(map(_refuse_opening, reported(config, findings))))
    return Verdict(about, len(pods), tuple(plain), len(policies & set(elsewhere)), manifests.text)


def _refuse_opening(problem: Finding) -> Finding:
    """Make an error of a warning about an open guest, which the configuration has not acknowledged."""
    is_refused = problem.code == OPEN_GUEST and problem.severity == "warning"
    return problem._replace(severity="error") if is_refused else problem


def _report_missing_manifest(findings: Sequence[Finding], config: Config | None, *, as_function: bool) -> list[Finding]:
    """Return CC1106 for output without a manifest, unless its configuration wants none or it was not rendered."""
    if any(problem.code == "CC1101" for problem in findings):
        return []
    if config is not None and config.generate.manifest.emit == "none":
        return [finding("CC1117.no-manifest")]
    return [finding("CC1106.function" if as_function else "CC1106")]


def _check_pods(
    pods: Sequence[Pod], classes: Mapping[str, RuntimeClass], manifest: Mapping[str, Any] | None
) -> list[Finding]:
    """Return the findings about the pods; a controller's copy does not repeat those that its workload or a copy has."""
    findings: list[Finding] = []
    reported: dict[Ref, set[tuple[str, str]]] = {}
    for pod in sorted(pods, key=lambda checked: checked.made_of is not None):
        sentences = reported.setdefault(pod.made_of or pod.workload.ref, set())
        about = (*pod.checked.findings, *check_pod(pod, classes.get(pod.workload.runtime_class), manifest))
        new = [problem for problem in about if not pod.made_of or (problem.code, problem.message) not in sentences]
        sentences |= {(problem.code, problem.message) for problem in new}
        findings += map(pod.workload.placed, new)
    return findings


def _find_rollouts(values: Sequence[Any]) -> list[Finding]:
    running = RunningPods([value for value in values if reference(value).kind != "Pod"], None)
    for value in values:
        if reference(value).kind == "Pod":
            running.add(value)
    return list(running.rollouts())


def _index_classes(values: Sequence[Any]) -> tuple[Mapping[str, RuntimeClass], bool]:
    """Return the RuntimeClasses by name, and whether a render emitted any."""
    objects = [value for value in values if reference(value).kind == "RuntimeClass"]
    emitted = any(dig(value, ("metadata", "annotations", EMITTED)) is not None for value in objects)
    return {reference(value).name: parse_class(value).runtime_class for value in objects}, emitted


def _check_manifest(
    manifest: Mapping[str, Any], workloads: Sequence[Workload], config: Config | None, elsewhere: Collection[str]
) -> list[Finding]:
    """Return what `contrast set` would refuse: the manifest alone, or beside workloads, base and `elsewhere`."""
    base = mapping(mapping(config.generate.manifest.base if config else None).get("Policies"))
    return [*check_manifest_values(manifest), *check_manifest(workloads, manifest, (*base, *elsewhere))]
