"""`make corpora` on a directory made here: what it counts, and that it renders what it says."""

from pathlib import Path

from benchmarks.corpora.__main__ import measured
from benchmarks.corpora.plant import pinned, planted
from benchmarks.corpora.table import text_of

POD = """apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers: # ours
    - name: web
      image: nginx:1.27
%s"""
SPLIT = """      volumeMounts:
        - {name: data, mountPath: /a, subPath: a}
        - {name: data, mountPath: /b, subPath: b}
  volumes: [{name: data, emptyDir: {}}]
"""
LOGS = """      volumeMounts: [{name: data, mountPath: /a}]
  volumes: [{name: data, hostPath: {path: /var/log}}]
"""
PATCH = """apiVersion: v1
kind: Pod
metadata: {name: patch}
spec: {containers: [{name: web}]}
"""


def test_a_planted_pod_asks_and_is_pinned_and_nothing_else_changes() -> None:
    text = POD % ("web", "")
    made = planted(text, lambda _: True)
    lines = made.text.splitlines()
    assert [line for line in text.splitlines() if line not in lines] == ["      image: nginx:1.27"]
    assert "  runtimeClassName: contrast-cc-metal-qemu-snp" in lines
    assert any(pinned("nginx:1.27") in line for line in lines)
    assert planted(text, lambda _: False).text == text


def test_a_corpus_is_counted_by_stage_and_what_is_accepted_renders_and_is_undone(tmp_path: Path) -> None:
    top = tmp_path / "corpus"
    top.mkdir()
    texts = {
        "plain": POD % ("plain", ""),
        "split": POD % ("split", SPLIT),
        "logs": POD % ("logs", LOGS),
        "patch": PATCH,
    }
    for name, text in texts.items():
        (top / f"{name}.yaml").write_text(text)
    (top / "again.yaml").write_text(POD % ("again", SPLIT))
    (top / "broken.yaml").write_text("containers: [")
    totals = measured(top, prove=True)
    assert totals.applications == 4
    assert totals.problems == {"file: is no YAML": 1}
    assert len(totals.workloads) == 3, "the same pod twice counts once"
    assert [sum(bool(one.errors[stage]) for one in totals.workloads) for stage in range(3)] == [2, 1, 0]
    assert all(proof.untouched for proof in totals.proofs)
    assert [proof.again for proof in totals.proofs if proof.renders] == [True, True, True]
    assert [proof.undone for proof in totals.proofs if proof.renders] == [True, True, True]
    said = text_of([totals])
    assert "2 (67 %)" in said
    assert "1 (33 %)" in said
    assert "undone byte for byte: 3 of 3" in said
