"""Files of the host at places that decide which program runs: refused, whatever the spelling of the path."""

from typing import Any

import pytest

from krm_function.config.image_lock import ImageFacts
from krm_function.kubernetes.workload import Workload, covers, mount_point, touches
from krm_function.render.pod_checks import PLACES, check_host_mounts, find_guarded_place
from tests.wording import wording
from tests.world import WEB, pod_template, workload

CONFIG_MAP = {"configMap": {"name": "scripts"}}
OF_THE_HOST: dict[str, Any] = {
    "a ConfigMap": CONFIG_MAP,
    "a Secret": {"secret": {"secretName": "scripts"}},
    "a projected volume": {"projected": {"sources": [CONFIG_MAP]}},
    "the downward API": {"downwardAPI": {"items": []}},
    "an ephemeral volume": {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
    "a directory of the node": {"hostPath": {"path": "/srv"}},
    "a claim": {"persistentVolumeClaim": {"claimName": "data"}},
}
OF_THE_VM: dict[str, Any] = {
    "an emptyDir": {"emptyDir": {}},
    "an emptyDir without a source": {},
    "a directory of the guest": {"hostPath": {"path": "/dev/vfio"}},
}
OF_IMAGE = {"Entrypoint": ["web"], "Cmd": ["serve"], "Env": ["PATH=/opt/bin:/usr/bin"], "WorkingDir": "/srv"}
IMAGE = {WEB: ImageFacts("", OF_IMAGE)}


def pod(path: str = "", source: Any = None, **container: Any) -> Workload:
    """A pod with one container, and a volume mounted at `path`."""
    app: dict[str, Any] = {"name": "web", "image": WEB, **container}
    if path:
        app["volumeMounts"] = [{"name": "it", "mountPath": path}]
    volumes = [{"name": "it", **(CONFIG_MAP if source is None else source)}]
    return workload(template=pod_template(containers=[app], volumes=volumes))


def said(subject: Workload, images: Any = IMAGE) -> list[tuple[str, str]]:
    return [(one.code, one.message) for one in check_host_mounts(subject, images)]


def codes(subject: Workload, images: Any = IMAGE) -> list[str]:
    return [code for code, _ in said(subject, images)]


# --- which path a mount covers


@pytest.mark.parametrize(
    ("path", "point"),
    [
        *(("/a", "/a"), ("/a/", "/a"), ("//a", "/a"), ("///a//b", "/a/b"), ("/./a", "/a"), ("/a/.", "/a"), ("a", "/a")),
        *(("./a", "/a"), ("../a", "/a"), ("/..", "/"), ("/../../a", "/a"), ("/x/../a", "/a"), ("/a/b/..", "/a")),
        *(("", "/"), ("/", "/"), ("/a/...", "/a/..."), ("/a b", "/a b"), ("/a/..b", "/a/..b"), ("//x//..//a/", "/a")),
    ],
)
def test_a_mount_covers_the_path_that_is_left(path: str, point: str) -> None:
    assert mount_point(path) == point
    assert mount_point(point) == point


@pytest.mark.parametrize(
    ("mount", "place", "decides"),
    [
        ("/bin/sh", "/bin/sh", True),
        ("/bin", "/bin/sh", True),
        ("/", "/bin/sh", True),
        ("/usr/bin", "/bin/sh", True),  # where /usr is merged
        ("/bin", "/usr/bin/sh", True),
        ("/usr", "/bin/sh", True),
        ("/usr", "/lib64/ld-linux-x86-64.so.2", True),
        ("/bin/sh.d", "/bin/sh", False),
        ("/bi", "/bin/sh", False),
        ("/bin/sh/x", "/bin/sh", False),
        ("/usr/local/bin", "/bin/sh", False),
        ("/usr/local/bin", "/usr/bin/sh", False),
        ("/opt/a[b]", "/opt/a[b]", True),
    ],
)
def test_a_mount_decides_about_what_is_at_its_path_and_below(mount: str, place: str, decides: bool) -> None:
    assert covers(mount, place) == decides


def test_a_tree_is_touched_from_above_and_from_below() -> None:
    assert [touches(path, "/contrast") for path in ("/", "/contrast", "/contrast/a/b", "/contrasts", "/a")] == [
        *(True, True, True, False, False),
    ]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.path)
