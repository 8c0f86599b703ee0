"""ContrastRelease: the facts of one Contrast release, as a table of fields, and from a document to the record.

Rule of this file: everything else is compared with the release, so a platform may only have what fits it: its own
handler, its own kind of reference values.
"""

from typing import Any

from krm_function.api.document import ConfigDocument, ConfigKind, read_body
from krm_function.api.records import InjectedMemory, PlatformRelease, Release
from krm_function.api.reference_values import released
from krm_function.api.strict_json import load_object
from krm_function.findings import Finding, has_errors
from krm_function.model import image
from krm_function.model.labels import LABEL_KEY
from krm_function.model.platforms import PLATFORMS, Platform
from krm_function.model.profiles import RELEASED
from krm_function.model.quantity import GRAMMAR, LARGEST, LONGEST, NANO, nano
from krm_function.model.runtime_class_names import placeholder
from krm_function.model.runtime_class_objects import overhead_problems
from krm_function.schema.kinds import Choice, Field, JsonObject, MapOf, Problems, Record, Scalar, Text, hexadecimal

KIND: ConfigKind = "ContrastRelease"
VERSION = r"v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?"
VCPUS = "[1-9]|[1-9][0-9]|1[0-9][0-9]|2[01][0-9]|220"
HASH = "(?!gpu)[0-9a-z]{1,16}"  # see model.runtime_class_names.parse_runtime_class


def image_problem(text: str) -> str:
    """Return what is wrong with an image reference beyond its pattern, or ""."""
    parsed = image.parse_image(text)
    return "" if isinstance(parsed, image.Image) else f"is not an image reference: {parsed}"


REFERENCE = Text("an image reference", image.REFERENCE, image.LONGEST, "ghcr.io/org/name:tag", image_problem)
PINNED = Text(
    "an image pinned by digest",
    image.PINNED,
    image.LONGEST,
    "ghcr.io/org/name:tag@sha256:<64 hex digits>",
    image_problem,
)


def _amount_problem(value: Any) -> str:
    try:
        return "must not be negative" if nano(value) < 0 else ""
    except ValueError as error:
        return str(error)


_UNSIGNED = GRAMMAR.replace("([+-]?)", r"\+?", 1)
AMOUNT = Scalar(  # kept as written
    _amount_problem,
    "write a Kubernetes quantity such as 682Mi or 250m",
    {
        "anyOf": [
            {"type": "string", "pattern": f"^{_UNSIGNED}$", "maxLength": LONGEST},
            {"type": "number", "minimum": 0, "maximum": LARGEST // NANO},
        ]
    },
)


def _check_overhead(overhead: dict[str, Any]) -> Problems:
    return tuple((problem.path, problem.problem) for problem in overhead_problems(overhead))


def _check_memory(memory: dict[str, Any]) -> Problems:
    return tuple(((name,), "must be more than 0") for name, amount in memory.items() if nano(amount) == 0)


def _platform(platform: Platform) -> Record:
    prefix = placeholder(platform)
    fields = {
        "handler": Field(
            Text(f"{prefix}-<hash>", f"{prefix}-{HASH}", example=f"{prefix}-1a2b3c4d"),
            "the runtime class of this release, as in its runtime-<platform>.yml",
            required=True,
        ),
        "overhead": Field(
            MapOf(Text("a resource name", LABEL_KEY, 317), AMOUNT, _check_overhead),
            "what a VM needs beside its containers: overhead.podFixed of the RuntimeClass",
        ),
        "referenceValues": Field(released(platform), "the platform's measurements"),
    }
    if platform.tee == "tdx":
        fields["rtmr0ByVCPU"] = Field(
            MapOf(Text("a number of vCPUs from 1 to 220", VCPUS, example='"2"'), hexadecimal(48)),
            "RTMR0 by number of vCPUs",
        )
    return Record(fields)


_MEMORY = InjectedMemory()
MEMORY = Record(
    {
        "initializer": Field(AMOUNT, "of the initializer", default=_MEMORY.initializer),
        "securePv": Field(AMOUNT, "of the initializer that also opens an encrypted volume", default=_MEMORY.secure_pv),
        "serviceMesh": Field(
            AMOUNT,
            "of the service mesh; the default was seen in a Contrast version of mid-2026 and not in 1.25 itself",
            default=_MEMORY.service_mesh,
        ),
        "pvcHolder": Field(AMOUNT, "of the container that holds the image store", default=_MEMORY.pvc_holder),
    },
    _check_memory,
)
RELEASE = Record(
    {
        "version": Field(Text("a version", VERSION, 64, "v1.25.0"), "the release's version", required=True),
        "platforms": Field(
            Record({name: Field(_platform(platform)) for name, platform in PLATFORMS.items()}),
            "the platforms that may be used",
            required=True,
        ),
        "images": Field(MapOf(REFERENCE, PINNED), "image as a pod names it: the pinned image that takes its place"),
        "policySettings": Field(
            JsonObject("a map or a JSON object", load_object), "default settings of the policy generator"
        ),
        "policyProfile": Field(
            Choice(tuple(profile.name for profile in RELEASED)),
            "what the nodes of this release need of a policy; absent: it follows from the version",
        ),
        "memory": Field(MEMORY, "memory of the containers that are injected, their request and their limit"),
    }
)


def parse_release(document: ConfigDocument) -> tuple[Release | None, tuple[Finding, ...]]:
    """Read a ContrastRelease; None when a finding is an error."""
    body = read_body(document, KIND, RELEASE)
    if has_errors(body.findings):
        return None, body.findings
    spec = body.spec
    made = Release(
        name=body.name,
        version=spec["version"],
        platforms={name: _release(PLATFORMS[name], part) for name, part in spec["platforms"].items()},
        images=spec.get("images", {}),
        policy_settings=spec.get("policySettings"),
        policy_profile=spec.get("policyProfile", ""),
        memory=_memory(spec.get("memory", {})),
    )
    return made, body.findings


def _memory(spec: dict[str, Any]) -> InjectedMemory:
    default = InjectedMemory()
    return InjectedMemory(
        initializer=spec.get("initializer", default.initializer),
        secure_pv=spec.get("securePv", default.secure_pv),
        service_mesh=spec.get("serviceMesh", default.service_mesh),
        pvc_holder=spec.get("pvcHolder", default.pvc_holder),
    )


def _release(platform: Platform, spec: dict[str, Any]) -> PlatformRelease:
    entries = tuple(
        {**entry, "Platform": platform.marker} for entry in spec.get("referenceValues", {}).get(platform.tee, ())
    )
    return PlatformRelease(
        handler=spec["handler"],
        overhead=spec.get("overhead", {}),
        snp=entries if platform.tee == "snp" else (),
        tdx=entries if platform.tee == "tdx" else (),
        rtmr0_by_vcpu=spec.get("rtmr0ByVCPU", {}),
    )
