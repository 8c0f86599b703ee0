"""A correct host and the guest's agent: requests derived from a policy, and the verdicts of the rules on them.

What a policy does not say, the node does (node.py): a policy for plain Kata meets such a node, all others Contrast's.
"""

import base64
import copy
import json
import re
from typing import Any

from krm_function.policy.expansion import PATTERNS
from krm_function.policy.image_storage import DRIVER, SANDBOX
from krm_function.policy.initdata import read_policy_data
from tests.policy import node
from tests.policy.engines import agreed
from tests.policy.node import Node

Json = dict[str, Any]

ENTRY_POINTS_ALLOWED = [
    "DestroySandboxRequest",
    "GetOOMEventRequest",
    "GuestDetailsRequest",
    "OnlineCPUMemRequest",
    "RemoveStaleVirtiofsShareMountsRequest",
    "SignalProcessRequest",
    "StatsContainerRequest",
    "TtyWinResizeRequest",
    "WaitProcessRequest",
]
ENTRY_POINTS_DENIED = [
    "AddSwapPathRequest",
    "AddSwapRequest",
    "GetIPTablesRequest",
    "GetMetricsRequest",
    "ListInterfacesRequest",
    "ListRoutesRequest",
    "MemAgentCompactConfig",
    "MemAgentMemcgConfig",
    "MemHotplugByProbeRequest",
    "PauseContainerRequest",
    "ReseedRandomDevRequest",
    "ResizeVolumeRequest",
    "ResumeContainerRequest",
    "SetGuestDateTimeRequest",
    "SetIPTablesRequest",
    "SetPolicyRequest",
    "StartTracingRequest",
    "StopTracingRequest",
    "UpdateContainerRequest",
    "VolumeStatsRequest",
    "AllowRequestsFailingPolicy",
]

# every field of a request, as far as the rules look at it: docs/facts/kata-rules.md#requests
PROCESS: Json = {
    "Terminal": False,
    "ConsoleSize": None,
    "User": None,
    "Args": [],
    "Env": [],
    "Cwd": "",
    "Capabilities": None,
    "Rlimits": [],
    "NoNewPrivileges": False,
    "ApparmorProfile": "",
    "OOMScoreAdj": 0,
    "SelinuxLabel": "",
}
RESOURCES: Json = {
    "Devices": [],
    "Memory": None,
    "CPU": None,
    "Pids": None,
    "BlockIO": None,
    "HugepageLimits": [],
    "Network": None,
}
LINUX: Json = {
    "UIDMappings": [],
    "GIDMappings": [],
    "Sysctl": {},
    "Resources": RESOURCES,
    "CgroupsPath": "",
    "Namespaces": [],
    "Devices": [],
    "Seccomp": None,
    "RootfsPropagation": "",
    "MaskedPaths": [],
    "ReadonlyPaths": [],
    "MountLabel": "",
    "IntelRdt": None,
}
SPEC: Json = {
    "Version": "",
    "Process": None,
    "Root": None,
    "Hostname": "",
    "Mounts": [],
    "Hooks": None,
    "Annotations": {},
    "Linux": None,
    "Solaris": None,
    "Windows": None,
}
CREATE: Json = {
    "container_id": "",
    "exec_id": "",
    "string_user": None,
    "devices": [],
    "storages": [],
    "OCI": None,
    "sandbox_pidns": False,
    "shared_mounts": [],
    "stdin_port": 0,
    "stdout_port": 0,
    "stderr_port": 0,
}

SANDBOX_ID = "5" * 64
NETNS = "/var/run/netns/cni-01234567-89ab-cdef-0123-456789abcdef"
UID = "01234567-89ab-cdef-0123-456789abcdef"
TOKENS = {
    "sandbox-name": "web-7c5ddbdf54-x2v9k",
    "sandbox-namespace": "shop",
    "pod-uid": UID,
    "pod-ip": "10.1.2.3",
    "host-ip": "192.168.0.10",
    "node-name": "node-1",
    "host-name": "web-7c5ddbdf54-x2v9k",
    "resource-field": "2",
    "todo-annotation": "x",
    "external-source": "hunter2",
}


