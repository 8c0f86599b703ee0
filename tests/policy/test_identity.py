import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.profiles import KATA
from krm_function.findings import Finding, finding
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import Policy, seal
from krm_function.policy.settings import default_settings
from krm_function.policy.users import guest_pull_refusal, identity, security_value
from tests.policy import pods

PASSWD = "root:x:0:0:root:/root:/bin/sh\nweb:x:1000:2000::/home/web:/bin/sh\ndb:x:1001:1001:::\n"
GROUP = "root:x:0:\nwheel:x:10:root,web\nweb:x:2000:web\nextra:x:3000:web\n"
PAUSE = ImageFacts("", {"User": "65535:65535"})


def _image(user: str = "", passwd: str | None = None, group: str | None = None) -> ImageFacts:
    return ImageFacts("", {"User": user}, passwd, group)


def _who(
    image: ImageFacts,
    container: dict[str, Any] | None = None,
    pod: dict[str, Any] | None = None,
    *,
    pause: bool = False,
) -> tuple[int, int, tuple[int, ...]]:
    found = identity(image, container or {}, pod or {}, pause=pause)
    return found.uid, found.gid, found.groups


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("", (0, 0, (0, 10))),
        ("0", (0, 0, (0, 10))),
        ("1000", (1000, 2000, (10, 2000, 3000))),
        ("web", (1000, 2000, (10, 2000, 3000))),
        ("web:nobody", (1000, 2000, (10, 2000, 3000))),
        ("db", (1001, 1001, (1001,))),
        ("unknown", (0, 0, (0, 10))),
        (":5", (0, 0, (0, 10))),
        ("a:b:c", (0, 0, (0, 10))),
    ],
)
def test_users_of_images(user: str, expected: tuple[int, int, tuple[int, ...]]) -> None:
    assert _who(_image(user, PASSWD, GROUP)) == expected


def test_without_accounts() -> None:
    assert _who(_image()) == (0, 0, (0,))
    assert _who(_image("1000")) == (1000, 0, (0,))
    assert _who(_image("web")) == (0, 0, (0,))
    assert _who(_image("web", PASSWD)) == (1000, 2000, (2000,))


@pytest.mark.parametrize("odd", ["\n", "a:b\n", "x:x:one:1:::\n"])
def test_a_file_with_an_odd_line_counts_as_missing(odd: str) -> None:
    assert _who(_image("web", PASSWD + odd, GROUP)) == (0, 0, (0,))


def test_the_pod_s_context() -> None:
    pod = {"runAsUser": 65534, "runAsGroup": 65534}
    assert _who(PAUSE, pod=pod, pause=True) == (65534, 65534, (65534,))
    assert _who(_image("web", PASSWD, GROUP), pod={"runAsUser": 1001}) == (1001, 1001, (1001,))
    assert _who(_image(), pod={"runAsUser": 5}) == (5, 0, (0,))
    assert _who(_image(), pod={"runAsGroup": 7}) == (0, 7, (7,))
    assert _who(_image(), pod={"fsGroup": 4, "supplementalGroups": [9, 2, 9]}) == (0, 0, (0, 2, 4, 9))


def test_the_container_s_context() -> None:
    assert _who(_image(), {"runAsUser": 1000, "runAsGroup": 1000}) == (1000, 1000, (1000,))
    assert _who(_image(), {"runAsGroup": 1000}) == (0, 1000, (1000,))
    assert _who(_image(), {"runAsUser": 0}, {"runAsUser": 5, "runAsGroup": 5}) == (0, 5, (5,))
    assert _who(_image(), {"runAsUser": 6, "runAsGroup": 7}, {"runAsUser": 5, "runAsGroup": 5}) == (6, 7, (7,))
    image = PAUSE
    assert _who(image, {"runAsUser": 65535, "runAsGroup": 0}, {"fsGroup": 1000}) == (65535, 0, (0, 1000))


def test_only_the_groups_that_the_pod_names() -> None:
    image = _image("web", PASSWD, GROUP)
    merged, strict = ({"supplementalGroups": [9], "supplementalGroupsPolicy": how} for how in ("Merge", "Strict"))
    assert _who(image, pod=merged) == _who(image, pod={"supplementalGroups": [9]})
    assert _who(image, pod=merged)[2] == (9, 10, 2000, 3000)
    assert _who(image, pod=strict)[2] == (9, 2000)


