"""Policy: generate the execution policy over everything injected so far, ID blocks included.

Rule of this file: the policy is the last edit of a pod template, because every byte before it can enter the digest
(docs/facts/contrast.md#order). It is sealed whole or not at all: a field that is not understood is a finding, never
left out.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from krm_function.api.records import EMPTY, ImageFacts
from krm_function.findings import Finding, finding
from krm_function.model.annotations import TOTAL, annotations_size
from krm_function.model.edits import Edit
from krm_function.model.profiles import Profile
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy import (
    References,
    Settings,
    annotation,
    base_initdata,
    digest,
    encode_toml,
    from_annotation,
    read_policy_data,
    seal,
    unreadable,
)
from krm_function.policy.initdata import POLICY
from krm_function.policy.rules_mismatch import mismatch_findings
from krm_function.policy.shared_gpus import shared_gpu_notes
from krm_function.record import NamedTuple

if TYPE_CHECKING:
    from krm_function.policy.genpolicy import Engine
    from krm_function.policy.open_variables import OpenVariable


class Sealing(NamedTuple):
    """The edits of one workload, its initdata digest ("" after an error) and the open variables of its policy.

    notes: sentences about its policy for the plan.
    """

    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()
    digest: str = ""
    open: "tuple[OpenVariable, ...]" = ()
    notes: tuple[str, ...] = ()


def seal_policy(
    workload: Workload,
    images: Mapping[str, ImageFacts],
    references: References,
    settings: Settings,
    rules: str,
    files: Mapping[str, str] = EMPTY,
) -> Sealing:
    """Generate the policy of one workload and put its initdata into the pod template."""
    sealed, findings = seal(workload, images, references, settings, rules, files)
    if sealed is None:
        return Sealing(findings=findings)
    wrong = mismatch_findings(workload, sealed.data, settings.profile)
    if wrong:
        return Sealing(findings=wrong)
    notes = tuple(shared_gpu_notes(sealed.data)) if settings.profile.shared_gpus else ()
    return _annotated(workload, sealed.annotation, sealed.digest, findings)._replace(open=sealed.open, notes=notes)


def seal_by_genpolicy(
    workload: Workload,
    engine: "Engine",
    references: References,
    settings: str,
    rules: str,
    files: Mapping[str, str],
    profile: Profile,
) -> Sealing:
    """Let genpolicy make the policy of one workload, and put its initdata into the pod template.

    settings: the text of its settings file. files: what the initdata holds beside the policy. profile: the one whose
    data the rules expect.
    """
    from krm_function.policy.allowed_names import allowed_names, refused_name
    from krm_function.policy.genpolicy import genpolicy_input, read_result
    from krm_function.policy.unbound_values import choices_of_the_host, unbound_findings, unbound_values

    if workload.made_by is not None:
        return Sealing(findings=(finding("CC0692", workload.ref, workload.template_path, kind=workload.ref.kind),))
    base, problems = base_initdata(workload, files)
    if base is None:
        return Sealing(findings=tuple(problems))
    made, wrong = read_result(engine(genpolicy_input(workload, references, rules, settings)), workload, references)
    if made is None:
        return Sealing(findings=wrong)
    data = read_policy_data(made.data[POLICY])
    wrong = mismatch_findings(workload, data, profile) or choices_of_the_host(workload, data)
    if refused := refused_name(workload, allowed_names(workload, data)):
        at = (*workload.root, "metadata", "name")
        wrong = (*wrong, finding("CC0604.cut-name", workload.ref, at, field="metadata.name", name=refused))
    if wrong:
        return Sealing(findings=wrong)
    opened = unbound_values(data)
    toml = encode_toml(base._replace(data={**base.data, **made.data}))
    sealed = digest(toml)
    report = finding("CC0606", workload.ref, workload.metadata_path, digest=sealed)
    said = (*unbound_findings(workload, opened), report)
    notes = tuple(shared_gpu_notes(data)) if profile.shared_gpus else ()
    return _annotated(workload, annotation(toml), sealed, said)._replace(open=opened, notes=notes)


def _annotated(workload: Workload, value: str, sealed: str, findings: tuple[Finding, ...]) -> Sealing:
    """Make the edit that puts an initdata annotation into the pod template, if all annotations fit."""
    reason = f"policy {sealed[:16]}… of the pod with all edits above"
    edits = workload.annotate([(INITDATA, value, reason)], "CC0606")
    bytes_of_all = annotations_size(workload.annotations | {INITDATA: value})
    if bytes_of_all > TOTAL:
        path = (*workload.metadata_path, "annotations")
        return Sealing(findings=(finding("CC0611", workload.ref, path, size=bytes_of_all, limit=TOTAL),))
    return Sealing(edits, findings, sealed)


def existing_digest(workload: Workload) -> Sealing:
    """Return the digest of the initdata that the pod has already, for policy.engine none; "" without any."""
    value = workload.annotations.get(INITDATA)
    if value is None:
        return Sealing()
    try:
        return Sealing(digest=digest(from_annotation(str(value))))
    except ValueError as problem:
        return Sealing(findings=(unreadable(workload, problem),))
