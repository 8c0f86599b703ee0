"""`manifest` of ContrastGenerate: what goes into the manifest beside the policies."""

from collections.abc import Mapping
from typing import Any, Literal

from krm_function.config.document import NAMESPACE, SUBDOMAIN
from krm_function.contrast.manifest import ENTRIES, FieldProblem, canonical, decode
from krm_function.contrast.platforms import PLATFORMS, Platform
from krm_function.kubernetes.kinds import KINDS
from krm_function.record import Annotated, NamedTuple
from krm_function.schema.table import EMPTY, table
from krm_function.schema.values import Choice, Field, JsonObject, ListOf, MapOf, OneOrMany, Problems, Record, Text

# --- Reference values as a release or an operator gives them: the manifest's own fields, each of them optional
#
# Rule: the fields are those of the manifest package's tables; nothing about them is written here a second
# time.


NEEDED: Mapping[str, tuple[str, ...]] = {"snp": ("ProductName", "TrustedMeasurement"), "tdx": ("MrTd", "Rtmrs")}


def released(platform: Platform) -> Record:
    """Return the reference values of one platform in a release: `{snp: [...]}` or `{tdx: [...]}`."""
    tee = platform.tee
    about = f"{platform.marker}, which is also what is meant when it is left out"
    fields = {**ENTRIES[tee].fields, "Platform": Field(Choice((platform.marker,)), about)}
    fields |= {name: fields[name]._replace(required=True) for name in NEEDED[tee]}

    def check(values: dict[str, Any]) -> Problems:
        from krm_function.contrast.manifest_merge import check_selectors

        entries = [{**entry, "Platform": platform.marker} for entry in values.get(tee, ())]
        return tuple((found.path, found.problem) for found in check_selectors(tee, entries))

    return Record({tee: Field(ListOf(Record(fields)), "one entry for each product", required=True)}, check)


def operated(tee: str) -> Record:
    """Return what an operator sets in the entries of a platform or of a TEE; ProductName narrows it to one product."""
    return Record({name: field for name, field in ENTRIES[tee].fields.items() if name != "Platform"})


# --- The manifest that `spec.manifest.base` holds or names: as a map, as JSON, in a ConfigMap, or `{configMap: NAME}`
#
# Rule: it recognises a manifest by the types of its fields; manifest.validate checks the values later.


def load_manifest(text: str) -> dict[str, Any]:
    """Read a manifest. Raises ValueError with a problem text."""
    return decode(text.encode())


