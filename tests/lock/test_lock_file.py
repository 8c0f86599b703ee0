"""The lock as a file that people own: comments, order and quotes stay; entries come and go."""

import yaml

from tests.lock.conftest import Locking
from tests.lock.content import (
    GROUP,
    PASSWD,
    SETTINGS,
    image,
    index,
    layer,
    layout_files,
    pods,
    tar,
    written,
)
from tests.lock.registries import Front, Registry

OURS = """# Ours. Reviewed by two people.
---
apiVersion: contrast-krm.dev/v1alpha1
kind: ContrastRelease   # pinned
metadata: {name: v1.25.0}
spec: {version: v1.25.0, platforms: {}}
---
apiVersion: 'contrast-krm.dev/v1alpha1'
kind: ImageLock
metadata:
    name: "images"   # four spaces
spec:
    images:
        # the old one, still in production
        "registry.example.com/old@sha256:%s": {digest: "sha256:%s", config: {User: '7'}, passwd: '', group: ''} # own

        # the second
        registry.example.com/second@sha256:%s:
            digest: sha256:%s
            config:
                Cmd: [ "a",  'b' ]
            passwd: ""   # looked up
            group: ""
# the end
"""
OLD, SECOND = "1" * 64, "2" * 64


def ours(lock: Locking) -> str:
    text = OURS % (OLD, OLD, SECOND, SECOND)
    lock.lock.write_text(text)
    return text


def test_an_update_adds_lines_and_touches_none(hub: Registry, lock: Locking) -> None:
    before = ours(lock).splitlines()
    name = hub.push(image(), "file/added")

    run = lock.images(name)

    assert run.code == 0, run.stderr
    assert "2 that nothing uses any more kept (--prune drops them)" in run.stderr
    after = lock.lock.read_text().splitlines()
    rest = iter(after)
    assert all(line in rest for line in before), "all old lines, in their order"
    locks = [one for one in yaml.safe_load_all(lock.lock.read_text()) if one and one["kind"] == "ImageLock"]
    assert list(locks[0]["spec"]["images"])[2:] == [name]


def test_prune_drops_what_nothing_uses(hub: Registry, lock: Locking) -> None:
    ours(lock)
    name = hub.push(image(), "file/pruned")
    used = f"registry.example.com/second@sha256:{SECOND}"
    run = lock.images(name, used, flags=("--prune",))
    assert run.code == 0, run.stderr
    text = lock.lock.read_text()
    assert "registry.example.com/old" not in text
    assert "Cmd: [ \"a\",  'b' ]" in text
    assert "# pinned" in text
    assert name in text


def test_prune_may_leave_nothing(hub: Registry, lock: Locking) -> None:
    lock.entries(hub.push(image(), "file/first"))
    name = hub.push(image(settings={}), "file/only")
    assert list(lock.entries(name, flags=("--prune",))) == [name]


def test_windows_line_ends_and_a_mark_stay(hub: Registry, lock: Locking) -> None:
    text = "\ufeff" + ours(lock).replace("\n", "\r\n")
    lock.lock.write_bytes(text.encode())
    run = lock.images(hub.push(image(), "file/windows"))
    assert run.code == 0, run.stderr
    data = lock.lock.read_bytes().decode()
    assert data.startswith("\ufeff# Ours.")
    assert data.count("\n") == data.count("\r\n")


def test_an_empty_lock_and_an_empty_file(hub: Registry, lock: Locking) -> None:
    name = hub.push(image(), "file/empty")
    head = "apiVersion: contrast-krm.dev/v1alpha1\nkind: ImageLock\nmetadata: {name: images}\nspec:\n"
    for text in (f"{head}  images: {{}}  # none yet\n", ""):
        lock.lock.write_text(text)
        assert list(lock.entries(name)) == [name]


def test_a_new_lock_is_local_configuration_with_readable_files(hub: Registry, lock: Locking) -> None:
    lock.entries(hub.push(image(), "file/new"))
    text = lock.lock.read_text()
    assert 'config.kubernetes.io/local-config: "true"' in text
    assert "passwd: |\n" in text
    assert lock.lock.stat().st_mode & 0o777 == 0o644


def test_entries_of_other_locks_are_known(hub: Registry, front: Front, lock: Locking) -> None:
    name = front.named(hub.push(image(), "file/known"))
    lock.entries(name)
    lock.lock.rename(lock.directory / "other.yaml")
    asked = len(front.asked)
    assert list(lock.entries(name, flags=("--config", "other.yaml"))) == [name]
    assert len(front.asked) == asked


def test_the_lock_may_be_configuration_as_well(hub: Registry, lock: Locking) -> None:
    name = hub.push(image(), "file/both")
    lock.entries(name)
    assert list(lock.entries(name, flags=("--config", "images.yaml"))) == [name]


# --- entries that do not say what passwd and group are

SILENT = """# Ours.
apiVersion: contrast-krm.dev/v1alpha1
kind: ImageLock
metadata: {name: images}
spec:
    images:
        # one line
        "%s": {digest: "%s", config: {User: '7'}}  # by hand
        # many lines
        %s:
            digest: %s
            config:
                Cmd: [ "a",  'b' ]   # not what the registry says
            group: 'mine:x:5:'
        # nobody uses this one
        registry.example.com/old@sha256:%s: {digest: "sha256:%s", config: {}}
"""


