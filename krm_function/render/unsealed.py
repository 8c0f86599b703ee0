"""Refuse requests for Contrast where no render seals a pod, and name the pods that stay plain."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from krm_function.config.document import CONFIG_KINDS, GROUP
from krm_function.config.generate import Generate, naming
from krm_function.contrast.annotations import is_contrast_key, is_known, unread
from krm_function.contrast.class_in_text import PLACEHOLDERS, may_ask_for_contrast, may_name_contrast
from krm_function.contrast.platforms import (
    FIELD,
    contrast_names_in,
    is_contrast_name,
    placeholders_in,
    reads_like_field,
)
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.krm.group_version import plain_api_version
from krm_function.kubernetes.custom_kinds import Makes, kind_makes
from krm_function.kubernetes.kinds import CATALOGUED, KINDS, OF_KUBERNETES
from krm_function.kubernetes.objects import WITHOUT_PODS, controller_of, dig, listed, mapping, pod_specs, reference
from krm_function.kubernetes.pod_kinds import PATH, SHIPPED, Kinds
from krm_function.kubernetes.resource import ObjectAt, Resource, objects_of, yaml_finding
from krm_function.kubernetes.runtime_classes import KIND
from krm_function.kubernetes.workload import (
    COORDINATOR,
    EMITTED,
    LOCAL_CONFIG,
    POD_ROLE,
    PREFIX,
    Workload,
    is_not_applied,
    workloads_of,
)
from krm_function.record import NamedTuple
from krm_function.text.errors import YamlError

# --- Unsealed: refuse requests for a Contrast runtime class, or for anything of Contrast's, where no render seals a pod
#
# Rule: every request for a class of Contrast's is sealed or refused; `generate` and `check` call this one function. A
# kind is one of the eight by its group and version as well: `apps/v1beta1` is as foreign as a custom resource.
#
#     in an object                  the request                                                      answer
#     of the eight kinds, with a    a placeholder, as a value or a key, anywhere                     CC0240
#     pod that has no class of      any name of Contrast's below a key like runtimeClassName         CC0240
#     Contrast's                    an annotation or label of Contrast's on object or pod            CC0241
#     of the eight kinds, else      nothing: its pods are sealed, or `render/select.py` refuses it
#     of a kind of the catalogue,   in its known pod templates as of the eight kinds; elsewhere, as
#     or of spec.podTemplates       of another kind
#     of another kind               a placeholder, or a name below such a key; in its metadata, the  CC1109
#                                   latter alone, because a name or a label may read like a class
#     CustomResourceDefinition      nothing: a schema describes the requests of others
#     RuntimeClass of node.k8s.io   as of another kind, in its own fields as in the metadata
#     ConfigMap, Secret             nothing: they hold text, and no reader takes them for a pod
#     of contrast-krm.dev           nothing: configuration
#
# The node installer is not a confidential pod, but carries the keys of `OF_THE_INSTALLER`.


CLASSES = ("List", KIND)  # kinds of documents that may have a RuntimeClass
CLASS_GROUP = "node.k8s.io/"
CLASS_FIELDS = ("handler", "overhead", "scheduling")  # of a RuntimeClass; `check_handler` compares the first
TEXT_KINDS = ("ConfigMap", "Secret")
SCHEMA = "apiextensions.k8s.io/"
OWN_GROUP = "contrast-krm.dev/"
OF_THE_INSTALLER = (PREFIX + "platform", POD_ROLE)  # the role counts if it is the coordinator's


def find_unsealed(
    resources: Iterable[Resource],
    handlers: Container[str] = (),
    sealed: Container[tuple[int, Path, Path]] = (),
) -> tuple[Finding, ...]:
    """Return CC0240, CC0241 and CC1109 for unsealed requests, CC1116 for each class with a foreign handler.

    handlers: of the release; another stage compares their classes. sealed: the pods that a render seals, even those
    without a class of their own: position of the resource, path of the object in it, path of the template in that. A
    document that cannot be parsed and may ask for a class is an error, too.
    """
    findings: list[Finding] = []
    asked: list[Finding] = []
    for resource in resources:
        if resource.document is not None and resource.may_be(CLASSES):
            findings += _check_handlers(resource, handlers)
        may = may_name_contrast if resource.may_have_pods else may_ask_for_contrast
        if resource.state == "added" or _holds_text(resource) or not may(resource.text):
            continue
        try:
            document = resource.value
        except YamlError as problem:
            asked.append(yaml_finding(problem, resource))
            continue
        asked += resource.all_placed(_check_resource(resource, document, sealed))
    return (*findings, *asked)


def _check_resource(resource: Resource, document: Any, sealed: Container[tuple[int, Path, Path]]) -> Iterator[Finding]:
    for _, root, ref, _ in resource.objects:
        yield from find_misplaced(document, root, resource.position, sealed, kinds=resource.kinds)
        classes = list(list_unsealed_classes(document, root, resource.kinds))
        yield from report_unsealed(ref, classes, root, resource)


def find_misplaced(
    document: Any,
    root: Path,
    position: int = -1,
    sealed: Container[tuple[int, Path, Path]] = (),
    *,
    kinds: Kinds = SHIPPED,
) -> Iterator[Finding]:
    """Yield CC0240 and CC0241 for unsealed requests in an object of a kind whose pods are sealed.

    position: of the resource. sealed: as for `unsealed`. kinds: those with pods.
    """
    value = dig(document, root)
    ref = reference(value)
    if kinds.of(ref) is None or controller_of(value):
        return  # an object that a controller made is like its owner
    pods = workloads_of(value, root, ref, kinds=kinds)
    plain = [pod for pod in pods if _is_plain(pod) and (position, root, pod.template) not in sealed]
    if not plain:
        return
    home = ".".join(map(str, (*plain[0].template, "spec", FIELD)))
    homes = [(*pod.spec_path, FIELD) for pod in pods]
    unsealed_paths = [path for path, _ in list_unsealed_classes(document, root, kinds)]
    for path, name in contrast_names_in(value, root):
        if path in homes or path in unsealed_paths:
            continue  # the class of another pod of the object, or of an unknown template
        yield finding("CC0240", ref, path, name=name, home=home)
    for workload in plain:
        yield from _find_idle_keys(workload, home)


def _is_plain(workload: Workload) -> bool:
    """Tell whether a pod has no class of Contrast's. A non-text class is an error of `render/select.py`."""
    name = workload.pod_spec.get(FIELD)
    return name is None or (isinstance(name, str) and not is_contrast_name(name))


