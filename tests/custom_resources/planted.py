"""An object with a placeholder in it, and what has to become of it."""

from typing import Any, NamedTuple

from tests.custom_resources.objects import Json, template

POD: Json = template()["spec"]
CLASS: Json = {"runtimeClassName": "contrast-cc"}


class Planted(NamedTuple):
    """An object with a placeholder in it. sealed: its workloads. said: what the refusal says."""

    value: Json
    sealed: tuple[str, ...] = ()
    said: str = ""


def thing(api_version: str, kind: str, **spec: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "llm", "namespace": "shop"}, "spec": spec}


def at(api_version: str, kind: str, path: str, leaf: Json) -> Json:
    """An object with a map at a path from its root, such as `spec.roles[].template`; lists have one entry, `main`."""
    made: Json = leaf
    for step in reversed(path.split(".")):
        made = {step.removesuffix("[]"): [{"name": "main", **made}] if step.endswith("[]") else made}
    return {**thing(api_version, kind), **made}


def replicated(name: str, **job: Any) -> Json:
    return {"name": name, "replicas": 2, "template": {"spec": {**job, "template": template(name)}}}
