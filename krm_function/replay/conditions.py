"""The table of conditions: which field of a request one is about, what it compares, and which field of the pod decides.

Rule of this file: a row is found by the function of the rules and the beginning of its condition, as the sealed policy
has it; the table explains conditions and never judges by them. A condition without a row is told by its own text. New
rules need a row here, and tests/replay/test_conditions.py names those that have none.

Source of the conditions: docs/facts/kata-rules.md#create-container, docs/facts/contrast-node.md#rules.
"""

from typing import Literal

from krm_function.record import NamedTuple

# how a difference is told: differences.py
Says = Literal[
    "arguments", "capabilities", "devices", "elements", "mounts", "none", "paths", "plain", "required",
    "role", "state", "storages", "used", "value", "values",
]  # fmt: skip

NODE = "the node sends this, not the pod: the policy is for another runtime, release or profile than the node has"
AGAIN = "render again with what the cluster really runs"
WEBHOOK = "if an admission webhook or a controller adds it, put it into the input and render again"
STARTED = "the state of the VM: an earlier request has set it; nothing in the pod decides it"


class Condition(NamedTuple):
    """One row. field, policy: dotted, of the request and of its container in policy_data. pod: below the pod template.

    In `pod`, {container} is the container of the request, as `spec.containers[name=app]`. follows: it is not told where
    an earlier condition of the same function does not hold either, which says the same more closely.
    """

    function: str
    statement: str
    field: str
    policy: str
    pod: str
    says: Says
    remedy: str = AGAIN
    follows: bool = False


_MATCH = "container_permitted"
_RUN = "process_permitted"
_SET = "capabilities_permitted"
_CREATE = "CreateContainerRequest"
_CAPABLE = "{container}.securityContext.capabilities"