def test_pause() -> None:
    assert _who(PAUSE, pause=True) == (65535, 65535, (65535,))
    assert _who(PAUSE, pod={"fsGroup": 5}, pause=True) == (65535, 65535, (65535,))
    assert _who(_image(), pod={"fsGroup": 5}, pause=True) == (0, 0, (5,))
    assert _who(_image("1:web", PASSWD, GROUP), pause=True) == (1, 2000, (2000,))


CONTEXTS = st.fixed_dictionaries(
    {}, optional={"runAsUser": st.sampled_from([0, 1000, 5]), "runAsGroup": st.sampled_from([0, 2000, 5])}
)
PODS = st.builds(
    lambda one, two: {**one, **two},
    CONTEXTS,
    st.fixed_dictionaries(
        {}, optional={"fsGroup": st.sampled_from([0, 9]), "supplementalGroups": st.lists(st.sampled_from([0, 10, 8]))}
    ),
)


def _followed(remedy: str, container: dict[str, Any], pod: dict[str, Any]) -> None:
    """Do what a hint says."""
    for change in re.findall(r"set \{(.*?)\} in the (container|pod)'s", remedy):
        context = container if change[1] == "container" else pod
        context.update(json.loads("{" + re.sub(r"(\w+):", r'"\1":', change[0]) + "}"))


@given(
    user=st.sampled_from(["", "web", "1000", "db:root", "7", "7:3000", "7:web", "1000:0", "web:web", "1000:none"]),
    passwd=st.sampled_from([None, PASSWD]),
    group=st.sampled_from([None, GROUP]),
    container=CONTEXTS,
    pod=PODS,
)
def test_what_a_refusal_suggests_is_enough(
    user: str, passwd: str | None, group: str | None, container: dict[str, Any], pod: dict[str, Any]
) -> None:
    image = _image(user, passwd, group)
    before = identity(image, container, pod)
    refused = guest_pull_refusal(before, image, container, pod)
    if refused is None:
        return
    group_named = security_value("runAsGroup", container, pod) is not None
    numbers = {"root": 0, "web": 2000} if group else {}
    of_image = user.partition(":")[2]
    wanted = int(of_image) if of_image.isdecimal() else numbers.get(of_image)
    if group_named or not of_image or before.uid != identity(image, {}, {}).uid:
        wanted = before.gid

    remedy = finding(refused.code, field="", **refused.values).hint
    _followed(remedy, container, pod)
    assert ("to the number of the image's group" in remedy) == (wanted is None)
    if wanted is None:
        container["runAsGroup"] = wanted = 4000
    after = identity(image, container, pod)

    assert guest_pull_refusal(after, image, container, pod) is None
    assert (after.uid, after.gid) == (before.uid, wanted)
    assert set(after.groups) >= set(before.groups) - {before.gid}


@pytest.mark.parametrize(
    ("user", "passwd", "group", "remedy"),
    [
        ("1000:2000", "", "", "set {runAsUser: 1000, runAsGroup: 2000} in the container's securityContext"),
        ("1000:2000", "app:x:1000:1000:::\n", "app:x:1000:\n", "set {runAsUser: 1000, runAsGroup: 2000} in the "),
        ("65532:65532", "", "", "set {runAsUser: 65532, runAsGroup: 65532} in the container's securityContext"),
        ("7:web", "", GROUP, "set {runAsUser: 7, runAsGroup: 2000} in the container's securityContext"),
        ("7:0", "", "", "set {runAsUser: 7, runAsGroup: 0} in the container's securityContext"),
        ("7", "", "", "set {runAsUser: 7, runAsGroup: 0} in the container's securityContext"),
        (
            "7:www",
            "",
            "",
            (
                "set {runAsUser: 7} in the container's securityContext and set runAsGroup in the container's "
                "securityContext to the number of the image's group www"
            ),
        ),
    ],
)
def test_the_hint_names_the_group_of_the_image_and_the_pod_is_sealed_with_it(
    user: str, passwd: str, group: str, remedy: str
) -> None:
    image = _image(user, passwd, group)._replace(config={**pods.IMAGE.config, "User": user})
    made, (finding, *more) = _sealing(image)
    assert made is None
    assert not more
    assert finding.code == "CC0604"
    assert finding.hint.startswith(remedy)

    context: dict[str, Any] = {}
    _followed(finding.hint, context, {})
    uid, gid = context["runAsUser"], context.setdefault("runAsGroup", 9)
    made, _ = _sealing(image, securityContext=context)
    assert made is not None
    block = made.data["containers"][1]["OCI"]["Process"]["User"]
    assert block == {"UID": uid, "GID": gid, "AdditionalGids": [gid], "Username": ""}


