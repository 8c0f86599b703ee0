"""Which user an injected container states, image by image and pod by pod."""

from typing import Any

import pytest

from krm_function.config.image_lock import ImageFacts
from krm_function.policy.users import HIGHEST, LONGEST_USER, ImageUser, image_user, stated_user

PASSWD = "root:x:0:0:root:/root:/bin/sh\nweb:x:1000:2000::/home/web:/bin/sh\nodd:x:7:-1:::\n"
GROUP = "root:x:0:\nwheel:x:10:root\nweb:x:2000:web\n"
ROOT = {"runAsUser": 0, "runAsGroup": 0, "runAsNonRoot": False}
WEB = {"runAsUser": 1000, "runAsGroup": 2000}


def image(user: str | None, passwd: str | None = PASSWD, group: str | None = GROUP) -> ImageFacts:
    return ImageFacts("", {} if user is None else {"User": user}, passwd, group)


@pytest.mark.parametrize(
    ("user", "ids"),
    [
        (None, (0, 0)),
        ("", (0, 0)),
        ("0", (0, 0)),
        ("root", (0, 0)),
        (":2000", (0, 2000)),
        ("1000", (1000, 2000)),
        ("web", (1000, 2000)),
        ("web:wheel", (1000, 10)),
        ("1000:3000", (1000, 3000)),
        ("1001", (1001, 0)),
        ("+1000", (1000, 2000)),
        ("nobody", None),
        ("web:nobody", None),
        ("7", None),
        ("7:7", (7, 7)),
        ("-1", None),
        (str(HIGHEST), (HIGHEST, 0)),
        (str(HIGHEST + 1), None),
        ("a:b:c", None),
    ],
)
def test_the_user_of_an_image_is_a_number_or_unknown(user: str | None, ids: tuple[int, int] | None) -> None:
    found = image_user(image(user))
    assert (found and (found.uid, found.gid)) == ids


@pytest.mark.parametrize(
    ("user", "ids"), [("", (0, 0)), ("0", (0, 0)), ("1000", None), ("1000:2000", (1000, 2000)), ("web", None)]
)
def test_a_group_that_only_a_missing_file_would_name_is_not_guessed(user: str, ids: tuple[int, int] | None) -> None:
    found = image_user(image(user, None, None))
    assert (found and (found.uid, found.gid)) == ids


def test_accounts_that_containerd_refuses_give_no_user() -> None:
    assert image_user(image("web", PASSWD + "x" * (LONGEST_USER + 1))) is None


@pytest.mark.parametrize(
    ("user", "pod", "stated"),
    [
        # root, which needs a word against runAsNonRoot
        ("", {}, {}),
        ("", {"runAsNonRoot": False, "fsGroup": 1, "supplementalGroups": [2]}, {}),
        ("", {"runAsNonRoot": True}, ROOT),
        ("", {"runAsUser": 65532}, ROOT),
        ("", {"runAsGroup": 65532}, ROOT),
        ("", {"runAsUser": 0}, {}),
        ("", {"runAsUser": 0, "runAsGroup": 0}, {}),
        ("", {"runAsUser": 0, "runAsNonRoot": True}, ROOT),
        ("", {"runAsUser": None, "runAsGroup": None, "runAsNonRoot": None}, {}),
        # another number: the kubelet lets it start
        ("1000", {"runAsNonRoot": True}, {}),
        ("1000", {"runAsUser": 1000}, {}),
        ("1000", {"runAsUser": 1001}, WEB),
        ("1000", {"runAsUser": 1000, "runAsGroup": 1000}, WEB),
        ("1000", {"runAsUser": 1000, "runAsGroup": 2000, "runAsNonRoot": True}, {}),
        ("1000", {"runAsGroup": 2000}, {}),
        # a name, whose number the kubelet does not know
        ("web", {"runAsNonRoot": True}, WEB),
        ("web", {"runAsUser": 1000, "runAsNonRoot": True}, {}),
        ("web", {"runAsGroup": 2000}, {}),
        # a group, which the kubelet does not take from the image
        ("1000:3000", {"runAsNonRoot": True}, {"runAsUser": 1000, "runAsGroup": 3000}),
        ("1000:3000", {"runAsGroup": 3000}, {}),
    ],
)
def test_what_is_stated_is_what_the_pod_would_change(user: str, pod: dict[str, Any], stated: dict[str, Any]) -> None:
    facts = image(user)
    own = image_user(facts)
    assert own is not None
    assert stated_user(own, facts, pod, always=False) == stated


@pytest.mark.parametrize(
    ("user", "stated"), [("", {}), ("1000", WEB), ("web", WEB), (":5", {"runAsUser": 0, "runAsGroup": 5})]
)
def test_a_profile_that_takes_no_user_of_an_image_has_all_but_root_stated(user: str, stated: dict[str, Any]) -> None:
    facts = image(user)
    own = image_user(facts)
    assert isinstance(own, ImageUser)
    expected = stated if stated.get("runAsUser") != 0 else {**stated, "runAsNonRoot": False}
    assert stated_user(own, facts, {}, always=True) == expected
