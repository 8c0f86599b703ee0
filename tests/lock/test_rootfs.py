"""The files that layers make together: whiteouts, links, and what has more than one reading."""

import posixpath
from collections.abc import Mapping
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.lock.layers import Layer, accounts, scan
from krm_function.lock.media import Budget, Descriptor, LockProblem
from tests.lock.content import Link, Part, layer, tar

Members = Mapping[str, Any]


def found(*layers: Members | list[tuple[str, Any]]) -> tuple[tuple[Any, ...], list[int]]:
    """The account files of some layers, lowest first, and which layers were read, in order."""
    parts: list[Part] = [layer(tar(members), "plain") for members in layers]
    read: list[int] = []

    def reader(part: Descriptor, watched: frozenset[str]) -> Layer:
        read.append(part.size)
        return scan([parts[part.size].data], watched, 4 << 20, Budget(60, Event()))

    rows = [Descriptor("", one.descriptor["digest"], number) for number, one in enumerate(parts)]
    return accounts(rows, [one.diff_id for one in parts], reader), read


def passwd(*layers: Members | list[tuple[str, Any]]) -> Any:
    return found(*layers)[0][0]


def refused(says: str, *layers: Members | list[tuple[str, Any]]) -> None:
    with pytest.raises(LockProblem) as caught:
        found(*layers)
    assert caught.value.code == "CC1208"
    assert says in caught.value.finding("").message


BOTH = {"etc/": None, "etc/passwd": "low", "etc/group": "group"}


def test_the_topmost_file_counts() -> None:
    assert passwd(BOTH, {"etc/passwd": "top"}) == "top"


def test_no_layer_below_the_answer_is_read() -> None:
    files, read = found({"bin/a": "x"}, BOTH, {"bin/b": "y"})
    assert read == [2, 1]
    assert files[:2] == ("low", "group")
    assert len(files[2]) == 2


def test_none_at_all() -> None:
    files, read = found({"bin/a": "x"}, {})
    assert files[:2] == (None, None)
    assert read == [1, 0]


def test_no_layers() -> None:
    assert found()[0] == (None, None, {})


@pytest.mark.parametrize(
    "top",
    [
        {"etc/.wh.passwd": ""},
        {".wh.etc": ""},
        {"etc/": None, "etc/.wh..wh..opq": ""},
        {".wh..wh..opq": ""},
        {"etc": "a file"},
        {"etc/passwd/": None},
    ],
)
def test_what_hides_the_files_below(top: Members) -> None:
    assert passwd(BOTH, top) is None
    assert passwd(BOTH, top, {"bin/a": ""}) is None


def test_a_whiteout_hides_only_what_is_below() -> None:
    assert passwd({"etc/.wh.passwd": ""}, BOTH) == "low"
    assert passwd(BOTH, {"etc/.wh.passwd": ""}, {"etc/passwd": "new"}) == "new"


def test_an_opaque_directory_keeps_what_its_own_layer_has() -> None:
    files, _ = found(BOTH, {"etc/": None, "etc/.wh..wh..opq": "", "etc/passwd": "own"})
    assert files[:2] == ("own", None)


@pytest.mark.parametrize("target", ["/usr/lib/passwd", "../usr/lib/passwd", "../../../usr/lib/passwd"])
def test_a_link_is_followed_inside_of_the_image(target: str) -> None:
    assert passwd({**BOTH, "etc/passwd": Link(target), "usr/lib/passwd": "linked"}, {"bin/a": ""}) == "linked"
    assert passwd({**BOTH, "etc/passwd": Link(target), "usr/lib/passwd": "old"}, {"usr/lib/passwd": "new"}) == "new"


def test_a_link_into_nothing() -> None:
    assert passwd({**BOTH, "etc/passwd": Link("/nowhere")}) is None


def test_a_directory_that_is_a_link() -> None:
    assert passwd({"etc": Link("usr/etc"), "usr/etc/": None, "usr/etc/passwd": "linked"}) == "linked"