def _find_idle_keys(workload: Workload, home: str) -> Iterator[Finding]:
    """Yield CC0241 for each annotation and label of Contrast's on a plain pod, and on its object."""
    for metadata in dict.fromkeys(((*workload.root, "metadata"), workload.metadata_path)):
        for noun in ("annotation", "label"):
            for key, value in mapping(workload.at((*metadata, f"{noun}s"))).items():
                of_the_installer = key in OF_THE_INSTALLER and value != COORDINATOR
                if is_contrast_key(str(key)) and not of_the_installer:
                    yield finding("CC0241", workload.ref, (*metadata, f"{noun}s", key), what=noun, home=home)


def _check_handlers(resource: Resource, handlers: Container[str]) -> Iterator[Finding]:
    for _, root, ref, value in resource.objects:
        added = dig(value, ("metadata", "annotations", EMITTED)) is not None  # a render makes it again
        if ref.kind == KIND and ref.name not in handlers and not added:
            yield from map(resource.placed, check_handler(ref, root, value))


def list_unsealed_classes(document: Any, root: Path, kinds: Kinds = SHIPPED) -> Iterator[tuple[Path, str]]:
    """Yield the path and the name of each class of Contrast's in an object for which no render seals a pod.

    Members of a list are objects of their own. The known pod templates of a custom resource are left out.
    """
    value = dig(document, root)
    ref = reference(value)
    entry = kinds.of(ref)
    if (entry and entry.source == "built-in") or (ref.api_version == "v1" and ref.kind in TEXT_KINDS):
        return
    if ref.api_version.startswith((SCHEMA, OWN_GROUP)):
        return
    is_class = ref.kind == KIND and ref.api_version.startswith(CLASS_GROUP)
    may_be_named_so = ("metadata", *(CLASS_FIELDS if is_class else ()))
    templates = frozenset((*root, *path) for path in kinds.paths(ref, value))
    for key, part in mapping(value).items():
        if key == "items" and isinstance(part, list):
            continue
        for path, name in contrast_names_in({key: part}, root, templates):
            if key not in may_be_named_so or reads_like_field(str(path[-1])):
                yield path, name


