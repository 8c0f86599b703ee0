"""Rule of this file: the workloads whose policies the oracle is asked about, made by a render and not by hand."""

import functools
import re
from pathlib import Path

from krm_function.contrast.profiles import Profile
from krm_function.policy.initdata import decode_toml, from_annotation
from tests import quick_yaml as yaml
from tests.policy import pods

EXAMPLES = Path(__file__).parents[3] / "examples"
ANNOTATION = "io.katacontainers.config.hypervisor.cc_init_data"


def everything(profile: Profile) -> str:
    """The policy of a pod with every supported field."""
    return pods.sealed(pods.rich(), profile=profile).rego


def gpus(profile: Profile) -> str:
    """The policy of a pod with two GPUs."""
    return pods.sealed(pods.simple(resources={"limits": {"nvidia.com/pgpu": 2}}), profile=profile).rego


@functools.cache
def examples() -> dict[str, str]:
    """The policies of our examples as they are sealed, by `quickstart StatefulSet/db`."""
    found = {}
    for path in sorted(EXAMPLES.glob("*/expected/*.yaml")):
        for document in yaml.safe_load_all(re.sub(r"^null$", "", path.read_text(), flags=re.MULTILINE)):
            metadata = _sealed(document)
            if metadata is not None:
                name = f"{path.parts[-3]} {document['kind']}/{document['metadata']['name']}"
                found[name] = decode_toml(from_annotation(metadata["annotations"][ANNOTATION])).data["policy.rego"]
    return found


def _sealed(document: object) -> dict[str, dict[str, str]] | None:
    """The metadata of a pod template that has a policy."""
    for keys in ((), ("spec", "template"), ("spec", "jobTemplate", "spec", "template")):
        place = document
        for key in keys:
            place = place.get(key) if isinstance(place, dict) else None
        metadata = place.get("metadata") if isinstance(place, dict) else None
        if isinstance(metadata, dict) and ANNOTATION in (metadata.get("annotations") or {}):
            return metadata
    return None
