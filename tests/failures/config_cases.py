"""Configuration that is missing, contradictory or of the wrong shape: exit code 2; and what the manifest refuses."""

import json

from krm_function.contrast.profiles import DEFAULT
from krm_function.policy.settings import default_document
from tests import quick_yaml as yaml
from tests.failures.case import Table
from tests.failures.world import CANARY, PRIVATE_KEY, WEB_IMAGE, World

cases = Table()
RSA_KEY = """-----BEGIN PUBLIC KEY-----
MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBALqbHeRLCyOdykC5SDLqI49ArYGYG1mq
aH9/GnWjGavZM02fos4lc2w6tCchcUBNtJvGqKwhC5JEnx3RYoSX2ucCAwEAAQ==
-----END PUBLIC KEY-----
"""


@cases("CC0903", "", hint="pass one with --config", exit=2)
def no_release(world: World) -> None:
    del world.documents["release"]


@cases("CC0904", "second", "two objects of kind ContrastRelease", hint="keep one", exit=2)
def two_releases(world: World) -> None:
    world["second"] = world.text("release").replace("name: v1.25.0", "name: second")


@cases("CC0904", "second", "two objects of kind ContrastGenerate", exit=2)
def two_sets_of_options(world: World) -> None:
    world["second"] = world.text("options").replace("name: contrast\n", "name: second\n")


@cases("CC0906", "", hint="create one with contrast-krm lock", exit=2)
def no_image_lock(world: World) -> None:
    del world.documents["lock"]


@cases("CC0907", "contrast apiVersion", "contrast-krm.dev/v1", hint="use contrast-krm.dev/v1alpha1", exit=2)
def a_configuration_of_another_version(world: World) -> None:
    world["options"]["apiVersion"] = "contrast-krm.dev/v1"


@cases("CC0905", "contrast kind", "unknown kind ContrastGenerat", hint="did you mean ContrastGenerate?", exit=2)
def a_kind_that_is_misspelt(world: World) -> None:
    world["options"]["kind"] = "ContrastGenerat"


@cases("CC0901", "contrast spec.platform", "must be one of", hint="did you mean metal-qemu-snp?", exit=2)
def a_platform_that_does_not_exist(world: World) -> None:
    world.spec["platform"] = "metal-qemu-snb"


@cases("CC0901", 'contrast spec.policy.initdata["policy.rego"]', "other than policy.rego", exit=2)
def a_policy_among_the_files_of_the_initdata(world: World) -> None:
    world.spec["policy"] = {"initdata": {"policy.rego": f"package {CANARY}"}}


@cases("CC0901", 'contrast spec.policy.initdata["aa.toml"]', "must be a string", exit=2)
def a_file_of_the_initdata_that_is_no_text(world: World) -> None:
    world.spec["policy"] = {"initdata": {"aa.toml": {"token": CANARY}}}


@cases("CC0901", "contrast spec.policy.initdata", "no effect with policy.engine: none", hint="remove one", exit=2)
def files_for_an_initdata_that_is_not_made(world: World) -> None:
    world.spec["policy"] = {"engine": "none", "initdata": {"aa.toml": CANARY}}
    world.spec["manifest"]["emit"] = "none"


SOURCES = "contrast spec.policy.externalSources"
DB = {"kind": "Secret", "name": "db"}


@cases("CC0901", SOURCES, "no effect with policy.engine: none", hint="remove one", exit=2)
def open_variables_of_policies_that_are_not_made(world: World) -> None:
    world.spec["policy"] = {"engine": "none", "externalSources": [DB]}
    world.spec["manifest"]["emit"] = "none"


@cases("CC0901", SOURCES, "strict does not let the host choose any value", hint="remove policy.profile: strict", exit=2)
def open_variables_in_the_strict_profile(world: World) -> None:
    world.spec["policy"] = {"profile": "strict", "externalSources": [DB]}


@cases("CC0901", SOURCES, "your own rules", hint="remove policy.rules and --policy", exit=2)
def open_variables_with_other_rules(world: World) -> None:
    world.spec["policy"] = {"rules": f"package agent_policy\n# {CANARY}\n", "externalSources": [DB]}


@cases("CC0901", f"{SOURCES}[0]", "needs either name or namePattern", exit=2)
def an_external_source_without_a_name(world: World) -> None:
    world.spec["policy"] = {"externalSources": [{"kind": "Secret"}]}


