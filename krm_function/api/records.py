"""The three kinds of contrast-krm.dev/v1alpha1 as immutable records.

Rule of this file: types and defaults only. The parsing modules beside this one make these records out of documents and
report what is wrong; nothing downstream looks at the raw documents again.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from krm_function.findings import Finding, Ref
from krm_function.model.profiles import ProfileName
from krm_function.record import NamedTuple

GROUP = "contrast-krm.dev"
API_VERSION = GROUP + "/v1alpha1"
EMPTY: Mapping[str, Any] = MappingProxyType({})
NO_VERSION = "v0.0.0"  # of the release that `init` writes before anything is imported


class Scheduling(NamedTuple):
    """What the RuntimeClass of one platform says about nodes."""

    node_selector: Mapping[str, str] = EMPTY
    tolerations: tuple[Mapping[str, Any], ...] = ()


class ExternalSource(NamedTuple):
    """ConfigMaps or Secrets that only the cluster has: variables that come from there may have any value.

    name or name_pattern: the other one is "". namespace: "" for that of the workload. keys: () for all that env names.
    variables: the names that they may have in a container, () for any.
    """

    kind: Literal["ConfigMap", "Secret"]
    name: str = ""
    name_pattern: str = ""  # as model.glob_pattern reads it
    namespace: str = ""
    keys: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


class PolicyOptions(NamedTuple):
    """How execution policies are made.

    profile: None for that of the release. rules: Rego text, None for the project's own. settings: see policy.settings.
    initdata: file name -> file text.
    """

    engine: Literal["native", "none"] = "native"
    profile: ProfileName | None = None
    rules: str | None = None
    settings: Mapping[str, Any] | None = None
    initdata: Mapping[str, str] = EMPTY
    external_sources: tuple[ExternalSource, ...] = ()


class WorkloadPolicy(NamedTuple):
    """What the operator adds to one workload's manifest entry."""

    sans: tuple[str, ...] = ()


class Coordinator(NamedTuple):
    """The workload that is the coordinator."""

    namespace: str
    kind: str
    name: str

    @property
    def key(self) -> str:
        """`StatefulSet/shop/coordinator`."""
        return f"{self.kind}/{self.namespace}/{self.name}"


class SharedSecret(NamedTuple):
    """A WorkloadSecretID, and the workloads that may have it: `Deployment/shop/web`."""

    id: str
    workloads: tuple[str, ...]


class ManifestOptions(NamedTuple):
    """What goes into the manifest beside the policies, and how it is emitted."""

    emit: Literal["ConfigMap", "LocalConfig", "none"] = "ConfigMap"
    name: str = "contrast-manifest"
    base: Mapping[str, Any] | None = None  # a decoded manifest
    workload_owner_keys: tuple[str, ...] = ()  # PEM
    seedshare_owner_keys: tuple[str, ...] = ()  # PEM
    disable_updates: bool = False
    # Operator's values by platform, e.g. {"metal-qemu-snp": ({"MinimumTCB": {...}},)}; the manifest's own field names.
    # "snp" and "tdx" stand for every entry of that kind; a ProductName in an entry narrows it to one product.
    reference_values: Mapping[str, tuple[Mapping[str, Any], ...]] = EMPTY
    policies: Mapping[str, WorkloadPolicy] = EMPTY  # by name of the workload, or by its key `Deployment/shop/web`
    coordinator: Coordinator | None = None  # None: the one StatefulSet that has the label
    shared_secrets: tuple[SharedSecret, ...] = ()


class Generate(NamedTuple):
    """ContrastGenerate: the options of a render."""

    name: str = "contrast"
    mode: Literal["render", "check"] = "render"
    platform: str = ""  # lower case, for bare placeholders
    initializer: bool = True
    service_mesh: bool = True
    image_store: bool = False
    scheduling: Mapping[str, Scheduling] = EMPTY  # by platform
    runtime_classes: Literal["check", "emit", "off"] = "check"
    policy: PolicyOptions = PolicyOptions()
    manifest: ManifestOptions = ManifestOptions()
    namespace: str = ""  # for workloads that name none

    @property
    def ref(self) -> Ref:
        """The object, for findings about it."""
        return Ref(API_VERSION, "ContrastGenerate", "", self.name)


class PlatformRelease(NamedTuple):
    """One platform of one Contrast release."""

    handler: str
    overhead: Mapping[str, Any] = EMPTY  # resource name -> quantity
    snp: tuple[Mapping[str, Any], ...] = ()  # reference values in the manifest's own field names
    tdx: tuple[Mapping[str, Any], ...] = ()
    rtmr0_by_vcpu: Mapping[str, str] = EMPTY


class InjectedMemory(NamedTuple):
    """What each injected container asks for, and may have, of the VM's memory: quantities as written."""

    initializer: Any = "50Mi"
    secure_pv: Any = "100Mi"  # the initializer that also opens an encrypted volume
    service_mesh: Any = "400Mi"  # seen in a Contrast version of mid-2026; 1.25 itself gives the mesh none
    pvc_holder: Any = "50Mi"


class Release(NamedTuple):
    """ContrastRelease: the facts of one Contrast release. policy_profile: "" for that of the version."""

    name: str
    version: str
    platforms: Mapping[str, PlatformRelease] = EMPTY  # by lower-case platform name
    images: Mapping[str, str] = EMPTY  # image as a pod names it -> pinned image
    policy_settings: Mapping[str, Any] | None = None
    policy_profile: ProfileName | Literal[""] = ""
    memory: InjectedMemory = InjectedMemory()

    @property
    def ref(self) -> Ref:
        """The object, for findings about it."""
        return Ref(API_VERSION, "ContrastRelease", "", self.name)


class ImageFacts(NamedTuple):
    """What is known of one image: its digest and its OCI image config, passwd/group as file text or None."""

    digest: str
    config: Mapping[str, Any]
    passwd: str | None = None
    group: str | None = None


class Config(NamedTuple):
    """The whole configuration of a render. images is None when no ImageLock was given.

    places: by object, what gives a finding about it its position; only objects that were read from files are there.
    """

    generate: Generate
    release: Release
    images: Mapping[str, ImageFacts] | None = None
    places: Mapping[Ref, Callable[[Finding], Finding]] = MappingProxyType({})

    def placed(self, found: Finding) -> Finding:
        """Give a finding its position in a file of the configuration, if it is about one and has none."""
        place = self.places.get(found.ref) if found.ref and not found.line and found.severity != "info" else None
        return place(found) if place else found
