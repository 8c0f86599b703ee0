"""A hook that Helm 3 never showed to the post-renderer: `check` finds it, and its hint is the way out."""

from pathlib import Path

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