def manifest_in(value: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a ConfigMap object; any other map as it is. Raises ValueError with a problem text."""
    if value.get("kind") != "ConfigMap":
        return value
    data = value.get("data")
    text = data.get("manifest.json") if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise ValueError("is a ConfigMap without the key manifest.json")  # noqa: TRY004 (about the object)
    return load_manifest(text)


def names_config_map(value: Mapping[str, Any]) -> bool:
    """Tell whether a base is `{configMap: NAME}`: the manifest of a ConfigMap among the resources."""
    return set(value) == {"configMap"} and isinstance(value["configMap"], str)


def manifest_problem(value: dict[str, Any]) -> str:
    """Return what keeps a map from being a manifest at all, or ""."""
    if names_config_map(value):
        return ""
    try:
        canonical(manifest_in(value))
    except FieldProblem as found:
        return f"is no manifest: {found}"
    except ValueError as problem:
        return str(problem)
    return ""


# --- `manifest` of ContrastGenerate: what goes into the manifest beside the policies, and how it is emitted
#
# Rule: a base is kept as the manifest that it holds, whatever it was written as; its values are judged
# when the manifest is made.


LONGEST_PEM = 16 * 1024
NOTE = r"(?:\s*[A-Za-z0-9][A-Za-z0-9@._+, -]{0,120}\r?\n)?"  # name and date of a key (contrast/owner_keys.py)
PEM = r"\s*-----BEGIN {0}-----\s[A-Za-z0-9+/=\s]+-----END {0}-----\s*"
PART = "[!-.0-~]"  # of a name: printable, and no slash


def _key(types: str, kind: str) -> Text:
    return Text(
        f"a public {kind} key in PEM, never a private one",
        NOTE + PEM.format(types),
        LONGEST_PEM,
        "-----BEGIN PUBLIC KEY-----...",
    )


def _entries(**values: list[Any]) -> Mapping[str, tuple[Any, ...]]:
    return {name: tuple(entries) for name, entries in values.items()}


# In the order in which they apply: what is said of a platform beats what is said of its TEE.
REFERENCE_VALUES = Record(
    {
        **{tee: Field(OneOrMany(operated(tee)), f"for all {tee} entries") for tee in ("snp", "tdx")},
        **{
            name: Field(OneOrMany(operated(platform.tee)), f"for entries of {platform.marker}")
            for name, platform in PLATFORMS.items()
        },
    },
    make=_entries,
)


class WorkloadPolicy(NamedTuple):
    """What the operator adds to one workload's manifest entry."""

    sans: Annotated[tuple[str, ...], Field(ListOf(Text("a DNS name, IP address or URI", "[!-~]+", 2048)))] = ()


class Coordinator(NamedTuple):
    """The workload that is the coordinator."""

    namespace: Annotated[str, Field(NAMESPACE)]
    kind: Annotated[str, Field(Choice(tuple(KINDS)))]
    name: Annotated[str, Field(SUBDOMAIN)]

    @property
    def key(self) -> str:
        """`StatefulSet/shop/coordinator`."""
        return f"{self.kind}/{self.namespace}/{self.name}"


class SharedSecret(NamedTuple):
    """A WorkloadSecretID, and the workloads that may have it: `Deployment/shop/web`."""

    id: Annotated[str, Field(Text("a workload secret ID"), "the annotation workload-secret-id")]
    workloads: Annotated[
        tuple[str, ...],
        Field(
            ListOf(Text("KIND/NAMESPACE/NAME", f"{PART}+/{PART}+/{PART}+", 512, "Deployment/shop/web")),
            "all that may have this secret, also those of other releases",
        ),
    ]


def _check_once(secrets: list[Any]) -> Problems:
    ids = [secret["id"] for secret in secrets]
    return tuple(((index, "id"), "is there twice") for index, one in enumerate(ids) if one in ids[:index])


class ManifestOptions(NamedTuple):
    """What goes into the manifest beside the policies, and how it is emitted."""

    emit: Annotated[Literal["ConfigMap", "LocalConfig", "none"], "how the manifest is emitted", "short"] = "ConfigMap"
    name: Annotated[str, Field(SUBDOMAIN, "of that object")] = "contrast-manifest"
    base: Annotated[  # a decoded manifest
        Mapping[str, Any] | None,
        Field(
            JsonObject(
                "a manifest: a map, a JSON object, a ConfigMap, or {configMap: NAME}", load_manifest, manifest_problem
            ),
            "a manifest whose entries are kept",
        ),
    ] = None
    workload_owner_keys: Annotated[  # PEM
        tuple[str, ...], Field(ListOf(_key("PUBLIC KEY", "ECDSA")), "who may update the manifest")
    ] = ()
    seedshare_owner_keys: Annotated[  # PEM
        tuple[str, ...], Field(ListOf(_key("(?:RSA )?PUBLIC KEY", "RSA")), "who may recover the coordinator")
    ] = ()
    disable_updates: Annotated[bool, "nobody may update the manifest"] = False
    # Operator's values by platform, e.g. {"metal-qemu-snp": ({"MinimumTCB": {...}},)}; the manifest's own field names.
    # "snp" and "tdx" stand for every entry of that kind; a ProductName in an entry narrows it to one product.
    reference_values: Annotated[
        Mapping[str, tuple[Mapping[str, Any], ...]],
        Field(
            REFERENCE_VALUES,
            "what only the operator knows, such as MinimumTCB; a list tells products apart by ProductName",
        ),
    ] = EMPTY
    policies: Annotated[  # by name of the workload, or by its key `Deployment/shop/web`
        Mapping[str, WorkloadPolicy],
        Field(
            MapOf(
                Text("a workload's name, or KIND/NAMESPACE/NAME", f"{PART}+(?:/{PART}+/{PART}+)?", 512),
                table(WorkloadPolicy),
            ),
            "by workload: more subject alternative names of its certificate. The key is its name where no other has it,"
            " else KIND/NAMESPACE/NAME, which also allows a workload a name that another one has",
        ),
    ] = EMPTY
    coordinator: Annotated[
        Coordinator | None,
        Field(
            table(Coordinator),
            "the workload that is the coordinator; absent: the one StatefulSet that has the label for it",
        ),
    ] = None
    shared_secrets: Annotated[
        tuple[SharedSecret, ...],
        Field(
            ListOf(table(SharedSecret), check=_check_once),
            "the workload secrets that several workloads may have, or that a workload may take over from another one",
        ),
    ] = ()
    keep: Annotated[
        Literal["none", "previous"],
        "what of base stays beside the new: `previous` keeps policies and reference values of the render before,"
        " so that its pods may restart during a rollout",
    ] = "none"


def _options(base: dict[str, Any] | None = None, **given: Any) -> ManifestOptions:
    return ManifestOptions(base=None if base is None else manifest_in(base), **given)


MANIFEST = table(ManifestOptions, make=_options)
