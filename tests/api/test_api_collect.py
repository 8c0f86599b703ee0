"""All documents together: what one render is told."""

from typing import Any

import pytest

from krm_function.config.collect import Config, collect, from_config_map
from krm_function.config.document import is_config
from krm_function.config.generate import Generate, Scheduling
from krm_function.findings import Finding
from tests.api.documents import EXAMPLES, GENERATE, IMAGE_LOCK, PEM, RELEASE, WEB, A, B, C, changed, document, said


def config(*values: Any) -> Config:
    """The Config of documents without errors."""
    made, findings = collect(map(document, values))
    assert findings == ()
    assert made is not None
    return made


def codes(*values: Any) -> list[str]:
    """The codes of documents with errors."""
    made, findings = collect(map(document, values))
    assert made is None
    return [found.code for found in findings]


def config_map(**data: Any) -> dict[str, Any]:
    """What kpt makes of `-- key=value`; __ stands for a dot."""
    named = {key.replace("__", "."): value for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "function-input"}, "data": named}


@pytest.mark.parametrize(
    "api_version, ours",
    [
        ("contrast-krm.dev/v1alpha1", True),
        ("contrast-krm.dev/v2", True),
        ("contrast-krm.dev", True),
        ("Contrast-KRM.dev/v1alpha1", True),
        ("contrast-krm.io/v1alpha1", True),
        ("contrast-krm/v1alpha1", True),
        ("v1", False),
        ("apps/v1", False),
        ("", False),
        ("example.com/contrast-krm.dev", False),
        ("contrast-krmx.dev/v1alpha1", False),
    ],
)
def test_a_document_is_ours_by_its_group(api_version: str, ours: bool) -> None:
    assert is_config(api_version) is ours


def test_the_three_examples_make_a_config_in_any_order() -> None:
    values = list(EXAMPLES.values())

    made = config(*values)

    assert made == config(*reversed(values))
    assert made.generate.name == "contrast"
    assert made.release.version == "v1.25.0"
    assert list(made.images or {}) == [WEB]


def test_a_release_alone_is_enough() -> None:
    made = config(RELEASE)

    assert made.generate == Generate()
    assert made.images is None


def test_without_a_release_there_is_no_render() -> None:
    assert codes(GENERATE) == ["CC0903"]
    assert codes() == ["CC0903"]


def test_a_release_with_faults_is_not_also_missing() -> None:
    assert codes(changed(RELEASE, "spec version", 1)) == ["CC0901"]


def test_two_of_a_kind_are_an_error() -> None:
    assert codes(GENERATE, RELEASE, changed(GENERATE, "metadata name", "other")) == ["CC0904"]
    assert codes(RELEASE, changed(RELEASE, "spec version", "v1.24.0")) == ["CC0904"]


def test_the_same_object_may_come_twice_with_its_hosts_annotations() -> None:
    annotated = changed(GENERATE, "metadata annotations", {"config.kubernetes.io/local-config": "true"})

    assert config(GENERATE, annotated, RELEASE, RELEASE) == config(GENERATE, RELEASE)


def test_a_double_with_another_field_is_not_the_same_object() -> None:
    assert codes(GENERATE, changed(GENERATE, "sepc", {}), RELEASE) == ["CC0904"]


def test_image_locks_are_merged_when_they_agree() -> None:
    other = {**IMAGE_LOCK, "metadata": {"name": "more"}}
    more = {**other, "spec": {"images": {"db": {"digest": C, "config": {}}, **IMAGE_LOCK["spec"]["images"]}}}

    made = config(RELEASE, IMAGE_LOCK, more)

    assert sorted(made.images or {}) == ["db", WEB]


def test_image_locks_that_disagree_are_an_error() -> None:
    other = changed({**IMAGE_LOCK, "metadata": {"name": "more"}}, f"spec images {WEB} config User", "0")

    made, findings = collect([document(RELEASE), document(IMAGE_LOCK), document(other, "more.yaml", 3)])

    assert made is None
    assert said(findings) == [
        (
            "CC0901",
            f"ImageLock more: spec.images of {WEB}: another ImageLock has a different entry",
            "keep one of the two entries",
        )
    ]
    assert (findings[0].file, findings[0].line) == ("more.yaml", 3)