@cases("CC0901", f"{SOURCES}[0]", "needs either name or namePattern", exit=2)
def an_external_source_with_two_names(world: World) -> None:
    world.spec["policy"] = {"externalSources": [{**DB, "namePattern": "db-*"}]}


@cases("CC0901", f"{SOURCES}[0].namePattern", "stands for every name", exit=2)
def an_external_source_of_every_name(world: World) -> None:
    world.spec["policy"] = {"externalSources": [{"kind": "Secret", "namePattern": "*-*"}]}


@cases("CC0901", f"{SOURCES}[0].namePattern", "a name with * for any text", exit=2)
def an_external_source_with_a_regular_expression(world: World) -> None:
    world.spec["policy"] = {"externalSources": [{"kind": "Secret", "namePattern": "db-.+"}]}


@cases("CC0901", f"{SOURCES}[0].kind", "must be one of", hint="did you mean Secret?", exit=2)
def an_external_source_of_another_kind(world: World) -> None:
    world.spec["policy"] = {"externalSources": [{"kind": "Secrets", "name": "db"}]}


REQUESTS = "contrast spec.policy.requests"


@cases("CC0901", REQUESTS, "contradicts policy.settings", hint="remove policy.requests", exit=2)
def rules_for_requests_beside_settings(world: World) -> None:
    world.spec["policy"] = {"settings": {"common": CANARY}, "requests": {"logs": "deny"}}


@cases("CC0901", REQUESTS, "no effect with policy.engine: none", hint="remove one", exit=2)
def rules_for_requests_of_policies_that_are_not_made(world: World) -> None:
    world.spec["policy"] = {"engine": "none", "requests": {"logs": "deny"}}
    world.spec["manifest"]["emit"] = "none"


@cases("CC0902", "contrast spec.policy.initData", "unknown field", hint="did you mean initdata?", exit=2)
def a_misspelt_field_of_the_policy(world: World) -> None:
    world.spec["policy"] = {"initData": {"aa.toml": CANARY}}


@cases("CC0901", "contrast spec.initializer.enabled", "must be true or false", exit=2)
def a_flag_in_quotes(world: World) -> None:
    world.spec["initializer"] = {"enabled": "true"}


@cases("CC0901", "contrast spec", "must be a map, not a list", exit=2)
def options_that_are_a_list(world: World) -> None:
    world["options"]["spec"] = []


@cases("CC0901", "contrast spec.manifest.emit", "must be one of", hint="did you mean ConfigMap?", exit=2)
def an_emit_that_does_not_exist(world: World) -> None:
    world.spec["manifest"]["emit"] = "Configmap"


@cases("CC0901", "contrast spec.manifest.workloadOwnerKeys[0]", "public", exit=2)
def a_private_key_as_owner_key(world: World) -> None:
    world.spec["manifest"]["workloadOwnerKeys"] = [PRIVATE_KEY]


@cases("CC0707", "contrast spec.manifest.workloadOwnerKeys[0]", "must be an ECDSA public key")
def an_owner_key_of_another_type(world: World) -> None:
    world.spec["manifest"]["workloadOwnerKeys"] = [RSA_KEY]


@cases("CC0707", "contrast spec.manifest.seedshareOwnerKeys[0]", "less than 2048 bits")
def a_seedshare_key_that_is_too_short(world: World) -> None:
    world.spec["manifest"]["seedshareOwnerKeys"] = [RSA_KEY]


@cases("CC0901", "contrast spec.manifest.base", "not JSON", exit=2)
def a_base_manifest_that_is_no_json(world: World) -> None:
    world.spec["manifest"]["base"] = f"{CANARY} {{"


@cases("CC0713", "contrast spec.manifest.base.configMap", "ConfigMap nothing", hint="render the ConfigMap")
def a_base_manifest_that_is_not_there(world: World) -> None:
    world.spec["manifest"]["base"] = {"configMap": "nothing"}


@cases("CC0702", "contrast spec.manifest", "Policies", hint="correct the manifest")
def a_base_manifest_with_a_wrong_digest(world: World) -> None:
    world.spec["manifest"]["base"] = {"Policies": {"abc": {"SANs": ["x"], "WorkloadSecretID": "x"}}}


@cases("CC0708", "contrast spec.manifest.policies.wep", hint="did you mean web?")
def names_for_a_workload_that_is_not_there(world: World) -> None:
    world.spec["manifest"]["policies"] = {"wep": {"sans": ["example.com"]}}


