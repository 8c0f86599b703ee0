"""The native Rego rules, and whether policy_data fit them."""

import functools
import os
from collections.abc import Mapping
from typing import Any

from krm_function.contrast.profiles import CONTRAST, DEFAULT, KATA, PROFILES, Profile
from krm_function.findings import Cause, Finding, finding
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.workload import Workload, added_init_containers
from krm_function.policy.image_storage import SANDBOX, images, is_bound, is_of, misshapen
from krm_function.policy.initdata import CONTAINER_NAME, container_name, rules_of

# --- Load the native Rego rules, which are files of the package
#
# Rule: a policy has the files that its profile names, concatenated. The first is shared by all and calls
# what the others define, so that a missing part cannot go unnoticed. A policy with open variables has one file more,
# which only adds to what is allowed, so that all other policies keep their digests. Comments stay here: a policy is in
# an annotation of each pod, where every kilobyte counts.


EXTERNAL = "external-sources"


@functools.cache
def load_rules(profile: Profile = DEFAULT) -> str:
    """Return the rules of a profile."""
    return "".join(map(load_file, profile.rules))


def with_external_sources(rules: str) -> str:
    """Add the rules for open variables."""
    return rules + load_file(EXTERNAL)


def without_external_sources(rules: str) -> str:
    """Return rules without those for open variables; the rest allows only what the data contain."""
    return rules.removesuffix(load_file(EXTERNAL))


def profile_of_rules(rego: str) -> Profile | None:
    """Return the profile with exactly these rules, None for any other text."""
    try:
        rules = without_external_sources(rules_of(rego))
    except ValueError:
        return None
    return next((profile for profile in PROFILES.values() if load_rules(profile) == rules), None)


def load_file(name: str) -> str:
    """Read one file of the rules as a policy has it, by its name without the extension.

    Comments go, except for the first line of the file; one blank line stays between two rules.
    """
    with open(path_of(name), encoding="utf-8", newline="") as file:
        first, *lines = file.read().splitlines()
    lines_of_policy = [first]
    for line in lines:
        if not line.lstrip().startswith("#") and (line or lines_of_policy[-1]):
            lines_of_policy.append(line)
    return "\n".join(lines_of_policy) + "\n"


def path_of(name: str) -> str:
    """Return where a file of the rules is."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules", f"{name}.rego")


# --- Check that policy_data fit the rules they are sealed with, and the pod
#
# Rules count what the data list. With rules that count images, data without image storages refuse every request; with
# rules that do not, data with them do. Either way the sealed pod could never start.
#
# Rule: pure; data of the native generator and of genpolicy are checked in the same way.


TYPE = "io.kubernetes.cri.container-type"
MEMBERS = ("common", "sandbox", "request_defaults", "devices", "cluster_config")  # beside the containers


def mismatch(data: Mapping[str, Any], profile: Profile) -> Cause | None:
    """Return why policy data do not fit the rules of a profile: CC0618 with a variant, None if they do.

    profile        each container, the sandbox first
    binds images   exactly one image storage: of the sandbox `pause`, else a reference with a digest
    does not       none
    """
    entries = data.get("containers")
    if not isinstance(entries, list) or not entries:
        return Cause("CC0618.containers")
    for index, entry in enumerate(entries):
        sandbox = index == 0
        name = "the sandbox" if sandbox else f"container {container_name(entry) or index}"
        cause = _find_storage_problem(mapping(entry).get("storages"), profile, name, sandbox=sandbox)
        if cause:
            return cause
    return None


def profile_of_data(data: Mapping[str, Any]) -> Profile:
    """Return the profile that policy data name. Without a name: CONTRAST for data with image storages, else KATA."""
    named_profile = next((profile for profile in PROFILES.values() if profile.name == data.get("profile")), None)
    bound = any(images(entry.get("storages")) for entry in maps(data.get("containers")))
    return named_profile or (CONTRAST if bound else KATA)


def mismatch_findings(workload: Workload, data: Mapping[str, Any], profile: Profile) -> tuple[Finding, ...]:
    """Return CC0618 if the policy data of a workload do not fit the rules of a profile, or are of another pod."""
    cause = mismatch(data, profile) or _find_foreign_data(workload, data, profile)
    if not cause:
        return ()
    other_profiles = [
        candidate.name
        for candidate in PROFILES.values()
        if candidate.binds_images != profile.binds_images and not candidate.narrowed
    ]
    maker = "Contrast's genpolicy, and images with digests" if profile.binds_images else "the genpolicy of Kata"
    values = {"profile": profile.name, "maker": maker, "others": " or ".join(other_profiles), **cause.values}
    return (finding(cause.code, workload.ref, workload.spec_path, **values),)


def _find_foreign_data(workload: Workload, data: Mapping[str, Any], profile: Profile) -> Cause | None:
    for member in MEMBERS:
        if not isinstance(data.get(member), dict):
            return Cause("CC0618.member", {"member": member})
    entries = [mapping(dig(entry, ("OCI", "Annotations"))) for entry in maps(data["containers"])]
    if [annotations.get(TYPE) for annotations in entries] != ["sandbox", *("container" for _ in entries[1:])]:
        return Cause("CC0618.sandbox")
    added = added_init_containers(workload) if workload.made_by else ()
    all_containers = (*added, *workload.init_containers, *workload.containers)
    of_the_pod = {str(container.get("name")): container.get("image") for container in all_containers}
    names = [annotations.get(CONTAINER_NAME) for annotations in entries[1:]]
    if sorted(map(str, names)) != sorted(of_the_pod):
        return Cause("CC0618.names")
    for name, entry in zip(names, data["containers"][1:], strict=True):
        if profile.binds_images and not is_of(images(entry["storages"]), str(of_the_pod[str(name)])):
            return Cause("CC0618.image", {"container": name})
    return None


def _find_storage_problem(storages: Any, profile: Profile, name: str, *, sandbox: bool) -> Cause | None:
    values = {"container": name}
    if not isinstance(storages, list):
        return Cause("CC0618.storages", values)
    image_storages = images(storages)
    if not profile.binds_images:
        return Cause("CC0618.known-storage", values) if image_storages else None
    if not image_storages:
        return Cause("CC0618.no-storage", values)
    if len(image_storages) > 1:
        return Cause("CC0618.more-storages", {**values, "count": len(image_storages)})
    member = misshapen(image_storages[0])
    if member:
        return Cause("CC0618.storage", {**values, "member": member})
    if not is_bound(image_storages[0], sandbox=sandbox):
        return Cause("CC0618.sandbox-image", {"image": SANDBOX}) if sandbox else Cause("CC0618.digest", values)
    return None