@pytest.mark.parametrize("user", ["", "0", "root"])
def test_root_in_a_group_of_its_image_is_asked_for_that_group_alone(user: str) -> None:
    image = _image(user, PASSWD, GROUP)
    found = identity(image, {}, {})
    refused = guest_pull_refusal(found, image, {}, {})
    assert refused is not None
    assert refused.values["remedy"] == "set {supplementalGroups: [10]} in the pod's securityContext"
    pod = {"supplementalGroups": [10]}
    assert guest_pull_refusal(identity(image, {}, pod), image, {}, pod) is None


def _sealing(image: ImageFacts, **container: Any) -> tuple[Policy | None, tuple[Finding, ...]]:
    """Seal a pod with one container of this image, with profile kata-4.1."""
    return seal(
        pods.simple(**container), {pods.pinned("app:1"): image}, References(), default_settings(KATA), load_rules(KATA)
    )


def test_guest_pull_needs_the_identity_in_the_pod() -> None:
    made, findings = pods.sealing(pods.simple(), profile=KATA, User="1000")
    assert made is None
    assert [(found.code, found.path[-2:]) for found in findings] == [("CC0604", ("containers", 0))]
    assert "runs with user 1000" in findings[0].message
    assert findings[0].hint == "set {runAsUser: 1000, runAsGroup: 0} in the container's securityContext"

    user = pods.container(pods.simple(securityContext={"runAsUser": 1000}), User="1000")["OCI"]["Process"]["User"]
    assert user == {"UID": 1000, "GID": 0, "AdditionalGids": [0], "Username": ""}


def test_a_container_s_own_user_needs_no_other_group() -> None:
    spec = {"containers": [{"name": "a", "image": "i", "securityContext": {"runAsUser": 1000, "runAsGroup": 1000}}]}
    assert pods.container(pods.workload(spec))["OCI"]["Process"]["User"]["AdditionalGids"] == [1000]

    spec["securityContext"] = {"supplementalGroups": [0]}  # type: ignore[assignment]
    assert pods.container(pods.workload(spec))["OCI"]["Process"]["User"]["AdditionalGids"] == [0, 1000]


@pytest.mark.parametrize("user", ["web", "web:5", "a:b:c"])
def test_a_user_of_whom_nobody_knows_the_number_is_not_root(user: str) -> None:
    made, findings = pods.sealing(pods.simple(), User=user)
    assert made is None
    assert [(found.code, found.path[-2:]) for found in findings] == [("CC0604", ("containers", 0))]
    assert f"the image's user {user}," in findings[0].message
    pods.sealed(pods.simple(securityContext={"runAsUser": 1000, "runAsGroup": 1000}), User=user)


def test_a_container_that_must_not_be_root() -> None:
    pod = {"containers": [{"name": "a", "image": "i"}], "securityContext": {"runAsNonRoot": True}}
    assert pods.refused(pods.workload(pod)) == [("CC0604", "securityContext.runAsNonRoot")]
    own = {"runAsNonRoot": True}
    assert pods.refused(pods.simple(securityContext=own)) == [("CC0604", "containers[0].securityContext.runAsNonRoot")]

    user = {"runAsUser": 5, "runAsGroup": 5}
    assert (
        pods.sealed(pods.simple(securityContext={**own, **user})).data
        == pods.sealed(pods.simple(securityContext=user)).data
    )
    pod["containers"][0]["securityContext"] = {"runAsNonRoot": False}  # type: ignore[index]
    pods.sealed(pods.workload(pod))