CONDITIONS = (
    Condition("ordinary_container", "cgroup_permitted", "OCI.Linux.CgroupsPath", "", "", "plain", NODE),
    Condition("ordinary_container", "", "", "", "", "none", NODE),
    Condition(_MATCH, "p.sandbox_pidns", "sandbox_pidns", "sandbox_pidns", "spec.shareProcessNamespace", "value"),
    Condition(_MATCH, "version_permitted", "OCI.Version", "OCI.Version", "", "value", NODE),
    Condition(
        _MATCH, "propagation_permitted", "OCI.Linux.RootfsPropagation", "",
        "{container}.volumeMounts[].mountPropagation", "value",
    ),
    Condition(
        _MATCH, "p.OCI.Root.Readonly", "OCI.Root.Readonly", "OCI.Root.Readonly",
        "{container}.securityContext.readOnlyRootFilesystem", "value",
    ),
    Condition(
        _MATCH, "p.OCI.Process.Terminal", "OCI.Process.Terminal", "OCI.Process.Terminal", "{container}.tty", "value"
    ),
    Condition(_MATCH, "role_permitted", "OCI.Annotations", "OCI.Annotations", "", "role", NODE),
    Condition(
        _MATCH, "namespace_permitted", 'OCI.Annotations["io.kubernetes.cri.sandbox-namespace"]',
        'OCI.Annotations["io.kubernetes.cri.sandbox-namespace"]', "metadata.namespace", "value",
        "a policy is for one namespace: render for the one the pod runs in",
    ),
    Condition(
        _MATCH, "name_permitted", 'OCI.Annotations["io.kubernetes.cri.sandbox-name"]',
        'OCI.Annotations["io.kubernetes.cri.sandbox-name"]', "metadata.name", "value",
        "a policy is for the pods of one workload: replay the log with the workload this pod is of",
    ),
    Condition(
        _MATCH, "matches(p.OCI.Annotations", 'OCI.Annotations["io.kubernetes.cri.sandbox-id"]', "", "", "plain", NODE
    ),
    Condition(_MATCH, "bundle_id", "OCI.Root.Path", "", "", "plain", NODE),
    Condition(_MATCH, "identified", "container_id", "", "", "plain", NODE),
    Condition("identified", "", "container_id", "", "", "plain", NODE),
    Condition(
        "annotations_permitted", "every", "OCI.Annotations", "OCI.Annotations", "metadata.annotations", "elements",
        WEBHOOK,
    ),
    Condition(_RUN, "p.Cwd", "OCI.Process.Cwd", "OCI.Process.Cwd", "{container}.workingDir", "value"),
    Condition(
        _RUN, "p.NoNewPrivileges", "OCI.Process.NoNewPrivileges", "OCI.Process.NoNewPrivileges",
        "{container}.securityContext.allowPrivilegeEscalation", "value", WEBHOOK,
    ),
    Condition(
        _RUN, "p.User.UID", "OCI.Process.User.UID", "OCI.Process.User.UID",
        "{container}.securityContext.runAsUser", "value", WEBHOOK,
    ),
    Condition(
        _RUN, "p.User.GID", "OCI.Process.User.GID", "OCI.Process.User.GID",
        "{container}.securityContext.runAsGroup", "value", WEBHOOK,
    ),
    Condition(
        _RUN, "{gid", "OCI.Process.User.AdditionalGids", "OCI.Process.User.AdditionalGids",
        "spec.securityContext.supplementalGroups", "values", WEBHOOK,
    ),
    Condition(_RUN, "every variable", "OCI.Process.Env", "OCI.Process.Env", "{container}.env", "elements", WEBHOOK),
    Condition(
        "arguments_permitted", "count", "OCI.Process.Args", "OCI.Process.Args", "{container}.command, args", "arguments"
    ),
    Condition(
        "arguments_permitted", "every", "OCI.Process.Args", "OCI.Process.Args", "{container}.command, args",
        "arguments", AGAIN, True,
    ),
    *(
        Condition(
            _SET, f"capability_set_permitted(wanted.{name}", f"OCI.Process.Capabilities.{name}",
            f"OCI.Process.Capabilities.{name}", _CAPABLE, "capabilities", WEBHOOK,
        )
        for name in ("Ambient", "Bounding", "Effective", "Inheritable", "Permitted")
    ),
    Condition(
        "linux_permitted", "given == wanted", "OCI.Linux.Namespaces", "OCI.Linux.Namespaces",
        "spec.hostNetwork, hostPID, hostIPC, shareProcessNamespace", "plain",
    ),
    Condition(
        "linux_permitted", "count({path | path := p.OCI.Linux.MaskedPaths", "OCI.Linux.MaskedPaths",
        "OCI.Linux.MaskedPaths", "{container}.securityContext.privileged, procMount", "required",
    ),
    Condition(
        "linux_permitted", "count({path | path := p.OCI.Linux.ReadonlyPaths", "OCI.Linux.ReadonlyPaths",
        "OCI.Linux.ReadonlyPaths", "{container}.securityContext.privileged, procMount", "required",
    ),
    Condition(
        "linux_permitted", "count({path | path := input.OCI.Linux.Devices", "OCI.Linux.Devices", "OCI.Linux.Devices",
        "{container}.volumeDevices", "paths",
    ),
    Condition(
        "linux_permitted", "", "OCI.Linux.Sysctl", "OCI.Linux.Sysctl", "spec.securityContext.sysctls", "elements"
    ),
    Condition("devices_permitted", "every", "devices", "devices", "{container}.volumeDevices", "devices"),
    Condition(
        "devices_permitted", "gpus_permitted", "devices", "devices", "{container}.resources.limits", "devices",
        "GPUs of the request and of the pod differ in number, or are not announced in annotations cdi.k8s.io/vfio…",
    ),
    Condition("mounts_permitted", "every", "OCI.Mounts", "OCI.Mounts", "{container}.volumeMounts", "mounts", WEBHOOK),
    Condition("mounts_permitted", "", "OCI.Mounts", "OCI.Mounts", "{container}.volumeMounts", "used", WEBHOOK, True),
    Condition("storages_permitted", "count", "storages", "storages", "spec.volumes", "storages"),
    Condition("storages_permitted", "every storage", "storages", "storages", "{container}.image", "storages"),
    Condition("storages_permitted", "every wanted", "storages", "storages", "spec.volumes", "storages", AGAIN, True),
    Condition(_MATCH, "complete", "", "", "", "required", WEBHOOK),
    Condition("complete", "regex", 'OCI.Annotations["io.kubernetes.cri.sandbox-name"]', "", "", "plain", NODE),
    Condition("complete", "own_cgroup", "OCI.Linux.CgroupsPath", "", "", "plain", NODE),
    Condition("complete", "not is_pinned", "container_id", "", "", "state", STARTED),
    Condition(
        "variables_complete", "count(given)", "OCI.Process.Env", "", "{container}.env", "plain",
        "a variable is there twice, or one has no name",
    ),
    Condition("variables_complete", "", "OCI.Process.Env", "", "{container}.env", "required", WEBHOOK),
    Condition("mounts_complete", "count(given)", "OCI.Mounts", "", "{container}.volumeMounts", "plain", NODE),
    Condition("mounts_complete", "", "OCI.Mounts", "", "{container}.volumeMounts", "required", WEBHOOK),
    Condition("volumes_apart", "", "OCI.Mounts", "", "spec.volumes", "plain", NODE),
    Condition("devices_complete", "", "devices", "devices", "{container}.volumeDevices", "devices"),
    Condition(_CREATE, "count(candidates)", "", "", "", "plain", "two containers of the policy fit this request"),
    Condition(
        _CREATE, "name_ops", 'OCI.Annotations["io.kubernetes.cri.sandbox-name"]', "sandbox_name", "", "state", STARTED
    ),
    Condition(
        _CREATE, "namespace_ops", 'OCI.Annotations["io.kubernetes.cri.sandbox-namespace"]', "namespace", "", "state",
        STARTED,
    ),
    Condition(_CREATE, "network_ops", "OCI.Linux.Namespaces", "network_namespace", "", "state", STARTED),
    Condition(
        _CREATE, "id_ops", "container_id", "container_id", "", "state",
        STARTED,
    ),
    Condition(
        _CREATE, "sandbox_ops", 'OCI.Annotations["io.kubernetes.cri.sandbox-id"]', "sandbox_id", "", "state", STARTED
    ),
    Condition(_CREATE, "ops", "container_id", "container_id", "", "state", STARTED),
    Condition("StartContainerRequest", "", "container_id", "container_id", "", "state", STARTED),
    Condition("CreateSandboxRequest", "ops", "sandbox_id", "sandbox_id", "", "state", STARTED),
    Condition(
        "ExecProcessRequest", "is_null(input.process.Capabilities)", "process.Capabilities", "", "", "plain", NODE
    ),
    Condition("ExecProcessRequest", "p :=", "container_id", "", "", "state", STARTED),
    Condition(
        "ExecProcessRequest", "command_permitted", "process.Args", "", "{container}.livenessProbe, readinessProbe, "
        "startupProbe, lifecycle", "arguments",
        "a command in a running container is allowed if a probe or hook of the pod has it; `kubectl exec` is not",
    ),
    Condition("ExecProcessRequest", "is_null", "string_user", "", "", "plain", NODE),
    Condition("ExecProcessRequest", "input.process", "process", "", "", "plain", NODE),
    Condition("RemoveContainerRequest", "", "container_id", "", "", "state", STARTED),
    Condition(
        "CreateSandboxRequest", "input.sandbox_pidns", "sandbox_pidns", "", "spec.shareProcessNamespace", "plain"
    ),
    Condition("CreateSandboxRequest", "every storage", "storages", "", "", "elements", NODE),
    Condition("CreateSandboxRequest", "", "", "", "", "none", NODE),
)  # fmt: skip

