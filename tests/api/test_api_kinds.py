"""From documents to records: the examples of the design page, and every way to get a field wrong."""

from typing import Any

import pytest

from krm_function.config.document import ConfigDocument
from krm_function.config.generate import (
    Generate,
    ManifestOptions,
    PolicyOptions,
    RequestRules,
    Scheduling,
    WorkloadPolicy,
    parse_generate,
)
from krm_function.config.image_lock import ImageFacts, parse_image_lock
from krm_function.config.release import InjectedMemory, PlatformRelease, Release, parse_release
from krm_function.contrast.profiles import PROFILES
from krm_function.findings import Finding
from tests.api.documents import (
    GENERATE,
    IMAGE_LOCK,
    INITIALIZER,
    OTHER384,
    PEM,
    RELEASE,
    RSA_PEM,
    SHA384,
    WEB,
    A,
    B,
    C,
    changed,
    document,
    said,
)

EMPTY = {**GENERATE, "spec": {}}


def parse(value: dict[str, Any]) -> tuple[Finding, ...]:
    """The findings of a document of any kind; with errors there is no record."""
    parser: Any = {"ContrastGenerate": parse_generate, "ContrastRelease": parse_release}
    made, findings = parser.get(value["kind"], parse_image_lock)(document(value))
    assert (made is None) == bool(findings)
    found: tuple[Finding, ...] = findings
    return found


def test_the_designs_contrast_generate_is_read() -> None:
    made, findings = parse_generate(document(GENERATE))

    assert findings == ()
    assert made == Generate(
        name="contrast",
        platform="metal-qemu-snp",
        initializer=True,
        service_mesh=True,
        image_store=False,
        scheduling={
            "metal-qemu-snp": Scheduling(
                {"hardware": "sev-snp"},
                ({"key": "cc", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},),
            ),
            "metal-qemu-tdx": Scheduling({"hardware": "tdx"}),
        },
        runtime_classes="check",
        policy=PolicyOptions(
            "native",
            "kata-4.1",
            "package agent_policy",
            {"a": 1},
            {"aa.toml": "a = 1"},
            requests=RequestRules("deny", (["pg_dump", "shop"],)),  # type: ignore[arg-type]
        ),
        manifest=ManifestOptions(
            "ConfigMap",
            "contrast-manifest",
            None,
            (PEM,),
            (RSA_PEM,),
            disable_updates=False,
            reference_values={
                "snp": (
                    {
                        "MinimumTCB": {
                            "BootloaderVersion": 4,
                            "TEEVersion": 0,
                            "SNPVersion": 22,
                            "MicrocodeVersion": 72,
                        },
                        "AllowedChipIDs": ["0" * 128],
                    },
                ),
                "metal-qemu-snp": (
                    {"ProductName": "Milan", "MinimumTCB": {"SNPVersion": 8}, "GuestPolicy": {"SMT": True}},
                    {"ProductName": "Genoa", "MinimumTCB": {"SNPVersion": 21}},
                ),
                "tdx": ({"MrSeam": SHA384, "Xfam": "e702060000000000"},),
            },
            policies={"web": WorkloadPolicy(("web.example.com", "10.0.0.1", "spiffe://shop/web"))},
        ),
    )


def test_the_designs_contrast_release_is_read() -> None:
    made, findings = parse_release(document(RELEASE))

    assert findings == ()
    assert made == Release(
        "v1.25.0",
        "v1.25.0",
        {
            "metal-qemu-snp": PlatformRelease(
                "contrast-cc-metal-qemu-snp-1a2b3c4d",
                {"memory": "682Mi", "cpu": 1, "sev-snp.amd.com/esids": 1},
                snp=tuple(
                    {
                        "Platform": "Metal-QEMU-SNP",
                        "ProductName": product,
                        "TrustedMeasurement": SHA384,
                        "APEIP": "0080b004",
                    }
                    for product in ("Milan", "Genoa")
                ),
            ),
            "metal-qemu-tdx": PlatformRelease(
                "contrast-cc-metal-qemu-tdx-1a2b3c4d",
                tdx=({"Platform": "Metal-QEMU-TDX", "MrTd": SHA384, "Rtmrs": [SHA384] * 4},),
                rtmr0_by_vcpu={"1": SHA384, "2": OTHER384},
            ),
        },
        {f"{INITIALIZER}:latest": f"{INITIALIZER}:v1.25.0@{B}"},
        {"common": {}},
        "contrast-1.25",
        InjectedMemory("51Mi", 104857600, "0.5Gi", "1Mi"),
    )


