# ruff: noqa: E501 (a table)
"""The account files of any layers: what we read is what containerd unpacks, or we refuse.

Layers that containerd refuses start no pod, so what we say of those does not matter. One difference is wanted: an entry
below what is a link in a *lower* layer. Overlays, which nodes use, unpack each layer alone and put a directory in the
place of the link; Apply into one whole directory, as here, follows it. Those are left out.
"""

import io
import tarfile
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from krm_function.lock.media import LockProblem
from tests.lock.unpacking import Entry, Unpacker, ours, packed


@pytest.fixture(scope="module")
def containerd(containerd_tool: None) -> Iterator[Unpacker]:
    with Unpacker() as running:
        yield running


PASSWD, OTHER = Entry("etc/passwd", value="a"), Entry("etc/passwd", value="b")

# what, the layers from the lowest, what we make of it: content of /etc/passwd, None for no file, or a code
ROWS: tuple[tuple[str, list[list[Entry]], str | None], ...] = (
    ("the last of two entries counts", [[PASSWD, OTHER]], "b"),
    (
        "a hard link keeps what was there when its target is written anew",
        [[Entry("lib/p", value="old"), Entry("etc/passwd", "1", "lib/p"), Entry("lib/p", value="new")]],
        "old",
    ),
    (
        "a hard link to the new content when it comes behind it",
        [[Entry("lib/p", value="old"), Entry("lib/p", value="new"), Entry("etc/passwd", "1", "lib/p")]],
        "new",
    ),
    (
        "a hard link to a hard link",
        [
            [
                Entry("a", value="1"),
                Entry("b", "1", "a"),
                Entry("a", value="2"),
                Entry("etc/passwd", "1", "b"),
                Entry("b", value="3"),
            ]
        ],
        "1",
    ),
    (
        "a hard link to a symbolic link is one",
        [[Entry("lib/p", value="x"), Entry("l", "2", "/lib/p"), Entry("etc/passwd", "1", "l")]],
        "x",
    ),
    (
        "a hard link whose target goes through a link",
        [[Entry("lib/p", value="x"), Entry("l", "2", "lib"), Entry("etc/passwd", "1", "l/p")]],
        "x",
    ),
    ("a hard link to a lower layer", [[Entry("lib/p", value="x")], [Entry("etc/passwd", "1", "lib/p")]], "CC1208"),
    ("a hard link to what comes later", [[Entry("etc/passwd", "1", "lib/p"), Entry("lib/p", value="x")]], "CC1208"),
    ("a hard link to a directory", [[Entry("lib", "5"), Entry("etc/passwd", "1", "lib")]], "CC1204"),
    ("an entry through a link to the directory", [[PASSWD, Entry("x", "2", "etc"), Entry("x/passwd", value="b")]], "CC1208"),
    ("an entry through two links", [[PASSWD, Entry("x", "2", "y"), Entry("y", "2", "/etc"), Entry("x/passwd", value="b")]], "CC1208"),
    ("an entry through a link made by a hard link", [[PASSWD, Entry("x", "2", "etc"), Entry("y", "1", "x"), Entry("y/passwd", value="b")]], "CC1208"),
    ("a whiteout through a link", [[PASSWD], [Entry("x", "2", "etc"), Entry("etc/a"), Entry("x/.wh.passwd")]], "CC1208"),
    ("an opaque whiteout through a link", [[PASSWD], [Entry("etc/a"), Entry("x", "2", "etc"), Entry("x/.wh..wh..opq")]], "CC1208"),
    ("an entry through links that are not watched", [[PASSWD, Entry("bin", "2", "usr/bin"), Entry("bin/sh", value="x")]], "a"),
    ("a directory in the place of the link", [[PASSWD, Entry("x", "2", "etc"), Entry("x", "5"), Entry("x/passwd", value="b")]], "a"),
    ("a link that was removed with its directory", [[PASSWD, Entry("d/x", "2", "../etc"), Entry("d"), Entry("d", "5"), Entry("d/x/passwd", value="b")]], "a"),
    ("a global header with the name of the file", [[PASSWD, Entry("etc/passwd", "g")]], "CC1204"),
    ("a global header with the name of a whiteout", [[PASSWD], [Entry("etc/.wh.passwd", "g")]], None),
    ("a global header with another name", [[Entry("pax_global_header", "g"), PASSWD]], "a"),
    ("a file where the directory was", [[PASSWD, Entry("etc", value="x")]], "CC1208"),
    ("a directory where the directory was, and a file between", [[PASSWD, Entry("etc", value="x"), Entry("etc", "5")]], "CC1208"),
    ("an opaque whiteout behind an entry whose directory has none", [[PASSWD, Entry(".wh..wh..opq")]], "CC1204"),
    ("an opaque whiteout behind its own entries", [[OTHER], [Entry("etc", "5"), PASSWD, Entry("etc/.wh..wh..opq")]], "a"),
    ("a whiteout of a directory itself", [[PASSWD], [Entry("etc/.wh.", value="")]], "CC1204"),
    ("a whiteout of the directory above", [[PASSWD], [Entry("etc/x/.wh..."), PASSWD]], "CC1204"),
    ("an opaque directory in the place of a link", [[Entry("usr/passwd", value="x"), Entry("etc", "2", "usr")], [Entry("etc/.wh..wh..opq")]], "CC1208"),
    ("an entry below what is a file in a lower layer", [[Entry("etc", value="x")], [PASSWD]], "CC1208"),
    ("a link in the place of the directory, and a directory in a layer above", [[PASSWD, Entry("etc", "2", "/x")], [Entry("etc", "5")]], "CC1208"),
    ("a link to itself", [[Entry("etc/passwd", "2", "passwd")]], "CC1208"),
    ("a directory that is a link to itself", [[Entry("etc", "2", "etc")]], "CC1208"),
    ("entries below a link to itself", [[Entry("x", "2", "x"), Entry("x/a")]], "CC1204"),
    ("a fifo", [[Entry("etc/passwd", "6")]], "CC1208"),
)  # fmt: skip


