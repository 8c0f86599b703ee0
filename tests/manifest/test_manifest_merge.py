"""The truth tables of merge.py, row by row, and what holds for all merges."""

import copy
import random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.contrast.manifest import (
    FieldProblem,
    Rtmr0,
    canonical,
    complete_entry,
    decode,
    encode,
    rtmr0_values,
    with_rtmr0,
)
from krm_function.contrast.manifest_merge import check_overrides, check_release, merge, policy_entry
from krm_function.contrast.measurement import UnknownVcpuCount

OLD, NEW = "0a" * 48, "0b" * 48
SNP, GPU, TDX = "Metal-QEMU-SNP", "Metal-QEMU-SNP-GPU", "Metal-QEMU-TDX"
TCB = {"BootloaderVersion": 1, "TEEVersion": 2, "SNPVersion": 3, "MicrocodeVersion": 4}


def snp(platform: str, product: str, measurement: str = NEW, **more: Any) -> dict[str, Any]:
    return {
        "Platform": platform,
        "ProductName": product,
        "TrustedMeasurement": measurement,
        "APEIP": "00000001",
        **more,
    }


def tdx(measurement: str = NEW, **more: Any) -> dict[str, Any]:
    return {"Platform": TDX, "MrTd": measurement, "Rtmrs": [measurement] * 4, **more}


def base_of(policies: dict[str, Any], **reference_values: Any) -> dict[str, Any]:
    return {"Policies": policies, "ReferenceValues": reference_values}


RELEASE = {"snp": [snp(SNP, "Milan"), snp(SNP, "Genoa")]}
WEB = {"w2": policy_entry("web", "apps/v1/Deployment/default/web")}


def sans(manifest: dict[str, Any]) -> dict[str, Any]:
    return {digest: policy["SANs"] for digest, policy in manifest["Policies"].items()}


class TestPolicies:
    def test_without_a_base_they_are_those_rendered(self) -> None:
        assert merge(None, WEB, RELEASE)["Policies"] == WEB

    def test_of_workloads_not_rendered_survive_as_they_are(self) -> None:
        other = {
            "c": {"SANs": ["coordinator", "*"], "WorkloadSecretID": "c", "Role": "coordinator"},
            "x": {"SANs": ["db"], "WorkloadSecretID": "apps/v1/StatefulSet/default/db"},
        }
        assert merge(base_of(other), WEB, RELEASE)["Policies"] == {**other, **WEB}

    def test_of_a_rendered_workload_move_to_the_new_digest_with_the_names_added_by_hand(self) -> None:
        old = {"w1": policy_entry("web", "apps/v1/Deployment/default/web", sans=["web.example.com", "10.0.0.1"])}
        new = {"w2": policy_entry("web", "apps/v1/Deployment/default/web", sans=["10.0.0.1", "spiffe://x"])}
        assert sans(merge(base_of(old), new, RELEASE, replaced={"w1": "w2"})) == {
            "w2": ["web", "10.0.0.1", "spiffe://x", "web.example.com"]
        }

    def test_the_wildcard_that_older_releases_generated_is_dropped(self) -> None:
        old = {"w1": {"SANs": ["web", "*"], "WorkloadSecretID": "apps/v1/Deployment/default/web"}}
        assert sans(merge(base_of(old), WEB, RELEASE, replaced={"w1": "w2"})) == {"w2": ["web"]}
        wanted = {"w2": policy_entry("web", "apps/v1/Deployment/default/web", sans=["*"])}
        assert sans(merge(base_of(old), wanted, RELEASE, replaced={"w1": "w2"})) == {"w2": ["web", "*"]}

    def test_are_kept_whatever_their_names_and_ids_are_unless_the_caller_knows_better(self) -> None:
        same = policy_entry("web", "apps/v1/Deployment/default/web")
        old = {"w1": same, "x1": {"SANs": ["web", "extra"]}, "y1": {"SANs": None}}
        assert merge(base_of(old), WEB, RELEASE)["Policies"] == {**old, **WEB}

    def test_several_stale_digests_of_one_workload_become_one(self) -> None:
        old = {
            "b": policy_entry("web", "apps/v1/Deployment/default/web", sans=["two"]),
            "a": policy_entry("web", "apps/v1/Deployment/default/web", sans=["one"]),
        }
        replaced = {"a": "w2", "b": "w2"}
        assert sans(merge(base_of(old), WEB, RELEASE, replaced=replaced)) == {"w2": ["web", "one", "two"]}

    def test_under_the_same_digest_keep_its_names_and_not_those_of_stale_digests(self) -> None:
        old = {
            "w1": policy_entry("web", "apps/v1/Deployment/default/web", sans=["stale"]),
            "w2": policy_entry("web", "apps/v1/Deployment/default/web", sans=["current", "*"]),
        }
        replaced = {"w1": "w2", "w2": "w2"}
        assert sans(merge(base_of(old), WEB, RELEASE, replaced=replaced)) == {"w2": ["web", "current"]}

    def test_of_workloads_that_share_a_secret_keep_their_names_apart(self) -> None:
        old = {
            "a1": policy_entry("blue", "shared", sans=["b.example"]),
            "b1": policy_entry("green", "shared", sans=["g.example"]),
        }
        new = {"a2": policy_entry("blue", "shared"), "b2": policy_entry("green", "shared")}
        made = merge(base_of(old), new, RELEASE, replaced={"a1": "a2", "b1": "b2"})
        assert sans(made) == {"a2": ["blue", "b.example"], "b2": ["green", "g.example"]}

    def test_role_and_secret_id_are_those_rendered(self) -> None:
        old = {"w1": {"SANs": ["web"], "WorkloadSecretID": "apps/v1/Deployment/default/web", "Role": "coordinator"}}
        assert merge(base_of(old), WEB, RELEASE, replaced={"w1": "w2"})["Policies"] == WEB


