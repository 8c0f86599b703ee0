"""ContrastRelease, the facts of one Contrast release, and the policy profile of its nodes."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from krm_function.config.document import API_VERSION, ConfigDocument, ConfigKind, load_object, read_kind
from krm_function.config.generate import PINNED, REFERENCE, Generate, released
from krm_function.contrast.platforms import PLATFORMS, Platform, handler_pattern, is_handler_of, placeholder
from krm_function.contrast.profiles import DEFAULT, PROFILES, RELEASED, Profile, ProfileName, profile_of_release
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.kubernetes.objects import LABEL_KEY, matches_label_key
from krm_function.kubernetes.quantity import GRAMMAR, LARGEST, LONGEST, NANO, nano
from krm_function.kubernetes.runtime_classes import overhead_problems
from krm_function.record import Annotated, NamedTuple
from krm_function.schema.table import EMPTY, table
from krm_function.schema.values import Choice, Field, JsonObject, MapOf, Problems, Record, Scalar, Text, hexadecimal

# --- ContrastRelease: the facts of one Contrast release
#
# Rule: everything else is compared with the release, so a platform may have only matching values: its own handler, its
# own kind of reference values.


NO_VERSION = "v0.0.0"  # of the release that `init` writes before an import
KIND: ConfigKind = "ContrastRelease"
VERSION = r"v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?"
VCPUS = "[1-9]|[1-9][0-9]|1[0-9][0-9]|2[01][0-9]|220"


def _find_amount_problem(value: Any) -> str:
    try:
        return "must not be negative" if nano(value) < 0 else ""
    except ValueError as error:
        return str(error)


_UNSIGNED = GRAMMAR.replace("([+-]?)", r"\+?", 1)
AMOUNT = Scalar(  # kept as written
    _find_amount_problem,
    "write a Kubernetes quantity such as 682Mi or 250m",
    {
        "anyOf": [
            {"type": "string", "pattern": f"^{_UNSIGNED}$", "maxLength": LONGEST},
            {"type": "number", "minimum": 0, "maximum": LARGEST // NANO},
        ]
    },
)


def _check_memory(memory: dict[str, Any]) -> Problems:
    return tuple(((name,), "must be more than 0") for name, amount in memory.items() if nano(amount) == 0)


class PlatformRelease(NamedTuple):
    """One platform of one Contrast release."""

    handler: str
    overhead: Mapping[str, Any] = EMPTY  # resource name -> quantity
    snp: tuple[Mapping[str, Any], ...] = ()  # reference values in the manifest's own field names
    tdx: tuple[Mapping[str, Any], ...] = ()
    rtmr0_by_vcpu: Mapping[str, str] = EMPTY


def _platform_spec(platform: Platform) -> Record:
    """Return the release's fields for one platform: its own handler, and values of its own kind."""
    prefix = placeholder(platform)
    fields = {
        "handler": Field(
            Text(
                f"{prefix}-<hash>",
                handler_pattern(platform),
                example=f"{prefix}-1a2b3c4d",
                matches=partial(is_handler_of, platform),
            ),
            "the runtime class of this release, as in its runtime-<platform>.yml",
            required=True,
        ),
        "overhead": Field(
            MapOf(Text("a resource name", LABEL_KEY, 317, matches=matches_label_key), AMOUNT, overhead_problems),
            "what a VM needs beside its containers: overhead.podFixed of the RuntimeClass",
        ),
        "referenceValues": Field(released(platform), "the platform's measurements"),
    }
    if platform.tee == "tdx":
        fields["rtmr0ByVCPU"] = Field(
            MapOf(Text("a number of vCPUs from 1 to 220", VCPUS, example='"2"'), hexadecimal(48)),
            "RTMR0 by number of vCPUs",
        )
    return Record(fields, make=partial(_make_platform, platform.marker))


def _make_platform(
    marker: str,
    handler: str,
    overhead: Mapping[str, Any] = EMPTY,
    referenceValues: Mapping[str, Any] = EMPTY,  # noqa: N803 (a field of the document)
    rtmr0ByVCPU: Mapping[str, str] = EMPTY,  # noqa: N803 (a field of the document)
) -> PlatformRelease:
    entries = {tee: tuple({**entry, "Platform": marker} for entry in of_tee) for tee, of_tee in referenceValues.items()}
    return PlatformRelease(handler, overhead, **entries, rtmr0_by_vcpu=rtmr0ByVCPU)


class InjectedMemory(NamedTuple):
    """The request and limit of each injected container in the VM's memory: quantities as written."""

    initializer: Annotated[Any, Field(AMOUNT, "of the initializer")] = "50Mi"
    secure_pv: Annotated[Any, Field(AMOUNT, "of the initializer that also opens an encrypted volume")] = "100Mi"
    service_mesh: Annotated[
        Any,
        Field(
            AMOUNT,
            "of the service mesh; the default was seen in a Contrast version of mid-2026 and not in 1.25 itself",
        ),
    ] = "400Mi"
    pvc_holder: Annotated[Any, Field(AMOUNT, "of the container that holds the image store")] = "50Mi"