SETTINGS = "the settings of the policy decide it: spec.policy.settings, request_defaults.{kind}"

# requests of which more is known than their conditions say: field, remedy
KINDS = {
    "CopyFileRequest": ("path", "a file that the host puts into the VM: " + NODE),
    "UpdateInterfaceRequest": ("interface", "a network interface: " + NODE),
    "UpdateRoutesRequest": ("routes", "a route: " + NODE),
    "AddARPNeighborsRequest": ("neighbors", "a neighbour of the network: " + NODE),
    "ReadStreamRequest": ("", "`kubectl logs` needs it; " + SETTINGS),
    "WriteStreamRequest": ("", "`kubectl attach -i` and `exec -i` need it; " + SETTINGS),
    "CloseStdinRequest": ("", "`kubectl attach -i` and `exec -i` need it; " + SETTINGS),
    "GetDiagnosticDataRequest": ("", SETTINGS),
    "UpdateEphemeralMountsRequest": ("", SETTINGS),
    "UpdateContainerRequest": ("", "no policy of these rules allows it: resources of a running pod cannot change"),
    "PauseContainerRequest": ("", "no policy of these rules allows it: a confidential pod cannot be paused"),
    "SetPolicyRequest": ("", "no policy of these rules allows it: a policy cannot be replaced in a running VM"),
}


def condition_of(function: str, statement: str) -> Condition | None:
    """Return the row of a condition, None if the table has no such row."""
    return next((row for row in CONDITIONS if row.function == function and statement.startswith(row.statement)), None)
