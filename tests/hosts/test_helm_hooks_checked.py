"""A hook that Helm 3 never showed to the post-renderer: `check` finds it, and its hint is the way out."""

import re
from pathlib import Path

import pytest

from tests.hosts.hosts import WEB, make_chart, quickstart, run_helm3, run_helm4
from tests.hosts.running import Machine

HOOK = f"""apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  namespace: shop
  annotations:
    helm.sh/hook: pre-install
spec:
  template:
    spec:
      runtimeClassName: contrast-cc-metal-qemu-snp
      restartPolicy: Never
      containers:
        - name: migrate
          image: {WEB}
          args: [migrate]
          securityContext: {{runAsUser: 65532, runAsGroup: 65532}}
"""

MODE = "          envFrom: [{configMapRef: {name: before}}]\n"
SETTINGS = """apiVersion: v1
kind: ConfigMap
metadata:
  name: before
  namespace: shop
  annotations:
    helm.sh/hook: pre-install
data: {MODE: fast}
"""


def test_a_config_map_that_is_a_hook_is_told_with_helm_3_and_the_hint_helps(
    krm_machine: Machine, tmp_path: Path
) -> None:
    deployment = quickstart()
    job = HOOK.replace("  annotations:\n    helm.sh/hook: pre-install\n", "") + MODE
    resources = {**deployment.resources, "job.yaml": job, "before.yaml": SETTINGS}
    directory = make_chart(krm_machine, tmp_path / "shop", deployment._replace(resources=resources))
    ran = run_helm3(krm_machine, directory)
    assert ran.code != 0
    assert "CC0602" in ran.err
    assert "warning CC0120" in ran.err
    assert "annotation helm.sh/hook" in ran.err
    assert "use Helm 4, or pipe `helm template` into contrast-krm post-render" in ran.err

    plain = krm_machine.run(["helm", "template", "shop", "chart"], directory).ok()
    assert b"helm.sh/hook" in plain
    piped = krm_machine.krm("post-render", "--config", "config", cwd=directory, stdin=plain).ok()
    krm_machine.krm("check", stdin=piped).ok()
    krm_machine.krm("check", stdin=run_helm4(krm_machine, directory).ok()).ok()


def test_a_hook_that_helm_3_did_not_send_is_found_and_the_hint_helps(krm_machine: Machine, tmp_path: Path) -> None:
    deployment = quickstart()
    deployment = deployment._replace(resources={**deployment.resources, "hook.yaml": HOOK})
    directory = make_chart(krm_machine, tmp_path / "shop", deployment)
    rendered = run_helm3(krm_machine, directory).ok()
    ran = krm_machine.krm("check", stdin=rendered)
    assert ran.code == 1
    assert "error CC1108 shop/migrate spec.template.spec.runtimeClassName: the placeholder " in ran.err
    assert "use Helm 4, or pipe `helm template` into contrast-krm post-render" in ran.err

    plain = krm_machine.run(["helm", "template", "shop", "chart"], directory).ok()
    piped = krm_machine.krm("post-render", "--config", "config", cwd=directory, stdin=plain).ok()
    krm_machine.krm("check", stdin=piped).ok()
    krm_machine.krm("check", stdin=run_helm4(krm_machine, directory).ok()).ok()


# --- The moment of a hook: Helm creates it before the other objects of its release

EARLY = "    helm.sh/hook: pre-install\n"
ORDINARY = SETTINGS.replace("  annotations:\n" + EARLY, "").replace("fast", "late")
REPORT = ("--post-renderer-args", "--report", "--post-renderer-args", "report.txt")


def early(text: str, events: str, weight: str = "") -> str:
    more = f'    helm.sh/hook-weight: "{weight}"\n' if weight else ""
    return text.replace(EARLY, f"    helm.sh/hook: {events}\n{more}")


@pytest.mark.parametrize(
    ("job", "settings", "mode", "warned"),
    [
        ("pre-upgrade", [ORDINARY], "late", True),
        ("post-upgrade", [ORDINARY], "late", False),
        ("pre-install,pre-upgrade", [ORDINARY, early(SETTINGS, "pre-upgrade, pre-install", "-10")], "fast", False),
        ("pre-install", [early(SETTINGS, "pre-install", "-10"), ORDINARY], "fast", False),
        ("pre-install,pre-upgrade", [ORDINARY, early(SETTINGS, "pre-install", "-10")], "late", True),
        ("pre-install", [ORDINARY, early(SETTINGS, "pre-install", "10")], "late", True),
        ("post-install", [early(SETTINGS, "pre-install", "-10"), ORDINARY], "late", False),
    ],
)
def test_the_policy_of_a_hook_has_the_values_of_its_moment(
    krm_machine: Machine, tmp_path: Path, job: str, settings: list[str], mode: str, warned: bool
) -> None:
    deployment = quickstart()
    files = {f"before-{number}.yaml": text for number, text in enumerate(settings)}
    hook = early(HOOK, job) + MODE
    resources = {**deployment.resources, **files, "hook.yaml": hook}
    directory = make_chart(krm_machine, tmp_path / "shop", deployment._replace(resources=resources))
    (directory / "rendered.yaml").write_bytes(run_helm4(krm_machine, directory, *REPORT).ok())
    shown = krm_machine.krm("policy", "show", "job/migrate", "rendered.yaml", "-o", "initdata", cwd=directory).ok()
    assert re.findall(rb"MODE=([a-z]+)", shown) == [mode.encode()]
    report = (directory / "report.txt").read_text()
    assert ("CC0685" in report) == warned
    assert ("CC0772" in report) == ("pre-install" in job)  # its coordinator is in the release
