"""`securePV: {owner: fsGroup, image: ...}`: who can write to an encrypted volume, and the init container that helps."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from krm_function.config.generate import VolumeRules
from krm_function.contrast.injected import VOLUME_OWNER
from krm_function.policy.initdata import decode_toml, from_annotation, read_policy_data
from krm_function.text.writer import dump
from tests.hosts.running import called
from tests.stages.test_volume_rules import DATA, claim, container, mount
from tests.world import (
    FACTS,
    LOCK,
    SCRIPT,
    WEB,
    again,
    an_object,
    codes,
    config,
    coordinator,
    good,
    initdata,
    named,
    pod_spec,
    run,
    stream,
    values,
)

Json = dict[str, Any]
GROUP = 1001
IMAGE = f"registry.example.com/tools/busybox:1.37@sha256:{'f' * 64}"
NEWER = f"registry.example.com/tools/busybox:1.38@sha256:{'e' * 64}"
IMAGES = {**LOCK, IMAGE: FACTS, NEWER: FACTS}
ACCOUNTS = "root:x:0:0:::\nweb:x:1001:1001:::\n"
WITHOUT = VolumeRules(secure_claims=("data",))
WITH = WITHOUT._replace(owner_image=IMAGE)
USER = {"runAsUser": GROUP, "runAsNonRoot": True, "fsGroup": GROUP}


def subject(context: Json | None = USER, *init: Json, own: Json | None = None, **of_mount: Any) -> Json:
    web = container(mount("data", "/data", **of_mount)) | ({"securityContext": own} if own else {})
    spec = pod_spec(containers=[web], initContainers=list(init), volumes=[DATA])
    return an_object(spec=spec | ({"securityContext": context} if context else {}))


def init(name: str = "own", *, mounts: bool = True, **context: Any) -> Json:
    mounted = [mount("data", "/d")] if mounts else []
    return container(*mounted, name=name, command=["chown"], securityContext=context)


def to(rules: VolumeRules = WITH, images: Any = IMAGES, **options: Any) -> Any:
    return config(images=images, volumes=rules, **options)


def owner(made: Any) -> Json:
    (found,) = [one for one in named(made, "web").init_containers if one["name"] == VOLUME_OWNER]
    return found


@pytest.mark.parametrize(
    ("pod", "image_user", "writes"),
    [
        (subject(USER), "", False),
        (subject({**USER, "fsGroup": 0}), "", False),
        (subject({"runAsNonRoot": True, "fsGroup": GROUP}), "1001", False),
        (subject({"fsGroup": GROUP}), "1001:0", False),
        (subject({"fsGroup": GROUP}), "web", False),
        (subject({"fsGroup": GROUP}), "", True),
        (subject({"fsGroup": GROUP}), "0:0", True),
        (subject({"fsGroup": GROUP}), "root", True),
        (subject(USER, own={"runAsUser": 0, "runAsNonRoot": False}), "1001", True),
        (subject({**USER, "runAsUser": 0, "runAsNonRoot": False}, own={"runAsUser": 5}), "", False),
        (subject(None), "1001", True),
        (subject({"runAsUser": 1001}), "1001", True),
        (subject(USER, readOnly=True), "", True),
        (subject(USER, init(runAsUser=0, runAsNonRoot=False)), "", True),
        (subject(USER, init(runAsUser=0, runAsNonRoot=False, mounts=False)), "", False),
        (subject(USER, init(runAsUser=5)), "", False),
    ],
)
def test_a_pod_that_cannot_write_to_its_encrypted_volume_is_a_warning(pod: Json, image_user: str, writes: bool) -> None:
    images = {**IMAGES, WEB: FACTS._replace(config={**FACTS.config, "User": image_user}, passwd=ACCOUNTS)}

    assert ("CC0844" in codes(run(coordinator(), pod, claim(), to=to(WITHOUT, images)), "warning")) != writes
    assert "CC0844" not in codes(good(coordinator(), pod, claim(), to=to(WITH, images)), "warning")


def test_the_init_container_runs_after_the_initializer_and_before_those_of_the_pod() -> None:
    made = good(coordinator(), subject(USER, init(runAsUser=5)), claim(), to=to())
    workload = named(made, "web")

    assert [one["name"] for one in workload.init_containers] == ["contrast-initializer", VOLUME_OWNER, "own"]
    share = f"{DATA['name']}-share"
    assert owner(made)["volumeMounts"] == [
        {"name": share, "mountPath": "/state", "mountPropagation": "HostToContainer"}
    ], "and no secrets of the pod"
    data = read_policy_data(decode_toml(from_annotation(initdata(workload))).data["policy.rego"])
    ((policy,),) = [[one for one in data["containers"] if one["OCI"]["Process"]["Args"][:2] == ["/bin/sh", "-c"]]]
    assert policy["OCI"]["Process"]["Args"][2] == "chgrp 1001 /state && chmod g+rwxs /state"
    assert policy["OCI"]["Process"]["User"]["UID"] == 0
    assert sorted(policy["OCI"]["Process"]["Capabilities"]["Effective"]) == ["CAP_CHOWN", "CAP_FOWNER"]


@pytest.mark.parametrize("context", [None, {"runAsUser": 5}])
def test_a_pod_without_fs_group_gets_no_init_container(context: Json | None) -> None:
    documents = (coordinator(), subject(context), claim())

    assert values(good(*documents, to=to(WITH))) == values(good(*documents, to=to(WITHOUT)))


def test_an_image_that_is_not_in_the_lock_is_an_error() -> None:
    assert codes(run(coordinator(), subject(), claim(), to=to(images=LOCK))) == ["CC0504"]


def test_a_container_of_that_name_is_an_error() -> None:
    pod = subject(USER, init(VOLUME_OWNER, runAsUser=5))
    assert codes(run(coordinator(), pod, claim(), to=to())) == ["CC0604"]
    pod = subject()
    pod["spec"]["template"]["spec"]["containers"].append({"name": VOLUME_OWNER, "image": SCRIPT})
    assert codes(run(coordinator(), pod, claim(), to=to())) == ["CC0604"]


def test_it_renders_again_and_is_undone_byte_for_byte(tmp_path: Path) -> None:
    documents = (coordinator(), subject(USER, init(runAsUser=5)), claim())
    first = good(*documents, to=to())
    assert values(again(first, to())) == values(first)

    output = tmp_path / "out.yaml"
    output.write_text("".join(f"---\n{text.removeprefix('---' + chr(10))}" for text in first.texts if text))
    assert called("uninject", str(output)).ok().decode() == "".join(f"---\n{dump(one)}" for one in documents)


def test_another_image_replaces_that_of_the_render_before() -> None:
    first = good(coordinator(), subject(), claim(), to=to())
    newer = to(WITH._replace(owner_image=NEWER))

    assert owner(again(first, newer))["image"] == NEWER
    assert values(again(first, newer)) == values(good(coordinator(), subject(), claim(), to=newer))


def test_the_rule_reaches_what_a_render_made_without_it_but_a_record_does_not_take_it_back() -> None:
    without = good(coordinator(), subject(), claim(), to=to(WITHOUT))
    assert owner(again(without, to()))["image"] == IMAGE

    made = good(coordinator(), subject(), claim(), to=to())
    texts = [text.removeprefix("---\n") for text in made.texts if text is not None]
    assert set(codes(run(*texts, *made.added, to=to(WITHOUT)))) == {"CC0115"}


@pytest.mark.parametrize(
    "change",
    [
        {"command": ["/bin/sh", "-c", "chgrp 1001 /state && chmod g+rwxs /state; /evil"]},
        {"args": ["x"]},
        {"securityContext": {"privileged": True}},
        {"volumeMounts": []},
        {"env": [{"name": "LD_PRELOAD", "value": "/state/evil.so"}]},
    ],
)
def test_a_record_removes_no_other_container_of_that_name(change: Json) -> None:
    made = good(coordinator(), subject(), claim(), to=to())
    objects = values(made)
    for one in objects:
        if one["kind"] == "Deployment":
            (container_,) = [
                entry for entry in one["spec"]["template"]["spec"]["initContainers"] if entry["name"] == VOLUME_OWNER
            ]
            container_ |= change

    assert "CC0115" in codes(run(*stream_texts(objects), to=to()))


def stream_texts(objects: list[Json]) -> list[str]:
    return [resource.text.removeprefix("---\n") for resource in stream(*objects)]


# --- What mkfs.ext4 makes, and what the sealed command makes of it


def made_file_system(directory: Path) -> Path:
    """A file with an ext4, as the initializer makes one on the device."""
    if not (shutil.which("mke2fs") and shutil.which("debugfs")):
        pytest.skip("needs mke2fs and debugfs of e2fsprogs")
    image = directory / "volume.img"
    with image.open("wb") as file:
        file.truncate(16 << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", str(image)], check=True)
    return image


def test_the_root_directory_of_a_new_ext4_belongs_to_root_and_nobody_else_may_write(tmp_path: Path) -> None:
    image = made_file_system(tmp_path)
    told = subprocess.run(["debugfs", "-R", "stat <2>", str(image)], capture_output=True, text=True, check=True)
    words = told.stdout.split()

    assert (words[words.index("Mode:") + 1], words[words.index("User:") + 1], words[words.index("Group:") + 1]) == (
        "0755",
        "0",
        "0",
    )


def test_the_sealed_command_lets_the_group_write_to_a_real_ext4(tmp_path: Path) -> None:
    """With the capabilities of the container; where this machine lets a test mount a file system and change users."""
    image = made_file_system(tmp_path)
    if os.getuid() or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv")
    top = Path(mkdtemp())  # which another user may enter, unlike tmp_path
    if subprocess.run(["mount", "-o", "loop", str(image), str(top)], capture_output=True, check=False).returncode:
        top.rmdir()
        pytest.skip("this machine mounts no loop device")
    command = owner(good(coordinator(), subject(), claim(), to=to()))["command"]
    as_root = ["setpriv", "--groups", str(GROUP), "--bounding-set", "-all,+chown,+fowner"]
    as_user = [
        "setpriv",
        "--reuid",
        str(GROUP),
        "--regid",
        str(GROUP),
        "--groups",
        str(GROUP),
        "--bounding-set",
        "-all",
    ]
    write = [*as_user, "touch", f"{top}/file"]
    try:
        assert subprocess.run(write, capture_output=True, check=False).returncode != 0
        for first_owner in (0, 4711):  # a pod that starts again may find another owner
            os.chown(top, first_owner, 0)
            top.chmod(0o755)
            script = command[2].replace("/state", str(top))
            subprocess.run([*as_root, *command[:2], script], check=True)
            assert (top.stat().st_uid, top.stat().st_gid, top.stat().st_mode & 0o7777) == (first_owner, GROUP, 0o2775)
            subprocess.run(write, check=True)
            assert (top / "file").stat().st_gid == GROUP
            (top / "file").unlink()
    finally:
        subprocess.run(["umount", str(top)], check=True)
        top.rmdir()
