"""Render rendered output again under its configuration: the result must be the same.

Rule of this file: a render of rendered output changes nothing, so a difference is a later change. What cannot be
compared is reported, never skipped.
"""

from collections.abc import Mapping, Sequence
from json import loads
from typing import Any

from krm_function.api.records import Config
from krm_function.checking.assumed_images import assumed_images
from krm_function.checking.gather_pods import Pod
from krm_function.checking.manifests import Manifests, differing_manifest
from krm_function.checking.objects import compare_objects, written_by_a_cluster
from krm_function.checking.parse_output import Output
from krm_function.findings import Finding, Path, finding
from krm_function.manifest.tdx import rtmr0_values
from krm_function.measurement.vcpu_count import vcpus_text
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import reference
from krm_function.model.profiles import states_users
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_names import is_contrast_name
from krm_function.model.workload import EMITTED, INITDATA, ORIGINAL, Workload
from krm_function.pipeline.proof import unproven
from krm_function.pipeline.render import render
from krm_function.pipeline.result import Rendered
from krm_function.pipeline.sealer import Sealer
from krm_function.policy import annotation, decode_toml, digest, encode_toml, from_annotation
from krm_function.policy.initdata import POLICY
from krm_function.stages.policy import Sealing
from krm_function.stages.read import read
from krm_function.yamltext.edit.pointer import escape, pointer

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
    digests = {one.digest for one in rendered.plan if one.workload is not None}
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
    sealed = {(one.workload.place, one.workload.template) for one in rendered.plan if one.workload is not None}
    findings = [
        pod.workload.placed(finding("CC1115.not-sealed", pod.workload.ref, pod.workload.spec_path))
        for pod in pods
        if (pod.workload.place, pod.workload.template) not in sealed
    ]
    handlers = {facts.handler for facts in config.release.platforms.values()}
    for resource, root, value in output.objects():
        ref, emitted = reference(value), dig(value, ("metadata", "annotations", EMITTED)) is not None
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
    if pods or any(reference(value).kind == "RuntimeClass" for _, _, value in output.objects()):
        findings.append(finding("CC1117.no-configuration"))
    return findings


def _as_rendered(resource: Resource) -> Resource:
    """Return a resource to read as a render would; only its copies that run no pod any more keep their records."""
    retired = {root: copy for root, copy in resource.copies.items() if copy.retired}
    return resource._replace(state="unread", document=None, copies=retired)