@cases(
    "CC0720",
    'web spec.template.metadata.labels["contrast.edgeless.systems/pod-role"]',
    "spec.manifest.coordinator names StatefulSet/shop/coordinator",
    hint="remove the label",
)
def the_coordinators_label_on_another_pod(world: World) -> None:
    world.spec["manifest"]["coordinator"] = {"namespace": "shop", "kind": "StatefulSet", "name": "coordinator"}
    world["web"]["spec"]["template"]["metadata"]["labels"]["contrast.edgeless.systems/pod-role"] = "coordinator"


@cases(
    "CC0721", "contrast spec.manifest.policies.web", "which is ambiguous: Deployment/shop/web", hint="use the full key"
)
def names_for_one_of_two_workloads(world: World) -> None:
    world.spec["manifest"]["policies"] = {"web": {"sans": ["example.com"]}}
    world["twin"] = world.text("web").replace("kind: Deployment", "kind: DaemonSet")


@cases("CC0901", "contrast spec.manifest.policies.web.sans[0]", "not *, which every workload has", exit=2)
def the_name_of_every_workload(world: World) -> None:
    world.spec["manifest"]["policies"] = {"web": {"sans": ["*"]}}


@cases("CC0511", "v1.25.0 spec.images", "initializer:latest", hint="contrast --version | contrast-krm release import -")
def a_release_without_the_initializer(world: World) -> None:
    del world["release"]["spec"]["images"]["ghcr.io/edgelesssys/contrast/initializer:latest"]


@cases("CC0722", "web metadata.name", "web would be in the certificate", hint="Deployment/other/web: {}}")
def two_workloads_with_one_name(world: World) -> None:
    world.spec["manifest"]["policies"] = {"Deployment/shop/web": {}}
    named = world.text("web").replace("namespace: shop", "namespace: other")
    world["twin"] = yaml.safe_load(named)
    for container in world["twin"]["spec"]["template"]["spec"]["containers"]:
        container.pop("env"), container.pop("envFrom")


@cases(
    "CC0723",
    'web spec.template.metadata.annotations["contrast.edgeless.systems/workload-secret-id"]',
    "the workload secret apps/v1/Deployment/bank/vault is already used by Deployment/bank/vault",
    hint="sharedSecrets: [{id: apps/v1/Deployment/bank/vault, workloads: [Deployment/bank/vault, Deployment/shop/web]}",
)
def the_secret_of_another_workload(world: World) -> None:
    notes = world["web"]["spec"]["template"]["metadata"].setdefault("annotations", {})
    notes["contrast.edgeless.systems/workload-secret-id"] = "apps/v1/Deployment/bank/vault"


@cases("CC0724", "web metadata.name", "web of manifest.base has no WorkloadSecretID", hint="{Deployment/shop/web: {}}")
def an_entry_of_the_base_without_an_id(world: World) -> None:
    world.spec["manifest"]["base"] = {"Policies": {"ab" * 32: {"SANs": ["web"]}}}


@cases(
    "CC0725",
    "contrast spec.manifest.sharedSecrets[0]",
    "no workload has the workload secret one",
    hint="remove the entry",
)
def a_shared_secret_of_nobody(world: World) -> None:
    world.spec["manifest"]["sharedSecrets"] = [{"id": "one", "workloads": ["Deployment/shop/other"]}]


@cases("CC0710", "settings", "the object ConfigMap/shop/settings of the input", hint="another name")
def a_manifest_in_the_place_of_a_config_map(world: World) -> None:
    world.spec["manifest"]["name"] = "settings"


@cases("CC0901", "v1.25.0 spec.platforms.metal-qemu-snp.handler", "must be contrast-cc-metal-qemu-snp-<hash>", exit=2)
def a_handler_of_another_platform(world: World) -> None:
    world["release"]["spec"]["platforms"]["metal-qemu-snp"]["handler"] = "contrast-cc-metal-qemu-tdx-1a2b3c4d"


@cases("CC0901", "v1.25.0 spec.version", "is missing", exit=2)
def a_release_without_a_version(world: World) -> None:
    del world["release"]["spec"]["version"]


@cases(
    "CC0901", "v1.25.0 spec.platforms.metal-qemu-snp.referenceValues.snp[0].TrustedMeasurement", "96 hex digits", exit=2
)
def a_measurement_that_is_too_short(world: World) -> None:
    world["release"]["spec"]["platforms"]["metal-qemu-snp"]["referenceValues"]["snp"][0]["TrustedMeasurement"] = "0f"