def check_handler(ref: Ref, root: Path, value: Any) -> tuple[Finding, ...]:
    """Return CC1116 if only one of the name and the handler of a RuntimeClass is Contrast's, or they differ.

    A pod that names such a class runs in a VM of Contrast's without a policy, or has a policy and runs in no VM.
    """
    handler = dig(value, ("handler",))
    contrast_names = [text for text in (ref.name, handler) if isinstance(text, str) and is_contrast_name(text)]
    if not contrast_names or ref.name == handler:
        return ()
    return (finding("CC1116", ref, (*root, "handler"), name=ref.name, handler=handler or "nothing"),)


def report_unsealed(ref: Ref, asked: Sequence[tuple[Path, str]], root: Path, resource: Resource) -> tuple[Finding, ...]:
    """Make the findings about all unsealed classes of an object. root: of the object, in its document."""
    paths = [path for path, _ in asked]
    return tuple(report_unsealed_class(ref, path, name, resource.kinds, root, paths) for path, name in asked)


def report_unsealed_class(
    ref: Ref, path: Path, name: str, kinds: Kinds = SHIPPED, root: Path = (), paths: Sequence[Path] = ()
) -> Finding:
    """Make the finding about an unsealed class. root: of the object, in its document.

    paths: of all classes in the object, whose pod templates an entry has to name together.
    """
    entry = kinds.entry(ref)
    group, _, version = ref.api_version.rpartition("/")
    values: dict[str, Any] = {"kind": f"{ref.api_version} {ref.kind}".strip(), "name": name}
    if entry and entry.refused:
        return finding("CC1109.refused", ref, path, **values, reason=entry.refused, instead=entry.instead)
    if "." not in group or not ref.kind or group in OF_KUBERNETES or ref.api_version.startswith(OWN_GROUP):
        close = {kind.lower(): kind for kind in KINDS}.get(ref.kind.lower(), "")
        code = "CC1109.spelling" if close not in ("", ref.kind) else "CC1109.kind"
        return finding(code, ref, path, **values, close=close)
    if entry and entry.versions and version not in entry.versions:
        return finding("CC1109.version", ref, path, **values, versions=listed(entry.versions))
    if not _find_template(path[len(root) :]):
        return finding("CC1109.bare", ref, path, **values)
    fields = dict.fromkeys(_find_template(class_path[len(root) :]) for class_path in (paths or (path,)))
    templates = ", ".join(f"{{path: '{field}'}}" for field in fields if field)
    if entry:
        return finding("CC1109.more", ref, path, **values, entry=templates)
    setting = f"podTemplates: [{{group: {group}, kind: {ref.kind}, templates: [{templates}]}}]"
    return finding("CC1109.template", ref, path, **values, entry=setting)


def _find_template(place: Path) -> str:
    """Return the path of an entry for the pod template of a class, "" if it is not in a template."""
    steps = place[:-2]
    if place[-2:] != ("spec", FIELD) or not steps:
        return ""
    text = "".join(f".{step}" if isinstance(step, str) else "[*]" for step in steps).removeprefix(".")
    return text if re.fullmatch(PATH, text) else ""


def _holds_text(resource: Resource) -> bool:
    return resource.certain and resource.kind in TEXT_KINDS and plain_api_version(resource.api_version) == "v1"


# --- Unknown pods: find the objects whose pods no render seals and that have a pod template all the same
#
# Rule: `kubernetes/objects.py` decides what is a pod in an object of unknown kind.


SEALED_OR_TEXT = WITHOUT_PODS.union(KINDS).difference(CATALOGUED)  # kinds all of whose pods are known by the header


