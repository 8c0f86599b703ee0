"""The initdata to which a policy is added: what stands in the pod's annotation, and the files of the configuration.

Rule of this file: a file has one text. Where annotation and configuration disagree, neither is guessed to be meant.
"""

from collections.abc import Mapping

from krm_function.findings import Finding, finding
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy.initdata import POLICY, VERSION, Initdata, decode_toml, from_annotation


def base_initdata(workload: Workload, files: Mapping[str, str]) -> tuple[Initdata | None, list[Finding]]:
    """The initdata of a pod but for its policy; None and why not (CC0610, CC0613).

    files: file name -> text, from `spec.policy.initdata`. What the annotation holds as policy is replaced in any case.

        annotation   configuration   enters
        text         none            the annotation's
        none         text            the configuration's
        text         the same        it
        text         another         nothing: CC0613
    """
    value = workload.annotations.get(INITDATA)
    base = Initdata(VERSION, "sha256", {})
    if value is not None:
        try:
            base = decode_toml(from_annotation(value if isinstance(value, str) else ""))
            if base.algorithm != "sha256":
                # a manifest names policies by 64 hex digits
                raise ValueError(f"its algorithm is {base.algorithm}, Contrast needs sha256")  # noqa: TRY301
        except ValueError as wrong:
            return None, [unreadable(workload, wrong)]
    own = {name: text for name, text in base.data.items() if name != POLICY}
    twice = sorted(name for name in own.keys() & files.keys() if own[name] != files[name])
    if twice:
        path = (*workload.metadata_path, "annotations", INITDATA)
        return None, [finding("CC0613", workload.ref, path, name=name) for name in twice]
    return base._replace(data={**own, **files}), []


def unreadable(workload: Workload, problem: ValueError) -> Finding:
    """CC0610: why the annotation of a pod cannot be read."""
    path = (*workload.metadata_path, "annotations", INITDATA)
    return finding("CC0610", workload.ref, path, key=INITDATA, problem=str(problem))