def test_the_designs_image_lock_is_read() -> None:
    entry = IMAGE_LOCK["spec"]["images"][WEB]
    config, layers = entry["config"], tuple(entry["layers"])

    assert parse_image_lock(document(IMAGE_LOCK)) == (
        {WEB: ImageFacts(A, config, "root:x:0:0::/root:/bin/sh\n", "root:x:0:\n", layers=layers)},
        (),
    )


@pytest.mark.parametrize("value", [EMPTY, changed(EMPTY, "spec"), {**EMPTY, "spec": None}])
def test_without_options_the_defaults_hold(value: dict[str, Any]) -> None:
    assert parse_generate(document(value)) == (Generate(), ())


@pytest.mark.parametrize(
    "path", ["spec platform", "spec initializer", "spec initializer enabled", "spec manifest", "spec manifest emit"]
)
def test_null_is_the_same_as_leaving_a_field_out(path: str) -> None:
    assert parse_generate(document(changed(EMPTY, path, None))) == (Generate(), ())


@pytest.mark.parametrize("memory", [None, {}, {"serviceMesh": None}, {"pvcHolder": "7Mi"}])
def test_memory_that_a_release_does_not_speak_of_is_what_is_usual(memory: Any) -> None:
    made, findings = parse_release(document(changed(RELEASE, "spec memory", memory)))

    assert findings == ()
    assert made is not None
    own = (memory or {}).get("pvcHolder", "50Mi")
    assert made.memory == InjectedMemory("50Mi", "100Mi", "400Mi", own)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_can_be_asked_for_and_none_is_the_default(profile: str) -> None:
    made, findings = parse_generate(document(changed(EMPTY, "spec policy profile", profile)))

    assert findings == ()
    assert made is not None
    assert made.policy == PolicyOptions(profile=PROFILES[profile].name)  # type: ignore[index]
    assert Generate().policy.profile is None


@pytest.mark.parametrize("spelling", ["Metal-QEMU-TDX", "METAL-QEMU-TDX", "metal-qemu-tdx"])
def test_the_platform_is_read_in_any_letter_case(spelling: str) -> None:
    made, _ = parse_generate(document(changed(EMPTY, "spec platform", spelling)))

    assert made is not None
    assert made.platform == "metal-qemu-tdx"


def test_settings_and_base_may_be_json_text() -> None:
    value = changed(EMPTY, "spec policy settings", '{"a": [1]}')
    made, findings = parse_generate(document(changed(value, "spec manifest base", '{"policies": {}}')))

    assert findings == ()
    assert made is not None
    assert made.policy.settings == {"a": [1]}
    assert made.manifest.base == {"Policies": {}}


def test_a_release_entry_gets_its_platforms_marker_when_it_names_none() -> None:
    made, findings = parse_release(
        document(changed(RELEASE, "spec platforms metal-qemu-tdx referenceValues tdx 0 Platform"))
    )

    assert findings == ()
    assert made is not None
    assert made.platforms["metal-qemu-tdx"].tdx[0]["Platform"] == "Metal-QEMU-TDX"


def test_vcpu_counts_may_be_numbers_as_yaml_reads_them() -> None:
    made, findings = parse_release(
        document(changed(RELEASE, "spec platforms metal-qemu-tdx rtmr0ByVCPU", {1: SHA384, 220: SHA384}))
    )

    assert findings == ()
    assert made is not None
    assert made.platforms["metal-qemu-tdx"].rtmr0_by_vcpu == {"1": SHA384, "220": SHA384}


