"""Add to an existing ContrastGenerate what its host and its user need.

Rule of this file: fields that are set stay; only missing ones are added.
"""

from krm_function.krm.kube_object import FUNCTION
from krm_function.model.workload import dig
from krm_function.yamltext import Change, parse, splice

EXEC = "exec:\n  path: contrast-krm\n"  # a bare name: looked up on PATH


def with_function(text: str) -> str:
    """The file with the annotation that names the program for kustomize to run. Raises YamlError."""
    document = parse(text)
    annotations = dig(document.value, ("metadata", "annotations"))
    if isinstance(annotations, dict) and FUNCTION in annotations:
        return text
    if isinstance(annotations, dict) and annotations:
        change = Change(("metadata", "annotations", FUNCTION), "set", EXEC)
    else:
        change = Change(("metadata", "annotations"), "set", {FUNCTION: EXEC})
    return splice(document, [change]).text


def with_platform(text: str, platform: str) -> str:
    """The file with this default platform. Raises YamlError, and ValueError when it has another one."""
    document = parse(text)
    spec = dig(document.value, ("spec",))
    there = dig(spec, ("platform",))
    if there is not None:
        if str(there).lower() == platform:
            return text
        raise ValueError(f"spec.platform is {there} already")
    if spec is not None and not isinstance(spec, dict):
        raise ValueError("spec is not a map")
    change = Change(("spec", "platform"), "set", platform) if spec else Change(("spec",), "set", {"platform": platform})
    return splice(document, [change]).text