@cases("CC0709", "v1.25.0 spec.platforms.metal-qemu-snp", "no reference values")
def a_platform_without_reference_values(world: World) -> None:
    del world["release"]["spec"]["platforms"]["metal-qemu-snp"]["referenceValues"]


@cases("CC0505", f'images spec.images["{WEB_IMAGE}"].digest', "pinned to another digest")
def a_lock_of_another_digest(world: World) -> None:
    world["lock"]["spec"]["images"][WEB_IMAGE]["digest"] = "sha256:" + "9" * 64


@cases("CC0902", f'images spec.images["{WEB_IMAGE}"].config.Entrypont', hint="did you mean Entrypoint?", exit=2)
def a_typo_in_the_lock(world: World) -> None:
    config = dict(world["lock"]["spec"]["images"][WEB_IMAGE]["config"])
    config["Entrypont"] = config.pop("Entrypoint")
    world["lock"]["spec"]["images"][WEB_IMAGE]["config"] = config


@cases("CC0910", "line", exit=2, hosts=("post-render", "generate", "in-place", "output"))
def a_configuration_that_is_no_yaml(world: World) -> None:
    world.replace("release", "version: v1.25.0", "version: [v1.25.0")


@cases(
    "CC0901", "contrast spec.scheduling.metal-qemu-snp.nodeSelector.hardware", "must be a string, not a boolean", exit=2
)
def a_node_label_without_quotes(world: World) -> None:
    world.spec["scheduling"]["metal-qemu-snp"]["nodeSelector"]["hardware"] = True


@cases("CC0308", "contrast-cc-metal-qemu-snp-1a2b3c4d scheduling.nodeSelector.hardware", "the configuration has snp")
def a_runtime_class_that_says_otherwise(world: World) -> None:
    name = "contrast-cc-metal-qemu-snp-1a2b3c4d"
    world["class"] = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": name,
        "overhead": {"podFixed": {"memory": "682Mi"}},
        "scheduling": {"nodeSelector": {"hardware": "other"}},
    }


@cases("CC0641", "contrast spec.policy.settings", "common is missing", hint="of Kata 4.1")
def policy_settings_that_lack_a_part(world: World) -> None:
    world.spec["policy"] = {"settings": json.dumps(_without_common())}


@cases("CC0612", "contrast spec.policy.settings", "mount_destinations must be a list", hint="correct the settings")
def policy_settings_of_another_shape(world: World) -> None:
    world.spec["policy"] = {"settings": {**default_document(DEFAULT), "mount_destinations": "/dev/shm"}}  # noqa: S108


@cases("CC0901", "contrast spec.policy.profile", "must be one of", hint="did you mean strict?", exit=2)
def a_policy_profile_that_does_not_exist(world: World) -> None:
    world.spec["policy"] = {"profile": "strikt"}


@cases("CC0901", "contrast spec.policy.profile", "strict brings its own rules", exit=2)
def rules_in_place_of_those_of_the_profile(world: World) -> None:
    world.spec["policy"] = {"profile": "strict", "rules": "package agent_policy\n"}


@cases("CC0901", "contrast spec.policy.rules", "is a whole policy", exit=2)
def policy_rules_with_their_data(world: World) -> None:
    world.spec["policy"] = {"rules": "package agent_policy\npolicy_data := {}\n"}


@cases("CC0901", "contrast spec.policy.rules", "must be Rego of package agent_policy", exit=2)
def policy_rules_of_another_package(world: World) -> None:
    world.spec["policy"] = {"rules": f"package {CANARY}\n"}


@cases("CC0641", "v1.25.0 spec.policySettings", "common is missing")
def a_release_with_policy_settings_that_lack_a_part(world: World) -> None:
    world["release"]["spec"]["policySettings"] = _without_common()


@cases("CC0650", "v1.25.0 spec.version", "release v1.24.0-pre is older than Contrast 1.25", hint="use a newer release")
def a_release_older_than_all_whose_nodes_are_known(world: World) -> None:
    world["release"]["spec"]["version"] = "v1.24.0-pre"


@cases("CC0612", "contrast spec.policy.settings", "cluster_config.guest_pull must be true", hint="correct the settings")
def settings_by_which_no_image_is_bound(world: World) -> None:
    document = default_document(DEFAULT)
    document["cluster_config"]["guest_pull"] = False
    world.spec["policy"] = {"settings": json.dumps(document)}


def _without_common() -> dict[str, object]:
    return {key: part for key, part in default_document(DEFAULT).items() if key != "common"}
