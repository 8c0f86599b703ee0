"""What is in a rendered stream, read by the rules of Kubernetes' own parser."""

import base64
import gzip
from hashlib import sha256
from typing import Any

from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig, objects
from krm_function.kubernetes.workload import EMITTED, INITDATA, ORIGINAL
from krm_function.text.errors import decode
from krm_function.text.parse import parse
from krm_function.text.split import split_stream


def load(data: bytes) -> list[Any]:
    """Every object of a stream, Lists taken apart; empty documents left out."""
    text = decode(data).text
    values = [parse(chunk.of(text)).value for chunk in split_stream(text) if not chunk.empty]
    lists = ("ResourceList", "FunctionResultList")  # no list of resources to a cluster
    return [
        value
        for whole in values
        for _, value in ([((), whole)] if isinstance(whole, dict) and whole.get("kind") in lists else objects(whole))
    ]


def name_of(value: Any) -> str:
    """`Kind/namespace/name`."""
    metadata = value.get("metadata") or {}
    return f"{value['kind']}/{metadata.get('namespace', '')}/{metadata.get('name', '')}"


def by_name(data: bytes) -> dict[str, Any]:
    """The objects of a stream by name; a name that comes twice is an error."""
    values = load(data)
    found = {name_of(value): value for value in values}
    assert len(found) == len(values)
    return found


def pod_templates(data: bytes) -> dict[str, Any]:
    """The pod template of every workload."""
    return {
        name: dig(value, KINDS[value["kind"]][1]) for name, value in by_name(data).items() if value["kind"] in KINDS
    }


def annotations(template: Any) -> dict[str, str]:
    """The annotations of a pod template."""
    found: dict[str, str] = (template.get("metadata") or {}).get("annotations") or {}
    return found


def initdata(data: bytes) -> dict[str, str]:
    """The initdata of every sealed workload, as text."""
    return {
        name: gzip.decompress(base64.b64decode(annotations(template)[INITDATA])).decode()
        for name, template in pod_templates(data).items()
        if INITDATA in annotations(template)
    }


def digests(data: bytes) -> dict[str, str]:
    """The digest of every sealed workload's initdata."""
    return {name: sha256(text.encode()).hexdigest() for name, text in initdata(data).items()}


def emitted(data: bytes) -> dict[str, Any]:
    """The objects that a render added."""
    return {
        name: value
        for name, value in by_name(data).items()
        if EMITTED in ((value.get("metadata") or {}).get("annotations") or {})
    }


def without_original(values: dict[str, Any]) -> dict[str, Any]:
    """The objects without the way back, which says which empty maps to take away and so depends on the input."""
    return {
        name: {**value, "metadata": {**value["metadata"], "annotations": _others(value)}}
        if ORIGINAL in (value["metadata"].get("annotations") or {})
        else value
        for name, value in values.items()
    }


def _others(value: Any) -> dict[str, Any]:
    return {key: text for key, text in value["metadata"]["annotations"].items() if key != ORIGINAL}