MAP = "write a map"
WRONG_VALUES: list[tuple[dict[str, Any], str, Any, str, str]] = [
    (GENERATE, "spec", [], "must be a map, not a list", "write a map of platform, initializer, serviceMesh"),
    (GENERATE, "spec platform", 3, "must be one of metal-qemu-snp, ", "write one of metal-qemu-snp"),
    (GENERATE, "spec platform", "metal-qemu-snpp", "must be one of ", "did you mean metal-qemu-snp?"),
    (GENERATE, "spec platform", "", "must be one of ", "write one of "),
    (GENERATE, "spec platform", "AKS-CLH-SNP", "must be one of ", ""),
    (GENERATE, "spec initializer", True, "must be a map, not a boolean", "write a map of enabled"),
    (GENERATE, "spec initializer enabled", "true", "must be true or false, not a string", "write true or false"),
    (GENERATE, "spec initializer enabled", 1, "must be true or false, not an integer", "write true or false"),
    (GENERATE, "spec runtimeClasses", "emitt", "must be one of check, emit, off", "did you mean emit?"),
    (GENERATE, "spec runtimeClasses", True, "must be one of check, emit, off", "write one of check, emit, off"),
    (GENERATE, "spec policy engine", False, "must be one of native, none", "write one of native, none"),
    (GENERATE, "spec policy engine", "Native", "must be one of native, none", "did you mean native?"),
    (GENERATE, "spec policy settings", "{", "is not JSON: ", "write a map or a JSON object"),
    (GENERATE, "spec policy settings", "[]", "is not a JSON object", "write a map or a JSON object"),
    (GENERATE, "spec policy settings", '{"a": 1, "a": 2}', "has a key twice in one object", ""),
    (GENERATE, "spec policy settings", '{"a": NaN}', "contains NaN, which is not JSON", ""),
    (GENERATE, "spec policy settings", '{"a": "\\ud800"}', "must be valid Unicode", ""),
    (GENERATE, "spec policy settings", '{"a":' * 100000, "is nested too deeply", ""),
    (GENERATE, "spec policy settings", 3, "must be a map or a JSON object, not an integer", ""),
    (GENERATE, "spec policy requests logs", "never", "must be one of allow, deny", "write one of allow, deny"),
    (GENERATE, "spec policy requests exec", ["sh"], "must be a list, not a string", ""),
    (GENERATE, "spec policy requests exec", [["sh"], []], "is empty; write a program", ""),
    (GENERATE, "spec policy requests exec", [["sh", 1]], "must be a string, not an integer", ""),
    (GENERATE, "spec policy rules", 3, "must be a string, not an integer", "put it in quotes"),
    (GENERATE, "spec policy rules", "\ud800", "must be valid Unicode", ""),
    (GENERATE, "spec manifest name", "Manifest", "must be a DNS subdomain", "write a DNS subdomain"),
    (GENERATE, "spec manifest name", "m" * 254, "is longer than 253 characters", ""),
    (GENERATE, "spec manifest name", "m\n", "must be a DNS subdomain", ""),
    (GENERATE, "spec manifest base", "{}x", "not JSON", ""),
    (GENERATE, "spec manifest base", {"policies": {}}, "is no manifest: policies: unknown field, did you mean", ""),
    (GENERATE, "spec manifest base", {"Policies": []}, "is no manifest: Policies: must be a map", ""),
    (GENERATE, "spec manifest workloadOwnerKeys", PEM, "must be a list, not a string", "write a list"),
    (GENERATE, "spec manifest workloadOwnerKeys 0", RSA_PEM, "must be a public ECDSA key in PEM", ""),
    (GENERATE, "spec manifest seedshareOwnerKeys 0", "x", "must be a public RSA key in PEM", ""),
    (GENERATE, "spec manifest seedshareOwnerKeys 0", None, "must be a string, not null", ""),
    (GENERATE, "spec manifest policies web sans", "x", "must be a list, not a string", ""),
    (GENERATE, "spec manifest policies web sans 0", "a b", "must be a DNS name, IP address or URI", ""),
    (GENERATE, "spec manifest policies web", None, "must be a map, not null", "write a map of sans"),
    (
        GENERATE,
        "spec manifest referenceValues snp MinimumTCB TEEVersion",
        256,
        "must be an integer from 0 to 255",
        "correct the number",
    ),
    (
        GENERATE,
        "spec manifest referenceValues snp MinimumTCB TEEVersion",
        "3",
        "must be an integer from 0 to 255, not a string",
        "write it in digits, without quotes",
    ),
    (
        GENERATE,
        "spec manifest referenceValues metal-qemu-snp 0 ProductName",
        "Rome",
        "must be one of Milan, Genoa",
        "write one of Milan, Genoa",
    ),
    (GENERATE, "spec manifest referenceValues snp GuestPolicy", {"Debug": True}, "must be false: ", "set it to false"),
    (GENERATE, "spec manifest referenceValues tdx MrSeam", "00", "must be 96 hex digits (48 bytes)", ""),
    (GENERATE, "spec scheduling metal-qemu-tdx nodeSelector hardware", 1, "must be a string, not an integer", ""),
    (GENERATE, "spec scheduling metal-qemu-tdx nodeSelector hardware", "a b", "must be a label value", ""),
    (GENERATE, "spec scheduling metal-qemu-snp tolerations 0 operator", "Gt", "must be one of Equal, Exists", ""),
    (GENERATE, "spec scheduling metal-qemu-snp tolerations 0 value", "x", "must be empty when operator is Exists", ""),
    (GENERATE, "metadata name", "", "must be a DNS subdomain", ""),
    (GENERATE, "metadata name", 3, "must be a string, not an integer", "put it in quotes"),
    (GENERATE, "metadata", "x", "must be a map, not a string", "write a map of name"),
    (RELEASE, "spec policyProfile", "strict", "must be one of contrast-1.25", "write one of contrast-1.25"),
    (RELEASE, "spec policyProfile", "kata-4.1", "must be one of contrast-1.25", ""),
    (RELEASE, "spec policyProfile", "contrast-1.52", "must be one of contrast-1.25", "did you mean contrast-1.25?"),
    (RELEASE, "spec memory serviceMesh", "0", "must be more than 0", ""),
    (RELEASE, "spec memory initializer", 0, "must be more than 0", ""),
    (RELEASE, "spec memory securePv", "-1Mi", "must not be negative", ""),
    (RELEASE, "spec memory pvcHolder", "50 Mi", "is not a Kubernetes quantity", ""),
    (RELEASE, "spec memory pvcHolder", True, "", ""),
    (RELEASE, "spec memory", "400Mi", "must be a map, not a string", "write a map of initializer"),
    (RELEASE, "spec version", 1.25, "must be a string, not a fractional number", "put it in quotes"),
    (RELEASE, "spec version", "latest", "must be a version", "write a version, for instance v1.25.0"),
    (
        RELEASE,
        "spec platforms metal-qemu-snp handler",
        "contrast-cc-metal-qemu-tdx-1a2b3c4d",
        "must be contrast-cc-",
        "",
    ),
    (RELEASE, "spec platforms metal-qemu-snp handler", "contrast-cc-metal-qemu-snp", "must be contrast-cc-", ""),
    (RELEASE, "spec platforms metal-qemu-snp handler", "contrast-cc-metal-qemu-snp-gpu", "must be contrast-cc-", ""),
    (RELEASE, "spec platforms metal-qemu-snp handler", "contrast-cc-metal-qemu-snp-1A2B", "must be contrast-cc-", ""),
    (RELEASE, "spec platforms metal-qemu-snp overhead memory", "lots", "is not a Kubernetes quantity", ""),
    (RELEASE, "spec platforms metal-qemu-snp overhead memory", "-1", "must not be negative", ""),
    (RELEASE, "spec platforms metal-qemu-snp overhead memorie", "1", "must be cpu, memory, ephemeral-storage", ""),
    (RELEASE, f"spec platforms metal-qemu-snp overhead {'a' * 254}/b", "1", "is not a resource name", ""),
    (
        RELEASE,
        "spec platforms metal-qemu-snp referenceValues snp 0 Platform",
        "Metal-QEMU-SNP-GPU",
        "must be one of Metal-QEMU-SNP",
        "did you mean Metal-QEMU-SNP?",
    ),
    (
        RELEASE,
        "spec platforms metal-qemu-tdx referenceValues tdx 0 Rtmrs",
        [SHA384] * 3,
        "must have exactly 4 entries",
        "",
    ),
    (RELEASE, "spec platforms metal-qemu-tdx rtmr0ByVCPU 1", "00", "must be 96 hex digits (48 bytes)", ""),
    (RELEASE, "spec policySettings", "x", "is not JSON: ", ""),
    (IMAGE_LOCK, "spec images", [], "must be a map, not a list", MAP),
    (IMAGE_LOCK, f"spec images {WEB} digest", "sha256:00", "must be a digest", ""),
    (IMAGE_LOCK, f"spec images {WEB} config Env", "PATH=/", "must be a list, not a string", ""),
    (IMAGE_LOCK, f"spec images {WEB} config Env 0", None, "must be a string, not null", ""),
    (IMAGE_LOCK, f"spec images {WEB} config User", 1000, "must be a string, not an integer", "put it in quotes"),
    (IMAGE_LOCK, f"spec images {WEB} config Volumes /data", True, "must be a map, not a boolean", ""),
    (IMAGE_LOCK, f"spec images {WEB} layers 0 compressedSize", -1, "must be an integer from 0 to", ""),
]