class TestReferenceValues:
    def test_without_a_base_are_those_of_the_release_completed(self) -> None:
        assert merge(None, WEB, RELEASE)["ReferenceValues"] == {
            "snp": [complete_entry("snp", [part]) for part in RELEASE["snp"]]
        }

    def test_measured_fields_come_from_the_release_and_the_rest_from_the_base(self) -> None:
        old = snp(SNP, "Milan", OLD, MinimumTCB=TCB, GuestPolicy={"SMT": False}, AllowedChipIDs=["0c" * 64])
        made = merge(base_of({}, snp=[old]), WEB, {"snp": [snp(SNP, "Milan")]})
        assert made["ReferenceValues"]["snp"] == [
            complete_entry(
                "snp", [snp(SNP, "Milan", MinimumTCB=TCB, GuestPolicy={"SMT": False}, AllowedChipIDs=["0c" * 64])]
            )
        ]

    def test_what_the_base_left_open_does_not_hide_what_the_release_knows(self) -> None:
        release = {"tdx": [tdx(MrSeam="0e" * 48)], "snp": [snp(SNP, "Milan", MinimumTCB=TCB)]}
        old = base_of(
            {}, tdx=[complete_entry("tdx", [tdx(OLD)])], snp=[complete_entry("snp", [snp(SNP, "Milan", OLD)])]
        )
        made = merge(old, WEB, release)["ReferenceValues"]
        assert made["tdx"][0]["MrSeam"] == "0e" * 48
        assert made["snp"][0]["MinimumTCB"] == TCB

    def test_a_measured_field_that_the_release_lacks_stays(self) -> None:
        old = base_of({}, snp=[snp(SNP, "Milan", OLD)])
        made = merge(old, WEB, {"snp": [{"Platform": SNP, "ProductName": "Milan", "APEIP": "00000002"}]})
        assert made["ReferenceValues"]["snp"][0]["TrustedMeasurement"] == OLD
        assert made["ReferenceValues"]["snp"][0]["APEIP"] == "00000002"

    def test_every_base_entry_of_a_product_is_kept_and_refreshed(self) -> None:
        old = [snp(SNP, "Milan", OLD, MinimumTCB={**TCB, "TEEVersion": version}) for version in (7, 8)]
        made = merge(base_of({}, snp=old), WEB, RELEASE)["ReferenceValues"]["snp"]
        assert [(part["MinimumTCB"]["TEEVersion"], part["TrustedMeasurement"]) for part in made] == [(7, NEW), (8, NEW)]

    def test_of_platforms_not_used_now_stay_and_new_platforms_follow(self) -> None:
        old = base_of({}, snp=[snp(GPU, "Genoa", OLD)], tdx=[tdx(OLD, Rtmr0Alternatives=[NEW])])
        made = merge(old, WEB, RELEASE)["ReferenceValues"]
        assert [(part["Platform"], part["ProductName"], part["TrustedMeasurement"]) for part in made["snp"]] == [
            (GPU, "Genoa", OLD),
            (SNP, "Milan", NEW),
            (SNP, "Genoa", NEW),
        ]
        assert made["tdx"][0]["Rtmr0Alternatives"] == [NEW]
        assert made["snp"][0]["GuestPolicy"]["SMT"] is False  # as Go reads an absent field

    def test_a_product_that_was_removed_by_hand_stays_removed(self) -> None:
        made = merge(base_of({}, snp=[snp(SNP, "Genoa", OLD)]), WEB, RELEASE)
        assert [part["ProductName"] for part in made["ReferenceValues"]["snp"]] == ["Genoa"]

    def test_the_order_of_platforms_in_the_release_is_irrelevant(self) -> None:
        parts = [snp(GPU, "Milan"), snp(SNP, "Milan")]
        assert merge(None, WEB, {"snp": parts}) == merge(None, WEB, {"snp": parts[::-1]})

    def test_settings_apply_to_what_they_name(self) -> None:
        settings_ = {
            "snp": [
                {"MinimumTCB": TCB},
                {"ProductName": "Genoa", "MinimumTCB": {"TEEVersion": 9}, "GuestPolicy": {"ABIMinor": 31}},
                {"Platform": GPU, "MinimumMitigationVector": 5},
            ],
            "tdx": {"MrSeam": "0e" * 48},
        }
        release = {"snp": [*RELEASE["snp"], snp(GPU, "Genoa")], "tdx": [tdx()]}
        made = merge(None, WEB, release, settings_)["ReferenceValues"]
        gpu, milan, genoa = sorted(
            made["snp"], key=lambda part: (part["Platform"] == SNP, part["ProductName"] == "Genoa")
        )
        assert milan["MinimumTCB"] == TCB
        assert genoa["MinimumTCB"] == gpu["MinimumTCB"] == {**TCB, "TEEVersion": 9}
        assert (genoa["GuestPolicy"]["ABIMinor"], genoa["GuestPolicy"]["SMT"]) == (31, True)
        assert [part["MinimumMitigationVector"] for part in (gpu, milan, genoa)] == [5, 0, 0]
        assert made["tdx"][0]["MrSeam"] == "0e" * 48

    def test_settings_win_over_the_base_and_reach_entries_the_release_does_not_name(self) -> None:
        old = base_of({}, snp=[snp(SNP, "Milan", OLD, MinimumTCB=TCB)])
        made = merge(old, WEB, None, {"snp": [{"MinimumTCB": {"TEEVersion": 9}}]})
        assert made["ReferenceValues"]["snp"][0]["MinimumTCB"] == {**TCB, "TEEVersion": 9}

    def test_a_setting_may_repeat_a_measured_value_but_not_contradict_it(self) -> None:
        assert merge(None, WEB, RELEASE, {"snp": [{"TrustedMeasurement": NEW.upper()}]}) == merge(None, WEB, RELEASE)
        with pytest.raises(FieldProblem, match=r"snp\[1\].TrustedMeasurement: contradicts the release"):
            merge(None, WEB, RELEASE, {"snp": [{}, {"TrustedMeasurement": OLD}]})
        with pytest.raises(FieldProblem, match=r"tdx\[0\].Rtmrs: contradicts"):
            merge(None, WEB, {"tdx": [tdx()]}, {"tdx": [tdx(OLD, MrTd=NEW)]})


