"""Nineteen lines of Contrast's pages and their readers: each holds by a test, or is decided against with a reason.

A row has the words of the page, the tests that show it, and what of it is decided against: the beginning of a row of
docs/explanation/deviations.md.
"""

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hosts.running import ROOT

HERE = Path(__file__).parent
DECIDED = (ROOT / "docs/explanation/deviations.md").read_text().partition("\n## Requested, but rejected\n")[2]


class Line(NamedTuple):
    """number: of the list that the lines came from."""

    number: int
    words: str
    tests: tuple[str, ...]
    against: tuple[str, ...] = ()


LINES = (
    Line(
        1,
        "kustomize build --enable-alpha-plugins",
        (
            "literal_lines::exec_runs_with_enable_exec",
            "literal_lines::legacy_runs_with_enable_alpha_plugins_alone_after_one_command",
            "literal_lines::container_is_written_for_enable_alpha_plugins_alone",
        ),
        ("`init` writes a function that needs only `--enable-alpha-plugins`",),
    ),
    Line(
        1,
        "helm install --post-renderer contrast-krm",
        ("literal_lines::post_renderer_without_arguments_is_told_by_helm",),
        ("`helm install --post-renderer contrast-krm` finds its configuration by itself",),
    ),
    Line(
        2,
        "an input without any Contrast workload is an error",
        ("nothing_confidential::pods_none_of_which_is_confidential_are_an_error_of_render_and_check",),
    ),
    Line(
        2,
        "the coordinator is a StatefulSet with a Contrast class",
        ("nothing_confidential::a_coordinator_that_is_none_is_named_as_what_it_is",),
        ("the role of the coordinator moves from an annotation to the label by itself",),
    ),
    Line(
        3,
        "each node installer runs on the nodes of its platform",
        ("node_installers::the_scheduling_reaches_class_and_installer_of_its_platform",),
        ("a render adds scheduling to node installers",),
    ),
    Line(
        4,
        "annotations on the workload object",
        (
            "annotations_on_the_object::annotations_of_the_deployment_are_moved_to_its_pods_and_back",
            "annotations_on_the_object::adopt_moves_them",
        ),
    ),
    Line(4, 'skip-initializer is "true" to the letter', ("initializer_and_mesh::skip_initializer_is_exactly_true",)),
    Line(5, "the service mesh needs an initializer", ("initializer_and_mesh::the_service_mesh_needs_an_initializer",)),
    Line(
        5,
        "without a mesh, CONTRAST_SERVICE_MESH_DISABLED opens the firewall",
        (
            "initializer_and_mesh::without_a_mesh_the_initializer_must_be_told_so",
            "initializer_and_mesh::skip_initializer_leaves_the_firewall_closed",
        ),
    ),
    Line(
        6,
        "NVIDIA_VISIBLE_DEVICES=all in each container with a GPU",
        ("gpu_musts::a_gpu_container_has_nvidia_visible_devices_all",),
        ("a GPU container without `NVIDIA_VISIBLE_DEVICES=all` is a warning",),
    ),
    Line(
        6,
        "a CDI annotation, and a -gpu class, need a GPU limit",
        ("gpu_musts::a_cdi_annotation_needs_a_gpu_limit_and_a_class", "gpu_musts::a_gpu_class_needs_a_gpu"),
    ),
    Line(
        6,
        "8 GB for a VM with a GPU, by limits or default_memory",
        (
            "../stages/test_memory::a_gpu_needs_8_gb",
            "../stages/test_memory::the_annotation_counts_and_has_to_be_a_number",
        ),
    ),
    Line(
        7,
        "pods run where their class is",
        ("affinity_and_class::node_affinity_that_contradicts_the_class_is_an_error",),
    ),
    Line(
        8,
        "MinimumAPIVersion of a newer manifest",
        (
            "newer_manifest::a_field_of_a_newer_manifest_is_kept_and_warned_of",
            "newer_manifest::a_field_of_a_newer_manifest_is_kept_below_the_top_too",
        ),
        ("an unknown field of a newer manifest is kept anywhere",),
    ),
    Line(8, "MinimumTeeTcbSvn", ("newer_manifest::the_hint_of_a_renamed_field_names_the_new_one",)),
    Line(
        9,
        "check --cluster compares with what runs",
        ("check_cluster_never_silent::an_error_in_the_output_does_not_drop_the_cluster_without_a_word",),
    ),
    Line(
        10,
        "configuration among the resources, in a chart too",
        ("configuration_in_a_chart::configuration_in_a_chart_is_read_and_taken_out_of_what_helm_gets",),
    ),
    Line(
        11,
        "metal-qemu, contrast set, verify, recover, sign",
        ("hints::metal_qemu_guesses_no_tee", "hints::set_verify_recover_and_sign_are_contrasts_own"),
    ),
    Line(
        12,
        "ruamel.yaml keeps comments and structure",
        (
            "comments_and_structure::every_committed_output_has_the_comments_and_the_order_of_what_it_was_made_of",
            "comments_and_structure::a_package_of_a_user_keeps_its_comments_and_its_order",
            "../krm/test_ruamel_edit::only_the_line_of_a_changed_value_moves",
        ),
    ),
)


def functions(file: str) -> set[str]:
    """The tests of a file, named as rows name them."""
    path = HERE / (f"{file}.py" if "/" in file else f"test_{file}.py")
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.number}: {line.words}")
def test_the_line(line: Line) -> None:
    for test in line.tests:
        file, _, name = test.partition("::")
        assert f"test_{name}" in functions(file), test
    for words in line.against:
        (row,) = [row for row in DECIDED.splitlines() if row.startswith(f"| {words} |")]
        assert len(row.strip("| ").split(" | ")[1]) > 40, "with a reason"


def test_nineteen_lines_and_each_number_has_one() -> None:
    assert len(LINES) == 19
    assert {line.number for line in LINES} == set(range(1, 13))


def test_every_decision_against_something_is_of_a_line() -> None:
    rows = [row for row in DECIDED.partition("\n## ")[0].splitlines() if row.startswith("| ") and row[2] not in "|-"]
    named = {words for line in LINES for words in line.against}
    assert {row.strip("| ").split(" | ")[0] for row in rows} - named == set()
