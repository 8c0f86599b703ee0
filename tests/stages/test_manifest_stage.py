"""The manifest stage: docs/facts/contrast-manifest.md#rtmr0, docs/facts/contrast-manifest.md#policy-entries
and docs/facts/contrast-manifest.md#manifest.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from krm_function.config.collect import Config
from krm_function.config.generate import Generate, ManifestOptions, WorkloadPolicy
from krm_function.config.release import Release
from krm_function.contrast.manifest import FILE, ReferenceValues, decode, encode
from krm_function.contrast.platforms import PLATFORMS
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.workload import EMITTED, INITDATA, LOCAL_CONFIG, PREFIX, Workload
from krm_function.render.make_manifest import (
    MadeManifest,
    gather_reference_values,
    make_config_map,
    make_manifest,
    read_emitted_manifest,
    with_base,
)
from krm_function.render.roles import read_identities
from krm_function.render.select import select
from tests.world import APEIP, RELEASE, RTMR0, SEED, TDX_RTMRS, a_list, an_object, config, coordinator, snp
from tests.world import PLATFORMS as RELEASED

OWNER = """-----BEGIN PUBLIC KEY-----
MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEP2+SXCNK/lYcYjCMeC98jlR3JTwXHTPH
vR+9p9wJdQcpv8d2gEw4jzxwd8uxqCvZrqFWz64ntBNuYffGk/VsnFHXC7mCPQ1y
Kp3c0HRchHuR48CnmxWUqgtQizNkeczT
-----END PUBLIC KEY-----
"""
TCB = {"BootloaderVersion": 4, "TEEVersion": 0, "SNPVersion": 24, "MicrocodeVersion": 219}
SEAM = "ab" * 48
FILLED: Mapping[str, Any] = {"snp": ({"MinimumTCB": TCB},), "tdx": ({"MrSeam": SEAM},)}
SNP, SNP_GPU = "metal-qemu-snp", "metal-qemu-snp-gpu"
TDX, TDX_GPU = "metal-qemu-tdx", "metal-qemu-tdx-gpu"


def digest(digit: str) -> str:
    return digit * 64


def sealed(value: Any, digit: str = "a") -> Workload:
    (workload,) = select(value).workloads
    return workload._replace(digest=digit * 64 if digit else "")


COORDINATOR = sealed(coordinator(), "c")


def told(release: Release = RELEASE, **options: Any) -> Config:
    return config(release, manifest=ManifestOptions(**{"reference_values": FILLED, **options}))


def gathered(to: Config, *platforms: str, **counts: Sequence[int]) -> ReferenceValues:
    used = [PLATFORMS[name] for name in platforms or (SNP,)]
    return gather_reference_values(to, used, {name.replace("_", "-"): count for name, count in counts.items()})


def made(
    *subjects: Workload, to: Config | None = None, platforms: Sequence[str] = (SNP,), **counts: Sequence[int]
) -> MadeManifest:
    to = to or told()
    values = gathered(to, *platforms, **counts)
    assert values.findings == ()
    return make_manifest(to, subjects, values, read_identities(subjects, to))


def errors(of: MadeManifest | ReferenceValues) -> list[str]:
    return [found.code for found in of.findings if found.severity == "error"]


def manifest(*subjects: Workload, **more: Any) -> Any:
    result = made(*subjects, **more)
    assert errors(result) == []
    return decode(result.data)


# --- policies


def test_every_workload_has_an_entry_under_its_digest() -> None:
    policies = manifest(COORDINATOR, sealed(an_object("Deployment", "web"), "b"))["Policies"]
    assert policies == {
        digest("b"): {"SANs": ["web"], "WorkloadSecretID": "apps/v1/Deployment/shop/web"},
        digest("c"): {
            "SANs": ["coordinator"],
            "WorkloadSecretID": "apps/v1/StatefulSet/shop/coordinator",
            "Role": "coordinator",
        },
    }
    assert list(policies) == sorted(policies)


@pytest.mark.parametrize(
    "kind, prefix",
    [
        ("Pod", "core/v1"),
        ("ReplicationController", "core/v1"),
        ("Job", "batch/v1"),
        ("CronJob", "batch/v1"),
        ("Deployment", "apps/v1"),
        ("DaemonSet", "apps/v1"),
        ("ReplicaSet", "apps/v1"),
        ("StatefulSet", "apps/v1"),
    ],
)
@pytest.mark.parametrize("namespace", ["shop", ""])
def test_the_secret_id_of_every_kind_is_that_of_contrast(kind: str, prefix: str, namespace: str) -> None:
    policies = manifest(COORDINATOR, sealed(an_object(kind, "x", namespace)))["Policies"]
    assert policies[digest("a")]["WorkloadSecretID"] == f"{prefix}/{kind}/{namespace or 'default'}/x"


def test_a_secret_id_chosen_by_annotation_wins_unless_it_is_empty() -> None:
    key = PREFIX + "workload-secret-id"
    chosen = manifest(COORDINATOR, sealed(an_object(annotations={key: "mine"})))["Policies"]
    assert chosen[digest("a")]["WorkloadSecretID"] == "mine"
    empty = manifest(COORDINATOR, sealed(an_object(annotations={key: ""})))["Policies"]
    assert empty[digest("a")]["WorkloadSecretID"] == "apps/v1/Deployment/shop/web"
    assert empty[digest("a")]["SANs"] == ["web"]


@pytest.mark.parametrize("chosen", [5, None, ["x"]])
def test_a_secret_id_of_another_type_is_not_taken(chosen: Any) -> None:
    policies = manifest(COORDINATOR, sealed(an_object(annotations={PREFIX + "workload-secret-id": chosen})))["Policies"]
    assert policies[digest("a")]["WorkloadSecretID"] == "apps/v1/Deployment/shop/web"


def test_the_users_names_follow_the_workloads_own() -> None:
    to = told(policies={"web": WorkloadPolicy(("a.example.com", "10.0.0.1", "web", "a.example.com"))})
    policies = manifest(COORDINATOR, sealed(an_object()), to=to)["Policies"]
    assert policies[digest("a")]["SANs"] == ["web", "a.example.com", "10.0.0.1"]
    assert policies[digest("c")]["SANs"] == ["coordinator"]


@pytest.mark.parametrize("names", [("a", "a"), ("a", "b")])
def test_one_digest_for_two_workloads_is_an_error_even_under_different_names(names: tuple[str, str]) -> None:
    first, second = (sealed(an_object(kind, name)) for kind, name in zip(("Job", "Pod"), names, strict=True))
    result = made(COORDINATOR, first, second)
    assert (errors(result), result.data) == (["CC0705"], b"")
    found = result.findings[0]
    assert f"Job/shop/{names[0]} and Pod/shop/{names[1]} have the same digest {digest('a')}" == found.message
    assert found.ref == second.ref


def test_every_problem_of_every_workload_is_told_at_once() -> None:
    nameless = an_object("Job")
    nameless["metadata"] = {"generateName": "web-"}
    to = told(workload_owner_keys=("nonsense",))
    subjects = (COORDINATOR, sealed(an_object(name="x"), ""), sealed(nameless, "b"), sealed(an_object(name="y"), "c"))
    assert errors(made(*subjects, to=to)) == ["CC0711", "CC0712", "CC0705", "CC0707"]


def test_a_workload_with_a_generated_name_cannot_be_in_a_manifest() -> None:
    value = an_object("Job")
    value["metadata"] = {"generateName": "web-", "namespace": "shop"}
    result = made(COORDINATOR, sealed(a_list({}, value)))
    assert (errors(result), result.data) == (["CC0712"], b"")
    assert result.findings[0].path == ("items", 1, "metadata", "name")


@pytest.mark.parametrize("role", ["Coordinator", "web", "coordinator "])
def test_a_role_that_contrast_does_not_know_is_an_error(role: str) -> None:
    result = made(COORDINATOR, sealed(an_object(labels={PREFIX + "pod-role": role})))
    assert (errors(result), result.data) == (["CC0702"], b"")
    assert result.findings[0].path == ("spec", "template", "metadata", "labels", PREFIX + "pod-role")
    assert role in result.findings[0].message


def test_an_empty_role_is_none() -> None:
    policies = manifest(COORDINATOR, sealed(an_object(labels={PREFIX + "pod-role": ""})))["Policies"]
    assert "Role" not in policies[digest("a")]


def test_a_workload_without_initdata_is_an_error() -> None:
    result = made(COORDINATOR, sealed(an_object("CronJob"), ""))
    assert (errors(result), result.data) == (["CC0711"], b"")
    assert result.findings[0].path[-2:] == ("annotations", INITDATA)


@pytest.mark.parametrize("beside", [(), (COORDINATOR,)])
def test_a_workload_without_initdata_is_a_warning_if_no_manifest_is_asked_for(beside: Any) -> None:
    result = made(*beside, sealed(an_object(), ""), to=told(emit="none"))
    assert ([finding.code for finding in result.findings], errors(result), result.data) == (["CC0716"], [], b"")


def test_not_asking_for_a_manifest_excuses_nothing_else() -> None:
    to = told(emit="none", workload_owner_keys=("x",))
    assert errors(made(COORDINATOR, sealed(an_object(), ""), to=to)) == ["CC0711", "CC0707"]
    twice = (sealed(an_object(name="a")), sealed(an_object(name="b")))
    assert errors(made(COORDINATOR, *twice, to=told(emit="none"))) == ["CC0705"]


# --- the coordinator


@pytest.mark.parametrize("emitted", ["ConfigMap", "LocalConfig"])
def test_without_a_coordinator_there_is_no_manifest(emitted: Any) -> None:
    result = made(sealed(an_object()), to=told(emit=emitted))
    assert (errors(result), result.data) == (["CC0701"], b"")


def test_without_a_coordinator_nothing_is_wrong_if_no_manifest_is_asked_for() -> None:
    assert made(sealed(an_object()), to=told(emit="none")) == MadeManifest()


def test_the_coordinator_may_be_in_the_base() -> None:
    base = manifest(COORDINATOR)
    result = manifest(sealed(an_object()), to=told(base=base))
    assert set(result["Policies"]) == {digest("a"), digest("c")}
    assert result["Policies"][digest("c")]["Role"] == "coordinator"


def test_a_base_without_a_coordinator_does_not_help() -> None:
    base = manifest(COORDINATOR)
    base["Policies"] = {digest("d"): None, digest("e"): {"SANs": ["e"]}}
    assert errors(made(sealed(an_object()), to=told(base=base))) == ["CC0701"]
    assert errors(made(sealed(an_object()), to=told(base={**base, "Policies": None}))) == ["CC0701"]


# --- the base


def test_policies_of_other_releases_in_the_base_survive() -> None:
    base = manifest(COORDINATOR, sealed(an_object("Job", "elsewhere"), "e"))
    result = manifest(COORDINATOR, sealed(an_object()), to=told(base=base))
    assert set(result["Policies"]) == {digest("a"), digest("c"), digest("e")}
    assert result["Policies"][digest("e")] == base["Policies"][digest("e")]


def test_the_old_digest_of_a_workload_goes_and_its_names_stay() -> None:
    base = manifest(COORDINATOR, sealed(an_object(), "e"))
    base["Policies"][digest("e")]["SANs"].append("lb.example.com")
    result = manifest(COORDINATOR, sealed(an_object(), "f"), to=told(base=base))
    assert set(result["Policies"]) == {digest("c"), digest("f")}
    assert result["Policies"][digest("f")]["SANs"] == ["web", "lb.example.com"]


@pytest.mark.parametrize("field", ["Policies", "ReferenceValues", "WorkloadOwnerPubKeys", "nonsense"])
def test_a_base_that_is_no_manifest_is_an_error_and_no_crash(field: str) -> None:
    base = {**manifest(COORDINATOR), field: 5}
    values = gathered(told(base=base))
    (found,) = values.findings
    assert (found.code, found.path) == ("CC0702", ("spec", "manifest", "base"))
    assert field in found.message


def test_values_that_nobody_filled_in_are_a_warning_in_a_new_manifest() -> None:
    result = made(COORDINATOR, to=told(reference_values={}), platforms=(SNP, TDX), metal_qemu_tdx=[1])
    warnings = [found for found in result.findings if found.severity == "warning"]
    assert errors(result) == []
    assert result.data
    assert [found.code for found in warnings] == ["CC0703", "CC0703", "CC0770"], "one for the same fields"
    assert [found.message.partition(" for ")[2] for found in warnings[:2]] == ["snp[0], snp[1]", "tdx[0]"]
    assert "MinimumTCB.BootloaderVersion" in warnings[0].hint
    assert "MrSeam" in warnings[1].hint


def test_values_that_nobody_filled_in_are_an_error_in_a_base() -> None:
    base = decode(made(COORDINATOR, to=told(reference_values={})).data)
    result = made(COORDINATOR, to=told(reference_values={}, base=base))
    assert errors(result) == ["CC0704"]
    (said,) = [found.message for found in result.findings if found.code == "CC0704"]
    assert said.startswith("snp[0], snp[1] ")
    assert errors(made(COORDINATOR, to=told(base=base))) == []


def test_a_base_with_wrong_values_is_an_error() -> None:
    base = manifest(COORDINATOR)
    base["Policies"]["XYZ"] = {"SANs": ["x"]}
    assert errors(made(COORDINATOR, to=told(base=base))) == ["CC0702"]


# --- reference values


def test_reference_values_are_those_of_the_used_platforms_in_the_order_of_platforms() -> None:
    values = gathered(told(), TDX_GPU, SNP_GPU, TDX, SNP, metal_qemu_tdx=[1])
    assert values.findings == ()
    assert [(one["Platform"], one["ProductName"]) for one in values.release["snp"]] == [
        ("Metal-QEMU-SNP", "Milan"),
        ("Metal-QEMU-SNP", "Genoa"),
        ("Metal-QEMU-SNP-GPU", "Milan"),
        ("Metal-QEMU-SNP-GPU", "Genoa"),
    ]
    assert [one["Platform"] for one in values.release["tdx"]] == ["Metal-QEMU-TDX", "Metal-QEMU-TDX-GPU"]
    assert "tdx" not in gathered(told(), SNP).merged
    assert "snp" not in gathered(told(), TDX_GPU).merged


def test_the_defaults_of_contrast_are_filled_in() -> None:
    (milan, genoa) = manifest(COORDINATOR)["ReferenceValues"]["snp"]
    assert milan["TrustedMeasurement"] == genoa["TrustedMeasurement"] == SEED
    assert milan["APEIP"] == APEIP
    assert [key for key, flag in milan["GuestPolicy"].items() if flag is True] == ["SMT"]
    assert [key for key, flag in milan["PlatformInfo"].items() if flag is True] == ["SMTEnabled"]
    (tdx,) = manifest(COORDINATOR, platforms=(TDX_GPU,))["ReferenceValues"]["tdx"]
    assert (tdx["Xfam"], tdx["MemoryIntegrity"], tdx["MrSeam"]) == ("e702060000000000", False, SEAM)


@pytest.mark.parametrize("lacking", ["entries", "platform"])
def test_a_used_platform_without_reference_values_is_an_error(lacking: str) -> None:
    platforms = {name: one for name, one in RELEASED.items() if name != SNP}
    if lacking == "entries":
        platforms[SNP] = snp()._replace(snp=())
    values = gathered(told(RELEASE._replace(platforms=platforms)), SNP, TDX_GPU)
    (found,) = values.findings
    assert (found.code, found.path) == ("CC0709", ("spec", "platforms", SNP))
    assert found.ref is not None
    assert found.ref.kind == "ContrastRelease"


def test_reference_values_may_come_from_the_base_alone() -> None:
    base = manifest(COORDINATOR)
    bare = RELEASE._replace(platforms={**RELEASED, SNP: snp()._replace(snp=())})
    result = manifest(COORDINATOR, to=told(bare, base=base))
    assert result["ReferenceValues"] == base["ReferenceValues"]
    base["ReferenceValues"]["snp"] = [
        {**one, "Platform": "Metal-QEMU-SNP-GPU"} for one in base["ReferenceValues"]["snp"]
    ]
    assert errors(gathered(told(bare, base=base))) == ["CC0709"]


def test_an_override_by_platform_reaches_that_platform_only() -> None:
    to = told(reference_values={SNP_GPU: ({"MinimumTCB": TCB},), TDX: ({"MrSeam": SEAM},)})
    values = gathered(to, SNP, SNP_GPU, TDX, TDX_GPU, metal_qemu_tdx=[1]).merged
    tcb = {(one["Platform"], one["MinimumTCB"]["SNPVersion"]) for one in values["snp"]}
    assert tcb == {("Metal-QEMU-SNP", None), ("Metal-QEMU-SNP-GPU", 24)}
    seam = {(one["Platform"], one["MrSeam"]) for one in values["tdx"]}
    assert seam == {("Metal-QEMU-TDX", SEAM), ("Metal-QEMU-TDX-GPU", "")}


def test_an_override_by_tee_reaches_all_its_platforms_and_a_product_narrows_it() -> None:
    both = ({"MinimumTCB": TCB}, {"ProductName": "Genoa", "MinimumTCB": {"SNPVersion": 5}})
    values = gathered(told(reference_values={"snp": both}), SNP, SNP_GPU).merged["snp"]
    assert [one["MinimumTCB"]["SNPVersion"] for one in values] == [24, 5, 24, 5]
    assert [one["MinimumTCB"]["MicrocodeVersion"] for one in values] == [219] * 4


def test_an_override_without_a_list_around_it_is_one_entry() -> None:
    to = told(reference_values={SNP: {"MinimumTCB": TCB}})
    assert [one["MinimumTCB"]["SNPVersion"] for one in gathered(to).merged["snp"]] == [24, 24]


def test_an_override_that_contradicts_the_release_is_an_error() -> None:
    values = gathered(told(reference_values={SNP: ({"TrustedMeasurement": "0" * 96},)}))
    (found,) = values.findings
    assert (found.code, found.path) == ("CC0702", ("spec", "manifest", "referenceValues"))
    assert values.merged == {}


@pytest.mark.parametrize("platform", [SNP, TDX])
def test_a_platform_that_is_in_the_base_but_not_in_the_release_is_an_error(platform: str) -> None:
    base = manifest(COORDINATOR, platforms=(SNP, TDX))
    without = RELEASE._replace(platforms={name: one for name, one in RELEASED.items() if name != platform})
    values = gathered(told(without, base=base), platform, metal_qemu_tdx=[1], metal_qemu_snp=[1])
    assert errors(values) == ["CC0709"]


# --- RTMR0


def tdx_entry(**counts: Sequence[int]) -> Any:
    (found,) = manifest(COORDINATOR, platforms=(TDX,), **counts)["ReferenceValues"]["tdx"]
    return found


@pytest.mark.parametrize(
    "counts, first, others",
    [
        ([1], RTMR0["1"], None),
        ([2], RTMR0["2"], None),
        ([3, 3, 3], RTMR0["3"], None),
        ([1, 2], RTMR0["1"], [RTMR0["2"]]),
        ([2, 1, 3, 1], RTMR0["3"], [RTMR0["1"], RTMR0["2"]]),
    ],
)
def test_rtmr0_is_the_smallest_of_the_vcpu_counts_in_use(counts: list[int], first: str, others: Any) -> None:
    found = tdx_entry(metal_qemu_tdx=counts)
    assert found["Rtmrs"] == [first, *TDX_RTMRS[1:]]
    assert found.get("Rtmr0Alternatives") == others


def test_without_pods_on_the_platform_rtmr0_is_that_of_the_release() -> None:
    assert tdx_entry()["Rtmrs"] == list(TDX_RTMRS)
    assert tdx_entry(metal_qemu_tdx=[])["Rtmrs"] == list(TDX_RTMRS)


def test_the_gpu_platform_needs_no_table_of_vcpu_counts() -> None:
    values = gathered(told(), TDX_GPU, metal_qemu_tdx_gpu=[9])
    assert (values.findings, values.rtmr0) == ((), None)


def test_snp_needs_no_table_of_vcpu_counts() -> None:
    assert gathered(told(), SNP, metal_qemu_snp=[9]).rtmr0 is None


# --- owner keys


def test_owner_keys_are_hex_of_their_der() -> None:
    keys = manifest(COORDINATOR, to=told(workload_owner_keys=(OWNER, OWNER)))["WorkloadOwnerPubKeys"]
    assert len(keys) == 1
    assert bytes.fromhex(keys[0]).startswith(b"\x30\x76")


def test_without_keys_both_lists_are_null() -> None:
    result = manifest(COORDINATOR)
    assert (result["WorkloadOwnerPubKeys"], result["SeedshareOwnerPubKeys"]) == (None, None)


@pytest.mark.parametrize(
    "option, field", [("workload_owner_keys", "workloadOwnerKeys"), ("seedshare_owner_keys", "seedshareOwnerKeys")]
)
def test_every_bad_key_is_located_and_never_quoted(option: str, field: str) -> None:
    private = "-----BEGIN PRIVATE KEY-----\nMIIEvgIBADAN\n-----END PRIVATE KEY-----\n"
    options: Any = {option: ("text", private)}
    result = made(COORDINATOR, to=told(**options))
    assert (errors(result), result.data) == (["CC0707", "CC0707"], b"")
    assert [found.path for found in result.findings] == [("spec", "manifest", field, 0), ("spec", "manifest", field, 1)]
    assert "MIIEvg" not in str(result.findings)


def test_an_rsa_key_is_a_seedshare_owner_and_an_ec_key_is_none() -> None:
    assert errors(made(COORDINATOR, to=told(seedshare_owner_keys=(OWNER,)))) == ["CC0707"]


def test_with_updates_disabled_nobody_owns_the_manifest() -> None:
    base = manifest(COORDINATOR, to=told(workload_owner_keys=(OWNER,)))
    assert base["WorkloadOwnerPubKeys"]
    to = told(workload_owner_keys=(OWNER,), base=base, disable_updates=True)
    assert manifest(COORDINATOR, to=to)["WorkloadOwnerPubKeys"] is None


# --- bytes and object


def test_the_bytes_are_canonical_and_do_not_depend_on_the_order_of_workloads() -> None:
    others = (sealed(an_object(name="x"), "b"), sealed(an_object("Job", "y"), "d"))
    one = made(COORDINATOR, *others).data
    two = made(*reversed(others), COORDINATOR).data
    assert one == two == encode(decode(one))
    assert made(COORDINATOR, *others).findings[-1].message == "manifest has 3 policies"


def test_a_manifest_made_upon_itself_is_the_same() -> None:
    subjects = (COORDINATOR, sealed(an_object(), "b"))
    data = made(*subjects, to=told(workload_owner_keys=(OWNER,))).data
    assert made(*subjects, to=told(workload_owner_keys=(OWNER,), base=decode(data))).data == data


def emitted(*subjects: Workload, **options: Any) -> Any:
    return make_config_map(Generate(manifest=ManifestOptions(**options)), b'{"a": "\xc3\xa4"}\n', subjects)


def test_the_config_map_carries_the_bytes_in_the_coordinators_namespace() -> None:
    (value,) = emitted(COORDINATOR, sealed(an_object(namespace="else")))
    assert value == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "contrast-manifest",
            "namespace": "shop",
            "labels": {"app.kubernetes.io/managed-by": "contrast-krm"},
            "annotations": {EMITTED: "true"},
        },
        "data": {FILE: '{"a": "\u00e4"}\n'},
    }
    assert read_emitted_manifest(value) == '{"a": "\u00e4"}\n'


@pytest.mark.parametrize("subjects", [(), (sealed(coordinator(namespace="")),), (sealed(an_object()),)])
def test_without_a_namespace_of_the_coordinator_the_object_has_none(subjects: Any) -> None:
    (value,) = emitted(*subjects)
    assert "namespace" not in value["metadata"]


def test_the_last_coordinator_decides_the_namespace() -> None:
    (value,) = emitted(COORDINATOR, sealed(coordinator(namespace="b"), "b"))
    assert value["metadata"]["namespace"] == "b"


def test_the_name_is_the_configured_one_and_local_config_is_marked() -> None:
    (value,) = emitted(COORDINATOR, name="other", emit="LocalConfig")
    assert value["metadata"]["name"] == "other"
    assert value["metadata"]["annotations"] == {EMITTED: "true", LOCAL_CONFIG: "true"}


def test_nothing_is_emitted_without_a_manifest_or_a_wish_for_one() -> None:
    assert emitted(COORDINATOR, emit="none") == ()
    assert make_config_map(Generate(), b"", [COORDINATOR]) == ()


@pytest.mark.parametrize(
    "value",
    [None, {}, {"kind": "ConfigMap", "data": {FILE: "{}"}}]
    + [
        {"kind": kind, "metadata": {"annotations": {EMITTED: "true"}}, "data": data}
        for kind, data in (("Secret", {FILE: "{}"}), ("ConfigMap", {}), ("ConfigMap", {FILE: 5}), ("ConfigMap", None))
    ],
)
def test_other_objects_carry_no_manifest(value: Any) -> None:
    assert read_emitted_manifest(value) is None


def test_the_json_of_a_manifest_is_readable_by_anybody() -> None:
    data = made(COORDINATOR).data
    assert list(json.loads(data)) == ["Policies", "ReferenceValues", "WorkloadOwnerPubKeys", "SeedshareOwnerPubKeys"]


@pytest.mark.parametrize(
    ("objects", "problem"),
    [
        ([], "is not in the input"),
        ([{"kind": "Secret", "metadata": {"name": "mine"}, "data": {FILE: "{}"}}], "is not in the input"),
        ([{"kind": "ConfigMap", "metadata": {"name": "other"}, "data": {FILE: "{}"}}], "is not in the input"),
        (
            [{"kind": "ConfigMap", "metadata": {"name": "mine"}, "data": {FILE: "{}"}}] * 2,
            "is in the input more than once",
        ),
        (
            [{"kind": "ConfigMap", "metadata": {"name": "mine"}, "data": {FILE: "["}}],
            "not JSON: ",
        ),
    ],
)
def test_a_base_of_a_config_map_is_there_once_and_a_manifest(objects: Any, problem: str) -> None:
    given = config(manifest=ManifestOptions(base={"configMap": "mine"}))
    kept, (found,) = with_base(given, objects)
    assert kept == given
    assert (found.code, found.path) == ("CC0713", ("spec", "manifest", "base", "configMap"))
    assert problem in found.message


@pytest.mark.parametrize("kind", KINDS)
def test_workloads_in_a_list_are_like_workloads_alone(kind: str) -> None:
    alone = sealed(an_object(kind, "x"))
    inside = select(a_list({}, an_object(kind, "x"))).workloads[0]
    one, two = (manifest(COORDINATOR, subject._replace(digest=digest("a"))) for subject in (alone, inside))
    assert one == two
