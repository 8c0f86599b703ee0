"""Find the containers whose pods have to state a user that their image implies, as profile kata-4.1 requires.

Rule of this file: it asks what the render asks, with the same answer: policy/identity.py. Injected containers are left
out, because a render writes theirs.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from krm_function.api.records import ImageFacts
from krm_function.cli.lock.needed_images import Use
from krm_function.findings import Cause, Finding, finding
from krm_function.model.image import Image
from krm_function.model.lookup import mapping
from krm_function.model.owned import CONTAINERS
from krm_function.policy.identity import guest_pull_refusal, identity, unresolved_user


def unstated_users(
    uses: Iterable[tuple[Image, Use]], entries: Mapping[str, Mapping[str, Any]], profile: str
) -> list[Finding]:
    """Return CC1214 once for each image and remedy, at the first container.

    entries: of the lock, by reference. profile: the name of the policy profile.
    """
    findings: dict[str, Finding] = {}
    for image, use in uses:
        container = mapping(use.workload.at(use.path[:-1]))
        entry = entries.get(str(image)) or next(
            (one for name, one in entries.items() if name.startswith(f"{image}@")), None
        )
        if entry is None or use.path[-1] != "image" or container.get("name") in CONTAINERS:
            continue
        facts = ImageFacts(entry["digest"], entry["config"], entry.get("passwd"), entry.get("group"))
        pod = mapping(use.workload.pod_spec.get("securityContext"))
        cause = _unstated(facts, mapping(container.get("securityContext")), pod)
        if cause is not None:
            about = finding(cause.code, image=str(image), profile=profile, **cause.values)
            findings.setdefault(f"{about.message}\n{about.hint}", use.place(about))
    return list(findings.values())


def _unstated(image: ImageFacts, container: dict[str, Any], pod: dict[str, Any]) -> Cause | None:
    """Return what only the image says of user and groups, and the pod has to state; None if there is nothing."""
    user = unresolved_user(image, container, pod)
    if user:
        return Cause("CC1214.user-number", {"user": user})
    refused = guest_pull_refusal(identity(image, container, pod), image, container, pod)
    return Cause("CC1214.unnamed", refused.values) if refused else None
