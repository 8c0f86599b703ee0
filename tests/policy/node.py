"""The nodes of the tests: what their runtime and shim put into a request that a policy does not say.

Two kinds: one with plain Kata 4.1, and one of Contrast 1.25 on K3s, whose values were recorded on a real one
(docs/facts/contrast-node.md#requests).
"""

from typing import NamedTuple

SERVICE = {
    "KUBERNETES_PORT": "tcp://10.43.0.1:443",
    "KUBERNETES_PORT_443_TCP": "tcp://10.43.0.1:443",
    "KUBERNETES_PORT_443_TCP_ADDR": "10.43.0.1",
    "KUBERNETES_PORT_443_TCP_PORT": "443",
    "KUBERNETES_PORT_443_TCP_PROTO": "tcp",
    "KUBERNETES_SERVICE_HOST": "10.43.0.1",
    "KUBERNETES_SERVICE_PORT": "443",
    "KUBERNETES_SERVICE_PORT_HTTPS": "443",
}
TERMINATION = {
    "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
    "io.kubernetes.container.terminationMessagePolicy": "File",
}
SANDBOX = {
    "io.kubernetes.cri.podsandbox.image-name": "rancher/mirrored-pause:3.6",
    "io.kubernetes.cri.sandbox-cpu-period": "100000",
    "io.kubernetes.cri.sandbox-cpu-quota": "0",
    "io.kubernetes.cri.sandbox-cpu-shares": "2",
    "io.kubernetes.cri.sandbox-memory": "0",
}


class Node(NamedTuple):
    """oci_version: "" for the one of the settings. namespaces: further ones in the list, with their paths."""

    oci_version: str
    bundles: str
    shared: str  # stands for the optional part of the shared directory
    namespaces: tuple[tuple[str, bool], ...]  # type, whether it has a path
    masked: dict[str, tuple[str, ...]]  # container type -> paths beside those of the policy
    container_sysctls: bool
    left_out: frozenset[str]  # destinations of mounts that this node does not make
    variables: dict[str, str]
    notes: dict[str, dict[str, str]]  # container type -> annotations
    pull_options: bool  # whether a pull comes with one option that repeats the annotations
    root_propagation: bool  # whether containerd's RootfsPropagation comes through
    sandbox_id: bool  # whether the sandbox's container has the id of the sandbox
    apparmor: str
    shares_gpus: bool  # whether a process with NVIDIA_VISIBLE_DEVICES=all is told of all GPUs of its pod
    systemd: bool  # the kubelet's cgroup driver: systemd or cgroupfs

    def cgroup(self, uid: str, container_id: str) -> str:
        """What containerd writes into CgroupsPath (docs/facts/contrast-node.md#requests), of a besteffort pod."""
        if self.systemd:
            return f"kubepods-besteffort-pod{uid.replace('-', '_')}.slice:cri-containerd:{container_id}"
        return f"/kubepods/besteffort/pod{uid}/{container_id}"


KATA = Node(
    oci_version="",
    bundles="/run/containerd/io.containerd.runtime.v2.task/k8s.io",
    shared="/passthrough",
    namespaces=(("network", True), ("cgroup", False)),
    masked={"sandbox": (), "container": ()},
    container_sysctls=True,
    left_out=frozenset(),
    variables={},
    notes={"sandbox": {}, "container": TERMINATION},
    pull_options=True,
    root_propagation=False,
    sandbox_id=False,
    apparmor="",
    shares_gpus=False,
    systemd=False,
)
CONTRAST = Node(
    oci_version="1.3.0",
    bundles="/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io",
    shared="",
    namespaces=(),
    masked={
        "sandbox": ("/sys/devices/virtual/powercap",),
        "container": ("/sys/devices/virtual/powercap", "/proc/interrupts"),
    },
    container_sysctls=False,
    left_out=frozenset({"/var/run/secrets/azure/tokens"}),
    variables=SERVICE,
    notes={"sandbox": SANDBOX, "container": {}},
    pull_options=False,
    root_propagation=True,
    sandbox_id=True,
    apparmor="cri-containerd.apparmor.d",
    shares_gpus=True,
    systemd=True,
)
