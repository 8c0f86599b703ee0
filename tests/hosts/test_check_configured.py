"""`check --config` of what nobody changed: no false alarm, whatever host has written it and in whatever form."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests import quick_yaml as yaml
from tests.hosts.documents import load
from tests.hosts.hosts import HOSTS, quickstart
from tests.hosts.running import EXAMPLES, Machine, called

EXAMPLE = {
    "quickstart/expected/rendered.yaml": "quickstart/config",
    "multi-runtime/expected/rendered.yaml": "multi-runtime/config",
    "gpu/expected/rendered.yaml": "gpu/config",
    "every-field/expected/rendered.yaml": "every-field/config",
    "strict/expected/rendered.yaml": "strict/config",
    "kustomize/expected/rendered.yaml": "kustomize/confidential",
    "kustomize-legacy/expected/rendered.yaml": "kustomize-legacy",
    "helm/expected/helm3.yaml": "helm/config",
    "helm/expected/helm4.yaml": "helm/config",
    "kpt/expected/rendered.yaml": "kpt",
    "from-scratch/expected/rendered.yaml": "from-scratch/expected",
}
NAMES = ("contrast.yaml", "images.yaml", "release.yaml")


class Outputs(Protocol):
    def __getitem__(self, host: str) -> bytes: ...


def a_list(data: bytes) -> bytes:
    """What `kubectl get -o yaml` prints: one List, keys in order."""
    return yaml.safe_dump({"apiVersion": "v1", "items": load(data), "kind": "List", "metadata": {}}, width=80).encode()


def a_resource_list(data: bytes) -> bytes:
    """What kustomize hands to a function."""
    value = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": load(data)}
    return yaml.safe_dump(value, sort_keys=False).encode()


def as_json(data: bytes) -> bytes:
    """A stream of JSON documents."""
    return "\n---\n".join(map(json.dumps, load(data))).encode()


def shuffled(data: bytes) -> bytes:
    """The documents in another order."""
    return yaml.safe_dump_all(load(data)[::-1], sort_keys=False).encode()


FORMS: list[Callable[[bytes], bytes]] = [bytes, a_list, a_resource_list, as_json, shuffled]


def errors(data: bytes, *options: str) -> list[tuple[str, str]]:
    ran = called("check", "--format", "json", *options, stdin=data)
    return [(one["code"], one["message"]) for one in json.loads(ran.err)["findings"] if one["severity"] == "error"]


def configuration(directory: str) -> list[str]:
    if directory == "from-scratch/expected":  # `init` and `release import` made it
        names = [*(EXAMPLES / directory).glob("release.yaml"), EXAMPLES / "from-scratch" / "images.yaml"]
        return [part for name in names for part in ("--config", str(name))]
    return [part for name in NAMES for part in ("--config", str(EXAMPLES / directory / name))]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("rendered", sorted(set(EXAMPLE) - {"from-scratch/expected/rendered.yaml"}))
def test_every_example_passes_in_every_form(rendered: str, form: Callable[[bytes], bytes]) -> None:
    text = (EXAMPLES / rendered).read_bytes()
    manifest = EXAMPLES / rendered.partition("/")[0] / "expected" / "manifest.json"
    inside = any("manifest.json" in (value.get("data") or {}) for value in load(text))
    options = configuration(EXAMPLE[rendered]) + ([] if inside else ["--manifest", str(manifest)])
    unfilled = [one for one in errors(form(text), *options) if not one[1].endswith(": not filled in")]
    assert unfilled == []


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("host", HOSTS)
def test_the_output_of_every_host_passes_in_every_form(
    rendered: Outputs, host: str, form: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    config = [part for name in NAMES for part in ("--config", str(tmp_path / name))]
    for name, text in quickstart().config.items():
        (tmp_path / name).write_text(text)
    assert errors(form(rendered[host]), *config) == []


def stored(value: Any) -> Any:
    """Quantities and a claim as the API server writes them: recorded from Kubernetes' own defaulting functions."""
    text = json.dumps(value).replace('"1024Mi"', '"1Gi"')
    return json.loads(text.replace('"volumeClaimTemplate": {"spec"', '"volumeClaimTemplate": {"metadata": {}, "spec"'))


def test_quantities_and_the_image_store_pass_as_the_api_server_writes_them(
    krm_machine: Machine, tmp_path: Path
) -> None:
    deployment = quickstart()
    config = {**deployment.config}
    config["contrast.yaml"] += "  imageStore: {enabled: true}\n"
    config["release.yaml"] = config["release.yaml"].replace("682Mi", "1024Mi")
    made = HOSTS["files"].render(krm_machine, tmp_path, deployment._replace(config=config)).ok()
    after = [stored(value) for value in load(made)]
    assert after != load(made)
    assert sum(json.dumps(value).count('"1Gi"') for value in after) > 1
    assert '{"metadata": {}, "spec"' in json.dumps(after)
    assert errors(yaml.safe_dump_all(after).encode(), "--config", str(tmp_path / "config")) == []


def test_a_hook_and_a_template_of_one_name_pass_through_helm_4(krm_machine: Machine, tmp_path: Path) -> None:
    account = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: migrate\n  namespace: shop\n"
    hook = account + "  annotations:\n    helm.sh/hook: pre-install\n"
    deployment = quickstart()
    deployment = deployment._replace(resources={**deployment.resources, "a.yaml": account, "b.yaml": hook})
    made = HOSTS["helm4"].render(krm_machine, tmp_path / "shop", deployment).ok()
    assert sum(value["metadata"]["name"] == "migrate" for value in load(made)) == 2
    assert errors(made, "--config", str(tmp_path / "shop" / "config")) == []
    twice = deployment._replace(resources={**deployment.resources, "b.yaml": account})
    ran = HOSTS["helm3"].render(krm_machine, tmp_path / "twice", twice)
    assert ran.code != 0
    assert "CC0118 shop/migrate" in ran.err


def test_the_package_contexts_of_subpackages_pass_through_kpt(krm_machine: Machine, tmp_path: Path) -> None:
    package = HOSTS["kpt"].make(krm_machine, tmp_path / "shop", quickstart())
    for directory in (package, package / "sub"):
        directory.mkdir(exist_ok=True)
        (directory / "package-context.yaml").write_text(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n  annotations:\n"
            '    config.kubernetes.io/local-config: "true"\ndata:\n  name: example\n'
        )
    (package / "sub" / "Kptfile").write_text("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: sub\n")
    HOSTS["kpt"].run(krm_machine, package).ok()