class UnknownPods(NamedTuple):
    """An object whose pods no render edits. pod: the path of the first one, None if it shows none."""

    resource: Resource
    root: Path
    ref: Ref
    pod: Path | None

    @property
    def makes(self) -> Makes:
        """Whether it makes pods."""
        return "pods" if self.pod is not None else kind_makes(self.ref.api_version, self.ref.kind)


def find_unknown_pods(resources: Iterable[Resource]) -> Iterator[UnknownPods | Finding]:
    """Yield the objects of other kinds than the eight; a finding for a document that cannot be read.

    Of the kinds of catalogue and configuration, only objects with a pod outside of the known templates.
    """
    for resource in resources:
        if resource.state == "added" or (resource.certain and resource.kind in SEALED_OR_TEXT):
            continue
        try:
            parsed = resource.parsed()
        except YamlError as problem:
            yield yaml_finding(problem, resource)
            continue
        for _, root, ref, value in parsed.objects:
            is_foreign = ref.kind in KINDS and resource.kinds.entry(ref) is None
            if is_foreign or ref.kind in WITHOUT_PODS:
                continue
            templates = resource.kinds.paths(ref, value)
            unlisted = (
                pod for pod in pod_specs(value) if not any(pod[: len(template)] == template for template in templates)
            )
            pod = next(unlisted, None)
            if pod is not None or resource.kinds.of(ref) is None:
                yield UnknownPods(parsed, root, ref, pod)


def find_foreign_pods(resources: Iterable[Resource]) -> Iterator[UnknownPods]:
    """Yield the objects of other kinds that make pods: they list containers, or their kind is known for it."""
    for item in find_unknown_pods(filter(_may_make_pods, resources)):
        if isinstance(item, UnknownPods) and item.ref.kind and item.makes == "pods":
            yield item


def _may_make_pods(resource: Resource) -> bool:
    """Tell by the header, without parsing."""
    if not resource.certain or (resource.kind not in SEALED_OR_TEXT and "ontainers" in resource.text):
        return True
    return kind_makes(resource.api_version, resource.kind) == "pods"


# --- Placeholders in text: report those within a text from which another program makes an object
#
# A chart in a ConfigMap, a patch of Flux, a profile of an operator: the resulting object is not in the input, so its
# pods are not sealed. It may be a mistake or not, so `check` and `assess` warn.
#
# Rule: a text of data, or one of several words. A placeholder that is all of a value is a finding of its own (above),
# except in the data of a ConfigMap.


TEXTS = {"ConfigMap": ("data",), "Secret": ("stringData",)}  # of v1: where text is


def find_placeholders(resources: Iterable[Resource]) -> tuple[Finding, ...]:
    """Return CC0285 for each text of an input with a placeholder in it."""
    findings: list[Finding] = []
    for resource in resources:
        if resource.names_contrast and any(word in resource.text for word in PLACEHOLDERS):
            findings += resource.all_placed(problem for item in resource.objects for problem in _search_object(item))
    return tuple(findings)


def _search_object(item: ObjectAt) -> Iterator[Finding]:
    _, root, ref, value = item
    if is_not_applied(value) or ref.api_version.startswith((OWN_GROUP, SCHEMA)):
        return
    is_text = ref.api_version == "v1" and ref.kind in TEXTS
    for field in TEXTS[ref.kind] if is_text else [key for key in mapping(value) if key not in ("metadata", "items")]:
        for path, text in _walk_texts(mapping(value).get(field), (field,)):
            names = placeholders_in(text)
            if names and (is_text or text.strip() != names[0]):
                yield finding("CC0285", ref, root + path, kind=ref.kind, name=names[0])


def _walk_texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield every text in a value with its path, except commands and variables of pods."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _walk_texts(part, (*path, index))
    elif isinstance(value, dict):
        for key, part in value.items():
            if key not in ("containers", "initContainers", "annotations", "labels"):
                yield from _walk_texts(part, (*path, str(key)))


# --- Name the pods that run outside of a VM, and warn where they are all but the coordinator
#
# Rule: a pod is plain by default, which is not an error; but no user may believe that it is protected. `generate`,
# `check` and `plan` name the plain pods, and an input whose only confidential pod is the coordinator is a warning: its
# application is not confidential. With a configuration, pods none of which is confidential are an error, because a
# chart may have lost its runtimeClassName, or never had one. `optional` in `spec.workloads` allows them.