@pytest.mark.parametrize("value, path, wrong, problem, remedy", WRONG_VALUES)
def test_a_wrong_value_is_one_finding_with_field_problem_and_remedy(
    value: dict[str, Any], path: str, wrong: Any, problem: str, remedy: str
) -> None:
    (found,) = parse(changed(value, path, wrong))

    prefix = f"{value['kind']} "
    assert found.code == "CC0901"
    assert found.message.startswith(prefix)
    assert f": {problem}" in found.message
    assert found.hint.startswith(remedy)
    assert [str(part) for part in found.path][: len(path.split(" "))] == path.split(" ")


WRONG_KEYS: list[tuple[dict[str, Any], str, str, str]] = [
    (GENERATE, "spec scheduling metal-qemu-tdx nodeSelector", "a b", "must be a label key"),
    (GENERATE, "spec manifest policies", "", "must be a workload's name"),
    (RELEASE, "spec images", "https://x", "must be an image reference"),
    (RELEASE, "spec images", "0" * 64, "is not an image reference: 64 hex digits are an image ID"),
    (RELEASE, "spec platforms metal-qemu-tdx rtmr0ByVCPU", "221", "must be a number of vCPUs from 1 to 220"),
    (RELEASE, "spec platforms metal-qemu-tdx rtmr0ByVCPU", "0", "must be a number of vCPUs from 1 to 220"),
    (RELEASE, "spec platforms metal-qemu-tdx rtmr0ByVCPU", "01", "must be a number of vCPUs from 1 to 220"),
    (IMAGE_LOCK, "spec images", "Web", "must be an image reference"),
]


