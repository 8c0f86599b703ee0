"""Generate the sealed policy of a workload; the one entry point of this package."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.findings import Cause, Finding, finding, has_errors
from krm_function.kubernetes.pod_fields import news
from krm_function.kubernetes.resource import Edit
from krm_function.kubernetes.workload import OpenVariable, Workload
from krm_function.policy.container_process import DEFAULT_PATH
from krm_function.policy.containers import containers
from krm_function.policy.expansion import PATTERN, bound_containers
from krm_function.policy.image_storage import images_not_locked, unproven_tags
from krm_function.policy.initdata import (
    POLICY,
    annotation_and_digest,
    base_initdata,
    container_name,
    encode_toml,
    fits_literal,
    rego_text,
)
from krm_function.policy.made_pod import made_pod
from krm_function.policy.mounts import host_visible_volumes
from krm_function.policy.open_guest import opening_findings
from krm_function.policy.pod_metadata import PodMetadata, coverage_findings, problem
from krm_function.policy.rules import load_rules, with_external_sources
from krm_function.policy.settings import Settings, settings_of_pod
from krm_function.policy.users import unknown_users
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY
from krm_function.text.changes import ABSENT

# --- Find the other problems of a pod that gets no policy: the findings after the first errors are fixed
#
# Rule: it makes no policy, only findings. Fields that no policy covers are left out, and an image of which
# too little is known counts as one that names its user and its program and has no VOLUME, so nothing is said about it.


NOT_COVERED = ("CC0601", "CC0605")  # a field that a policy refuses, or that is unknown
OF_AN_IMAGE = ("CC0504", "CC0508")  # not in the lock, or without the accounts that count
ANY_USER = {"User": "65532:65532"}
ANY_IMAGE = ImageFacts("", {**ANY_USER, "Entrypoint": ["/program"], "WorkingDir": "/"}, "", "")


def covered_part(workload: Workload, findings: Sequence[Finding]) -> Workload | None:
    """Return a workload without the fields that findings of `coverage_findings` are about.

    None if a finding is about a value, which the generator could not read.
    """
    edits: list[Edit] = []
    for uncovered in findings:
        parent, name = workload.at(uncovered.path[:-1]), uncovered.path[-1:]
        if uncovered.code not in NOT_COVERED or not isinstance(parent, dict) or not name or name[0] not in parent:
            return None
        edits.append(Edit("remove", uncovered.path, parent[name[0]], ABSENT, uncovered.code, uncovered.message))
    return workload.after(tuple(edits))


def further_problems(
    workload: Workload,
    pod: PodMetadata,
    images: Mapping[str, ImageFacts],
    references: References,
    settings: Settings,
    reported: Sequence[Finding],
) -> tuple[Finding, ...]:
    """Return the errors of the containers that are not in `reported`.

    workload: unchanged. pod: its covered part. images: by the reference exactly as the pod names it.
    """
    doubtful = {str(workload.at(error.path)) for error in reported if error.code in OF_AN_IMAGE}
    names = {str(pod_container.container.get("image")) for pod_container in workload.all_containers}
    facts = {
        name: _assume_known_user(images.get(name, ANY_IMAGE)) if name in doubtful else images[name] for name in names
    }
    _, findings = containers(pod, facts, ANY_IMAGE, references, settings)
    return news((error for error in findings if has_errors([error])), reported, workload)


def _assume_known_user(image: ImageFacts) -> ImageFacts:
    return image._replace(config={**image.config, **ANY_USER}, passwd="", group="")


# --- Generate the sealed policy of a workload; the one entry point of this package
#
# Rule: a workload is sealed whole or not at all. A finding of severity error means no Policy.


# the pause image of every Kubernetes release, as its config blob says (docs/facts/kata.md#users)
PAUSE = ImageFacts("", {"User": "65535:65535", "Env": [DEFAULT_PATH], "Entrypoint": ["/pause"], "WorkingDir": "/"})

# limits of the agent's Rego engine: 64 KiB of columns, counted from 1, and the end of a line takes one, too
LONGEST_LINE = 64 * 1024 - 1  # bytes
MOST_LINES = 200_000
MOST_BYTES = 16 * 1024 * 1024
TAB = b" " * 4  # the engine counts a tab as four columns
TOKEN = f"$({PATTERN})"  # of a text pattern; in rules that match them


class Policy(NamedTuple):
    """A workload's policy: data, document, initdata, annotation and digest."""

    data: dict[str, Any]  # policy_data; shares parts with the settings: do not change it
    rego: str
    toml: bytes
    annotation: str
    digest: str  # sha256 of toml, hex
    open: tuple[OpenVariable, ...] = ()


