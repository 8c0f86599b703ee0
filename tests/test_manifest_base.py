"""The four ways to give the base of a manifest."""

import glob
import json
from pathlib import Path
from typing import Any

from krm_function.config.collect import collect
from krm_function.config.document import ConfigDocument
from krm_function.hosts.stream import decode_stream
from krm_function.kubernetes.resource import Resource
from krm_function.render.pipeline import render
from krm_function.render.rendered import Rendered
from krm_function.text.parse import parse

QUICKSTART = Path(__file__).parents[1] / "examples" / "quickstart"
OTHER = "ab" * 32


def resources() -> list[Resource]:
    files = sorted(glob.glob(str(QUICKSTART / "resources" / "*.yaml")))
    return [one for file in files for one in decode_stream(Path(file).read_bytes(), file).resources]


def rendered(base: Any, extra: tuple[Resource, ...] = ()) -> Rendered:
    documents = []
    for name in ("contrast", "release", "images"):
        value = parse((QUICKSTART / "config" / f"{name}.yaml").read_text()).value
        if name == "contrast" and base is not None:
            value["spec"]["manifest"]["base"] = base
        documents.append(ConfigDocument(value))
    config, findings = collect(documents)
    return render([*resources(), *extra], config, findings)


def previous() -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(rendered(None).manifest)
    policies = {OTHER: {"SANs": ["elsewhere"], "WorkloadSecretID": "apps/v1/Deployment/other/elsewhere"}}
    return {**manifest, "Policies": policies}


def config_map(text: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"}, "data": {"manifest.json": text}}


def test_a_map_a_text_a_config_map_and_a_name_mean_the_same() -> None:
    text = json.dumps(previous())
    item = Resource(json.dumps(config_map(text)), 1, "", "v1", "ConfigMap", "old")

    made = [
        rendered(previous()).manifest,
        rendered(text).manifest,
        rendered(config_map(text)).manifest,
        rendered({"configMap": "old"}, (item,)).manifest,
    ]

    assert OTHER.encode() in made[0]
    assert len(set(made)) == 1


def test_a_name_that_is_not_among_the_resources_is_an_error() -> None:
    result = rendered({"configMap": "old"})

    assert [found.code for found in result.findings if found.severity == "error"] == ["CC0713"]
    assert result.manifest == b""


def test_a_config_map_that_holds_no_manifest_is_an_error() -> None:
    item = Resource(json.dumps(config_map("nothing")), 1, "", "v1", "ConfigMap", "old")

    result = rendered({"configMap": "old"}, (item,))

    assert [found.code for found in result.findings if found.severity == "error"] == ["CC0713"]