class TestWrongInput:
    @pytest.mark.parametrize(
        ("release", "field"),
        [
            ({"snp": [{"ProductName": "Milan"}]}, "snp[0].Platform"),
            ({"snp": [{"Platform": SNP}]}, "snp[0].ProductName"),
            ({"snp": [snp(SNP, "Milan"), snp(SNP, "Milan", OLD)]}, "snp[1]"),
            ({"tdx": [tdx("0a")]}, "tdx[0].MrTd"),
            ({"tdx": [None]}, "tdx[0]"),
            ({"tpm": []}, "tpm"),
            ([], ""),
        ],
    )
    def test_a_release_must_say_what_its_values_are_for(self, release: Any, field: str) -> None:
        assert check_release(release)[0].field == field
        with pytest.raises(FieldProblem) as caught:
            merge(None, WEB, release)
        assert caught.value.problem.field == field

    @pytest.mark.parametrize(
        ("overrides", "field"),
        [
            ({"snp": {"Platform": "Metal-QEMU"}}, "snp[0].Platform"),
            ({"snp": [{"MinimumTCB": {"TEEVersion": 256}}]}, "snp[0].MinimumTCB.TEEVersion"),
            ({"snp": [{"MinimumTcb": {}}]}, "snp[0].MinimumTcb"),
            ({"tdx": [{"MrSeam": "00"}]}, "tdx[0].MrSeam"),
            ({"tdx": "x"}, "tdx"),
        ],
    )
    def test_settings_are_checked_as_far_as_they_go(self, overrides: Any, field: str) -> None:
        assert [found.field for found in check_overrides(overrides)] == [field]
        with pytest.raises(FieldProblem):
            merge(None, WEB, RELEASE, overrides)

    def test_settings_need_not_be_complete(self) -> None:
        assert check_overrides({"snp": {"MinimumTCB": {"TEEVersion": None}, "APEIP": ""}, "tdx": None}) == ()
        assert check_overrides(None) == check_release(None) == ()

    def test_a_problem_has_the_path_of_its_field(self) -> None:
        found = check_overrides({"snp": {"Zzz": 1}})
        assert found[0].path == ("snp", 0, "Zzz")

    @pytest.mark.parametrize("base", [{"Policies": []}, {"ReferenceValues": {"snp": [1]}}, {"X": 1}])
    def test_a_base_that_fits_no_field_table_is_refused(self, base: Any) -> None:
        with pytest.raises(FieldProblem):
            merge(base, WEB, RELEASE)


