"""Every entry point of the agent: what the rules say of it by default, and what it takes to be heard otherwise.

The table is that of docs/facts/kata-rules.md#entry-points. `{}` is a request without content, so it meets none.
"""

import re

import pytest

from krm_function.contrast.profiles import KATA, PROFILES, Profile
from krm_function.policy.rules import load_rules
from tests.policy import host, pods

ALLOWED = dict.fromkeys(host.ENTRY_POINTS_ALLOWED, "always")
DENIED = dict.fromkeys(host.ENTRY_POINTS_DENIED, "never")
CONDITIONAL = {
    "AddARPNeighborsRequest": "not of lo, nothing in loopback, harmless states and flags",
    "CloseStdinRequest": "the settings switch it on",
    "CopyFileRequest": "into a shared directory, no path that climbs out of it",
    "CreateContainerRequest": "exactly one container of the policy fits, and the state agrees",
    "CreateSandboxRequest": "no hooks, no modules, no shared process namespace, only storages of the settings",
    "ExecProcessRequest": "a container that runs, its identity, one of its commands",
    "GetDiagnosticDataRequest": "the settings switch it on",
    "ReadStreamRequest": "the settings switch it on",
    "RemoveContainerRequest": "a container that was created and not removed",
    "UpdateEphemeralMountsRequest": "the settings switch it on",
    "UpdateInterfaceRequest": "flags, name and address are not those of loopback",
    "UpdateRoutesRequest": "no source and no device of loopback",
    "WriteStreamRequest": "the settings switch it on",
}
START = "StartContainerRequest"  # a container that was created and not started; for plain Kata any
REMOVE = "RemoveContainerRequest"  # for plain Kata anything; where nothing has that id, the patch fails
SWITCHED_ON = ("ReadStreamRequest",)  # by Contrast's settings


def test_the_rules_know_exactly_the_entry_points_of_the_agent() -> None:
    for profile in PROFILES.values():
        defaults = dict(re.findall(r"^default (\w+) := (\w+)$", load_rules(profile), re.MULTILINE))
        assert defaults == (
            dict.fromkeys(ALLOWED, "true")
            | dict.fromkeys(DENIED, "false")
            | dict.fromkeys(CONDITIONAL, "false")
            | {START: "true" if profile is KATA else "false"}
        )


def test_only_conditions_make_an_entry_point_true() -> None:
    heads = set(re.findall(r"^([A-Z]\w+)(?: :=| if)", load_rules(), re.MULTILINE))
    assert heads == {*CONDITIONAL, START}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_what_a_request_without_content_gets(profile: Profile) -> None:
    agent = host.Agent(pods.sealed(pods.rich(), profile=profile).rego)
    empty = {REMOVE: {"container_id": ""}}
    allowed = {entry for entry in (*CONDITIONAL, START) if agent.allows(entry, empty.get(entry, {}))}

    assert allowed == ({START} if profile is KATA else {*SWITCHED_ON})