@pytest.mark.parametrize(("layers", "gives"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_layers_of_every_shape(layers: list[list[Entry]], gives: str | None, containerd: Unpacker) -> None:
    data = [packed(layer) for layer in layers]
    mine, theirs = ours(data), containerd.unpacked(data)
    if isinstance(mine, LockProblem):
        assert mine.code == gives, (mine.values, theirs)
    else:
        assert mine[0] == gives
        assert not isinstance(theirs, tuple) or mine == theirs


DIRECTORIES = ("etc", "lib", "x", "y", "lib/d")
NAMES = st.sampled_from([*DIRECTORIES, *(f"{one}/{name}" for one in DIRECTORIES for name in ("passwd", "group", "d"))])
TARGETS = st.sampled_from(
    ["etc", "/etc", "../etc", "lib", "/lib/d", "passwd", "d/passwd", "/x/passwd", "../lib/passwd", "x", "y", "."]
)
ENTRY = st.one_of(
    st.builds(Entry, NAMES, st.just("0"), st.sampled_from("abcd")),
    st.builds(Entry, st.sampled_from(["etc/passwd", "lib/passwd", "etc/group"]), st.just("0"), st.sampled_from("efgh")),
    st.builds(Entry, st.sampled_from(DIRECTORIES), st.just("5"), st.just("")),
    st.builds(Entry, NAMES, st.just("2"), TARGETS),
    st.builds(Entry, NAMES, st.just("1"), NAMES),
    st.builds(lambda name: Entry("/".join([*name.split("/")[:-1], ".wh." + name.split("/")[-1]])), NAMES),
    st.sampled_from([Entry(".wh..wh..opq"), *(Entry(f"{one}/.wh..wh..opq") for one in DIRECTORIES)]),
    st.builds(Entry, NAMES, st.just("g"), st.just("")),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(ENTRY, min_size=1, max_size=7))
def test_any_layer_reads_as_containerd_unpacks_it(containerd: Unpacker, layer: list[Entry]) -> None:
    _same(containerd, [layer])


@settings(max_examples=400, deadline=None)
@given(st.lists(st.lists(ENTRY, max_size=4), min_size=2, max_size=4))
def test_any_stack_of_layers_reads_as_containerd_unpacks_it(containerd: Unpacker, layers: list[list[Entry]]) -> None:
    assume(not _below_a_lower_link(layers))
    _same(containerd, layers)


# --- bytes


def _archives() -> list[bytearray]:
    """Small archives in each format, with extended headers of each kind."""
    made = []
    for form, extra in (
        (tarfile.USTAR_FORMAT, {}),
        (tarfile.GNU_FORMAT, {}),
        (tarfile.PAX_FORMAT, {"path": "etc/passwd", "size": "5"}),
        (tarfile.PAX_FORMAT, {"linkpath": "lib/p", "mtime": "1.5", "comment": "x"}),
    ):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as archive:
            for name, kind, value in (
                ("lib/p", tarfile.REGTYPE, b"other"),
                ("etc/passwd", tarfile.REGTYPE, b"first"),
                ("etc/group", tarfile.SYMTYPE, b""),
                ("a" * 120 + "/" + "b" * 100, tarfile.REGTYPE, b"long"),
                ("lib/q", tarfile.LNKTYPE, b""),
            ):
                member = tarfile.TarInfo(name)
                member.type, member.size, member.mode = kind, len(value), 0o755
                member.linkname = "" if value else "lib/p" if kind == tarfile.LNKTYPE else "../lib/p"
                member.pax_headers = extra if name in ("etc/passwd", "lib/q") and form == tarfile.PAX_FORMAT else {}
                archive.addfile(member, io.BytesIO(value))
            end = archive.offset  # before the blocks of zeros
        made.append(bytearray(out.getvalue()[: end + 512]))
    return made


ARCHIVES = _archives()
VALUES = st.one_of(st.sampled_from(b"\0 /0123456789xgLKSn\n=\x80\xff"), st.integers(0, 255))


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(ARCHIVES), st.lists(st.tuples(st.integers(0, 8000), VALUES), min_size=1, max_size=4), st.data())
def test_any_bytes_read_as_go_reads_them(
    containerd: Unpacker, start: bytearray, changes: list[tuple[int, int]], more: st.DataObject
) -> None:
    data = bytearray(start)
    for at, value in changes:
        data[at % len(data)] = value
        _sum(data, at % len(data))
    cut = more.draw(st.one_of(st.just(len(data)), st.integers(0, len(data))))
    mine, theirs = ours([bytes(data[:cut])]), containerd.unpacked([bytes(data[:cut])])
    event(
        "refused by us"
        if isinstance(mine, LockProblem)
        else "refused by Go"
        if isinstance(theirs, str)
        else "read by both"
    )
    if not isinstance(mine, LockProblem) and not isinstance(theirs, str):
        assert mine == theirs


def _sum(data: bytearray, at: int) -> None:
    """Make the sum of the block right again if it is a header, or looks like one."""
    block = slice(at - at % 512, at - at % 512 + 512)
    if data[block][257:262] == b"ustar" and at % 512 not in range(148, 156):
        data[block.start + 148 : block.start + 156] = b" " * 8
        data[block.start + 148 : block.start + 155] = b"%06o\0" % sum(data[block])


@pytest.mark.parametrize("start", ARCHIVES, ids=["POSIX", "GNU", "pax", "pax links"])
def test_every_format_is_read(start: bytearray, containerd: Unpacker) -> None:
    mine = ours([bytes(start)])
    assert mine == containerd.unpacked([bytes(start)])
    assert mine in (("first", "other"), ("other", "other"))


def _same(containerd: Unpacker, layers: Sequence[Sequence[Entry]]) -> None:
    data = [packed(layer) for layer in layers]
    mine, theirs = ours(data), containerd.unpacked(data)
    event(
        "refused by us"
        if isinstance(mine, LockProblem)
        else "refused by containerd"
        if isinstance(theirs, str)
        else "read by both"
    )
    if not isinstance(mine, LockProblem) and not isinstance(theirs, str):
        assert mine == theirs


def _below_a_lower_link(layers: Sequence[Sequence[Entry]]) -> bool:
    """Whether an entry, or the target of a hard link, goes through what a lower layer has as a link."""
    links: set[str] = set()
    for layer in layers:
        paths = [entry.name for entry in layer] + [entry.value for entry in layer if entry.kind == "1"]
        if any(path.startswith(f"{link}/") for path in paths for link in links):
            return True
        links |= {entry.name for entry in layer if entry.kind in "12"}
    return False