def test_an_entry_that_lacks_passwd_or_group_is_looked_up_and_completed_in_place(
    hub: Registry, front: Front, lock: Locking
) -> None:
    with_users, without = image(), image(layer(tar({"bin/a": "x"})), settings={})
    one, many = (front.named(hub.push(made, "file/silent")) for made in (with_users, without))
    before = SILENT % (one, with_users.digest, many, without.digest, OLD, OLD)
    lock.lock.write_text(before)

    run = lock.images(one, many)

    assert run.code == 0, run.stderr
    assert "2 images: 2 fetched, 0 known already, 1 that nothing uses any more kept" in run.stderr
    after = lock.lock.read_text()
    written = lock.written()
    assert written[one] == {"digest": with_users.digest, "config": {"User": "7"}, "passwd": PASSWD, "group": GROUP}
    assert (written[many]["passwd"], written[many]["group"]) == ("", "mine:x:5:")
    assert written[many]["config"] == {"Cmd": ["a", "b"]}
    assert "passwd" not in written[f"registry.example.com/old@sha256:{OLD}"]
    untouched = [line for line in before.splitlines() if "by hand" not in line]
    rest = iter(after.splitlines())
    assert all(line in rest for line in untouched), "all other lines, in their order"
    assert "# by hand" in after

    asked = len(front.asked)
    assert lock.images(one, many).code == 0
    assert len(front.asked) == asked, "now it is known"
    assert lock.lock.read_text() == after


def test_an_entry_that_another_one_of_the_same_digest_completes_needs_no_network(
    hub: Registry, front: Front, lock: Locking
) -> None:
    made = image()
    name = front.named(hub.push(made, "file/twice"))
    other = name.replace(":1.0@", ":2.0@")
    lock.entries(name)
    text = lock.lock.read_text()
    lock.lock.write_text(f"{text}    {other}:\n      digest: {made.digest}\n      config: {{User: mine}}\n")
    asked = len(front.asked)
    written = lock.entries(name, other)
    assert len(front.asked) == asked
    assert (written[other]["passwd"], written[other]["config"]) == (PASSWD, {"User": "mine"})
    assert written[name]["config"] == SETTINGS


def test_an_entry_of_a_lock_that_is_only_read_is_written_completed(hub: Registry, front: Front, lock: Locking) -> None:
    made = image()
    name = front.named(hub.push(made, "file/elsewhere"))
    entry = {"digest": made.digest, "config": {"User": "mine"}, "passwd": None}
    head = "apiVersion: contrast-krm.dev/v1alpha1\nkind: ImageLock\nmetadata: {name: images}\n"
    other = head + yaml.safe_dump({"spec": {"images": {name: entry}}})
    (lock.directory / "other.yaml").write_text(other)
    written = lock.entries(name, flags=("--config", "other.yaml"))[name]
    assert (written["config"], written["passwd"], written["group"]) == ({"User": "mine"}, PASSWD, GROUP)
    assert (lock.directory / "other.yaml").read_text() == other


def test_without_the_registry_nothing_is_completed(lock: Locking) -> None:
    name = f"registry.example.com/old@sha256:{OLD}"
    message = left_alone(
        lock,
        f"apiVersion: contrast-krm.dev/v1alpha1\nkind: ImageLock\nmetadata: {{name: images}}\n"
        f'spec: {{images: {{"{name}": {{digest: "sha256:{OLD}", config: {{}}}}}}}}\n',
        "CC1202",
        1,
        also=(name,),
    )
    assert name in message


# --- refused, and left as it was


def left_alone(lock: Locking, text: str, code: str, exit: int, also: tuple[str, ...] = ()) -> str:  # noqa: A002
    lock.lock.write_text(text)
    made = image()
    source = written(layout_files(index([("linux/amd64", made)])), lock.directory / "layout")
    data = pods(f"shop/web@{made.digest}", *also)
    run = lock("-o", "images.yaml", "--from", f"oci:{source}", "--format", "json", data=data)
    assert run.code == exit, run.stderr
    assert lock.lock.read_text() == text
    codes = {found["code"]: found for found in run.errors}
    assert code in codes, codes
    message: str = codes[code]["message"]
    return message


def test_a_file_without_a_lock(lock: Locking) -> None:
    said = left_alone(lock, "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n", "CC0909", 2)
    assert "--output: the file has no ImageLock" in said


def test_a_file_with_two(lock: Locking) -> None:
    one = "apiVersion: contrast-krm.dev/v1alpha1\nkind: ImageLock\nmetadata: {name: a}\nspec: {images: {}}\n"
    assert "2 ImageLocks" in left_alone(lock, f"{one}---\n{one.replace('name: a', 'name: b')}", "CC0909", 2)


def test_a_file_that_is_no_yaml(lock: Locking) -> None:
    left_alone(lock, "a: [", "CC0910", 2)


def test_an_entry_with_another_digest(lock: Locking) -> None:
    left_alone(lock, (OURS % (OLD, SECOND, SECOND, SECOND)), "CC0505", 1)


def test_a_mistyped_field(lock: Locking) -> None:
    left_alone(lock, (OURS % (OLD, OLD, SECOND, SECOND)).replace("Cmd", "Cmdd"), "CC0902", 2)