def test_an_empty_lock_is_a_lock() -> None:
    assert config(RELEASE, changed(IMAGE_LOCK, "spec images", {})).images == {}


@pytest.mark.parametrize("version", ["contrast-krm.dev/v1", "contrast-krm.dev", "contrast-krm.io/v1alpha1", "v1", ""])
def test_one_of_our_kinds_in_another_version_or_group_is_an_error(version: str) -> None:
    assert codes(RELEASE, {**GENERATE, "apiVersion": version}) == ["CC0907"]


def test_an_unknown_kind_of_our_group_is_an_error_with_a_suggestion() -> None:
    made, findings = collect([document(RELEASE), document({**GENERATE, "kind": "ContrastGenrate"})])

    assert made is None
    assert said(findings) == [
        ("CC0905", "unknown kind ContrastGenrate in group contrast-krm.dev", "did you mean ContrastGenerate?")
    ]


@pytest.mark.parametrize(
    "value",
    [None, 3, [], {}, {"kind": 3}, {"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": 1, "kind": "Pod"}],
)
def test_other_documents_are_not_configuration(value: Any) -> None:
    assert config(RELEASE, value) == config(RELEASE)


@pytest.mark.parametrize("data", [{}, None])
def test_a_config_map_without_data_is_no_configuration(data: Any) -> None:
    value = {**config_map(), "data": data}

    assert from_config_map(document(value)) == (None, ())
    assert config(RELEASE, value).generate == Generate()


def options(**data: Any) -> Generate:
    """The options that a string map stands for."""
    return config(RELEASE, config_map(**data)).generate


def test_short_names_set_what_is_set_most_often() -> None:
    made = options(
        platform="Metal-QEMU-SNP",
        initializer="false",
        serviceMesh="False",
        imageStore=" true ",
        runtimeClasses="emit",
        policy="none",
        manifest="LocalConfig",
    )

    assert made.name == "function-input"
    assert (made.platform, made.initializer, made.service_mesh, made.image_store) == (
        "metal-qemu-snp",
        False,
        False,
        True,
    )
    assert (made.runtime_classes, made.policy.engine, made.manifest.emit) == ("emit", "none", "LocalConfig")


def test_a_dotted_path_sets_any_field() -> None:
    made = config(
        RELEASE,
        config_map(
            manifest__emit="none",
            manifest__name="m",
            manifest__disableUpdates="true",
            manifest__base='{"Policies": {}}',
            manifest__workloadOwnerKeys=f"{PEM},{PEM}",
            policy__settings='{"a": 1}',
            policy__engine="native",
            policy__profile="contrast-1.25",
        )
        | {},
    ).generate
    nested = options(
        **{
            "scheduling.metal-qemu-snp.nodeSelector": "hardware=snp,zone=",
            "scheduling.metal-qemu-snp.tolerations": '[{"operator": "Exists"}]',
            "manifest.referenceValues.snp.MinimumTCB.SNPVersion": "3",
            "manifest.referenceValues.snp.MinimumTCB.TEEVersion": "0",
            "manifest.referenceValues.metal-qemu-snp": '[{"ProductName": "Milan"}]',
            "manifest.policies.web.v1.sans": "a.example, b.example",
        }
    )

    assert made.manifest[:3] == ("none", "m", {"Policies": {}})
    assert made.manifest.disable_updates
    assert made.manifest.workload_owner_keys == (PEM.strip(), PEM.strip())
    assert made.policy.settings == {"a": 1}
    assert made.policy.profile == "contrast-1.25"
    assert nested.scheduling == {
        "metal-qemu-snp": Scheduling({"hardware": "snp", "zone": ""}, ({"operator": "Exists"},))
    }
    assert nested.manifest.reference_values == {
        "snp": ({"MinimumTCB": {"SNPVersion": 3, "TEEVersion": 0}},),
        "metal-qemu-snp": ({"ProductName": "Milan"},),
    }
    assert nested.manifest.policies["web.v1"].sans == ("a.example", "b.example")