@pytest.mark.parametrize("value, path, key, problem", WRONG_KEYS)
def test_a_wrong_key_of_a_map_is_a_finding(value: dict[str, Any], path: str, key: str, problem: str) -> None:
    (found,) = parse(changed(value, f"{path} {key}" if key != "a b" else path, {key: "x"} if key == "a b" else "x"))

    assert found.code == "CC0901"
    assert f"the key {problem}" in found.message


@pytest.mark.parametrize(
    "value, path, suggestion",
    [
        (GENERATE, "spec platfrom", "platform"),
        (GENERATE, "spec runtimeclasses", "runtimeClasses"),
        (GENERATE, "platform", "spec.platform"),
        (GENERATE, "spec emit", "manifest.emit"),
        (GENERATE, "spec manifest workloadOwnerKey", "workloadOwnerKeys"),
        (GENERATE, "spec initializer enable", "enabled"),
        (GENERATE, "spec scheduling metal-qemu-snpx", "metal-qemu-snp"),
        (GENERATE, "spec scheduling Metal-QEMU-SNP", "metal-qemu-snp"),
        (GENERATE, "spec manifest referenceValues snp MinTCB", "MinimumTCB"),
        (GENERATE, "spec manifest referenceValues snp mrtd", "one of ProductName, TrustedMeasurement, APEIP, "),
        (GENERATE, "spec manifest referenceValues snp Platform", ""),
        (GENERATE, "status", ""),
        (RELEASE, "spec platforms metal-qemu-snp rtmr0ByVCPU", "one of handler, overhead, referenceValues"),
        (RELEASE, "spec platforms metal-qemu-snp referenceValues tdx", "snp"),
        (RELEASE, "spec image", "images"),
        (IMAGE_LOCK, f"spec images {WEB} config user", "User"),
        (IMAGE_LOCK, f"spec images {WEB} config WorkDir", "WorkingDir"),
        (IMAGE_LOCK, f"spec images {WEB} User", "config.User"),
        (IMAGE_LOCK, f"spec images {WEB} layers 0 diffId", "diffID"),
        (IMAGE_LOCK, "spec image", "images"),
    ],
)
def test_an_unknown_field_is_one_finding_with_a_suggestion(value: dict[str, Any], path: str, suggestion: str) -> None:
    (found,) = parse(changed(value, path, {}))

    assert found.code == "CC0902"
    assert found.path == tuple(int(part) if part == "0" else part for part in path.split(" "))
    assert found.hint.startswith(f"did you mean {suggestion}")


@pytest.mark.parametrize(
    "value, path",
    [
        (GENERATE, "metadata"),
        (GENERATE, "metadata name"),
        (RELEASE, "spec"),
        (RELEASE, "spec version"),
        (RELEASE, "spec platforms"),
        (RELEASE, "spec platforms metal-qemu-snp handler"),
        (RELEASE, "spec platforms metal-qemu-snp referenceValues snp"),
        (RELEASE, "spec platforms metal-qemu-snp referenceValues snp 0 ProductName"),
        (RELEASE, "spec platforms metal-qemu-snp referenceValues snp 0 TrustedMeasurement"),
        (RELEASE, "spec platforms metal-qemu-tdx referenceValues tdx 0 Rtmrs"),
        (IMAGE_LOCK, "spec images"),
        (IMAGE_LOCK, f"spec images {WEB} digest"),
        (IMAGE_LOCK, f"spec images {WEB} config"),
        (IMAGE_LOCK, f"spec images {WEB} layers 0 diffID"),
    ],
)
def test_a_missing_field_is_one_finding(value: dict[str, Any], path: str) -> None:
    for faulty in (changed(value, path), changed(value, path, None)):
        (found,) = parse(faulty)

        assert found.code == "CC0901"
        assert found.message.endswith(": is missing")
        assert found.hint.startswith("add it")


