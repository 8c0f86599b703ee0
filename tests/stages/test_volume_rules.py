"""`spec.volumes`: what each rule makes of a pod, what it refuses, and that a render with rules can be taken back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from krm_function.config.generate import VolumeRules
from krm_function.kubernetes.workload import ORIGINAL
from krm_function.render.rendered import Rendered
from tests.hosts.running import called
from tests.wording import wording
from tests.world import (
    FACTS,
    LOCK,
    SECURE_PV,
    SKIP,
    WEB,
    again,
    an_object,
    codes,
    config,
    coordinator,
    good,
    named,
    pod_spec,
    run,
    said,
    values,
)

Json = dict[str, Any]
SPLIT = VolumeRules(split_sub_paths=True)
DIVIDE = VolumeRules(split_sub_paths="divideSizeLimit")
SECURE = VolumeRules(secure_claims=("data",))
IMAGE = VolumeRules(image_volumes=True)
CACHE = VolumeRules(cache_paths=("/models",))
DATA = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
TMP = {"name": "tmp", "emptyDir": {}}
DISK_LOCK = {**LOCK, WEB: FACTS._replace(config={**FACTS.config, "Volumes": {"/srv": {}, "/data/": {}}})}


def container(*mounts: Json, name: str = "web", **more: Any) -> Json:
    limits = {"cpu": "500m", "memory": "200Mi"}
    return {"name": name, "image": WEB, "resources": {"limits": limits}, "volumeMounts": list(mounts), **more}


def mount(name: str, path: str, sub: str = "", **more: Any) -> Json:
    return {"name": name, "mountPath": path, **({"subPath": sub} if sub else {}), **more}


def pod(*mounts: Json, volumes: Sequence[Json] = (TMP,), **more: Any) -> Json:
    return pod_spec(**{"containers": [container(*mounts)], "volumes": list(volumes), **more})


def claim(name: str = "data", namespace: str = "shop", **spec: Any) -> Json:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    whole = {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": whole}


def render(*objects: Json, rules: VolumeRules, images: Any = LOCK, **options: Any) -> Rendered:
    return run(coordinator(), *objects, to=config(images=images, volumes=rules, **options))


def mounts(made: Rendered, name: str = "web", at: int = 0) -> list[Json]:
    """The mounts of a container, without that of the secrets."""
    found = named(made, "web").pod_spec["containers"][at]["volumeMounts"]
    return [one for one in found if one["name"] != "contrast-secrets"]


def volumes(made: Rendered) -> list[Json]:
    found = named(made, "web").pod_spec["volumes"]
    return [one for one in found if one["name"] != "contrast-secrets"]


def claims(made: Rendered) -> list[Json]:
    return [one for one in values(made) if one["kind"] == "PersistentVolumeClaim"]


def reason(made: Rendered, code: str) -> str:
    """The message of the one error, which has this code."""
    (found,) = [one for one in made.findings if one.severity == "error"]
    assert found.code == code, found
    return found.message


# --- splitSubPaths


def test_an_empty_dir_that_is_mounted_by_sub_path_is_split() -> None:
    first = {"name": "prep", "image": WEB, "volumeMounts": [mount("tmp", "/etc/app", "conf")]}
    spec = pod(
        mount("tmp", "/x/", "tmp"),
        mount("tmp", "/conf", "./conf/", readOnly=True),
        volumes=[{"name": "tmp", "emptyDir": {"medium": "Memory"}}, {"name": "other"}],
        initContainers=[first],
    )
    made = render(an_object(spec=spec), rules=SPLIT)

    assert codes(made) == []
    assert mounts(made) == [mount("tmp-tmp", "/x/"), mount("tmp-conf", "/conf", readOnly=True)]
    init = named(made, "web").pod_spec["initContainers"][1]["volumeMounts"][0]
    assert init == mount("tmp-conf", "/etc/app")
    memory = {"emptyDir": {"medium": "Memory"}}
    assert volumes(made) == [{"name": "tmp-conf", **memory}, {"name": "tmp-tmp", **memory}, {"name": "other"}]


def test_without_the_rule_it_is_refused_as_before() -> None:
    spec = pod(mount("tmp", "/a", "a"), mount("tmp", "/b", "b"))

    assert set(codes(render(an_object(spec=spec), rules=VolumeRules()))) == {"CC0604"}


def test_a_volume_without_sub_paths_is_left() -> None:
    plain = an_object(spec=pod(mount("tmp", "/a")))

    assert values(render(plain, rules=SPLIT)) == values(render(plain, rules=VolumeRules()))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ([mount("tmp", "/a", "a"), mount("tmp", "/all")], "container web mounts all of it"),
        ([mount("tmp", "/a", "a"), mount("tmp", "/all", ".")], "container web mounts all of it"),
        ([mount("tmp", "/a", "a"), mount("tmp", "/b", "a/b")], "a/b is inside a"),
        ([mount("tmp", "/a", "a/./"), mount("tmp", "/b", "a//b/c")], "a/b/c is inside a"),
        ([mount("tmp", "/a", subPathExpr="$(POD)")], "subPathExpr"),
        ([mount("tmp", "/a", "../a")], wording("CC0836.path", place="../a")),
        ([mount("tmp", "/a", "a/../b")], wording("CC0836.path", place="a/../b")),
        ([mount("tmp", "/a", "/a")], wording("CC0836.path", place="/a")),
    ],
)
def test_what_cannot_be_split_is_an_error_with_the_reason(wrong: list[Json], why: str) -> None:
    made = render(an_object(spec=pod(*wrong)), rules=SPLIT)

    assert why in reason(made, "CC0836")


def test_a_path_that_only_begins_like_another_one_is_not_in_it() -> None:
    made = render(an_object(spec=pod(mount("tmp", "/a", "a"), mount("tmp", "/ab", "ab"))), rules=SPLIT)

    assert mounts(made) == [mount("tmp-a", "/a"), mount("tmp-ab", "/ab")]


@pytest.mark.parametrize(
    "key", ["backup.velero.io/backup-volumes", "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"]
)
def test_a_volume_that_an_annotation_names_is_left(key: str) -> None:
    spec = pod(mount("tmp", "/a", "a"))
    made = render(an_object(spec=spec, annotations={key: "other, tmp"}), rules=SPLIT)

    assert key in reason(made, "CC0836")
    assert codes(render(an_object(spec=spec, annotations={key: "other,tmp2"}), rules=SPLIT)) == []


LIMITED = [{"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}}]


def test_a_size_limit_of_several_paths_is_an_error_or_divided() -> None:
    two = an_object(spec=pod(mount("tmp", "/a", "a"), mount("tmp", "/b", "b"), volumes=LIMITED))

    assert wording("CC0836.limit", count="2") in reason(render(two, rules=SPLIT), "CC0836")
    divided = {"emptyDir": {"sizeLimit": "512Mi"}}
    assert volumes(render(two, rules=DIVIDE)) == [{"name": "tmp-a", **divided}, {"name": "tmp-b", **divided}]


@pytest.mark.parametrize("rules", [SPLIT, DIVIDE])
def test_a_size_limit_of_one_path_stays(rules: VolumeRules) -> None:
    one = an_object(spec=pod(mount("tmp", "/a", "a"), mount("tmp", "/b", "a/"), volumes=LIMITED))

    assert volumes(render(one, rules=rules)) == [{"name": "tmp-a", "emptyDir": {"sizeLimit": "1Gi"}}]


def test_a_size_limit_that_leaves_nothing_to_a_path_is_not_divided() -> None:
    """A limit of nothing would be no limit."""
    small = [{"name": "tmp", "emptyDir": {"sizeLimit": "1"}}]
    made = render(an_object(spec=pod(mount("tmp", "/a", "a"), mount("tmp", "/b", "b"), volumes=small)), rules=DIVIDE)

    assert "cannot be divided among 2 paths" in reason(made, "CC0836")


def test_names_of_new_volumes_are_new_and_short_enough() -> None:
    long = "x" * 70
    present = [TMP, {"name": "tmp-a", "emptyDir": {}}, {"name": "image", "emptyDir": {}}]
    spec = pod(
        mount("tmp", "/a", "a"), mount("tmp", "/A", "A"), mount("tmp", "/l", long), mount("image", "/s", "store"),
        mount("tmp-a", "/o"), volumes=present,
    )  # fmt: skip
    names = [one["name"] for one in mounts(render(an_object(spec=spec), rules=SPLIT))]

    assert len(set(names)) == 5
    assert all(len(name) <= 63 for name in names)
    assert names[4] == "tmp-a", "the volume that is there keeps its name"
    assert "image-store" not in names, "a name that a render gives a meaning"


# --- securePV


def template(name: str = "data", **spec: Any) -> Json:
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], **spec}}


def test_a_claim_template_becomes_an_encrypted_volume() -> None:
    spec = pod(mount("data", "/data"), volumes=[])
    made = render(an_object("StatefulSet", spec=spec, volumeClaimTemplates=[template()]), rules=SECURE)

    assert codes(made) == []
    workload = named(made, "web")
    assert workload.annotations[SECURE_PV] == "data:data-share"
    assert mounts(made) == [mount("data-share", "/data", mountPropagation="HostToContainer")]
    assert workload.object["spec"]["volumeClaimTemplates"] == [template(volumeMode="Block")]
    assert volumes(made) == [{"name": "data-share", "emptyDir": {"medium": "Memory"}}]
    initializer = workload.pod_spec["initContainers"][0]
    assert initializer["volumeDevices"] == [{"name": "data", "devicePath": "/dev/csi0"}]


@pytest.mark.parametrize("before", [{}, {"volumeMode": "Filesystem"}])
@pytest.mark.parametrize("name", ["data", "disk"])
@pytest.mark.parametrize("namespace", ["shop", ""])
def test_a_claim_object_becomes_block_with_its_pod(before: Json, name: str, namespace: str) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
    spec = pod(mount("data", "/data"), volumes=[volume])
    rules = VolumeRules(secure_claims=(f"*{name[1:]}",))
    made = render(an_object(spec=spec), claim(name, namespace, **before), claim("other"), rules=rules)

    assert codes(made) == []
    block, other = claims(made)
    assert block["spec"]["volumeMode"] == "Block"
    assert ORIGINAL in block["metadata"]["annotations"]
    assert other == claim("other")
    assert volumes(made)[0] == volume


def test_a_claim_that_is_block_already_is_not_edited() -> None:
    made = render(an_object(spec=pod(mount("data", "/data"), volumes=[DATA])), claim(volumeMode="Block"), rules=SECURE)

    assert codes(made) == []
    assert claims(made) == [claim(volumeMode="Block")]


def test_a_claim_that_is_not_in_the_input_is_a_warning() -> None:
    made = render(an_object("Job", spec=pod(mount("data", "/data"), volumes=[DATA])), rules=SECURE)

    assert codes(made) == []
    assert "CC0842" in codes(made, "warning")


@pytest.mark.parametrize(
    ("strategy", "modes", "warned"),
    [
        (None, ["ReadWriteOnce"], True),
        ({"type": "RollingUpdate"}, ["ReadWriteOnce"], True),
        ({"type": "Recreate"}, ["ReadWriteOnce"], False),
        (None, ["ReadWriteOncePod"], False),
    ],
)
def test_two_pods_of_a_rolling_update_are_a_warning(strategy: Any, modes: list[str], warned: bool) -> None:
    subject = an_object(spec=pod(mount("data", "/data"), volumes=[DATA]), strategy=strategy)
    made = render(subject, claim(accessModes=modes), rules=SECURE)

    assert ("CC0843" in codes(made, "warning")) == warned


@pytest.mark.parametrize(("policy", "warned"), [(None, True), ("Allow", True), ("Replace", True), ("Forbid", False)])
def test_so_are_two_pods_of_a_cron_job(policy: Any, warned: bool) -> None:
    subject = an_object("CronJob", spec=pod(mount("data", "/data"), volumes=[DATA]), concurrencyPolicy=policy)
    made = render(subject, claim(accessModes=["ReadWriteOnce"]), rules=SECURE)

    assert ("CC0843" in codes(made, "warning")) == warned


@pytest.mark.parametrize("namespace", ["", "shop"])
def test_a_pod_is_no_other_user_of_its_own_claim(namespace: str) -> None:
    """Also where the render gives it its namespace."""
    subject = an_object(namespace=namespace, spec=pod(mount("data", "/data"), volumes=[DATA]))
    made = render(subject, claim(namespace=namespace), rules=SECURE, namespace="shop")

    assert codes(made) == []


SECOND = {"name": "more", "persistentVolumeClaim": {"claimName": "data-2"}}


@pytest.mark.parametrize(
    ("subject", "why"),
    [
        (an_object(spec=pod(mount("data", "/d", "part"), volumes=[DATA])), "mounts its part part"),
        (
            an_object(spec=pod(mount("data", "/d", mountPropagation="Bidirectional"), volumes=[DATA])),
            "a mountPropagation other than HostToContainer",
        ),
        (
            an_object(
                spec=pod(
                    mount("data", "/d"),
                    volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}}],
                )
            ),
            "its volume is readOnly",
        ),
        (an_object(spec=pod(mount("data", "/d"), volumes=[DATA]), replicas=2), "replicas is 2"),
        (an_object("Job", spec=pod(mount("data", "/d"), volumes=[DATA]), parallelism=3), "parallelism is 3"),
        (an_object("DaemonSet", spec=pod(mount("data", "/d"), volumes=[DATA])), "a pod on each node"),
        (
            an_object(spec=pod(mount("data", "/d"), volumes=[DATA]), annotations={SKIP: "true"}),
            "the pod has no initializer",
        ),
        (
            an_object(spec=pod(mount("data", "/d"), volumes=[DATA, SECOND]), annotations={SECURE_PV: "more:state"}),
            "names more, and a pod can only have one",
        ),
        (
            an_object(
                spec=pod_spec(
                    containers=[container(volumeDevices=[{"name": "data", "devicePath": "/dev/x"}])], volumes=[DATA]
                )
            ),
            wording("CC0837.device"),
        ),
    ],
)
def test_what_cannot_be_encrypted_is_an_error_with_the_reason(subject: Json, why: str) -> None:
    made = render(subject, claim(volumeMode="Block"), claim("data-2", volumeMode="Block"), rules=SECURE)

    assert why in reason(made, "CC0837")


def test_a_pod_has_one_encrypted_volume() -> None:
    subject = an_object(spec=pod(mount("data", "/d"), mount("more", "/m"), volumes=[DATA, SECOND]))
    made = render(subject, rules=VolumeRules(secure_claims=("data*",)))

    wrong = [one for one in made.findings if one.severity == "error"]
    assert [(one.code, one.path[-1]) for one in wrong] == [("CC0837", 0), ("CC0837", 1)]
    assert all("data, more are selected as well" in one.message for one in wrong)


@pytest.mark.parametrize("mode", ["ReadWriteMany", "ReadOnlyMany"])
def test_a_claim_of_several_nodes_is_refused(mode: str) -> None:
    subject = an_object(spec=pod(mount("data", "/d"), volumes=[DATA]))
    made = render(subject, claim(accessModes=["ReadWriteOnce", mode]), rules=SECURE)

    assert f"is {mode}" in reason(made, "CC0837")


@pytest.mark.parametrize("runtime_class", ["contrast-cc", None])
def test_a_claim_of_two_pods_is_refused(runtime_class: str | None) -> None:
    subject = an_object(spec=pod(mount("data", "/d"), volumes=[DATA]))
    other = an_object("Job", "backup", spec=pod(mount("data", "/d"), volumes=[DATA], runtimeClassName=runtime_class))
    made = render(subject, other, claim(), rules=SECURE)

    assert any("Job/backup uses it as well" in one.message for one in made.findings if one.code == "CC0837")


def test_without_an_initializer_nothing_is_encrypted() -> None:
    subject = an_object(spec=pod(mount("data", "/d"), volumes=[DATA]))

    assert "no initializer" in reason(render(subject, claim(), rules=SECURE, initializer=False), "CC0837")


def test_a_pod_that_has_it_already_stays_as_it_is() -> None:
    share = mount("share", "/d", mountPropagation="HostToContainer")
    subject = an_object(spec=pod(share, volumes=[DATA]), annotations={SECURE_PV: "data:share"})
    documents = (subject, claim(volumeMode="Block"))

    assert values(render(*documents, rules=SECURE)) == values(render(*documents, rules=VolumeRules()))


VERDICTS = ("CC0837", "CC0842", "CC0843", "CC0844")
ONE_NODE = {"accessModes": ["ReadWriteOnce"]}


@pytest.mark.parametrize(
    ("of_object", "of_mount", "of_volume", "of_pod", "of_claim", "verdict"),
    [
        ({}, {}, {}, {}, {}, []),
        ({}, {}, {}, {}, None, ["CC0842", "CC0843"]),
        ({}, {}, {}, {}, ONE_NODE, ["CC0843"]),
        ({"strategy": {"type": "Recreate"}}, {}, {}, {}, ONE_NODE, []),
        ({"kind": "CronJob"}, {}, {}, {}, ONE_NODE, ["CC0843"]),
        ({"replicas": 3}, {}, {}, {}, {}, ["CC0837"]),
        ({"kind": "DaemonSet"}, {}, {}, {}, {}, ["CC0837"]),
        ({"kind": "Job", "parallelism": 2}, {}, {}, {}, {}, ["CC0837"]),
        ({}, {"mountPropagation": "Bidirectional"}, {}, {}, {}, ["CC0837"]),
        ({}, {}, {"readOnly": True}, {}, {}, ["CC0837"]),
        ({}, {}, {}, {"securityContext": {"runAsUser": 7, "fsGroup": 7}}, {}, ["CC0844"]),
        ({}, {}, {}, {"securityContext": {"fsGroup": 7}}, {}, []),
        ({}, {}, {}, {}, {"accessModes": ["ReadWriteMany"]}, ["CC0837"]),
    ],
)
def test_a_volume_that_is_encrypted_by_hand_is_judged_as_by_the_rule(
    of_object: Json, of_mount: Json, of_volume: Json, of_pod: Json, of_claim: Json | None, verdict: list[str]
) -> None:
    data = {"name": "data", "persistentVolumeClaim": {"claimName": "data", **of_volume}}

    def judge(*others: Json, by_hand: bool) -> list[str]:
        mounted = mount("share" if by_hand else "data", "/d", **of_mount)
        annotations = {SECURE_PV: "data:share"} if by_hand else {}
        subject = an_object(spec=pod(mounted, volumes=[data], **of_pod), annotations=annotations, **of_object)
        objects = [] if of_claim is None else [claim(volumeMode="Block", **of_claim)]
        made = render(subject, *others, *objects, rules=VolumeRules() if by_hand else SECURE)
        return sorted({one.code for one in made.findings} & set(VERDICTS))

    assert judge(by_hand=False) == verdict
    assert judge(by_hand=True) == verdict


def test_by_hand_a_claim_of_two_pods_or_a_raw_device_is_refused_as_well() -> None:
    spec, annotations = pod(mount("share", "/d"), volumes=[DATA]), {SECURE_PV: "data:share"}
    other = an_object("Job", "backup", spec=spec, annotations=annotations)
    made = render(an_object(spec=spec, annotations=annotations), other, claim(volumeMode="Block"), rules=VolumeRules())
    assert sum(one.code == "CC0837" for one in made.findings) == 2

    iscsi = {"name": "data", "iscsi": {"targetPortal": "192.0.2.1", "iqn": "iqn.2026-01.com.example:x", "lun": 0}}
    spec = pod(mount("share", "/d"), volumes=[iscsi])
    assert "CC0837" in codes(render(an_object(spec=spec, annotations=annotations, replicas=2), rules=VolumeRules()))

    raw = container(mount("share", "/d"), volumeDevices=[{"name": "data", "devicePath": "/dev/x"}])
    subject = an_object(spec=pod_spec(containers=[raw], volumes=[DATA]), annotations=annotations)
    made = render(subject, claim(volumeMode="Block"), rules=VolumeRules())
    assert "CC0837" in codes(made)


# --- claims that are no block devices


@pytest.mark.parametrize("mode", [{}, {"volumeMode": "Filesystem"}])
def test_a_secure_pv_claim_that_is_a_file_system_is_an_error_without_any_rule(mode: Json) -> None:
    share = mount("share", "/d", mountPropagation="HostToContainer")
    subject = an_object(spec=pod(share, volumes=[DATA]), annotations={SECURE_PV: "data:share"})
    made = render(subject, claim(**mode), rules=VolumeRules())

    assert "PersistentVolumeClaim data is not of volumeMode Block" in reason(made, "CC0830")
    assert codes(render(subject, claim(volumeMode="Block"), rules=VolumeRules())) == []
    assert codes(render(subject, claim("other"), rules=VolumeRules())) == []
    assert codes(render(subject, claim(namespace="elsewhere"), rules=VolumeRules())) == []


def test_so_is_one_that_a_container_has_as_a_device() -> None:
    devices = [{"name": "data", "devicePath": "/dev/x"}]
    subject = an_object(spec=pod_spec(containers=[container(volumeDevices=devices)], volumes=[DATA]))

    assert said(render(subject, claim(), rules=VolumeRules())) == [("CC0830", "web")]


def test_so_is_one_that_a_stateful_set_takes_for_its_template() -> None:
    share = mount("share", "/d", mountPropagation="HostToContainer")
    subject = an_object(
        "StatefulSet", spec=pod(share, volumes=[]), annotations={SECURE_PV: "data:share"},
        volumeClaimTemplates=[template(volumeMode="Block")],
    )  # fmt: skip

    assert said(render(subject, claim("data-web-0"), rules=VolumeRules())) == [("CC0830", "web")]
    assert codes(render(subject, claim("data-web-x"), rules=VolumeRules())) == []


def test_check_finds_it_in_rendered_output(tmp_path: Path) -> None:
    share = mount("share", "/d", mountPropagation="HostToContainer")
    subject = an_object(spec=pod(share, volumes=[DATA]), annotations={SECURE_PV: "data:share"})
    block = written(tmp_path / "block.yaml", good(coordinator(), subject, claim(volumeMode="Block")))
    files = tmp_path / "files.yaml"
    files.write_text(block.read_text().replace("volumeMode: Block", "volumeMode: Filesystem"))

    assert "CC0830" not in called("check", str(block)).err
    assert "CC0830" in called("check", str(files)).err


# --- imageVolumes


def test_an_uncovered_volume_of_an_image_is_covered() -> None:
    second = container(mount("tmp", "/srv"), name="second")
    spec = pod_spec(containers=[container(mount("tmp", "/data/")), second], volumes=[TMP])
    made = render(an_object(spec=spec), rules=IMAGE, images=DISK_LOCK)

    assert codes(made) == []
    assert mounts(made) == [mount("tmp", "/data/"), mount("web-srv", "/srv")]
    assert mounts(made, at=1) == [mount("tmp", "/srv"), mount("second-data", "/data/")]
    empty: list[Json] = [{"name": name, "emptyDir": {}} for name in ("web-srv", "second-data")]
    assert volumes(made) == [TMP, *empty]
    assert next(one.message for one in made.findings if one.code == "CC0841").startswith(
        "container web gets an empty directory at /srv"
    )


def test_without_the_rule_or_the_lock_no_volume_of_an_image_is_covered() -> None:
    subject = an_object(spec=pod(mount("tmp", "/srv")))

    assert set(codes(render(subject, rules=VolumeRules(), images=DISK_LOCK))) == {"CC0643"}
    assert mounts(render(subject, rules=IMAGE)) == [mount("tmp", "/srv")]


def test_a_volume_in_another_spelling_is_an_error() -> None:
    made = render(an_object(spec=pod(mount("tmp", "/data"))), rules=IMAGE, images=DISK_LOCK)

    assert wording("CC0839", container="web", place="/data/", written="/data") in reason(made, "CC0839")


# --- hostPathCaches


def models(kind: str | None, path: str = "/models") -> Json:
    return {"name": "models", "hostPath": {"path": path, **({"type": kind} if kind is not None else {})}}


@pytest.mark.parametrize("kind", [None, "", "DirectoryOrCreate"])
@pytest.mark.parametrize("path", ["/models", "/models/", "//models"])
def test_a_named_cache_becomes_an_empty_dir(kind: str | None, path: str) -> None:
    made = render(an_object(spec=pod(mount("models", "/m"), volumes=[models(kind, path)])), rules=CACHE)

    assert codes(made) == []
    assert volumes(made) == [{"name": "models", "emptyDir": {}}]


def test_another_path_stays_and_is_refused() -> None:
    other = models(None, "/models/x")
    made = render(an_object(spec=pod(mount("models", "/m"), volumes=[other])), rules=CACHE)

    assert set(codes(made)) == {"CC0807", "CC0840"}


@pytest.mark.parametrize(
    ("volume", "mounted", "why"),
    [
        (models("Directory"), {}, wording("CC0838.type", type="Directory")),
        (models("Socket"), {}, wording("CC0838.type", type="Socket")),
        (models(None), {"readOnly": True}, "every container mounts it readOnly"),
    ],
)
def test_what_is_no_cache_is_an_error_with_the_reason(volume: Json, mounted: Json, why: str) -> None:
    made = render(an_object(spec=pod(mount("models", "/m", **mounted), volumes=[volume])), rules=CACHE)

    assert why in reason(made, "CC0838")


@pytest.mark.parametrize(
    ("path", "system"),
    [
        *((path, True) for path in ("/", "/etc/cni/net.d", "/var/run/docker.sock", "//run/netns/", "/x/../dev/shm")),
        *((path, True) for path in ("/opt/cni/bin", "/var/lib/kubelet/device-plugins", "/proc", "/sys/fs/cgroup")),
        *((path, False) for path in ("/var/lib/models", "/opt/cnidata", "/running", "/home/run", "/var/cache")),
    ],
)
def test_a_directory_of_the_system_is_no_cache(path: str, system: bool) -> None:
    subject = an_object(spec=pod(mount("models", "/m"), volumes=[models(None, path)]))
    made = render(subject, rules=VolumeRules(cache_paths=(path,)))

    assert ("CC0838" in codes(made)) is system


def test_a_cache_that_is_mounted_by_sub_path_is_split_as_well() -> None:
    rules = VolumeRules(split_sub_paths=True, cache_paths=("/models",))
    spec = pod(mount("models", "/a", "a"), mount("models", "/b", "b"), volumes=[models(None)])

    assert mounts(render(an_object(spec=spec), rules=rules)) == [mount("models-a", "/a"), mount("models-b", "/b")]


# --- names that name nothing


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (SECURE, "spec.volumes.securePV.claims[0]: no confidential pod has a claim data"),
        (CACHE, wording("CC0840.path", index="0", place="/models")),
    ],
)
@pytest.mark.parametrize("plain", [True, False])
def test_a_name_that_names_nothing_is_an_error(rules: VolumeRules, why: str, plain: bool) -> None:
    subject = an_object(spec=pod(mount("data", "/d"), mount("models", "/m"), volumes=[DATA, models(None)],
        runtimeClassName=None))  # fmt: skip
    made = render(*([subject] if plain else []), rules=rules)

    assert reason(made, "CC0840") == why


# --- taken back


ALL = VolumeRules("divideSizeLimit", ("data",), True, ("/models",))


def everything() -> tuple[Json, ...]:
    spec = pod_spec(
        initContainers=[container(mount("tmp", "/i", "a"), mount("data", "/d"), name="prep")],
        containers=[
            container(
                mount("tmp", "/a", "a"), mount("data", "/d"), mount("tmp", "/b", "b", readOnly=True),
                mount("models", "/m", "x"), mount("models", "/n", "y"),
            )
        ],
        volumes=[models("DirectoryOrCreate"), *LIMITED, DATA],
    )  # fmt: skip
    return an_object(spec=spec), claim()


def written(path: Path, made: Rendered) -> Path:
    from krm_function.text.writer import dump

    texts = [text if text.startswith("---\n") else f"---\n{text}" for text in made.texts if text is not None]
    path.write_text("".join([*texts, *(f"---\n{dump(one)}" for one in made.added)]))
    return path


def test_a_second_render_changes_nothing() -> None:
    to = config(images=DISK_LOCK, volumes=ALL)
    first = good(coordinator(), *everything(), to=to)

    assert values(again(first, to)) == values(first)


def test_uninject_gives_back_every_byte(tmp_path: Path) -> None:
    from krm_function.text.writer import dump

    to = config(images=DISK_LOCK, volumes=ALL)
    output = written(tmp_path / "out.yaml", good(coordinator(), *everything(), to=to))
    back = called("uninject", str(output)).ok().decode()

    assert back == "".join(f"---\n{dump(one)}" for one in (coordinator(), *everything()))


WRITTEN = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
    spec:
      runtimeClassName: contrast-cc
      initContainers:
        - name: prep
          image: %(web)s
          volumeMounts:
            - name: tmp   # comment
              mountPath: /a
              subPath: app
            - {name: data, mountPath: /d}
            - {name: cache, mountPath: /models, subPath: x/y}
      containers:
        - name: web # comments
          image: %(web)s
          resources: {limits: {cpu: 500m, memory: 200Mi}}
          volumeMounts:
            # first
            - name: tmp
              mountPath: /tmp
              subPath: tmp
            - mountPath: /app
              subPath: app/
              readOnly: true
              name: tmp
            - name: data
              mountPath: /d
            - name: cache
              mountPath: /m
              subPath: z
      volumes:
        - name: tmp
          emptyDir: {}
        - name: data # claim
          persistentVolumeClaim:
            claimName: data
        - name: cache
          hostPath:
            path: /models/
            type: DirectoryOrCreate
"""
WRITTEN_CLAIM = """\
# a claim
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  namespace: shop
spec:
  accessModes: [ReadWriteOnce] # one
  resources: {requests: {storage: 1Gi}}
"""


