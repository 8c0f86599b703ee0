"""What the author of a pod may try with paths and with annotations of the runtime: refused, at its place."""

from typing import Any

import pytest

from tests.world import an_object, codes, coordinator, good, pod_spec, run, said

KATA = "io.katacontainers.config."
CONFIG_MAP = {"name": "it", "configMap": {"name": "it"}}
EMPTY_DIR = {"name": "it", "emptyDir": {}}


def mounted(path: str, volume: Any = CONFIG_MAP, **container: Any) -> dict[str, Any]:
    """A pod spec that mounts a volume."""
    spec = pod_spec(volumes=[volume])
    spec["containers"][0] |= {"volumeMounts": [{"name": "it", "mountPath": path}], **container}
    return spec


def ended(path: str) -> dict[str, Any]:
    """A pod spec with another file for its termination message."""
    spec = pod_spec()
    spec["containers"][0]["terminationMessagePath"] = path
    return spec


# why somebody would write it -> pod spec, code
PATHS: dict[str, tuple[dict[str, Any], str]] = {
    "a message that is the program": (ended("/entry"), "CC0820"),
    "a message that the loader reads": (ended("/etc/ld.so.preload"), "CC0820"),
    "a message that is a certificate": (ended("/contrast/tls-config/mesh-ca.pem"), "CC0820"),
    "the same by a detour": (ended("/x/../contrast//tls-config/./mesh-ca.pem"), "CC0820"),
    "secrets of one's own": (mounted("/contrast", EMPTY_DIR), "CC0812"),
    "the same with two slashes": (mounted("//contrast", EMPTY_DIR), "CC0812"),
    "the same by a detour up": (mounted("/x/../contrast", EMPTY_DIR), "CC0812"),
    "one certificate": (mounted("/contrast/tls-config/mesh-ca.pem", EMPTY_DIR), "CC0812"),
    "one certificate of the host": (mounted("/contrast/tls-config/mesh-ca.pem"), "CC0812"),
    "a program of the host": (mounted("/entry"), "CC0820"),
    "a directory of programs": (mounted("/bin", command=["sh"]), "CC0820"),
    "the merged directory": (mounted("/usr/bin", command=["/bin/sh"]), "CC0820"),
    "a script": (mounted("/scripts", command=["/scripts/start.sh"]), "CC0820"),
    "a library before all others": (mounted("/etc/ld.so.preload"), "CC0820"),
    "directories of libraries": (mounted("/etc/ld.so.conf.d"), "CC0820"),
    "the loader": (mounted("/usr/lib64/ld-linux-x86-64.so.2"), "CC0820"),
    "what a shell runs first": (mounted("/etc/profile.d"), "CC0820"),
    "what Python runs first": (mounted("/usr/lib/python3.12/sitecustomize.py"), "CC0820"),
    "all of /etc": (mounted("/etc"), "CC0820"),
}
ANNOTATIONS = {
    "a console on the kernel's command line": f"{KATA}hypervisor.kernel_params",
    "another kernel": f"{KATA}hypervisor.kernel",
    "another image of the guest": f"{KATA}hypervisor.image",
    "another initrd": f"{KATA}hypervisor.initrd",
    "another firmware": f"{KATA}hypervisor.firmware",
    "another size": f"{KATA}hypervisor.default_vcpus",
    "a policy of before": f"{KATA}agent.policy",
    "another program for the VM": f"{KATA}hypervisor.path",
    "options of the agent": f"{KATA}agent.kernel_modules",
    "options of the runtime": f"{KATA}runtime.disable_guest_seccomp",
    "another handler": "io.containerd.cri.runtime-handler",
    "a key that looks like an ID block": f"{KATA}hypervisor.snp_id_blockade",
    "capitals": f"{KATA}hypervisor.Kernel_Params".replace("io.k", "IO.k"),
    "a container for the sandbox": "io.katacontainers.pkg.oci.container_type",
}
KINDS = ("Pod", "Deployment", "CronJob")


@pytest.mark.parametrize("name", PATHS)
def test_a_path_that_decides_too_much_is_refused(name: str) -> None:
    spec, code = PATHS[name]
    made = run(coordinator(), an_object(spec=spec))
    assert codes(made) == [code]
    assert next(one.path[-1] for one in made.findings if one.code == code) in {"mountPath", "terminationMessagePath"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ANNOTATIONS)
def test_an_annotation_of_the_runtime_is_refused(name: str, kind: str) -> None:
    made = run(coordinator(), an_object(kind, annotations={ANNOTATIONS[name]: "1"}))
    assert codes(made) == ["CC0230"]
    assert ANNOTATIONS[name] in next(one.path for one in made.findings if one.severity == "error")


@pytest.mark.parametrize("key", [f"{KATA}hypervisor.default_memory", "cdi.k8s.io/gpu", "example.com/x"])
def test_what_contrast_documents_may_stay(key: str) -> None:
    assert codes(good(coordinator(), an_object(annotations={key: "512"}))) == []


@pytest.mark.parametrize("path", ["/config", "/etc/web", "/entry.d", "/usr/share/web"])
def test_ordinary_mounts_are_sealed_without_a_word(path: str) -> None:
    assert [one for one in said(good(coordinator(), an_object(spec=mounted(path)))) if "CC08" in one[0]] == []
