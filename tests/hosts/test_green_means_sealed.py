"""A render ends green only if what was meant to be confidential is sealed: each silent place, in each host.

docs/how-to/charts-of-others.md has the words `required` and `optional`; docs/facts/sidecar-injectors.md, the objects
that change pods. tests/cli/test_unbuilt_directories.py tries the directories that kustomize or Helm has to build.
"""

import re
from pathlib import Path

import pytest

from tests.hosts.hosts import HOSTS, put, quickstart, run_helm3, run_helm4
from tests.hosts.running import Machine, Ran

REPORT = ("--post-renderer-args", "--report", "--post-renderer-args", "report.txt")  # no Helm shows warnings
RUN = {host: HOSTS[host].run for host in ("files", "kustomize", "kpt")} | {
    "helm3": lambda machine, directory: run_helm3(machine, directory, *REPORT),
    "helm4": lambda machine, directory: run_helm4(machine, directory, *REPORT),
}


def an_object(head: str, body: str, namespace: str = "  namespace: shop\n") -> str:
    api_version, _, kind = head.rpartition("/")
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: it\n{namespace}{body}\n"


SERVICE = an_object("v1/Service", "spec:\n  ports:\n    - port: 80")
MODEL = an_object("serving.kserve.io/v1beta1/InferenceService", "spec:\n  predictor:\n    model:\n      storageUri: a")
UNKNOWN = an_object("example.com/v1/Widget", "spec:\n  size: 1")
TEXT = an_object(
    "v1/ConfigMap", "data:\n  pod.yaml: |\n    spec:\n      runtimeClassName: contrast-cc\n      containers: []"
)
CHART = an_object(
    "helm.toolkit.fluxcd.io/v2/HelmRelease",
    "spec:\n  values:\n    deployment: |\n      spec:\n        runtimeClassName: contrast-cc",
)
POLICY = an_object(
    "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy",
    "spec:\n  matchConstraints:\n    resourceRules:\n"
    '      - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}',
    namespace="",
)
KYVERNO = an_object(
    "kyverno.io/v1/ClusterPolicy",
    "spec:\n  rules:\n    - name: a\n      match: {any: [{resources: {kinds: [Pod]}}]}\n      mutate: {}",
    namespace="",
)
SPREAD = an_object(
    "apps.kruise.io/v1alpha1/WorkloadSpread",
    "spec:\n  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n"
    "  subsets:\n    - name: a\n      patch: {metadata: {labels: {a: b}}}",
)

PLAIN, SEALED = ("landing.yaml",), ("coordinator.yaml", "web.yaml", "settings.yaml")
CODES = {"CC0255", "CC0260", "CC0285", "CC0291", "CC0292"}

# number of the silent place, and what is in it: files of the quickstart, one object beside them, the word of
# spec.workloads, and the end: exit code 0 or 1, and the finding
CASES: dict[str, tuple[tuple[str, ...], str, str, int, str]] = {
    "1 only plain pods": (PLAIN, "", "", 1, "CC0291"),
    "1 only plain pods, required": (PLAIN, "", "required", 1, "CC0255"),
    "1 only plain pods, optional": (PLAIN, "", "optional", 0, ""),
    "1 no pods": (("settings.yaml",), SERVICE, "", 0, ""),
    "1 no pods, required": (("settings.yaml",), SERVICE, "required", 0, ""),
    "3 pods of a model alone": (("settings.yaml",), MODEL, "", 1, "CC0291"),
    "3 pods of a model": (SEALED, MODEL, "required", 1, "CC0255"),
    "3 an unknown kind": (SEALED, UNKNOWN, "required", 1, "CC0255"),
    "4 text in a ConfigMap": (SEALED, TEXT, "", 0, "CC0285"),
    "4 text in a HelmRelease": (SEALED, CHART, "", 0, "CC0285"),
    "5 a policy of admission": (SEALED, POLICY, "", 0, "CC0292"),
    "5 a policy of Kyverno": (SEALED, KYVERNO, "", 0, "CC0292"),
    "5 a patch of OpenKruise": (SEALED, SPREAD, "", 1, "CC0260"),
}


def rendered(machine: Machine, host: str, case: str, directory: Path) -> tuple[int, str]:
    """Exit code and codes of a case in a host."""
    files, more, word, _, _ = CASES[case]
    deployment = quickstart(*files)
    if more:
        deployment = deployment._replace(resources={**deployment.resources, "it.yaml": more})
    if word:
        deployment = deployment.configured("\nspec:\n", f"\nspec:\n  workloads: {word}\n")
    ran = RUN[host](machine, HOSTS[host].make(machine, directory, deployment))
    return ran.code, codes_of(ran, directory / "report.txt")


def codes_of(ran: Ran, report: Path) -> str:
    text = ran.err + (report.read_text() if report.exists() else "")
    return " ".join(sorted(CODES & set(re.findall(r"CC\d{4}", text))))


@pytest.mark.slow
@pytest.mark.parametrize("host", RUN)
@pytest.mark.parametrize("case", CASES)
def test_a_silent_place_is_named_in_each_host(case: str, host: str, krm_machine: Machine, tmp_path: Path) -> None:
    assert rendered(krm_machine, host, case, tmp_path) == CASES[case][3:]


@pytest.mark.slow
@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_a_new_chart_of_helm_is_not_rendered_before_its_pods_are_named(
    helm: str, krm_machine: Machine, tmp_path: Path
) -> None:
    krm_machine.run(["helm", "create", "chart"], tmp_path).ok()
    krm_machine.krm("init", "config", "--helm", "chart", "--platform", "metal-qemu-snp", cwd=tmp_path).ok()
    put(tmp_path / "config", {name: text for name, text in quickstart().config.items() if name != "contrast.yaml"})
    ran = RUN[helm](krm_machine, tmp_path)
    assert (ran.code, codes_of(ran, tmp_path / "report.txt")) == (1, "CC0255")


# 7: the call, its exit code, and what its answer names
CALLS = {
    ("generate", "resources", "--config", "config", "-o", "json"): (2, "./json"),
    ("plan", "resources", "--config", "config", "-o", "json"): (0, ""),
    ("generate", "config", "--config", "config"): (1, "CC0289"),
    ("generate", "resources", "--platform", "metal-qemu-snp"): (2, "--reference-values"),
    ("init", "overlays/nope"): (3, "CC1001"),
    ("--config", "config", "generate", "resources"): (2, "before the command"),
}


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_call_that_does_nothing_is_an_error(call: tuple[str, ...], krm_machine: Machine, tmp_path: Path) -> None:
    whole = HOSTS["files"].make(krm_machine, tmp_path, quickstart())
    ran = krm_machine.krm(*call, cwd=whole)
    code, word = CALLS[call]
    assert ran.code == code
    assert word in ran.err
    assert code == 0 or not ran.out
