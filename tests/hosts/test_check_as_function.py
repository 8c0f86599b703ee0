"""`mode: check` under the real kustomize, as a transformer, and the real kpt, as a validator."""

from pathlib import Path

from tests import quick_yaml as yaml
from tests.hosts.hosts import (
    FUNCTION,
    KPTFILE,
    LOCAL,
    make_kpt,
    make_kustomize,
    put,
    quickstart,
    run_kpt,
    run_kustomize,
)
from tests.hosts.running import Machine
from tests.wording import wording

CHECK = f"""apiVersion: contrast-krm.dev/v1alpha1
kind: ContrastGenerate
metadata:
  name: check
  annotations:
{LOCAL}    {FUNCTION}: |
      exec:
        path: contrast-krm
spec:
  mode: check
"""
HEAD = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
OUTER = f"{HEAD}resources: [../inner]\ntransformers: [check.yaml]\n"
EDIT = """patches:
  - target: {kind: Deployment, name: web}
    patch: |-
      - op: add
        path: /spec/template/spec/containers/0/env/-
        value: {name: ADDED, value: later}
"""
VALIDATORS = "  validators:\n    - exec: contrast-krm\n      configMap:\n        mode: check\n"
SELECTED = quickstart("coordinator.yaml", "web.yaml", "settings.yaml")


def inner(machine: Machine, directory: Path) -> None:
    config = SELECTED.config["contrast.yaml"].partition("\n    # Names that clients use")[0] + "\n"
    made = SELECTED._replace(config={**SELECTED.config, "contrast.yaml": config})
    make_kustomize(machine, directory / "inner", made)


def test_kustomize_checks_what_an_inner_layer_has_sealed(krm_machine: Machine, tmp_path: Path) -> None:
    inner(krm_machine, tmp_path)
    outer = put(tmp_path / "outer", {"kustomization.yaml": OUTER, "check.yaml": CHECK})
    alone = run_kustomize(krm_machine, tmp_path / "inner").ok()
    assert run_kustomize(krm_machine, outer).ok() == alone


def test_kustomize_fails_where_a_layer_has_edited_a_sealed_pod(krm_machine: Machine, tmp_path: Path) -> None:
    inner(krm_machine, tmp_path)
    outer = put(tmp_path / "outer", {"kustomization.yaml": OUTER + EDIT, "check.yaml": CHECK})
    ran = run_kustomize(krm_machine, outer)
    assert (ran.code, ran.out) == (1, b"")
    assert f"error CC1103 shop/web spec.template.spec: {wording('CC1103', field='web: env')}" in ran.err


def test_kustomize_fails_where_nothing_was_rendered(krm_machine: Machine, tmp_path: Path) -> None:
    listed = "".join(f"  - {name}\n" for name in SELECTED.resources)
    files = {"kustomization.yaml": f"{HEAD}resources:\n{listed}transformers: [check.yaml]\n", "check.yaml": CHECK}
    ran = run_kustomize(krm_machine, put(tmp_path / "shop", {**SELECTED.resources, **files}))
    assert ran.code == 1
    assert "error CC1101 shop/web" in ran.err


def test_the_legacy_plugin_checks_as_well(krm_machine: Machine, tmp_path: Path) -> None:
    inner(krm_machine, tmp_path)
    rendered = run_kustomize(krm_machine, tmp_path / "inner").ok()
    (tmp_path / "check.yaml").write_text(CHECK)
    plugin = {"KUSTOMIZE_PLUGIN_CONFIG_ROOT": str(tmp_path)}
    assert krm_machine.krm("check.yaml", stdin=rendered, cwd=tmp_path, **plugin).ok() == rendered
    edited = rendered.replace(b"name: PAYMENTS_URL", b"name: PAYMENTS_URI")
    assert edited != rendered
    ran = krm_machine.krm("check.yaml", stdin=edited, cwd=tmp_path, **plugin)
    assert (ran.code, ran.out) == (1, b"")
    assert "error CC1103 shop/web" in ran.err


def test_kpt_checks_with_a_validator(krm_machine: Machine, tmp_path: Path) -> None:
    package = make_kpt(krm_machine, tmp_path / "shop", quickstart())
    plain = run_kpt(krm_machine, package).ok()
    (package / "Kptfile").write_text(KPTFILE + VALIDATORS)
    documents = [list(yaml.safe_load_all(text)) for text in (run_kpt(krm_machine, package).ok(), plain)]
    for one in documents:
        one[:] = [value for value in one if value["kind"] != "Kptfile"]
    assert documents[0] == documents[1]


def test_kpt_fails_where_a_function_has_edited_a_sealed_pod(krm_machine: Machine, tmp_path: Path) -> None:
    package = make_kpt(krm_machine, tmp_path / "shop", quickstart())
    krm_machine.run(["kpt", "fn", "render", "--allow-exec"], package).ok()
    web = next(path for path in package.glob("*.yaml") if path.name == "web.yaml")
    text = web.read_text()
    assert text.count("name: PAYMENTS_URL") == 1
    web.write_text(text.replace("name: PAYMENTS_URL", "name: PAYMENTS_URI"))
    kptfile = (package / "Kptfile").read_text()
    mutators = "  mutators:\n    - exec: contrast-krm\n      configPath: contrast.yaml\n"
    assert mutators in kptfile
    (package / "Kptfile").write_text(kptfile.replace(mutators, "") + VALIDATORS)
    ran = krm_machine.run(["kpt", "fn", "render", "--allow-exec"], package)
    assert ran.code == 1
    assert "CC1103" in ran.err
    assert "web: env" in ran.err


def test_kpt_eval_checks_without_a_file(krm_machine: Machine, tmp_path: Path) -> None:
    package = make_kpt(krm_machine, tmp_path / "shop", quickstart())
    command = ["kpt", "fn", "eval", ".", "--exec", "contrast-krm", "--", "mode=check"]
    ran = krm_machine.run(command, package)
    assert ran.code == 1
    assert "CC1101" in ran.err
    krm_machine.run(["kpt", "fn", "render", "--allow-exec"], package).ok()
    krm_machine.run(command, package).ok()
