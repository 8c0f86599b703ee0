"""The edits of an injection on real text: spliced, parsed back, taken back."""

import pytest

from krm_function.render.inject import inject
from krm_function.text.parse import parse
from krm_function.text.restore import read_undo, restore
from krm_function.text.splice import splice
from tests.world import ON, RELEASE, SECRETS_MOUNT, WEB, first_workload, names

HEAD = """\
# kept
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata:
      annotations:
        contrast.edgeless.systems/servicemesh-ingress: ""
    spec:
      runtimeClassName: contrast-cc
"""
APP = f"""\
      containers:
      # the app
      - name: web
        image: {WEB}   # pinned
"""
BODIES = {
    "bare": APP,
    "only an old initializer": APP + "      initContainers:\n      - name: contrast-initializer\n        image: old\n",
    "flow lists": f"      containers: [{{name: web, image: {WEB}, volumeMounts: []}}]\n      initContainers: []\n",
    "only a stale mount": APP + "        volumeMounts:\n        - {name: contrast-secrets, mountPath: /old}\n",
    "nulls": APP + "        volumeMounts:\n      initContainers: ~\n      volumes: null\n",
    "indented lists": APP + f"      initContainers:\n        - name: setup\n          image: {WEB}\n      # end\n",
    "shared by alias": (
        APP + "        volumeMounts: &m\n        - {name: data, mountPath: /d}\n"
        f"      - {{name: side, image: {WEB}, volumeMounts: *m}}\n      volumes: [{{name: data, emptyDir: {{}}}}]\n"
    ),
}
KEEP = ("metadata", "annotations", "contrast-krm.dev/original")


@pytest.mark.parametrize("name", BODIES)
def test_an_injection_into_text_and_back(name: str) -> None:
    document = parse(HEAD + BODIES[name])
    subject = first_workload(document.value)
    outcome = inject(subject, ON, RELEASE, "default")
    assert outcome.findings == ()
    spliced = splice(document, [edit.change for edit in outcome.edits], keep_undo_at=KEEP)
    after = parse(spliced.text)
    pod = first_workload(after.value)
    assert pod.pod_spec == subject.after(outcome.edits).pod_spec
    assert names(pod)[:2] == ["pvc-holder", "contrast-initializer"]
    assert names(pod)[-1] == "contrast-service-mesh"
    assert all(container["volumeMounts"][-1] == SECRETS_MOUNT for container in pod.containers)
    assert "# kept" in spliced.text
    undo = read_undo(after, KEEP)
    assert undo is not None
    assert parse(restore(after, undo)).value == document.value
    assert restore(after, undo) == document.text