def test_every_guarded_place_is_guarded_itself_and_from_above(place: Any) -> None:
    path = place.path.replace("*", "3")
    assert find_guarded_place(path) is not None
    assert find_guarded_place(f"//x/..{path}/") is not None
    assert find_guarded_place(path.rpartition("/")[0] or "/") is not None
    assert (find_guarded_place(f"{path}/below") is not None) == (place.extent == "tree")


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/nginx/conf.d", "/etc/nginx/nginx.conf", "/etc/ssl/certs/ca.crt", "/config", "/usr/share/nginx/html"),
        *("/usr/lib/jvm/config", "/usr/local/etc/redis", "/docker-entrypoint-initdb.d", "/root/.ssh", "/srv"),
        *("/var/run/secrets/tokens", "/usr/lib/x86_64-linux-gnu/app", "/etc/profile-of-mine", "/contrast-data"),
    ],
)
def test_where_honest_charts_mount_is_free(path: str) -> None:
    assert find_guarded_place(path) is None
    assert said(pod(path)) == []


# --- whose content


@pytest.mark.parametrize("source", OF_THE_HOST)
def test_what_the_host_writes_must_not_stand_at_a_guarded_place(source: str) -> None:
    for path in ("/etc/ld.so.preload", "/x/../contrast", "/opt/bin"):
        assert codes(pod(path, OF_THE_HOST[source])) == ["CC0820"]


@pytest.mark.parametrize("source", OF_THE_VM)
def test_what_is_made_in_the_vm_may(source: str) -> None:
    assert codes(pod("/etc/profile.d", OF_THE_VM[source])) == []
    assert codes(pod("/opt/bin", OF_THE_VM[source])) == []


@pytest.mark.parametrize(
    ("kind", "medium", "given"),
    [
        ("shared-fs", "", ["CC0820"]),
        ("block-plain", "", ["CC0820"]),
        ("shared-fs", "Memory", []),
        ("block-encrypted", "", []),
    ],
)
def test_an_empty_dir_is_the_hosts_where_the_settings_say_so(kind: str, medium: str, given: list[str]) -> None:
    subject = pod("/opt/bin", {"emptyDir": {"medium": medium}})
    found = check_host_mounts(subject, IMAGE, {"cluster_config": {"emptydir_type": kind}})
    assert [one.code for one in found] == given


def test_a_text_of_a_shell_is_read_once() -> None:
    """Blanks and line ends without end take no time."""
    for text in ("\n" * 200_000, ";" + " " * 200_000, "exec " * 40_000, "a" * 200_000, "then\t" * 40_000 + "/scripts"):
        codes(pod("/scripts", command=["sh", "-c", text]))
    assert codes(pod("/scripts", command=["env"] * 100_000)) == []
    deep = "/a" * 100_000
    assert codes(pod("/scripts", command=[deep], env=[{"name": "PATH", "value": ":".join([deep] * 100)}])) == []