class TestRtmr0:
    TABLE: Final = {str(count): f"{16 - count:02x}" * 48 for count in range(1, 5)}

    def values(self, made: dict[str, Any]) -> tuple[str, ...]:
        return rtmr0_values(made["ReferenceValues"])

    def test_is_set_from_the_vcpu_counts(self) -> None:
        made = merge(None, WEB, {"tdx": [tdx()]}, rtmr0=Rtmr0(self.TABLE, (1, 3, 1)))["ReferenceValues"]["tdx"][0]
        assert made["Rtmrs"] == ["0d" * 48, NEW, NEW, NEW]
        assert made["Rtmr0Alternatives"] == ["0f" * 48]

    def test_has_no_alternatives_for_one_count(self) -> None:
        old = base_of({}, tdx=[tdx(OLD, Rtmr0Alternatives=["0c" * 48])])
        made = merge(old, WEB, {"tdx": [tdx()]}, rtmr0=Rtmr0(self.TABLE, (2,)))["ReferenceValues"]["tdx"][0]
        assert made["Rtmrs"][0] == "0e" * 48
        assert "Rtmr0Alternatives" not in made

    def test_of_other_platforms_is_left_alone(self) -> None:
        gpu = tdx(Platform="Metal-QEMU-TDX-GPU")
        made = merge(None, WEB, {"tdx": [gpu, tdx()]}, rtmr0=Rtmr0(self.TABLE, (2,)))["ReferenceValues"]["tdx"]
        assert {part["Platform"]: part["Rtmrs"][0] for part in made} == {
            TDX: "0e" * 48,
            "Metal-QEMU-TDX-GPU": NEW,
        }
        assert with_rtmr0({"snp": []}, Rtmr0(self.TABLE, (2,))) == {"snp": []}

    def test_of_surviving_workloads_is_kept_if_the_release_still_knows_it(self) -> None:
        other = {"x": policy_entry("db", "apps/v1/StatefulSet/default/db")}
        old = base_of(other, tdx=[tdx(OLD, Rtmr0Alternatives=["0c" * 48])])
        rtmr0 = Rtmr0(self.TABLE, (2,))
        assert self.values(merge(old, WEB, {"tdx": [tdx()]}, rtmr0=rtmr0)) == ("0c" * 48, "0e" * 48)
        alone = {**other, **WEB}
        made = merge(old, alone, {"tdx": [tdx()]}, rtmr0=rtmr0, replaced={"x": "x"})
        assert self.values(made) == ("0e" * 48,)

    def test_of_an_unknown_count_is_an_error(self) -> None:
        with pytest.raises(UnknownVcpuCount, match="9 vCPUs"):
            merge(None, WEB, {"tdx": [tdx()]}, rtmr0=Rtmr0(self.TABLE, (9,)))

    def test_without_tdx_workloads_changes_nothing(self) -> None:
        old = base_of({}, tdx=[tdx(OLD, Rtmr0Alternatives=[NEW])])
        assert self.values(merge(old, WEB, None, rtmr0=Rtmr0({}, ()))) == (OLD, NEW)


