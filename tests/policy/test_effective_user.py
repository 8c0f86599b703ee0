"""Who a container runs as on a Contrast node: our answer beside that of containerd's own code.

The kubelet's half, and that of containerd's CRI plugin around it, are rows of TOLD: what of pod and image arrives at
containerd's WithUser and WithAdditionalGIDs. Public sources, in Kubernetes 1.31 to 1.36 and containerd 2.0 to 2.4:

    containerd internal/cri/server/images/image_status.go  getUserFromImage: the part before ":", as a number or a name
    Kubernetes pkg/kubelet/kuberuntime/helpers.go          getImageUser: uid 0 if the image says neither
    Kubernetes pkg/securitycontext/util.go                 DetermineEffectiveSecurityContext: container before pod
    Kubernetes pkg/kubelet/kuberuntime/security_context.go run_as_user or run_as_username, run_as_group only of the pod,
                                                           fsGroup and supplementalGroups
    containerd internal/cri/util/util.go                   GenerateUserString: uid, uid:gid, name, name:gid
    containerd internal/cri/server/container_create*.go    WithUser; then, unless Strict, WithAdditionalGIDs; then the
                                                           supplementary groups of the pod
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from krm_function.config.image_lock import ImageFacts, unknown_accounts
from krm_function.findings import Cause, dotted, finding
from krm_function.policy.pod_metadata import pod_metadata
from krm_function.policy.users import (
    HIGHEST,
    LONGEST_FILE,
    LONGEST_GROUP,
    LONGEST_USER,
    Identity,
    effective_identity,
    explicit_groups,
    unknown_users,
)
from tests.policy import pods
from tests.policy.containerd import Containerd, Found
from tests.wording import wording

BUSYBOX_PASSWD = (
    "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/bin/false\nwww-data:x:33:33:www-data:::\n"
)
BUSYBOX_GROUP = "root:x:0:\ndaemon:x:1:\ntty:x:5:\nwheel:x:10:root\nwww-data:x:33:\n"
PASSWD = "root:x:0:0:root:/root:/bin/sh\nweb:x:1000:2000::/home/web:/bin/sh\ndb:x:1001:1001:::\n"
GROUP = "root:x:0:\nwheel:x:10:root,web\nweb:x:2000:web\nextra:x:3000:db,web,db\n"

Context = dict[str, Any]
Row = tuple[str, Context, Context, str, str | None]
STRICT = {"supplementalGroupsPolicy": "Strict"}
MERGE = {"supplementalGroupsPolicy": "Merge"}
BIG, HUGE = "2147483648", "9" * 30
# User of the image, securityContext of the container and of the pod: user string and user of the groups, None if Strict
TOLD: list[Row] = [
    ("", {}, {}, "0", "0"),
    ("0", {}, {}, "0", "0"),
    ("1000", {}, {}, "1000", "1000"),
    ("1000:2000", {}, {}, "1000", "1000"),
    ("1000:web", {}, {}, "1000", "1000"),
    ("web", {}, {}, "web", "web"),
    ("web:2001", {}, {}, "web", "web"),
    ("web:root:more", {}, {}, "web", "web"),
    ("nobody", {}, {}, "nobody", "nobody"),
    (":2000", {}, {}, "0", "0"),
    (":", {}, {}, "0", "0"),
    ("+1000", {}, {}, "1000", "1000"),
    ("007", {}, {}, "7", "7"),
    ("-0", {}, {}, "0", "0"),
    ("-1", {}, {}, "-1", "-1"),
    (str(HIGHEST), {}, {}, str(HIGHEST), str(HIGHEST)),
    (BIG, {}, {}, BIG, BIG),
    (HUGE, {}, {}, HUGE, HUGE),
    (f"{2**63}", {}, {}, f"{2**63}", f"{2**63}"),
    (f"{HUGE}x", {}, {}, f"{HUGE}x", f"{HUGE}x"),
    (f"{2**64}x", {}, {}, f"{2**64}x", f"{2**64}x"),
    (f"{2**64 - 1}x", {}, {}, f"{2**64 - 1}x", f"{2**64 - 1}x"),
    ("+", {}, {}, "+", "+"),
    ("1_000", {}, {}, "1_000", "1_000"),
    ("\u0661", {}, {}, "\u0661", "\u0661"),
    (" web", {}, {}, " web", " web"),
    ("web ", {}, {}, "web ", "web "),
    ("#web", {}, {}, "#web", "#web"),
    ("web", {"runAsUser": 1001}, {}, "1001", "1001"),
    ("web", {}, {"runAsUser": 1001}, "1001", "1001"),
    ("web", {"runAsUser": 0}, {"runAsUser": 1001}, "0", "0"),
    ("1000:2000", {}, {"runAsUser": 7}, "7", "7"),
    ("", {}, {"runAsGroup": 5}, "0:5", "0"),
    ("web", {}, {"runAsGroup": 5}, "web:5", "web"),
    ("nobody", {}, {"runAsGroup": 5}, "nobody:5", "nobody"),
    ("1000:2000", {"runAsGroup": 5}, {"runAsGroup": 6}, "1000:5", "1000"),
    ("1000", {"runAsGroup": 0}, {"runAsGroup": 6}, "1000:0", "1000"),
    ("nobody", {"runAsUser": 1000}, {"runAsGroup": 6}, "1000:6", "1000"),
    ("web", {"runAsUser": 7, "runAsGroup": 8}, {}, "7:8", "7"),
    ("web", {}, MERGE, "web", "web"),
    ("web", {}, STRICT, "web", None),
    ("", {}, STRICT | {"supplementalGroups": [9], "fsGroup": 4}, "0", None),
    ("1000", {}, STRICT | {"runAsGroup": 10, "supplementalGroups": [9]}, "1000:10", None),
    ("", {}, {"supplementalGroups": [9, 2, 9], "fsGroup": 4}, "0", "0"),
    ("web", {}, {"supplementalGroups": [10, 0]}, "web", "web"),
    ("web", {}, {"supplementalGroups": [HIGHEST], "fsGroup": 0}, "web", "web"),
]
FILES: list[tuple[str | None, str | None]] = [
    (None, None),
    ("", ""),
    (None, GROUP),
    (PASSWD, None),
    (PASSWD, ""),
    (PASSWD, GROUP),
    (BUSYBOX_PASSWD, BUSYBOX_GROUP),
    # odd lines: empty, short, long, no number, a comment, which counts in passwd only
    ("\n  \n\nweb\n", "\n\nweb\nwheel:x\nten:x:10:web\n"),
    (f"# users\n{PASSWD}", f"# groups\n#tty:x:5:root,web,# users\n{GROUP}"),
    ("web:x:one:two:::\nweb:x:1000:1000:::\n", "wheel:x:ten:web,root\nextra:x:3000:root:web\n"),
    ("web:x:1000:2000:a:b:c:d:e\n", "wheel:x:10:web:more\n:x:11:web\n"),
    (":x:1000:2000\n", "a:x:10:,\nb:x:11:a,,b\nc:x:12:\n"),
    # the first line of a name, and of a number
    ("a:x:1000:1\nweb:x:1000:2\nweb:x:1001:3\nroot:x:0:9\n", "one:x:11:a\ntwo:x:12:web\ntwo:x:13:web\n"),
    # numbers out of range
    (f"web:x:-1:2\nroot:x:0:{BIG}\na:x:1000:{HUGE}\n", f"x:x:{BIG}:web\ny:x:-7:root\nz:x:-{HUGE}:a\n"),
    (
        f"{HUGE}x:x:1:2\n{2**64}x:x:3:4\n{2**64 - 1}x:x:5:{2**64 - 1}x\n+:x:+:-\n",
        f"x:x:{2**64}x:+\ny:x:7:{2**64 - 1}x\n",
    ),
    (f"web:x:{BIG}:2\nbig:x:{HIGHEST}:{HIGHEST}\n", f"big:x:{HIGHEST}:root,web,big\nx:x:{HIGHEST}:big\n"),
    ("web:x:+1000:+5\nsix:x:007:-0\nroot:x:\u0660:1\n", "wheel:x:+10:web\nx:x:1_0:six\ny:x:\u0661\u0660:web\n"),
    # white space around lines, and around fields, where it is a part of them
    (
        "\t web:x:1000:5:::\x85\r\n\u2003db:x: 7:7\n\x1croot:x:0:1",
        "a:x:3:web \r\nb:x:4: web\nc:x:5:web\x1c\nd:x:6:web\x0b",
    ),
    ("\ufeffroot:x:0:5\nweb \x1d:x:1000:2\nweb :x:7:7\n", "a:x:3:root\nb:x:9:web \n"),
    ("root:x:0:3\rweb:x:1000:5\r", "a:x:3:root\rb:x:4:web"),
    ("web:x:1000:5\x00:::\n\x00web:x:1:1\n", "a:x:3\x00:web\nb:x:4:web\x00\n"),
]


def said(found: Identity | Cause) -> tuple[str, str]:
    """The problem of a refusal, and the remedy."""
    assert isinstance(found, Cause)
    made = finding(found.code, field="app", **found.values)
    return made.message.removeprefix("app: "), made.hint


@pytest.fixture(scope="module")
def containerd(tmp_path_factory: pytest.TempPathFactory, containerd_tool: None) -> Iterator[Containerd]:
    with Containerd(tmp_path_factory.mktemp("rootfs")) as running:
        yield running


def _image(user: str, passwd: str | None, group: str | None) -> ImageFacts:
    return ImageFacts("", {"User": user} if user else {}, passwd, group)


def _same(containerd: Containerd, row: Row, files: Any) -> Found | str:
    """Hold our answer against containerd's, which is returned. The files are unpacked already."""
    user, container, pod, told, member = row
    theirs = containerd.look(told, member)
    ours = effective_identity(_image(user, *files), container, pod)
    assert ours == effective_identity(_image(user, *(text or None for text in files)), container, pod), (
        "no file, an empty file"
    )
    if isinstance(theirs, Found):
        theirs = theirs._replace(groups=theirs.groups | explicit_groups(pod))
    certain = isinstance(theirs, Found) and max(theirs.uid, theirs.gid, *theirs.groups) <= HIGHEST
    if certain and not _wrapped(files):
        assert isinstance(ours, Identity), (row, files, theirs)
    if isinstance(ours, Identity):
        assert Found(ours.uid, ours.gid, frozenset(ours.groups)) == theirs, (row, files)
        assert list(ours.groups) == sorted(set(ours.groups))
        assert max(ours.uid, *ours.groups) <= HIGHEST
    else:
        assert ours[0]
        assert ours[1]
    return theirs