@pytest.mark.parametrize("rules", [ALL, VolumeRules()])
def test_uninject_gives_back_comments_and_styles(rules: VolumeRules, tmp_path: Path) -> None:
    subject = WRITTEN.replace("%(web)s", WEB)
    if rules == VolumeRules():  # what is left is what renders without rules
        subject = (
            subject.replace(", subPath: x/y", "").replace("subPath", "# subPath").replace("hostPath:", "emptyDir: {}")
        )
        subject = subject.replace("            path: /models/\n            type: DirectoryOrCreate\n", "")
        subject = subject.replace("persistentVolumeClaim:\n            claimName: data", "emptyDir: {}")
    images = DISK_LOCK if rules == ALL else LOCK
    made = run(coordinator(), subject, WRITTEN_CLAIM, to=config(images=images, volumes=rules))
    assert codes(made) == []
    back = called("uninject", str(written(tmp_path / "out.yaml", made))).ok().decode()

    assert back.endswith(f"---\n{subject}---\n{WRITTEN_CLAIM}")


def test_the_choices_are_what_the_rules_do() -> None:
    from krm_function.render.read import read
    from krm_function.render.volume_rules import offer_volume_rules
    from tests.world import stream

    to = config(images=DISK_LOCK)
    resources = read(stream(*everything()), keep_plain=True).resources
    subject = an_object(spec=everything()[0]["spec"]["template"]["spec"])
    workload = named(run(subject, to=to), "web")
    choices = offer_volume_rules(workload, to, resources)

    assert [(one.rule, one.value) for one in choices] == [
        ("hostPathCaches", "/models"),
        ("splitSubPaths", True),
        ("splitSubPaths", "divideSizeLimit"),
        ("securePV", {"claims": ["data"]}),
        *[("imageVolumes", "emptyDir")] * 4,
    ]
    assert choices[2].consequence == (
        "emptyDir tmp becomes 2 emptyDirs, one for each subPath, each with its part of the sizeLimit"
    )
