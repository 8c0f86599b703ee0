"""A chart of somebody else, without a value for runtimeClassName: `spec.workloads` alone makes it confidential."""

from pathlib import Path
from typing import Any

import pytest

from tests.hosts.documents import by_name, digests, pod_templates
from tests.hosts.hosts import HOSTS, WEB, Deployment, quickstart
from tests.hosts.running import Machine

PODINFO = f"""# Source: podinfo/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: podinfo
  namespace: shop
  labels:
    app.kubernetes.io/name: podinfo
    app.kubernetes.io/managed-by: Helm
spec:
  replicas: 1
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: podinfo
  template:
    metadata:
      labels:
        app.kubernetes.io/name: podinfo
      annotations:
        prometheus.io/scrape: "true"
        prometheus.io/port: "9898"
    spec:
      terminationGracePeriodSeconds: 30
      containers:
        - name: podinfo
          image: "{WEB}"
          imagePullPolicy: IfNotPresent
          command:
            - ./podinfo
            - --port=9898
          env:
            - name: PODINFO_UI_COLOR
              value: "#34577c"
          ports:
            - name: http
              containerPort: 9898
              protocol: TCP
          readinessProbe:
            httpGet:
              path: /readyz
              port: http
          volumeMounts:
            - name: data
              mountPath: /data
          resources:
            limits:
              memory: 128Mi
      volumes:
        - name: data
          emptyDir: {{}}
---
# Source: podinfo/templates/exporter.yaml
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: podinfo-exporter
  namespace: shop
spec:
  selector:
    matchLabels: &labels
      app: exporter
  template:
    metadata:
      labels:
        app: exporter
    spec:
      containers:
        - name: exporter
          image: "{WEB}"
---
# Source: podinfo/templates/service.yaml
apiVersion: v1
kind: Service
metadata:
  name: podinfo
  namespace: shop
spec:
  type: ClusterIP
  ports:
    - port: 9898
      targetPort: http
  selector:
    app.kubernetes.io/name: podinfo
""".replace(" &labels", "")
ENTRIES = """  workloads:
    - {kind: Deployment, namespace: shop, name: "podinfo*", platform: metal-qemu-snp}
    - {kind: DaemonSet, name: podinfo-exporter, plain: reads metrics of the host}
    - required
"""


def chart(entries: str = ENTRIES) -> Deployment:
    """The chart and the coordinator; the configuration is that of the quickstart with the entries."""
    made = quickstart("coordinator.yaml", "namespace.yaml")
    text = made.config["contrast.yaml"].partition("\n    # Names that clients use")[0] + "\n"
    return Deployment(
        {**made.resources, "podinfo.yaml": PODINFO}, {**made.config, "contrast.yaml": text.rstrip() + "\n" + entries}
    )