class TestOwnerKeys:
    def test_are_joined_deduplicated_and_sorted(self) -> None:
        base = {"WorkloadOwnerPubKeys": ["BB", "dd"], "SeedshareOwnerPubKeys": None}
        made = merge(base, WEB, RELEASE, owner_keys=["cc", "bb", "aa", "aa"], seedshare_keys=["ee"])
        assert made["WorkloadOwnerPubKeys"] == ["BB", "aa", "cc", "dd"]
        assert made["SeedshareOwnerPubKeys"] == ["ee"]

    def test_are_null_when_there_are_none(self) -> None:
        made = merge({"WorkloadOwnerPubKeys": []}, WEB, RELEASE)
        assert made["WorkloadOwnerPubKeys"] is None
        assert made["SeedshareOwnerPubKeys"] is None


NAME = st.sampled_from(["a", "b", "c"])
ENTRIES = st.builds(
    policy_entry, NAME, st.sampled_from(["", "id-a", "id-b", "id-c"]), sans=st.lists(st.sampled_from("aduv*"))
)
POLICIES = st.dictionaries(st.sampled_from(["d1", "d2", "d3", "d4"]), ENTRIES, max_size=4)
FILLED = st.fixed_dictionaries(
    {},
    optional={
        "MinimumTCB": st.just(TCB),
        "GuestPolicy": st.just({"SMT": False}),
        "AllowedChipIDs": st.just(["0a" * 64]),
    },
)
SNPS = st.builds(
    lambda platform, product, measurement, filled: snp(platform, product, measurement, **filled),
    st.sampled_from([SNP, GPU]),
    st.sampled_from(["Milan", "Genoa"]),
    st.sampled_from([OLD, NEW]),
    FILLED,
)
TDXS = st.builds(
    lambda value, others: tdx(value, Rtmr0Alternatives=others),
    st.sampled_from([OLD, NEW]),
    st.sampled_from([[], [NEW]]),
)
KEYS = st.lists(st.sampled_from(["aa", "bb", "cc"]), max_size=2)
BASES = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "Policies": POLICIES,
        "ReferenceValues": st.fixed_dictionaries(
            {}, optional={"snp": st.lists(SNPS, max_size=3), "tdx": st.lists(TDXS, max_size=1)}
        ),
        "WorkloadOwnerPubKeys": st.none() | KEYS,
    },
)
INPUTS = st.fixed_dictionaries(
    {
        "new_policies": POLICIES,
        "reference_values": st.fixed_dictionaries(
            {},
            optional={
                "snp": st.lists(SNPS, max_size=3, unique_by=lambda part: (part["Platform"], part["ProductName"])),
                "tdx": st.lists(TDXS, max_size=1),
            },
        ),
        "overrides": st.none() | st.fixed_dictionaries({"snp": FILLED}),
        "owner_keys": KEYS,
        "rtmr0": st.none() | st.just(Rtmr0({"1": OLD, "2": NEW}, (2,))),
    }
)


@settings(max_examples=150, deadline=None)
@given(BASES, INPUTS)
def test_a_merge_with_its_own_result_changes_nothing(base: dict[str, Any] | None, inputs: dict[str, Any]) -> None:
    before = copy.deepcopy((base, inputs))
    once = merge(base, **inputs)
    assert (base, inputs) == before
    assert encode(merge(decode(encode(once)), **inputs)) == encode(once)
    assert canonical(once) == once


@settings(max_examples=60, deadline=None)
@given(POLICIES, POLICIES, st.randoms(use_true_random=False))
def test_the_order_of_policies_in_the_base_is_irrelevant(
    old: dict[str, Any], new: dict[str, Any], chance: random.Random
) -> None:
    shuffled = list(old.items())
    chance.shuffle(shuffled)
    again = list(new.items())
    chance.shuffle(again)
    assert merge({"Policies": dict(shuffled)}, dict(again), None) == merge({"Policies": old}, new, None)
