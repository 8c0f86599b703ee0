"""Write and read the ConfigMap that carries the manifest, and read a base manifest from one in the input.

Rule of this file: the manifest's bytes travel verbatim under the data key manifest.json.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from krm_function.api.base_manifest import manifest_in
from krm_function.api.records import Config, Generate
from krm_function.findings import Finding, finding
from krm_function.manifest.ordered_fields import FILE
from krm_function.model.annotations import TOTAL as APPLIED  # the annotation in which kubectl keeps what it applied
from krm_function.model.lookup import dig
from krm_function.model.sealed import SealedWorkload
from krm_function.model.workload import EMITTED, LOCAL_CONFIG

MOST_DATA = 1 << 20  # bytes of the data of a ConfigMap that the API server accepts
NEARLY = 90  # per cent of a limit from which on there is a warning


def emitted_manifest(generate: Generate, data: bytes, sealed: Sequence[SealedWorkload]) -> tuple[dict[str, Any], ...]:
    """Make the ConfigMap that carries the manifest; () if none is emitted.

    It is in the coordinator's namespace; in the configured one if the coordinator is not among the workloads.
    """
    options = generate.manifest
    if not data or options.emit == "none":
        return ()
    annotations = {EMITTED: "true"}
    if options.emit == "LocalConfig":
        annotations[LOCAL_CONFIG] = "true"
    metadata: dict[str, Any] = {"name": options.name}
    namespaces = [one.workload.ref.namespace for one in sealed if one.workload.is_coordinator]
    if chosen := namespaces[-1] if namespaces else generate.namespace:
        metadata["namespace"] = chosen
    metadata["labels"] = {"app.kubernetes.io/managed-by": "contrast-krm"}
    metadata["annotations"] = annotations
    return ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {FILE: data.decode("utf-8")}},)


def size_findings(config: Config, added: Sequence[Any]) -> tuple[Finding, ...]:
    """Return CC0714 if the manifest's ConfigMap comes near a limit of the API server, or else of `kubectl apply`.

    added: the objects that the render adds, what `emitted_manifest` made as the last of them. Source:
    docs/facts/kubernetes.md#limits.
    """
    options = config.generate.manifest
    text = manifest_of(added[-1]) if added and options.emit == "ConfigMap" else None
    if text is None:
        return ()
    size, limit, code = len(text.encode("utf-8")), MOST_DATA, "CC0714.object"
    if size < APPLIED // 3:  # in JSON no character takes more than three times its bytes that a manifest has many of
        return ()
    if size < limit * NEARLY // 100:
        import json

        text = json.dumps(added[-1], ensure_ascii=False, separators=(",", ":"))
        size, limit, code = len(text.encode("utf-8")), APPLIED, "CC0714.apply"
        if size < limit * NEARLY // 100:
            return ()
    return (finding(code, config.generate.ref, ("spec", "manifest"), name=options.name, size=size, limit=limit),)


def manifest_of(value: Any) -> str | None:
    """Return the manifest text of a ConfigMap that a render emitted, None for any other object."""
    if dig(value, ("metadata", "annotations", EMITTED)) is None or dig(value, ("kind",)) != "ConfigMap":
        return None
    text = dig(value, ("data", FILE))
    return text if isinstance(text, str) else None


def with_base(config: Config, objects: Iterable[Any]) -> tuple[Config, tuple[Finding, ...]]:
    """Return the configuration with the manifest of the ConfigMap that its base names. objects: of the input."""
    options = config.generate.manifest
    name = (options.base or {}).get("configMap")
    found = [
        value for value in objects if dig(value, ("kind",)) == "ConfigMap" and dig(value, ("metadata", "name")) == name
    ]
    path = ("spec", "manifest", "base", "configMap")
    if len(found) != 1:
        code = "CC0713.twice" if found else "CC0713.absent"
        return config, (finding(code, config.generate.ref, path, name=name),)
    try:
        base = manifest_in(found[0])
    except ValueError as problem:
        return config, (finding("CC0713.content", config.generate.ref, path, name=name, error=str(problem)),)
    generate = config.generate._replace(manifest=options._replace(base=base))
    return config._replace(generate=generate), ()
