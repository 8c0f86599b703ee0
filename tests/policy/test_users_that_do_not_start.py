"""Users with which the kubelet or containerd start no pod are refused before: CC0604.

Source: docs/facts/kubernetes.md#security-context.
"""

from typing import Any

import pytest

from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, KATA, STRICT, Profile
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests.policy import pods
from tests.policy.host import Json

DIGEST = "sha256:" + "d" * 64
IMAGE = f"registry.example.com/shop/web@{DIGEST}"
PROFILES = pytest.mark.parametrize("profile", [CONTRAST, STRICT, KATA], ids=lambda profile: profile.name)
NON_ROOT = {"runAsNonRoot": True}


def refused(pod: Json, container: Json, user: str, profile: Profile) -> list[tuple[str, str]]:
    """Where and with which hint it is not sealed; [] if it is."""
    facts = ImageFacts(DIGEST, {"User": user, "Cmd": ["/web"]}, "web:x:1000:1000::/:/bin/false\n", "web:x:1000:\n")
    entry: dict[str, Any] = {"name": "web", "image": IMAGE, **({"securityContext": container} if container else {})}
    spec = {"containers": [entry], **({"securityContext": pod} if pod else {})}
    subject = pods.workload(spec, "Pod", {"name": "web"})
    made, findings = seal(subject, {IMAGE: facts}, References(), default_settings(profile), load_rules(profile))
    assert (made is None) == any(found.severity == "error" for found in findings)
    return [(".".join(map(str, found.path)), found.hint) for found in findings if found.severity == "error"]


@PROFILES
def test_a_group_of_the_pod_wants_a_user_of_the_pod(profile: Profile) -> None:
    both = {"runAsUser": 1000, "runAsGroup": 1000}
    assert refused(both, {}, "", profile) == []
    for pod, container in (({"runAsGroup": 1000}, {}), ({"runAsGroup": 0}, both), ({"runAsGroup": 1000}, both)):
        ((path, hint),) = refused(pod, container, "", profile)
        assert path == "spec.securityContext.runAsGroup"
        assert hint.startswith("add runAsUser, or move runAsGroup")


@PROFILES
def test_a_group_of_a_container_may_stand_alone(profile: Profile) -> None:
    assert refused({}, {"runAsGroup": 0}, "", profile) == []


# pod, container, user of the image, where it is refused
NAMED: list[tuple[Json, Json, str, str]] = [
    (NON_ROOT, {}, "web", "spec.securityContext.runAsNonRoot"),
    (NON_ROOT, {}, "web:web", "spec.securityContext.runAsNonRoot"),
    ({}, NON_ROOT, "web", "spec.containers.0.securityContext.runAsNonRoot"),
    ({"runAsNonRoot": False}, NON_ROOT, "web", "spec.containers.0.securityContext.runAsNonRoot"),
    (NON_ROOT, {"runAsNonRoot": False}, "web", ""),
    (NON_ROOT, {"runAsUser": 1000}, "web", ""),
    ({**NON_ROOT, "runAsUser": 1000}, {}, "web", ""),
    (NON_ROOT, {}, "1000", ""),
    (NON_ROOT, {}, "1000:web", ""),
    ({}, {}, "web", ""),
]


@pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda profile: profile.name)
@pytest.mark.parametrize(("pod", "container", "user", "path"), NAMED)
def test_a_user_by_name_has_no_number_for_the_kubelet(
    profile: Profile, pod: Json, container: Json, user: str, path: str
) -> None:
    expected = [(path, "set runAsUser: 1000 in the container's securityContext")] if path else []
    assert refused(pod, container, user, profile) == expected


def test_it_is_refused_on_plain_kata_as_well() -> None:
    stated = {"runAsGroup": 1000}
    paths = [path for path, _ in refused(NON_ROOT, stated, "web", KATA)]
    assert "spec.securityContext.runAsNonRoot" in paths
    assert refused(NON_ROOT, {**stated, "runAsUser": 1000}, "web", KATA) == []