def test_every_fault_of_a_document_is_named() -> None:
    value = changed(changed(changed(GENERATE, "spec platform", 1), "spec nonsense", 1), "spec initializer enabled", 1)

    assert [found.path[-1] for found in parse(value)] == ["nonsense", "platform", "enabled"]


def test_the_same_product_twice_is_a_finding() -> None:
    value = changed(RELEASE, "spec platforms metal-qemu-snp referenceValues snp 1 ProductName", "Milan")

    (found,) = parse(value)

    assert "is the second entry for Metal-QEMU-SNP Milan" in found.message
    assert found.path == ("spec", "platforms", "metal-qemu-snp", "referenceValues", "snp", 1)


def test_a_lock_entry_must_have_the_digest_of_its_own_key() -> None:
    (found,) = parse(changed(IMAGE_LOCK, f"spec images {WEB} digest", B))

    assert found.code == "CC0505"
    assert found.ref is not None
    assert found.ref.kind == "ImageLock"


def test_a_finding_names_object_file_and_line() -> None:
    _, (found,) = parse_generate(document(changed(GENERATE, "spec platform", 1)))

    assert found.ref == ("contrast-krm.dev/v1alpha1", "ContrastGenerate", "", "contrast", "")
    assert (found.file, found.line, found.column) == ("config.yaml", 7, 0)


def test_a_finding_is_located_where_the_host_can_tell() -> None:
    value = changed(GENERATE, "spec platform", 1)
    _, (found,) = parse_generate(ConfigDocument(value, "f", 1, lambda path: (len(path), 40)))

    assert (found.line, found.column) == (2, 40)


@pytest.mark.parametrize("value", [None, 3, "x", [], {}, {"kind": "ContrastGenerate"}, {1: 2}])
def test_a_document_of_any_shape_gives_findings(value: Any) -> None:
    for made, findings in (
        parse_generate(document(value)),
        parse_release(document(value)),
        parse_image_lock(document(value)),
    ):
        assert made is None
        assert findings


CANARY = "s3cr3t-canary"


@pytest.mark.parametrize(
    "value, path",
    [
        (GENERATE, "spec manifest workloadOwnerKeys 0"),
        (GENERATE, "spec manifest seedshareOwnerKeys 0"),
        (GENERATE, "spec manifest base"),
        (GENERATE, "spec policy settings"),
        (GENERATE, "spec platform"),
        (GENERATE, "spec manifest name"),
        (RELEASE, "spec platforms metal-qemu-snp handler"),
        (RELEASE, "spec version"),
        (IMAGE_LOCK, f"spec images {WEB} digest"),
        (IMAGE_LOCK, f"spec images {WEB} config Env"),
        (IMAGE_LOCK, f"spec images {WEB} config Labels"),
    ],
)
def test_no_finding_quotes_a_value(value: dict[str, Any], path: str) -> None:
    findings = parse(changed(value, path, f"-----BEGIN EC PRIVATE KEY-----\n{CANARY}"))

    assert findings
    assert CANARY not in str(said(findings))


def test_a_private_key_is_refused_by_name() -> None:
    private = PEM.replace("PUBLIC", "EC PRIVATE")

    (found,) = parse(changed(GENERATE, "spec manifest workloadOwnerKeys 0", private))

    assert "must be a public ECDSA key in PEM, never a private one" in found.message


def test_a_long_field_name_is_cut_in_the_message() -> None:
    (found,) = parse(changed(GENERATE, "spec " + "x" * 5000, 1))

    assert len(found.message) < 200


def test_layers_are_kept_in_their_order_and_may_be_the_same_twice() -> None:
    with_two = changed(IMAGE_LOCK, f"spec images {WEB} layers", [{"diffID": C}, {"diffID": C}])

    images, findings = parse_image_lock(document(with_two))
    assert not findings
    assert images is not None
    assert images[WEB].layers == ({"diffID": C}, {"diffID": C})