NONE_CONFIDENTIAL = "CC0291"


def describe_plain(plain: Iterable[Ref]) -> str:
    """Write `not confidential: Deployment/shop/a, ... and 3 more` as a line, "" if there is none."""
    names = _format_names(plain)
    return f"not confidential: {names}\n" if names else ""


def check_only_coordinator(workloads: Sequence[Workload], plain: Sequence[Ref]) -> tuple[Finding, ...]:
    """Return CC0242 if coordinators are the only confidential pods, and others are plain."""
    if not plain or not workloads or not all(workload.is_coordinator for workload in workloads):
        return ()
    return (finding("CC0242", names=_format_names(plain)),)


def check_none_confidential(plain: Iterable[Ref], generate: Generate) -> tuple[Finding, ...]:
    """Return CC0291 unless all pods of an input without a confidential one are plain on purpose."""
    if not generate.requires_one:
        return ()

    def on_purpose(ref: Ref) -> bool:
        return any(entry.plain for _, entry in naming(generate.workloads, ref, generate.namespace))

    undecided = [ref for ref in plain if not on_purpose(ref)]
    return (finding(NONE_CONFIDENTIAL, names=_format_names(undecided)),) if undecided else ()


def _format_names(plain: Iterable[Ref]) -> str:
    from krm_function.kubernetes.address import address_of

    return listed(list(dict.fromkeys(map(address_of, plain))))


# --- Stray annotations: report annotations of Contrast's domain on objects that have no pod, where nothing reads them
#
# Rule: an annotation that a Contrast workload of the input has on its pod template, with the same value, is not a
# mistake: kustomize's commonAnnotations writes it to every object. Source: docs/facts/contrast.md#annotations.


def find_stray_annotations(resources: Iterable[Resource], workloads: Iterable[Workload]) -> tuple[Finding, ...]:
    """Return CC0202 or CC0203 for each annotation without effect.

    Objects that an earlier render added are skipped.
    """
    common = {item for workload in workloads for item in workload.annotations.items() if isinstance(item[1], str)}
    findings: list[Finding] = []
    for resource in resources:
        certain_pod = resource.certain and resource.kind in KINDS
        if not certain_pod and resource.state != "added" and resource.names_contrast and PREFIX in resource.text:
            findings += resource.all_placed(_find_stray(resource, common))
    return tuple(findings)


def _find_stray(resource: Resource, common: set[tuple[str, str]]) -> Iterator[Finding]:
    for _, root, ref, value in resource.objects:
        if ref.kind in KINDS or resource.kinds.of(ref):
            continue  # render/pod_checks.py, if it is Contrast's
        for key, text in mapping(dig(value, ("metadata", "annotations"))).items():
            is_read = ref.kind == "Service" and is_known(str(key), "Service annotation")
            if is_contrast_key(str(key)) and not is_read and not (isinstance(text, str) and (key, text) in common):
                path = (*root, "metadata", "annotations", key)
                yield unread(ref, path, "annotation", str(key), f"a {ref.kind or 'nameless kind'}, which has no pod")


# --- Find configuration that would be applied to a cluster: an object of ours that no host removes from its output
#
# Rule: kustomize and kpt keep an object out of a cluster only if it has the annotation
# `config.kubernetes.io/local-config: "true"`. No cluster has our kinds, so such an object stops an apply half way.
# Source: docs/facts/krm-functions.md#bookkeeping-annotations.


ANNOTATION = ("metadata", "annotations", LOCAL_CONFIG)


def find_applied_configuration(resources: Iterable[Resource]) -> tuple[Finding, ...]:
    """Return CC0912 for each object of our kinds that a host would apply."""
    return tuple(
        item.placed(finding("CC0912", item.ref, (*item.root, "metadata"), kind=item.ref.kind))
        for item in objects_of(resources, CONFIG_KINDS, GROUP)
        if item.ref.api_version.startswith(GROUP) and dig(item.value, ANNOTATION) != "true"
    )