def test_a_hard_link_is_to_what_its_own_layer_had() -> None:
    linked = [("lib/passwd", "old"), ("etc/passwd", Link("lib/passwd", hard=True)), ("lib/passwd", "new")]
    assert passwd({"lib/passwd": "low"}, linked) == "old"
    assert passwd(linked, {"lib/passwd": "top"}) == "old"
    refused("does not have", {"lib/passwd": "old"}, {"etc/": None, "etc/passwd": Link("lib/passwd", hard=True)})


def test_a_link_to_where_nobody_looks_for_so_long() -> None:
    refused("too many directories", {"etc/passwd": Link("/" + "a/" * 64 + "b")})
    assert passwd({"etc/passwd": Link("/" + "a/" * 63 + "b"), "a/" * 63 + "b": "far"}) == "far"


def test_links_without_end() -> None:
    refused("too many links", {"etc/passwd": Link("group"), "etc/group": Link("passwd")})
    refused("too many links", {f"a{n}": Link(f"/a{n + 1}") for n in range(20)} | {"etc/passwd": Link("/a0")})


def test_both_added_and_removed() -> None:
    refused("adds and removes", BOTH, {"etc/.wh.passwd": "", "etc/passwd": "x"})


def test_entries_below_a_link() -> None:
    refused("below a directory that is a link", {"usr/etc/passwd": "x"}, {"etc": Link("usr/etc"), "etc/passwd": "y"})


def test_a_device_or_a_huge_file() -> None:
    refused("not a regular file", {**BOTH, "etc/passwd": None})
    refused("too large", {**BOTH, "etc/passwd": "x" * (1 << 20) + "x"})


def test_not_utf_8() -> None:
    refused("UTF-8", {**BOTH, "etc/group": b"\xff"})


def test_a_diff_id_that_is_another() -> None:
    part = layer(tar(BOTH), "plain")

    def reader(_: Descriptor, watched: frozenset[str]) -> Layer:
        return scan([part.data], watched, 4 << 20, Budget(60, Event()))

    with pytest.raises(LockProblem) as caught:
        accounts([Descriptor("", part.diff_id, 1)], ["sha256:" + "0" * 64], reader)
    assert "diffID" in caught.value.finding("").message


# --- against a file system that is really built, layer by layer

NAMES = ["etc", "etc/passwd", "etc/group", "lib", "lib/passwd"]
MEMBER = st.one_of(
    st.tuples(st.sampled_from(["etc/passwd", "etc/group", "lib/passwd"]), st.text("abc", min_size=1, max_size=3)),
    st.tuples(st.sampled_from(["etc/", "lib/"]), st.none()),
    st.tuples(
        st.sampled_from(["etc/.wh.passwd", "etc/.wh.group", ".wh.etc", "etc/.wh..wh..opq", "lib/.wh.passwd"]),
        st.just(""),
    ),
)


def applied(layers: list[dict[str, Any]]) -> dict[str, str | None]:
    """The naive way: a map of paths, changed by each layer from the lowest up. None is a directory."""
    tree: dict[str, str | None] = {}
    for members in layers:
        for name in members:
            parent, base = posixpath.split(name)
            if base == ".wh..wh..opq":
                tree = {path: value for path, value in tree.items() if not path.startswith(parent + "/")}
            elif base.startswith(".wh."):
                gone = posixpath.join(parent, base[4:])
                tree = {path: value for path, value in tree.items() if path != gone and not path.startswith(gone + "/")}
        for name, value in members.items():
            if not posixpath.basename(name).startswith(".wh."):
                tree[name.rstrip("/")] = value
    return tree


def _adds_and_removes(members: dict[str, Any]) -> bool:
    """Whether a layer has a whiteout of what it has itself, or of a directory above that."""
    gone = [name.replace(".wh.", "") for name in members if ".wh." in name and ".opq" not in name]
    return any(f"{name.rstrip('/')}/".startswith(f"{one}/") for name in members if ".wh." not in name for one in gone)


@given(st.lists(st.lists(MEMBER, max_size=5).map(dict), max_size=5))
def test_agrees_with_layers_that_are_really_applied(layers: list[dict[str, Any]]) -> None:
    if any(_adds_and_removes(members) for members in layers):
        return
    files = found(*layers)[0]
    tree = applied(layers)
    assert files[0] == tree.get("etc/passwd")
    assert files[1] == tree.get("etc/group")