def seal(
    workload: Workload,
    images: Mapping[str, ImageFacts],
    references: References,
    settings: Settings,
    rules: str,
    files: Mapping[str, str] = EMPTY,
) -> tuple[Policy | None, tuple[Finding, ...]]:
    """Generate the policy of one workload; to be called after every other edit of it.

    images: by the reference exactly as the pod names it. rules: Rego text of package agent_policy. files: the other
    files of the initdata, by name.
    Returns None and the errors, or the policy and its other findings.
    """
    findings = coverage_findings(workload.pod_spec, workload.spec_path, workload.ref)
    covered = covered_part(workload, findings) if findings else workload
    if covered is None:
        return None, tuple(findings)
    pod, problems = made_pod(covered)
    base, initdata_findings = base_initdata(workload, files)
    findings += problems + initdata_findings + _duplicate_names(pod) + images_not_locked(pod, images)
    if settings.profile.image_identity:
        findings += unknown_users(pod, images)
    if findings or base is None:
        return None, (*findings, *further_problems(workload, pod, images, references, settings, findings))
    settings = settings_of_pod(settings, links=pod.spec.get("enableServiceLinks") is not False)
    pause = images.get(settings.cluster_config["pause_container_image"], PAUSE)
    policies, findings = containers(pod, images, pause, references, settings)
    if has_errors(findings):
        return None, tuple(findings)
    if TOKEN in rules:
        policies = bound_containers(policies)
    else:
        findings = [*findings, *_pattern_findings(pod, policies)]
        if has_errors(findings):
            return None, tuple(findings)
    opened, notes = _find_open_variables(workload, policies, references)
    own_rules = rules != load_rules(settings.profile)
    rules = with_external_sources(rules) if opened else rules
    if workload.made_by is not None:
        from krm_function.policy.controllers import controller_findings, written_by_controller

        of_controller = written_by_controller(workload)
        opened, notes = (*opened, *of_controller), (*notes, *controller_findings(workload, of_controller))
    if TOKEN not in rules:
        from krm_function.policy.open_variables import open_findings, unbound_values

        opened = unbound_values({"containers": policies, **settings.shared})
        notes = open_findings(workload, opened, "CC0683")
    rego = rego_text(rules, policies, settings.shared_text)
    too_long = _find_exceeded_limit(rego.encode(errors="surrogatepass"))
    if too_long:
        return None, (problem(pod, (), too_long.code, of="spec", **too_long.values),)
    try:
        toml = encode_toml(base._replace(data={**base.data, POLICY: rego}), POLICY if _fits_literal(rules) else None)
    except UnicodeEncodeError:
        return None, (problem(pod, (), "CC0604.unicode", of="spec"),)
    value, digest = annotation_and_digest(toml)
    sealed = Policy({"containers": policies, **settings.shared}, rego, toml, value, digest, opened)
    notes = (*notes, *opening_findings(workload, sealed.data, base.data, own_rules=own_rules))
    report = finding("CC0606", pod.ref, workload.metadata_path, digest=sealed.digest)
    return sealed, (*findings, *unproven_tags(pod, images), *notes, *host_visible_volumes(pod), report)


@functools.lru_cache(maxsize=1)
def _fits_literal(rules: str) -> bool:
    """Check the rules only; output of `pretty` always fits a TOML literal string."""
    return fits_literal(rules)


def _find_open_variables(
    workload: Workload, policies: list[dict[str, Any]], references: References
) -> tuple[tuple[OpenVariable, ...], tuple[Finding, ...]]:
    if not references.external:
        return (), ()
    from krm_function.policy.open_variables import open_findings, open_variables

    opened = open_variables({"containers": policies}, workload, references)
    return opened, open_findings(workload, opened)


def _duplicate_names(pod: PodMetadata) -> list[Finding]:
    # The rules cannot distinguish two containers of one name and would deny both
    seen: set[str] = set()
    findings = []
    for at, container in pod.containers:
        name = container["name"]
        if name in seen:
            findings.append(problem(pod, (*at, "name"), "CC0604.name-twice", name=name))
        seen.add(name)
    return findings


def _pattern_findings(pod: PodMetadata, policies: list[dict[str, Any]]) -> list[Finding]:
    """Only the native rules match text patterns."""
    findings = []
    for container in policies[1:]:
        run, name = container["OCI"]["Process"], container_name(container)
        variables = [text.partition("=")[0] for text in run.get("Env", ()) if f"={TOKEN}" in text]
        findings += [
            problem(pod, (), "CC0601.variable-around", container=name, variable=variable) for variable in variables
        ]
        if any(text.startswith(TOKEN) for text in run.get("Args", ())):
            findings.append(problem(pod, (), "CC0601.arguments-around", container=name))
    return findings


def _find_exceeded_limit(rego: bytes) -> Cause | None:
    """Return the limit of the agent's Rego engine that a document exceeds."""
    if len(rego) > MOST_BYTES:
        return Cause("CC0604.long-policy", {"limit": MOST_BYTES, "unit": "bytes"})
    if len(rego) > MOST_LINES and rego.count(b"\n") >= MOST_LINES:
        return Cause("CC0604.long-policy", {"limit": MOST_LINES, "unit": "lines"})
    # a line of that many bytes fits even if all are tabs
    if _has_line_above(LONGEST_LINE // len(TAB), rego) and _has_line_above(LONGEST_LINE, rego.replace(b"\t", TAB)):
        return Cause("CC0604.long-line", {"limit": LONGEST_LINE})
    return None


def _has_line_above(limit: int, text: bytes) -> bool:
    start = 0
    while len(text) - start > limit:
        end = text.rfind(b"\n", start, start + limit + 1)
        if end < 0:
            return True
        start = end + 1
    return False
