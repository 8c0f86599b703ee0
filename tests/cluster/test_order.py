"""An emitted RuntimeClass is there before the pods that name it, at the first try, with each tool that applies it."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.api import Api
from tests.cluster.conftest import clear_runtime_classes
from tests.cluster.control_plane import ControlPlane
from tests.cluster.runtime_classes_option import emitting, set_runtime_classes
from tests.hosts.hosts import COMMAND, CONFIG, POST_RENDER, WEB
from tests.hosts.running import EXAMPLES, Machine, copied

ALONE = f"""apiVersion: v1
kind: Pod
metadata:
  name: alone
  namespace: shop
spec:
  runtimeClassName: contrast-cc
  containers:
    - name: alone
      image: {WEB}
      securityContext: {{runAsUser: 65532, runAsGroup: 65532}}
"""


@pytest.fixture(autouse=True)
def no_class(api: Api, shop: str) -> Iterator[None]:
    """The cluster has no class of Contrast's; afterwards, too."""
    yield
    clear_runtime_classes(api)


def test_kubectl_applies_a_rendered_pod_at_the_first_try(
    api: Api, cluster: ControlPlane, krm_machine: Machine, tmp_path: Path
) -> None:
    """The stream begins without `---`, as that of a directory of files does."""
    resources, config = tmp_path / "resources", emitting(EXAMPLES / "multi-runtime" / "config", tmp_path)
    shutil.copytree(EXAMPLES / "multi-runtime" / "resources", resources)
    (resources / "alone.yaml").write_text(ALONE)
    rendered = krm_machine.krm("generate", str(resources), "--config", str(config)).ok().decode()
    done = cluster.kubectl("apply", "-f", "-", stdin=rendered)
    assert (done.returncode, done.stderr) == (0, "")
    assert api.get("Pod", "alone", "shop").code == 200


@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_helm_3_installs_a_chart_with_a_bare_pod_and_helm_4_creates_the_class_too_late(
    api: Api, cluster: ControlPlane, krm_machine: Machine, tmp_path: Path, name: str
) -> None:
    chart = copied("helm", tmp_path)
    (chart / "chart" / "templates" / "alone.yaml").write_text(ALONE)
    set_runtime_classes(chart / "config" / "contrast.yaml", "emit")
    renderer = (*POST_RENDER, *(COMMAND if name == "helm3" else ()), *CONFIG)
    environment = {"KUBECONFIG": str(cluster.kubeconfig)}
    command = ["helm", "install", "shop", "chart", "--namespace", "shop", *renderer, "--no-hooks"]
    ran = krm_machine.run(command, chart, helm=name, env=environment)
    if name == "helm3":
        ran.ok()
        assert api.get("Pod", "alone", "shop").code == 200
    else:  # docs/how-to/helm.md says so
        assert ran.code == 1
        assert re.search('RuntimeClass "contrast-cc-[a-z0-9-]+" not found', ran.err)