class Release(NamedTuple):
    """ContrastRelease: the facts of one Contrast release. policy_profile: "" for the version's."""

    name: str
    version: Annotated[str, Field(Text("a version", VERSION, 64, "v1.25.0"), "the release's version")]
    platforms: Annotated[  # by lower-case platform name
        Mapping[str, PlatformRelease],
        Field(
            Record({name: Field(_platform_spec(platform)) for name, platform in PLATFORMS.items()}),
            "the platforms that may be used",
            required=True,
        ),
    ] = EMPTY
    images: Annotated[
        Mapping[str, str],
        Field(MapOf(REFERENCE, PINNED), "image as a pod names it: the pinned image that takes its place"),
    ] = EMPTY
    policy_settings: Annotated[
        Mapping[str, Any] | None,
        Field(JsonObject("a map or a JSON object", load_object), "default settings of the policy generator"),
    ] = None
    policy_profile: Annotated[
        ProfileName | Literal[""],
        Field(
            Choice(tuple(profile.name for profile in RELEASED)),
            "what the nodes of this release need of a policy; absent: it follows from the version",
        ),
    ] = ""
    memory: Annotated[
        InjectedMemory,
        Field(
            table(InjectedMemory, _check_memory),
            "memory of the containers that are injected, their request and their limit",
        ),
    ] = InjectedMemory()

    @property
    def ref(self) -> Ref:
        """The object, for findings about it."""
        return Ref(API_VERSION, "ContrastRelease", "", self.name)


RELEASE = table(Release)


def parse_release(document: ConfigDocument) -> tuple[Release | None, tuple[Finding, ...]]:
    """Read a ContrastRelease; None if a finding is an error."""
    return read_kind(document, KIND, RELEASE)


# --- Choose the policy profile of a render: the ContrastGenerate's, compared with the nodes of the ContrastRelease
#
# Rule: a policy is for the nodes of one Contrast release. Another release's profile is an error, a profile for nodes
# other than Contrast's a warning.
#
#     ContrastGenerate policy.profile    profile of the release             the profile of the render
#     not set                            P                                  P
#     not set                            none, the release is too old       none, CC0650
#     P                                  P                                  P
#     one that narrows P (strict)        P                                  that one
#     of another Contrast release        P                                  none, CC0652
#     of any Contrast release            none, the release is too old       none, CC0650
#     of no Contrast release (kata-4.1)  any, or none                       that one, CC0653 names what is not bound
#
#     ContrastRelease policyProfile      version                            the profile of the release
#     P                                  any                                P, CC0651 if the version is newer
#     not set                            v0.0.0, nothing imported           the default
#     not set                            of a known release                 its profile
#     not set                            newer                              the newest, CC0651 if the render uses it
#     not set                            older                              none, CC0650


Chosen = tuple[Profile | None, tuple[Finding, ...]]

VERSION_PATH: Path = ("spec", "version")
PROFILE_PATH: Path = ("spec", "policy", "profile")


def chosen_profile(
    name: ProfileName | None,
    release: Release,
    generate: str = Generate().name,
    profiles: Sequence[Profile] = tuple(PROFILES.values()),
    released: Sequence[Profile] = RELEASED,
) -> Chosen:
    """Return the profile of a render, None with an error.

    name: policy.profile of the ContrastGenerate. generate: its name. profiles: all known ones. released: those of
    Contrast releases, oldest first.
    """
    asked = None if name is None else _find_profile(name, profiles)
    of_release, findings = profile_of(release, released)
    if asked is None:
        return of_release, findings
    ref = Ref(API_VERSION, "ContrastGenerate", "", generate)
    if asked.release is None:
        return asked, (_report_unbound(asked, ref),)
    if of_release is None or asked.release == of_release.release:
        return (None if of_release is None else asked), findings
    values: dict[str, Any] = {"profile": asked.name, "other": _write_version(asked), "right": of_release.name}
    return None, (finding("CC0652", ref, PROFILE_PATH, version=release.version, **values),)


def profile_of(release: Release, released: Sequence[Profile] = RELEASED) -> Chosen:
    """Return the profile of a release's nodes, None with an error."""
    if release.version == NO_VERSION and not release.policy_profile:
        return DEFAULT, ()
    stated = _find_profile(release.policy_profile, released) if release.policy_profile else None
    profile, problems = (
        _warn_if_newer(stated, release.version) if stated else profile_of_version(release.version, released)
    )
    ref = release.ref
    return profile, tuple(problem._replace(ref=ref, path=VERSION_PATH) for problem in problems)


def profile_of_version(version: str, released: Sequence[Profile] = RELEASED) -> Chosen:
    """Return the profile of a Contrast version's nodes; CC0650 if it is too old, CC0651 if it is newer than all.

    version: such as v1.25.0.
    """
    profile, _ = profile_of_release(version, released)
    if profile is None:
        return None, (finding("CC0650", version=version, oldest=_write_version(released[0])),)
    return _warn_if_newer(profile, version)


def _warn_if_newer(profile: Profile, version: str) -> tuple[Profile, tuple[Finding, ...]]:
    if not profile_of_release(version, (profile,))[1]:
        return profile, ()
    return profile, (finding("CC0651", version=version, newest=_write_version(profile), profile=profile.name),)


def _report_unbound(asked: Profile, ref: Ref) -> Finding:
    """Make CC0653: the checks that a policy for nodes other than Contrast's leaves to the host."""
    bound = {
        "the images of containers": asked.binds_images,
        "the files at a VOLUME of an image": asked.refuses_volumes,
    }
    unbound = " and ".join(part for part, yes in bound.items() if not yes)
    return finding("CC0653", ref, PROFILE_PATH, profile=asked.name, what=unbound or "nothing")


def _find_profile(name: str, profiles: Sequence[Profile]) -> Profile:
    return next(profile for profile in profiles if profile.name == name)


def _write_version(profile: Profile) -> str:
    return ".".join(map(str, profile.release or ()))