@pytest.mark.parametrize(
    "key, suggestion",
    [
        ("platfrom", "platform"),
        ("servicemesh", "serviceMesh"),
        ("manifest.emitt", "manifest.emit"),
        ("initializer.enable", "initializer.enabled"),
        ("platform.name", "platform"),
        ("scheduling", ""),
        ("manifest.referenceValues.snp.MinimumTCB", ""),
        ("zzz", "a field of ContrastGenerate"),
        ("", "a field of ContrastGenerate"),
        (".", ""),
    ],
)
def test_an_unknown_key_of_a_config_map_is_an_error(key: str, suggestion: str) -> None:
    made, findings = from_config_map(document(config_map(**{key: "x"})))

    assert made is None
    assert [found.code for found in findings] == ["CC0902"]
    assert findings[0].path == ("data", key)
    assert findings[0].hint.startswith(f"did you mean {suggestion}")


@pytest.mark.parametrize(
    "data",
    [
        {"policy": "none", "policy.engine": "native"},
        {"initializer": "true", "initializer.enabled": "true"},
        {"manifest.referenceValues.snp": "{}", "manifest.referenceValues.snp.APEIP": "00000000"},
    ],
)
def test_one_field_given_twice_is_an_error(data: dict[str, str]) -> None:
    made, findings = from_config_map(document(config_map(**data)))

    assert made is None
    assert [found.code for found in findings] == ["CC0901"]


@pytest.mark.parametrize(
    "key, value",
    [
        ("initializer", "yes"),
        ("initializer", ""),
        ("platform", "aks"),
        ("platform", ""),
        ("manifest.referenceValues.snp.MinimumTCB.SNPVersion", "-1"),
        ("manifest.referenceValues.snp.MinimumTCB.SNPVersion", "256"),
        ("manifest.referenceValues.snp.MinimumTCB.SNPVersion", "0x1"),
        ("manifest.base", "x"),
        ("scheduling.metal-qemu-snp.nodeSelector", "hardware"),
        ("scheduling.metal-qemu-snp.tolerations", "x"),
        ("scheduling.metal-qemu-snp.tolerations", '[], "more": {}'),
        ("manifest.policies.web.sans", "a b"),
    ],
)
def test_a_text_that_means_nothing_is_refused_like_any_other_value(key: str, value: str) -> None:
    assert codes(RELEASE, config_map(**{key: value})) == ["CC0901"]


@pytest.mark.parametrize("change", [{"binaryData": {"a": "eA=="}}, {"spec": {"platform": "x"}}])
def test_a_config_map_holds_its_options_in_data_only(change: dict[str, Any]) -> None:
    assert "CC0902" in codes(RELEASE, {**config_map(platform="metal-qemu-snp"), **change})


@pytest.mark.parametrize("data", [[], "x", 3])
def test_data_must_be_a_map(data: Any) -> None:
    assert codes(RELEASE, {**config_map(), "data": data}) == ["CC0901"]


def test_yaml_scalars_that_lost_their_quotes_are_read_as_what_they_are() -> None:
    assert options(initializer=False).initializer is False


def test_a_fault_of_a_config_map_is_located_at_its_key() -> None:
    seen: list[Any] = []

    def locate(path: tuple[str | int, ...]) -> tuple[int, int]:
        seen.append(path)
        return 4, 2

    _, findings = collect([document(RELEASE), document(config_map(initializer="yes"))._replace(locate=locate)])

    assert [(found.line, found.column) for found in findings] == [(4, 2)]
    assert seen == [("data", "initializer")]


def test_config_map_and_contrast_generate_together_are_two_of_a_kind() -> None:
    assert codes(RELEASE, GENERATE, config_map(platform="metal-qemu-snp")) == ["CC0904"]


def test_every_finding_is_an_error_with_a_hint() -> None:
    everything: list[Finding] = []
    for value in (changed(GENERATE, "spec x", 1), {**RELEASE, "kind": "X"}, {**IMAGE_LOCK, "apiVersion": "x"}):
        everything += collect([document(value)])[1]

    assert len(everything) > 3
    assert all(found.severity == "error" and found.hint for found in everything)


def test_digests_of_the_examples_differ() -> None:
    assert len({A, B, C}) == 3
