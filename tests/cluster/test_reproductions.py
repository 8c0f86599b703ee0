"""What was once found by hand on a real control plane, and the tests that do the same again on this one.

Rule of this file: each finding names at least one test of this directory that fails if it comes back; a test that is
renamed or taken out is missed here.
"""

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CHECK, PODS, HELM = "test_check_cluster.py", "test_check_pods.py", "test_helm.py"
FOUND: dict[str, tuple[tuple[str, str], ...]] = {
    "check --cluster says that all is well while webhooks, policies, limits or a debugger have changed the pods": (
        (PODS, "test_a_webhook_that_changes_the_pods_is_named_before_and_its_pods_afterwards"),
        (PODS, "test_an_admission_policy_is_named"),
        (PODS, "test_a_limit_range_that_makes_other_vms_is_named"),
        (PODS, "test_a_debug_container_is_named"),
    ),
    "plan --cluster has no word for what the API server will do to the pods, or refuse in them": (
        (PODS, "test_a_webhook_that_changes_the_pods_is_named_before_and_its_pods_afterwards"),
        (PODS, "test_an_admission_policy_is_named"),
        (PODS, "test_a_limit_range_that_makes_other_vms_is_named"),
        (PODS, "test_what_pod_security_refuses_is_told_in_its_own_words"),
        (PODS, "test_a_quota_that_wants_limits_is_told_and_a_full_one_is_not"),
        (PODS, "test_what_no_policy_is_about_is_no_alarm"),
    ),
    "a rollout is many errors, with the advice to delete what serves": (
        (PODS, "test_a_rollout_is_one_line_and_nothing_that_serves_is_to_be_deleted"),
    ),
    "a Helm 4 release cannot be upgraded after what the hint says was done": (
        (HELM, "test_what_both_forms_of_check_say_in_the_life_of_a_release"),
    ),
    "check --cluster never passes on a kpt package": (("test_kpt_live.py", "test_kpt_applies_updates_and_destroys"),),
    "a Service that somebody adds later stops every pod of its namespace": (
        ("test_services.py", "test_the_pods_of_the_namespace_start"),
        ("test_services.py", "test_in_kata_s_form_we_name_those_that_stop_a_pod_and_no_other"),
    ),
    "the manifest of the next release, or image, drops the pods that run": (
        ("test_upgrade.py", "test_the_waves_of_an_upgrade"),
    ),
    "a workload too large for kubectl apply, or for etcd, is no finding": (
        ("test_object_size.py", "test_kubectl_apply_takes_what_is_counted_and_not_a_byte_more"),
        ("test_object_size.py", "test_etcd_takes_none_that_is_a_tenth_longer"),
    ),
    "a realistic chart is too large for a release of both Helms, and the pages say otherwise": (
        ("test_helm_releases.py", "test_the_warning_comes_before_the_release_is_too_large"),
    ),
    "variables that a cluster adds are denied without a word": (
        (PODS, "test_a_webhook_that_changes_the_pods_is_named_before_and_its_pods_afterwards"),
        ("test_services.py", "test_the_pods_of_the_namespace_start"),
    ),
    "plan --cluster gives nothing without rights on nodes; a second Helm release cannot be checked alone": (
        ("test_plan_of_cluster.py", "test_without_the_right_to_see_nodes_the_plan_is_made_and_says_what_it_lacks"),
        ("test_helm_releases.py", "test_a_second_release_has_the_manifest_of_the_first_as_its_base"),
        (CHECK, "test_somebody_who_may_only_view_the_namespace_can_compare_it"),
    ),
}


@pytest.mark.parametrize("found", FOUND, ids=[f"D{number}" for number in range(1, len(FOUND) + 1)])
def test_each_has_a_test_that_does_it_again(found: str) -> None:
    for file, name in FOUND[found]:
        (path,) = HERE.rglob(file)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert name in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}, (file, name)