PATTERN = "$(text-pattern)"
# for each token that a pattern may be made of, what the running pod has there; name and namespace as in TOKENS
SAMPLES = {
    "host-ip": TOKENS["host-ip"],
    "host-ips": f"{TOKENS['host-ip']},fd00::1",
    "pod-ip": TOKENS["host-ip"],
    "pod-ips": f"{TOKENS['host-ip']},fd00::1",
    "pod-uid": UID,
    "node-name": "node-1",
    "resource-field": "2",
    "pod-index": "2",
    "template-hash": "7c5ddbdf54",
}


class Agent:
    """The agent of one VM: evaluates requests and keeps the state.

    Sources: docs/facts/kata-rules.md#state, docs/facts/kata-rules.md#verdicts.

    quick: leave out rego-cpp, the slowest of the engines that must agree. older: ask the older regorus as well.
    kept: its questions are some that are asked again of changed rules.
    """

    def __init__(self, rego: str, *, quick: bool = False, older: bool = True, kept: bool = True) -> None:
        self._rego = rego
        self._quick, self._older, self._kept = quick, older, kept
        self.state: Json = {}

    def verdict(self, entry_point: str, request: Any) -> Any:
        """What the rules say: a boolean or {allowed, ops}, the same in all engines. Nothing is applied."""
        answer = agreed.ask(
            self._rego, entry_point, self.state, request, quick=self._quick, older=self._older, kept=self._kept
        )
        if answer.kind != "value":
            raise RuntimeError(f"{entry_point}: {answer.kind}: {answer.text}")
        return answer.value

    def allows(self, entry_point: str, request: Any) -> bool:
        """Whether the agent obeys; its state then changes as the rules say."""
        result = self.verdict(entry_point, request)
        if isinstance(result, bool):
            return result
        assert result["allowed"] is True
        for op in result["ops"]:
            _, root, key = op["path"].split("/")
            assert root == "pstate"
            if op["op"] == "add":
                self.state[key] = op["value"]
            elif key not in self.state:
                return False  # a patch that cannot be applied is an error, and an error is a denial
            else:
                del self.state[key]
        return True