def test_a_claim_template_takes_the_place_of_a_volume() -> None:
    subject = pod("/opt/bin", {"emptyDir": {}})
    of = workload("StatefulSet", subject.object["spec"]["template"])
    of.object["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "it"}}]
    assert codes(of) == ["CC0820"]


@pytest.mark.parametrize(
    "path",
    ["/opt/bin/web", "/etc/ld.so.preload", "/contrast/tls-config/mesh-ca.pem", "contrast/x", "/x/../opt/bin/web"],
)
def test_the_termination_message_is_a_file_of_the_host(path: str) -> None:
    (found,) = check_host_mounts(pod(terminationMessagePath=path), IMAGE)
    assert (found.code, found.path[-1]) == ("CC0820", "terminationMessagePath")


@pytest.mark.parametrize("path", ["/dev/termination-log", "/var/log/app.end", ""])
def test_the_termination_message_may_stand_elsewhere(path: str) -> None:
    assert codes(pod(terminationMessagePath=path)) == []


def test_a_sub_path_does_not_change_where_a_mount_is() -> None:
    subject = pod("/etc/ld.so.preload")
    subject.containers[0]["volumeMounts"][0]["subPath"] = "harmless"
    assert codes(subject) == ["CC0820"]


# --- which program


@pytest.mark.parametrize(
    ("path", "container"),
    [
        ("/opt/bin", {}),  # the image's Entrypoint, in its PATH
        ("/usr/bin/web", {}),
        ("/scripts", {"command": ["/scripts/start.sh"]}),
        ("/scripts/", {"command": ["//scripts/./start.sh", "now"]}),
        ("/srv", {"command": ["./start.sh"]}),  # the image's WorkingDir
        ("/scripts", {"command": ["./start.sh"], "workingDir": "/scripts"}),
        ("/scripts", {"command": ["../scripts/start.sh"], "workingDir": "/work"}),
        ("/scripts", {"command": ["start.sh"], "env": [{"name": "PATH", "value": "/bin:/scripts"}]}),
        ("/scripts", {"command": ["$(P)"], "env": [{"name": "P", "value": "/scripts/start.sh"}]}),
        ("/scripts", {"command": ["/sbin/tini", "-g", "--", "/scripts/start.sh"]}),
        ("/scripts", {"command": ["env", "A=b", "/scripts/start.sh"]}),
        ("/bin/sh", {"command": ["/bin/sh", "-c", "true"]}),
        ("/scripts", {"livenessProbe": {"exec": {"command": ["/scripts/alive"]}}}),
        ("/scripts", {"lifecycle": {"preStop": {"exec": {"command": ["/scripts/stop"]}}}}),
    ],
    ids=str,
)
def test_the_program_must_not_be_the_hosts(path: str, container: Any) -> None:
    assert codes(pod(path, **container)) == ["CC0820"]


@pytest.mark.parametrize(
    "command",
    [
        ["/bin/sh", "/scripts/start.sh"],
        ["sh", "-eu", "/scripts/start.sh", "now"],
        ["python3", "-u", "/scripts/main.py"],
        ["python3.11", "main.py"],
        ["node", "/scripts/index.js"],
        ["env", "-i", "bash", "/scripts/start.sh"],
        ["sh", "-c", "/scripts/start.sh"],
        ["bash", "-ec", "set -x; exec /scripts/start.sh --now"],
        ["sh", "-c", "cd / && . /scripts/lib.sh"],
        ["sh", "-c", "if true; then /scripts/start.sh; fi"],
    ],
    ids=" ".join,
)
def test_a_script_of_the_host_is_a_warning(command: list[str]) -> None:
    assert codes(pod("/scripts", command=command, workingDir="/scripts")) == ["CC0821"]


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", "cat /scripts/start.sh"],
        ["nginx", "-c", "/scripts/nginx.conf"],
        ["python3", "-m", "app"],
        ["python3", "-c", "print()"],
        ["/bin/cp", "/scripts/a", "/b"],
        ["sh", "-c", "cp /scripts/* /data/ && chmod 400 /data/*"],
    ],
    ids=" ".join,
)
def test_a_file_that_a_program_reads_is_no_program(command: list[str]) -> None:
    assert said(pod("/scripts", command=command, workingDir="/work")) == []


def test_without_the_lock_only_the_pod_tells_its_programs() -> None:
    assert codes(pod("/opt/bin"), {}) == []
    assert codes(pod("/scripts", command=["/scripts/start.sh"]), {}) == ["CC0820"]


def test_a_long_variable_is_no_path() -> None:
    env = [{"name": "A", "value": "x" * 5000}, {"name": "B", "value": "$(A)" * 1000}]
    assert codes(pod("/scripts", command=["$(B)"], env=env)) == []


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["$(P)"], "$(P)"),
        (["/bin/sh", "$(P)"], "$(P)"),
        (["/bin/sh", "-c", "exec $(P)"], "of a variable"),
        (["canary.sh"], "canary.sh"),
    ],
    ids=str,
)
def test_a_finding_does_not_tell_the_value_of_a_variable(command: list[str], name: str) -> None:
    env = [{"name": "P", "value": "/scripts/CANARY"}, {"name": "PATH", "value": "/scripts/CANARY:/scripts"}]
    ((_, message),) = said(pod("/scripts", command=command, env=env))
    assert name in message
    assert "CANARY" not in message


def test_a_finding_says_what_and_where_and_no_value() -> None:
    ((_, message),) = said(pod("/scripts", command=["/scripts/start.sh"]))
    problem = wording("CC0820.program", program="/scripts/start.sh")
    assert message == wording("CC0820", container="web", problem=problem, what="volume it")