def pod(output: bytes, name: str) -> Any:
    return pod_templates(output)[name]["spec"]


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_the_chart_is_confidential_in_every_host(krm_machine: Machine, tmp_path: Path, host: str) -> None:
    output = HOSTS[host].render(krm_machine, tmp_path / host, chart()).ok()
    assert pod(output, "Deployment/shop/podinfo")["runtimeClassName"] == "contrast-cc-metal-qemu-snp-18a1a065"
    assert pod(output, "Deployment/shop/podinfo")["initContainers"][0]["name"] == "contrast-initializer"
    assert "runtimeClassName" not in pod(output, "DaemonSet/shop/podinfo-exporter")
    assert len(digests(output)) == 2  # with the coordinator
    assert krm_machine.krm("check", stdin=output).ok() == b""
    of_files = HOSTS["files"].render(krm_machine, tmp_path / "files-again", chart()).ok()
    assert digests(output) == digests(of_files)
    config = str(tmp_path / "files-again" / "config")
    if host != "kpt":  # its package holds the configuration itself
        assert krm_machine.krm("check", "--config", config, stdin=output).ok() == b""


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_uninject_gives_back_what_the_chart_renders_to(
    krm_machine: Machine, recording_machine: Machine, tmp_path: Path, host: str
) -> None:
    output = HOSTS[host].render(krm_machine, tmp_path / "rendered" / host, chart()).ok()
    ran = krm_machine.krm("uninject", stdin=output)
    assert "CC0256" in ran.err
    if host == "files":
        resources = tmp_path / "rendered" / host / "resources"
        assert by_name(ran.ok()) == by_name(b"---\n".join(file.read_bytes() for file in sorted(resources.iterdir())))
        return
    plain = HOSTS[host].render(recording_machine, tmp_path / "plain" / host, chart()).ok()
    if host in ("helm3", "helm4"):
        assert ran.ok() == plain
    else:
        assert by_name(ran.ok()) == by_name(plain)  # kustomize and kpt write the objects anew


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_a_workload_that_the_chart_renamed_stops_every_host(krm_machine: Machine, tmp_path: Path, host: str) -> None:
    renamed = chart().changed("podinfo.yaml", "  name: podinfo\n  namespace", "  name: info\n  namespace")
    ran = HOSTS[host].render(krm_machine, tmp_path / host, renamed)
    assert ran.code != 0
    assert host == "helm4" or "CC0255" in ran.err  # Helm 4 does not pass on what a plugin says
    if host.startswith("helm"):
        assert ran.out == b""


def test_a_stream_without_a_word_of_contrast_does_not_pass_a_post_renderer_with_entries(
    krm_machine: Machine, tmp_path: Path
) -> None:
    made = chart("  workloads:\n    - {kind: Deployment, name: podinfo}\n")
    HOSTS["files"].make(krm_machine, tmp_path, made)
    ran = krm_machine.krm("post-render", "--config", "config", stdin=PODINFO.encode(), cwd=tmp_path)
    assert b"contrast" not in PODINFO.encode()
    assert b"runtimeClassName: contrast-cc-metal-qemu-snp-18a1a065" in ran.out or ran.code == 1
    strict = chart("  workloads: required\n")
    HOSTS["files"].make(krm_machine, tmp_path / "strict", strict)
    ran = krm_machine.krm("post-render", "--config", "config", stdin=PODINFO.encode(), cwd=tmp_path / "strict")
    assert (ran.code, ran.out) == (1, b"")
    assert ran.err.count("CC0255") >= 2


def test_a_render_without_the_entry_refuses_the_output_instead_of_leaving_it_plain(
    krm_machine: Machine, tmp_path: Path
) -> None:
    output = HOSTS["files"].render(krm_machine, tmp_path / "with", chart()).ok()
    HOSTS["files"].make(krm_machine, tmp_path / "without", chart(""))
    for command in ("generate", "check"):
        ran = krm_machine.krm(command, "--config", "config", stdin=output, cwd=tmp_path / "without")
        assert ran.code == 1
        assert "CC0115" in ran.err
        assert "spec.workloads" in ran.err


def test_init_writes_the_strict_form_and_a_second_time_changes_nothing(krm_machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "chart").mkdir()
    (tmp_path / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: shop\nversion: 0.1.0\n")
    command = ("init", "config", "--helm", "chart", "--require-all")
    krm_machine.krm(*command, cwd=tmp_path).ok()
    first = (tmp_path / "config" / "contrast.yaml").read_text()
    assert first.count("\n  workloads:\n    - required\n") == 1
    krm_machine.krm(*command, cwd=tmp_path).ok()
    assert (tmp_path / "config" / "contrast.yaml").read_text() == first
    entry = first.replace("  workloads:\n    - required\n", "  workloads:\n    - {kind: Deployment, name: web}\n")
    (tmp_path / "config" / "contrast.yaml").write_text(entry)
    krm_machine.krm(*command, cwd=tmp_path).ok()
    assert "\n    - required\n" in (tmp_path / "config" / "contrast.yaml").read_text()