def _wrapped(files: tuple[str | None, str | None]) -> bool:
    """Whether a number may become another one in containerd's 32 bits, where we refuse it."""
    return any(int(number) >= 2**32 for text in files for number in re.findall("[0-9]+", text or ""))


@pytest.mark.parametrize("files", FILES, ids=range(len(FILES)))
def test_containerd_says_the_same_of_every_row(containerd: Containerd, files: tuple[str | None, str | None]) -> None:
    containerd.unpack(*files)
    for row in TOLD:
        _same(containerd, row, files)


NAMES = st.sampled_from(["root", "web", "nobody", "", " web", "web ", "#web", "1000", "0", "w\u00e9b", "\ufeffweb"])
NUMBERS = st.sampled_from(
    ["0", "1000", "7", "10", "", "x", "+5", "-0", "007", " 7", "1_0", str(HIGHEST), BIG, "-1", HUGE, f"-{HUGE}x"]
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n", " \n", "\x85", "\u2028\n", "\x1c\n", "\x00"])
LINES = st.one_of(
    st.lists(st.one_of(NAMES, NUMBERS), max_size=8).map(":".join),
    st.builds(
        lambda *fields: ":".join(fields),
        NAMES,
        st.just("x"),
        NUMBERS,
        st.one_of(NUMBERS, st.lists(NAMES).map(",".join)),
    ),
    st.sampled_from(["root:x:0:0:root:/root:/bin/sh", "web:x:1000:2000:::", "wheel:x:10:root,web", "web:x:2000:web"]),
    st.text("abr:,# 01\t\n\x0b\u2003"),
)
TEXTS = st.one_of(st.none(), st.lists(st.tuples(LINES, ENDS)).map(lambda lines: "".join(a + b for a, b in lines)))


@settings(max_examples=1000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(passwd=TEXTS, group=TEXTS, rows=st.lists(st.sampled_from(TOLD), min_size=1, max_size=5))
@example(passwd=PASSWD, group=GROUP, rows=TOLD)
def test_containerd_says_the_same_of_any_files(
    containerd: Containerd, passwd: str | None, group: str | None, rows: list[Row]
) -> None:
    containerd.unpack(passwd, group)
    for row in rows:
        _same(containerd, row, (passwd, group))


@pytest.mark.parametrize(
    ("user", "pod", "files", "expected"),
    [
        ("", {}, (BUSYBOX_PASSWD, BUSYBOX_GROUP), (0, 0, (0, 10))),
        ("www-data", {}, (BUSYBOX_PASSWD, BUSYBOX_GROUP), (33, 33, (33,))),
        ("1000:2000", {}, ("", ""), (1000, 0, (0,))),
        ("1000:2000", {}, ("app:x:1000:1000:::\n", ""), (1000, 1000, (1000,))),
        ("65532:65532", {}, ("", ""), (65532, 0, (0,))),
        ("web:root", {}, (PASSWD, GROUP), (1000, 2000, (10, 2000, 3000))),
        ("web", {"runAsGroup": 5}, (PASSWD, GROUP), (1000, 5, (5, 10, 3000))),
        ("web", STRICT, (PASSWD, GROUP), (1000, 2000, (2000,))),
        (
            "",
            {"runAsUser": 1001, "fsGroup": 4, "supplementalGroups": [3]},
            (PASSWD, GROUP),
            (1001, 1001, (3, 4, 1001, 3000)),
        ),
        ("", {}, ("# no comment here\nroot:x:0:0:::\n", "wheel:x:10:root\n"), (0, 0, (0,))),
    ],
)
def test_what_a_container_runs_as(
    user: str, pod: Context, files: tuple[str, str], expected: tuple[int, int, tuple[int, ...]]
) -> None:
    assert effective_identity(_image(user, *files), {}, pod) == Identity(*expected)


def _line(name: str, length: int) -> str:
    return name + "x" * (length - len(name))


@pytest.mark.parametrize("end", ["", "\n", "\nweb:x:1000:5:web\n"])
@pytest.mark.parametrize(("which", "longest"), [(0, LONGEST_USER), (1, LONGEST_GROUP)], ids=["passwd", "group"])
def test_a_line_that_is_too_long_is_refused_and_one_that_is_not_is_read(
    containerd: Containerd, which: int, longest: int, end: str
) -> None:
    row: Row = ("web", {}, {}, "web", "web")
    for letter, length, good in (("x", longest, True), ("x", longest + 1, False), ("\u00e9", longest + 1, False)):
        line = "a:" + letter * ((length - 2) // len(letter.encode()))
        line += "x" * (length - len(line.encode()))
        files = [PASSWD, GROUP]
        files[which] += line + end
        containerd.unpack(*files)
        theirs = _same(containerd, row, tuple(files))
        assert isinstance(theirs, Found) == good
        if not good:
            problem, remedy = said(effective_identity(_image("web", *files), {}, {}))
            assert f"/etc/{('passwd', 'group')[which]} has a line of more than {longest} bytes" in problem
            assert remedy == f"correct /etc/{('passwd', 'group')[which]}"


def test_a_file_that_is_too_large_is_refused(containerd: Containerd) -> None:
    row: Row = ("web", {}, {}, "web", "web")
    for size, good in ((LONGEST_FILE, True), (LONGEST_FILE + 1, False)):
        text = PASSWD + "\n" * (size - len(PASSWD))
        containerd.unpack(text, GROUP)
        assert isinstance(_same(containerd, row, (text, GROUP)), Found) == good


def test_an_unreadable_file_that_nobody_has_to_read_does_no_harm(containerd: Containerd) -> None:
    unreadable = _line("a:", LONGEST_USER + 1)
    containerd.unpack(unreadable, GROUP)
    row: Row = ("", {"runAsUser": 7, "runAsGroup": 8}, STRICT, "7:8", None)
    assert _same(containerd, row, (unreadable, GROUP)) == Found(7, 8, frozenset({8}))
    assert isinstance(_same(containerd, ("", row[1], {}, "7:8", "7"), (unreadable, GROUP)), str)


@pytest.mark.parametrize(
    ("user", "pod", "files", "problem"),
    [
        ("web", {}, ("", ""), wording("CC0604.user-name", user="web")),
        ("web:5", {}, (PASSWD.replace("web", "www"), GROUP), "runs as the image's user web:5, whose name"),
        (BIG, {}, (PASSWD, GROUP), f"runs as the image's user {BIG}, which is out of range"),
        ("-1", {}, (PASSWD, GROUP), "runs as the image's user -1, which is out of range"),
        (HUGE, {}, (f"{HUGE}:x:5:5\n", GROUP), f"runs as the image's user {HUGE}, which is out of range"),
        ("web", {}, ("web:x:-1:5\n", ""), "runs with user -1, which is out of range"),
        ("web", {}, (f"web:x:1:{BIG}\n", ""), f"runs with group {BIG}, which is out of range"),
    ],
)
def test_what_is_refused_names_the_user_and_naming_user_and_group_is_enough(
    user: str, pod: Context, files: tuple[str, str], problem: str
) -> None:
    image = _image(user, *files)
    found = effective_identity(image, {}, pod)
    assert not isinstance(found, Identity)
    assert said(found)[0].startswith(problem)
    assert said(found)[1] == "set runAsUser and runAsGroup in the container's securityContext"
    assert isinstance(effective_identity(image, {"runAsUser": 1000, "runAsGroup": 1000}, pod), Identity)


def test_a_group_of_the_image_that_is_no_id_is_refused_and_strict_is_enough() -> None:
    image = _image("web", PASSWD, f"odd:x:{BIG}:web\n")
    found = effective_identity(image, {}, {})
    assert not isinstance(found, Identity)
    assert f"supplementary group {BIG}" in said(found)[0]
    assert "supplementalGroupsPolicy: Strict" in said(found)[1]
    assert effective_identity(image, {}, STRICT) == Identity(1000, 2000, (2000,))


@pytest.mark.parametrize(
    ("container", "pod", "remedy"),
    [
        ({"runAsUser": HIGHEST + 1}, {}, "correct runAsUser"),
        ({}, {"runAsUser": -1}, "correct runAsUser"),
        ({"runAsGroup": -1}, {}, "correct runAsGroup"),
        ({}, {"fsGroup": HIGHEST + 1}, "correct supplementalGroups and fsGroup"),
        ({}, {"supplementalGroups": [3, -1]}, "correct supplementalGroups and fsGroup"),
    ],
)
def test_numbers_of_the_pod_that_are_no_ids_are_refused(container: Context, pod: Context, remedy: str) -> None:
    found = effective_identity(_image("", PASSWD, GROUP), container, pod)
    assert not isinstance(found, Identity)
    assert said(found)[1] == remedy


@pytest.mark.parametrize(
    ("passwd", "group", "missing"),
    [(None, None, "passwd and group"), ("", None, "group"), (None, "", "passwd"), ("", "", ""), (PASSWD, GROUP, "")],
)
def test_an_entry_that_says_nothing_of_users_is_not_one_of_an_image_without_them(
    passwd: str | None, group: str | None, missing: str
) -> None:
    assert unknown_accounts(_image("", passwd, group)) == missing


STATED = {"runAsUser": 5, "runAsGroup": 6}


@pytest.mark.parametrize(
    ("container", "context", "needed"),
    [
        ({}, {}, True),
        (STATED, {}, True),
        (STATED, MERGE, True),
        ({}, STRICT, True),
        ({"runAsUser": 5}, STRICT, True),
        ({"runAsGroup": 6}, STRICT, True),
        (STATED, STRICT, False),
        ({"runAsUser": 0}, STRICT | {"runAsGroup": 0}, False),
    ],
)
def test_an_entry_without_users_is_an_error_where_they_count(
    container: Context, context: Context, needed: bool
) -> None:
    of = {"a": _image("", None, ""), "b": _image("", None, None), "full": _image("", "", "")}
    images = {pods.pinned(name): image for name, image in of.items()}
    contexts: Context = {"securityContext": container}
    spec = {
        "securityContext": context,
        "initContainers": [{"name": "one", "image": "full"}, {"name": "two", "image": "a", **contexts}],
        "containers": [{"name": "three", "image": "b", **contexts}, {"name": "four", "image": "full"}],
    }
    pod, findings = pod_metadata(pods.workload(spec))
    assert not findings
    found = unknown_users(pod, images)
    assert [(one.code, dotted(one.path)) for one in found] == [
        ("CC0508", "spec.template.spec.initContainers[1].image"),
        ("CC0508", "spec.template.spec.containers[0].image"),
    ] * needed
    if needed:
        name = pods.pinned("a")
        assert found[0].message == wording("CC0508", image=name, missing="passwd")
        assert found[1].message == wording("CC0508", image=pods.pinned("b"), missing="passwd and group")
        assert "run contrast-krm lock" in found[0].hint
    else:
        for image in images.values():
            known = image._replace(passwd="", group="")
            assert effective_identity(image, container, context) == effective_identity(known, container, context)