class Host:
    """A correct host: what containerd and the kata shim would ask for, container by container.

    name and namespace are those of the running pod. on: the node, None for the one that the policy is for.
    """

    def __init__(
        self, rego: str, name: str = TOKENS["sandbox-name"], namespace: str = "shop", on: Node | None = None
    ) -> None:
        self.data = read_policy_data(rego)
        self.node = on or (node.CONTRAST if "profile" in self.data else node.KATA)
        self.tokens = {**TOKENS, "sandbox-name": name, "sandbox-namespace": namespace, "host-name": name}

    def index(self, container: str) -> int:
        """Where the container of that name is in the policy; pause is 0."""
        names = [
            c["OCI"]["Annotations"].get("io.kubernetes.cri.container-name", "pause") for c in self.data["containers"]
        ]
        return names.index(container)

    def id_of(self, index: int) -> str:
        """The id of the container with this index."""
        return SANDBOX_ID if index == 0 and self.node.sandbox_id else f"{index:064x}"

    def create(self, container: str, container_id: str = "") -> Json:
        """CreateContainerRequest of a container."""
        index = self.index(container)
        policy = self.data["containers"][index]
        bundle = container_id or self.id_of(index)
        oci = policy["OCI"]
        kind = oci["Annotations"]["io.kubernetes.cri.container-type"]
        annotations = self._annotations(policy, bundle)
        pulled = [one["source"] for one in policy["storages"] if one["driver"] == DRIVER]
        image = pulled[0] if pulled else annotations.get("io.kubernetes.cri.image-name", SANDBOX)
        storages = self._storages([one for one in policy["storages"] if one["driver"] != DRIVER], bundle)
        block = [s["mount_point"] for s in storages if s["driver"] == "blk"]
        made = [
            self._mount(mount, bundle, block)
            for mount in oci["Mounts"]
            if mount["destination"] not in self.node.left_out
        ]
        mounts = list({mount["destination"]: mount for mount in made}.values())  # a pod's take the place of others
        return {
            **copy.deepcopy(CREATE),
            "container_id": bundle,
            "exec_id": bundle,
            "devices": self._devices(policy["devices"]),
            "storages": [self._pull(image, annotations, bundle), *storages],
            "sandbox_pidns": policy["sandbox_pidns"],
            "OCI": {
                **copy.deepcopy(SPEC),
                "Version": self.node.oci_version or oci["Version"],
                "Process": self._process(oci, kind),
                "Root": {"Path": f"/run/kata-containers/{bundle}/rootfs", "Readonly": oci["Root"]["Readonly"]},
                "Mounts": mounts,
                "Annotations": annotations,
                "Linux": self._linux(oci, kind, bundle),
            },
        }

    def _process(self, oci: Json, kind: str) -> Json:
        process = {**copy.deepcopy(PROCESS), **copy.deepcopy(oci["Process"])}
        process["Args"] = [self._argument(arg) for arg in process.get("Args", [])]
        process["Env"] = [self._variable(entry) for entry in process.get("Env", [])]
        if kind == "container":
            own = {entry.partition("=")[0] for entry in process["Env"]}
            process["Env"] += [f"{key}={value}" for key, value in self.node.variables.items() if key not in own]
            process["ApparmorProfile"] = self.node.apparmor
        process["Capabilities"] = {key: self._capabilities(names) for key, names in process["Capabilities"].items()}
        return process

    def _linux(self, oci: Json, kind: str, bundle: str) -> Json:
        linux = {**copy.deepcopy(LINUX), **copy.deepcopy(oci["Linux"])}
        linux["CgroupsPath"] = self.node.cgroup(UID, bundle)
        linux["Namespaces"] += [{"Type": name, "Path": NETNS * path} for name, path in self.node.namespaces]
        linux["MaskedPaths"] += self.node.masked[kind] if linux["MaskedPaths"] else ()
        if kind == "container" and not self.node.container_sysctls:
            linux["Sysctl"] = {}
        linux["Devices"] = [
            {**device, "Major": 0, "Minor": 0, "FileMode": 0, "UID": 0, "GID": 0} for device in linux["Devices"]
        ]
        if self.node.root_propagation:
            options = {option for mount in oci["Mounts"] for option in mount["options"]}
            linux["RootfsPropagation"] = next((one for one in ("rshared", "rslave") if one in options), "")
        return linux

    def _pull(self, image: str, annotations: Json, bundle: str) -> Json:
        told = json.dumps({"metadata": annotations})
        return {
            "driver": DRIVER,
            "driver_options": [f"{DRIVER}={told}"] if self.node.pull_options else [],
            "source": image,
            "fstype": "overlay",
            "options": [],
            "mount_point": f"/run/kata-containers/{bundle}/rootfs",
            "fs_group": None,
            "shared": False,
        }

    def execute(self, container: str, args: list[str]) -> Json:
        """ExecProcessRequest of a command in a container that was created."""
        created = self.create(container)
        process = {**created["OCI"]["Process"], "Args": args, "Capabilities": None, "ApparmorProfile": ""}
        return {"container_id": created["container_id"], "exec_id": "e", "string_user": None, "process": process}

    def _argument(self, wanted: str) -> str:
        head, _, pattern = wanted.partition(PATTERN)
        return self._sample(pattern) if pattern and not head else self._filled(wanted.replace("$$", "$"))

    def _variable(self, wanted: str) -> str:
        head, _, pattern = wanted.partition(f"={PATTERN}")
        return f"{head}={self._sample(pattern)}" if pattern else self._filled(wanted)

    def _sample(self, pattern: str) -> str:
        """A text that a pattern of the generator matches."""
        text = pattern.removeprefix("^").removesuffix("$")
        for token in sorted(SAMPLES, key=lambda token: -len(PATTERNS[token])):
            text = text.replace(PATTERNS[token], SAMPLES[token])
        # a Service that is there, with one of its variables
        text = re.sub(r"\(\?:([^|()]*)\|\\\$[^)]*\)\)", lambda found: found[1], text)
        text = re.sub(r"\\(.)", r"\1", text.replace("[0-9]{1,5}", "5432"))
        return self._filled(text)

    def _filled(self, text: str) -> str:
        return re.sub(r"\$\(([a-z-]+)\)", lambda found: self.tokens.get(found[1], found[0]), text)

    def _capabilities(self, names: list[str]) -> list[str]:
        common = self.data["common"]
        lists = {"$(default_caps)": common["default_caps"], "$(privileged_caps)": common["privileged_caps"]}
        return list(lists.get(names[0], names)) if names else []

    def _path(self, pattern: str, bundle: str) -> str:
        """A path that matches a pattern of the generator."""
        common = self.data["common"]
        text = pattern.replace("$(sfprefix)", common["sfprefix"]).replace("$(cpath)", common["cpath"])
        text = text.replace("$(bundle-id)", bundle).replace("$(sandbox-id)", SANDBOX_ID)
        text = text.replace("(?:/passthrough)?", self.node.shared).replace("(watchable/)?", "")
        text = text.replace("[a-z0-9]{16}", "0123456789abcdef").replace("[0-9a-f]{16}", "0123456789abcdef")
        return re.sub(r"\\(.)", r"\1", text).removeprefix("^").removesuffix("$")

    def _storages(self, wanted: list[Json], bundle: str) -> list[Json]:
        out = []
        for number, storage in enumerate(wanted):
            made = copy.deepcopy(storage)
            if "$(spath)" in storage["mount_point"]:
                source = f"{number:02x}/01"
                made.update(driver="blk", source=source)
                device = base64.urlsafe_b64encode(source.encode()).decode()
                made["mount_point"] = f"{self.data['common']['spath']}/{device}"
            else:
                made["mount_point"] = self._path(storage["mount_point"], bundle)
                made["source"] = self._path(storage["source"], bundle)
            out.append(made)
        return out

    def _mount(self, wanted: Json, bundle: str, block: list[str]) -> Json:
        source = block.pop(0) if not wanted["source"] else self._path(wanted["source"], bundle)
        return {**copy.deepcopy(wanted), "source": source}

    def _devices(self, wanted: list[Json]) -> list[Json]:
        prefix = self.data["devices"]["vfio"]["device_path"]
        out = []
        for number, device in enumerate(wanted):
            if device["container_path"] == prefix:
                values = {
                    "id": f"vfio{number}",
                    "container_path": f"{prefix}{number}",
                    "options": [f"0000:0{number}:00.0=01/0{number}"],
                }
                out.append({**device, **values})
            else:
                out.append({**device, "id": "drive0", "type_": "blk", "vm_path": "01/02"})
        return out

    def _visible(self, policy: Json) -> list[str]:
        """The variable that the runtime looks at: of two in a policy the later one, which is the pod's."""
        env = [self._variable(entry) for entry in policy["OCI"]["Process"].get("Env", ())]
        return [entry for entry in env if entry.startswith("NVIDIA_VISIBLE_DEVICES=")][-1:]

    def _annotations(self, policy: Json, bundle: str) -> Json:
        name, namespace = self.tokens["sandbox-name"], self.tokens["sandbox-namespace"]
        out = {key: value for key, value in policy["OCI"]["Annotations"].items() if key.startswith("io.kata")}
        out["io.katacontainers.pkg.oci.bundle_path"] = f"{self.node.bundles}/{bundle}"
        wanted = policy["OCI"]["Annotations"]
        out |= {
            "io.kubernetes.cri.container-type": wanted["io.kubernetes.cri.container-type"],
            "io.kubernetes.cri.sandbox-id": SANDBOX_ID,
            "io.kubernetes.cri.sandbox-name": name,
            "io.kubernetes.cri.sandbox-namespace": namespace,
            "io.kubernetes.cri.sandbox-uid": UID,
        }
        out |= self.node.notes[wanted["io.kubernetes.cri.container-type"]]
        prefix = self.data["devices"]["vfio"]["device_path"]
        gpus = [n for n, device in enumerate(policy["devices"]) if device["container_path"] == prefix]
        if self.node.shares_gpus and "NVIDIA_VISIBLE_DEVICES=all" in self._visible(policy):
            pod = self.data["containers"][0]["devices"]
            gpus = [n for n, device in enumerate(pod) if device["container_path"] == prefix]
        out |= {f"cdi.k8s.io/vfio{number}": f"nvidia.com/gpu={number}" for number in gpus}
        if "io.kubernetes.cri.container-name" in wanted:
            out["io.kubernetes.cri.container-name"] = wanted["io.kubernetes.cri.container-name"]
            out["io.kubernetes.cri.image-name"] = wanted["io.kubernetes.cri.image-name"]
        else:
            host_network = "cnitest" in wanted["nerdctl/network-namespace"]
            out["nerdctl/network-namespace"] = NETNS.replace("/cni-", "/cnitest-") if host_network else NETNS
            out["io.kubernetes.cri.sandbox-log-directory"] = f"/var/log/pods/{namespace}_{name}_{UID}"
        return out
