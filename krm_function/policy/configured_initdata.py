"""Build the initdata that a policy is added to, from the pod's annotation and the files of the configuration.

Rule of this file: the configuration names every file that a guest is sealed with. The annotation may hold the same
files, for tools that read them there; a file of it that the configuration does not have, or has with another text, is
an error.
"""

from collections.abc import Mapping

from krm_function.findings import Finding, finding
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy.initdata import VERSION, Initdata, decode_toml, from_annotation


def base_initdata(workload: Workload, files: Mapping[str, str]) -> tuple[Initdata | None, list[Finding]]:
    """Return the initdata of a pod without its policy, or None and the findings (CC0610, CC0613, CC0621).

    files: file name -> text, from `spec.policy.initdata`.

        annotation   configuration   in the initdata
        text         none            nothing: CC0621, policies included
        none         text            the configuration's
        text         the same        that text
        text         another         nothing: CC0613
    """
    value = workload.annotations.get(INITDATA)
    base = Initdata(VERSION, "sha256", {})
    if value is not None:
        try:
            base = decode_toml(from_annotation(value if isinstance(value, str) else ""))
        except ValueError as wrong:
            return None, [unreadable(workload, wrong)]
    path = (*workload.metadata_path, "annotations", INITDATA)
    if base.algorithm != "sha256":  # a manifest names policies by 64 hex digits
        return None, [finding("CC0610.algorithm", workload.ref, path, key=INITDATA, algorithm=base.algorithm)]
    wrong_files = [
        finding("CC0613", workload.ref, path, name=name)
        if name in files
        else finding("CC0621", workload.ref, path, key=INITDATA, name=name)
        for name, text in sorted(base.data.items())
        if files.get(name) != text
    ]
    return (None, wrong_files) if wrong_files else (base._replace(data=dict(files)), [])


def unreadable(workload: Workload, problem: ValueError) -> Finding:
    """Make the finding CC0610: why the initdata annotation of a pod cannot be read."""
    path = (*workload.metadata_path, "annotations", INITDATA)
    return finding("CC0610.content", workload.ref, path, key=INITDATA, error=str(problem))
