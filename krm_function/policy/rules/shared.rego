# Which requests of the host the agent may obey. By contrast-krm, krm_function/policy/rules, where the comments are.
#
# Execution policy of a confidential pod: the host is untrusted, the agent is inside of the VM.
#
# For Kata agents of release 4.1. Everything that is not permitted is denied. What differs from node to node and how
# closely texts are looked at is said at the end, what a pod may run in policy_data. The state of the VM, data.pstate, is
# kept by the agent: it applies the patches ("ops") of every request that is allowed, whether or not it can then do what
# was asked.
#
# Only what regorus (v0 with future keywords, and v1), OPA and rego-cpp agree on is used: no negation and no loop inside
# an `every` body, no builtin the agent is built without. Helpers that are loops in disguise say so.

package agent_policy

import future.keywords.every
import future.keywords.if
import future.keywords.in

# --- Requests that need no condition -------------------------------------------------------------------------------

default DestroySandboxRequest := true

default GetOOMEventRequest := true

default GuestDetailsRequest := true

default OnlineCPUMemRequest := true

default RemoveStaleVirtiofsShareMountsRequest := true

default SignalProcessRequest := true

default StatsContainerRequest := true

default TtyWinResizeRequest := true

default WaitProcessRequest := true

# --- Requests that are never permitted ------------------------------------------------------------------------------

default AddSwapPathRequest := false

default AddSwapRequest := false

default AllowRequestsFailingPolicy := false

default GetIPTablesRequest := false

default GetMetricsRequest := false

default ListInterfacesRequest := false

default ListRoutesRequest := false

default MemAgentCompactConfig := false

default MemAgentMemcgConfig := false

default MemHotplugByProbeRequest := false

default PauseContainerRequest := false

default ReseedRandomDevRequest := false

default ResizeVolumeRequest := false

default ResumeContainerRequest := false

default SetGuestDateTimeRequest := false

default SetIPTablesRequest := false

default SetPolicyRequest := false

default StartTracingRequest := false

default StopTracingRequest := false

default UpdateContainerRequest := false

default VolumeStatsRequest := false

# --- Requests that the settings switch ------------------------------------------------------------------------------

default CloseStdinRequest := false

CloseStdinRequest if policy_data.request_defaults.CloseStdinRequest == true

default GetDiagnosticDataRequest := false

GetDiagnosticDataRequest if policy_data.request_defaults.GetDiagnosticDataRequest == true

default ReadStreamRequest := false

ReadStreamRequest if policy_data.request_defaults.ReadStreamRequest == true

default UpdateEphemeralMountsRequest := false

UpdateEphemeralMountsRequest if policy_data.request_defaults.UpdateEphemeralMountsRequest == true

default WriteStreamRequest := false

WriteStreamRequest if policy_data.request_defaults.WriteStreamRequest == true

# --- State ----------------------------------------------------------------------------------------------------------
#
# sandbox_name, namespace, network_namespace, sandbox_id: of the pod, as the first request said them. And by its id each
# container that was ever created: {"container": index in policy_data.containers, "phase": created | given up | started |
# removed}.

# The patches that make the state say key = value. Undefined if it says something else already.
pinned(key, value) := [] if data.pstate[key] == value

pinned(key, value) := [{"op": "add", "path": state_path(key), "value": value}] if not is_pinned(key)

is_pinned(key) if count([1 | data.pstate[k]; k == key]) > 0

state_path(key) := concat("/", ["", "pstate", key])

recorded(id, container, phase) := {"op": "add", "path": state_path(id), "value": {"container": container, "phase": phase}}

# The container of the policy in which a command may run, by its id.
container_of(id) := data.pstate[id].container if data.pstate[id].phase in {"created", "started"}

# --- CreateContainerRequest -----------------------------------------------------------------------------------------

default CreateContainerRequest := false

CreateContainerRequest := {"allowed": true, "ops": ops} if {
	ordinary_container
	name := input.OCI.Annotations["io.kubernetes.cri.sandbox-name"]
	namespace := input.OCI.Annotations["io.kubernetes.cri.sandbox-namespace"]

	# exactly one: with two the state would not know which one runs
	candidates := [index | policy_data.containers[index]; container_permitted(policy_data.containers[index], name, namespace)]
	count(candidates) == 1

	name_ops := pinned("sandbox_name", name)
	namespace_ops := pinned("namespace", namespace)
	network_ops := pinned("network_namespace", network_namespace)
	sandbox_ops := sandbox_pinned(input.OCI.Annotations["io.kubernetes.cri.sandbox-id"])
	pod_ops := array.concat(array.concat(name_ops, namespace_ops), array.concat(network_ops, sandbox_ops))
	ops := array.concat(pod_ops, creation(input.container_id, candidates[0]))
}

# Nothing that no pod of ours ever needs.
ordinary_container if {
	count(input.shared_mounts) == 0
	is_null(input.string_user)
	is_null(input.OCI.Hooks)
	is_null(input.OCI.Solaris)
	is_null(input.OCI.Windows)
	count(input.OCI.Linux.GIDMappings) == 0
	count(input.OCI.Linux.UIDMappings) == 0
	input.OCI.Linux.MountLabel == ""
	is_null(input.OCI.Linux.IntelRdt)
	is_null(input.OCI.Linux.Seccomp)
	count(input.OCI.Linux.Resources.Devices) == 0
	is_null(input.OCI.Linux.Resources.BlockIO)
	is_null(input.OCI.Linux.Resources.Network)
	is_null(input.OCI.Linux.Resources.Pids)
	input.OCI.Process.SelinuxLabel == ""
	input.OCI.Process.User.Username == ""
	cgroup_permitted(input.OCI.Linux.CgroupsPath)
}

container_permitted(p, name, namespace) if {
	p.sandbox_pidns == input.sandbox_pidns
	version_permitted(p)
	propagation_permitted(p)
	p.OCI.Root.Readonly == input.OCI.Root.Readonly
	p.OCI.Process.Terminal == input.OCI.Process.Terminal
	role_permitted(p, name, namespace)
	namespace_permitted(p.OCI.Annotations["io.kubernetes.cri.sandbox-namespace"], namespace)
	name_permitted(p, name)
	annotations_permitted(p)
	process_permitted(p.OCI.Process, input.OCI.Process, name, namespace)
	arguments_permitted(p.OCI.Process.Args, input.OCI.Process.Args, name, namespace)
	capabilities_permitted(p.OCI.Process.Capabilities, input.OCI.Process.Capabilities)
	linux_permitted(p)
	devices_permitted(p)

	sandbox_id := input.OCI.Annotations["io.kubernetes.cri.sandbox-id"]
	matches(p.OCI.Annotations["io.kubernetes.cri.sandbox-id"], sandbox_id)
	bundle_id := bundle(p)
	identified(bundle_id)
	mounts_permitted(p, bundle_id, sandbox_id)
	storages_permitted(p, bundle_id, sandbox_id)
	complete(p, name, namespace, bundle_id)
}

# The empty namespace of a policy is any namespace; the state keeps all containers in the same one.
namespace_permitted(wanted, given) if wanted == given

namespace_permitted(wanted, _) if wanted == ""

name_permitted(p, name) if matches(p.OCI.Annotations["io.kubernetes.cri.sandbox-name"], name)

name_permitted(p, _) if not has_key(p.OCI.Annotations, "io.kubernetes.cri.sandbox-name")

has_key(map, key) if count([1 | map[k]; k == key]) > 0

# The sandbox's own container, and the containers of the pod, are told apart by what the runtime says of them.
role_permitted(p, name, namespace) if {
	p.OCI.Annotations["io.kubernetes.cri.container-type"] == "sandbox"
	input.OCI.Annotations["io.kubernetes.cri.container-type"] == "sandbox"
	input.OCI.Annotations["io.katacontainers.pkg.oci.container_type"] == "pod_sandbox"
	not has_key(p.OCI.Annotations, "io.kubernetes.cri.container-name")
	not has_key(input.OCI.Annotations, "io.kubernetes.cri.container-name")
	matches(p.OCI.Annotations["nerdctl/network-namespace"], input.OCI.Annotations["nerdctl/network-namespace"])
	named := replace(p.OCI.Annotations["io.kubernetes.cri.sandbox-log-directory"], "$(sandbox-name)", in_pattern(name))
	directory := replace(named, "$(sandbox-namespace)", namespace)
	matches(directory, input.OCI.Annotations["io.kubernetes.cri.sandbox-log-directory"])
}

role_permitted(p, _, _) if {
	p.OCI.Annotations["io.kubernetes.cri.container-type"] == "container"
	input.OCI.Annotations["io.kubernetes.cri.container-type"] == "container"
	input.OCI.Annotations["io.katacontainers.pkg.oci.container_type"] == "pod_container"
	p.OCI.Annotations["io.kubernetes.cri.container-name"] == input.OCI.Annotations["io.kubernetes.cri.container-name"]
	not has_key(p.OCI.Annotations, "nerdctl/network-namespace")
	not has_key(input.OCI.Annotations, "nerdctl/network-namespace")
	not has_key(p.OCI.Annotations, "io.kubernetes.cri.sandbox-log-directory")
	not has_key(input.OCI.Annotations, "io.kubernetes.cri.sandbox-log-directory")
}

annotations_permitted(p) if {
	every key, value in input.OCI.Annotations {
		annotation_permitted(p, key, value)
	}
}

annotation_permitted(p, key, value) if {
	some key_pattern, value_pattern in p.runtime_anno_patterns
	matches(key_pattern, key)
	matches(value_pattern, value)
}

# The container's own directory in the VM, read from the path of its root file system.
bundle(p) := id if {
	path := replace(p.OCI.Root.Path, "$(root_path)", policy_data.common.root_path)
	found := regex.find_all_string_submatch_n(bundle_pattern(path), input.OCI.Root.Path, 1)
	id := found[0][1]
}

# --- Patterns of paths ----------------------------------------------------------------------------------------------

expanded(text) := replace(replace(text, "$(sfprefix)", policy_data.common.sfprefix), "$(cpath)", policy_data.common.cpath)

path_matches(pattern, path, bundle_id, _) if matches(replace(expanded(pattern), "$(bundle-id)", bundle_id), path)

path_matches(pattern, path, _, sandbox_id) if {
	contains(pattern, "$(sandbox-id)")
	matches(replace(expanded(pattern), "$(sandbox-id)", sandbox_id), path)
}

# --- Mounts ---------------------------------------------------------------------------------------------------------

# Every mount is one of the policy, and no two are the same one.
mounts_permitted(p, bundle_id, sandbox_id) if {
	every mount in input.OCI.Mounts {
		count(mount_choices(p, mount, bundle_id, sandbox_id)) == 1
	}
	used := {choices[0] | mount := input.OCI.Mounts[_]; choices := mount_choices(p, mount, bundle_id, sandbox_id)}
	count(used) == count(input.OCI.Mounts)
}

# loop: over the mounts of the policy
mount_choices(p, mount, bundle_id, sandbox_id) := [index |
	p.OCI.Mounts[index]
	mount_matches(p.OCI.Mounts[index], mount, bundle_id, sandbox_id)
]

mount_matches(p, mount, _, _) if {
	p.source != ""
	same_place(p, mount)
	p.source == mount.source
	p.options == mount.options
}

mount_matches(p, mount, bundle_id, sandbox_id) if {
	p.source != ""
	same_place(p, mount)
	p.options == mount.options
	path_matches(p.source, mount.source, bundle_id, sandbox_id)
}

# sysfs of a privileged container may be read-only all the same
mount_matches(p, mount, _, _) if {
	p.type_ == "sysfs"
	same_place(p, mount)
	p.source == mount.source
	given := {option | option := mount.options[_]} | {"rw"}
	wanted := {option | option := p.options[_]} | {"ro"}
	given == wanted
}

# a host's cgroup mount may have options that depend on its kernel
mount_matches(p, mount, _, _) if {
	p.type_ == "cgroup"
	same_place(p, mount)
	p.source == mount.source
	wanted := {option | option := p.options[_]}
	given := {option | option := mount.options[_]}
	count(wanted - given) == 0
	extras := {option | option := policy_data.cluster_config.cgroup_mount_extras_allowed[_]}
	count((given - wanted) - extras) == 0
}

# an emptyDir on a block device: mounted from where one of the request's own block storages is
mount_matches(p, mount, _, _) if {
	p.source == ""
	same_place(p, mount)
	p.options == mount.options
	some storage in input.storages
	storage.driver in {"blk", "scsi"}
	storage.mount_point == mount.source
}

same_place(p, mount) if {
	p.destination == mount.destination
	p.type_ == mount.type_
}

# --- Storages -------------------------------------------------------------------------------------------------------

storage_permitted(p, storage, bundle_id, sandbox_id) if {
	some wanted in p.storages
	storage_matches(wanted, storage, bundle_id, sandbox_id)
}

storage_matches(wanted, storage, bundle_id, sandbox_id) if {
	wanted.driver == storage.driver
	storage_source_permitted(wanted, storage, bundle_id)
	same_storage(wanted, storage, bundle_id, sandbox_id)
}

storage_matches(wanted, storage, bundle_id, sandbox_id) if {
	storage.driver == "scsi"
	plugged_permitted(wanted)
	regex.match("^[0-9]+:[0-9]+$", storage.source)
	same_storage(wanted, storage, bundle_id, sandbox_id)
}

storage_matches(wanted, storage, bundle_id, sandbox_id) if {
	storage.driver == "blk"
	plugged_permitted(wanted)
	regex.match("^[0-9a-f]{2}(/[0-9a-f]{2})?$", storage.source)
	same_storage(wanted, storage, bundle_id, sandbox_id)
}

storage_source_permitted(wanted, storage, _) if wanted.source == storage.source

storage_source_permitted(wanted, storage, bundle_id) if {
	matches(replace(expanded(wanted.source), "$(bundle-id)", bundle_id), storage.source)
}

same_storage(wanted, storage, bundle_id, sandbox_id) if {
	not wanted.driver in {"blk", "image_guest_pull", "overlayfs"}
	wanted.driver_options == storage.driver_options
	wanted.fs_group == storage.fs_group
	wanted.fstype == storage.fstype
	wanted.options == storage.options
	wanted.shared == storage.shared
	mount_point_permitted(wanted, storage, bundle_id, sandbox_id)
}

mount_point_permitted(wanted, storage, _, sandbox_id) if {
	wanted.fstype == "local"
	point := replace(wanted.mount_point, "$(cpath)", policy_data.common.cpath)
	matches(replace(point, "$(sandbox-id)", sandbox_id), storage.mount_point)
}

mount_point_permitted(wanted, storage, bundle_id, _) if {
	wanted.fstype == "bind"
	point := replace(wanted.mount_point, "$(cpath)", policy_data.common.cpath)
	matches(replace(point, "$(bundle-id)", bundle_id), storage.mount_point)
}

mount_point_permitted(wanted, storage, _, _) if {
	wanted.fstype == "tmpfs"
	matches(wanted.mount_point, storage.mount_point)
}

mount_point_permitted(wanted, storage, _, _) if {
	storage.driver in {"blk", "scsi"}
	place := replace(wanted.mount_point, "$(spath)", policy_data.common.spath)
	storage.mount_point == replace(place, "$(b64_device_id)", base64url.encode(storage.source))
}

# --- Devices --------------------------------------------------------------------------------------------------------

gpu_prefix := policy_data.devices.vfio.device_path

devices_permitted(p) if {
	every device in input.devices {
		device_permitted(p, device)
	}
	own := gpus_of(p)
	gpus_permitted(own, gpus_announced_to(p, own))
}

gpus_of(p) := count([1 | path := p.devices[_].container_path; path == gpu_prefix])

device_permitted(p, device) if {
	not startswith(device.container_path, gpu_prefix)
	some wanted in p.devices
	wanted.container_path != gpu_prefix
	wanted.container_path == device.container_path
}

device_permitted(p, device) if {
	startswith(device.container_path, gpu_prefix)
	suffix := trim_prefix(device.container_path, gpu_prefix)
	regex.match("^[0-9]+$", suffix)
	device.id == concat("", ["vfio", suffix])
	some wanted in p.devices
	wanted.container_path == gpu_prefix
	wanted.type_ == device.type_
	wanted.vm_path == device.vm_path
	count(device.options) > 0
	every option in device.options {
		pci_address(option)
	}
}

pci_address(option) if {
	regex.match(`^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[01][0-9a-fA-F]\.[0-7]=[0-9a-fA-F]{2}/[0-9a-fA-F]{2}$`, option)
}

gpu_numbers := [trim_prefix(path, gpu_prefix) |
	path := input.devices[_].container_path
	startswith(path, gpu_prefix)
]

announced_gpus := {trim_prefix(key, "cdi.k8s.io/vfio") |
	input.OCI.Annotations[key]
	regex.match(`^cdi\.k8s\.io/vfio[0-9]+$`, key)
}

# none at all; plugged in with the container, each of them announced; or there from the start and announced
gpus_permitted(_, announced) if {
	announced == 0
	count(gpu_numbers) == 0
}

gpus_permitted(own, announced) if {
	own > 0
	count(gpu_numbers) == own
	numbers := {number | number := gpu_numbers[_]}
	count(numbers) == own
	count(numbers - announced_gpus) == 0
	count(announced_gpus) == announced
}

gpus_permitted(_, announced) if {
	announced > 0
	count(gpu_numbers) == 0
	count(announced_gpus) == announced
}

# --- Linux ----------------------------------------------------------------------------------------------------------

linux_permitted(p) if {
	given := [namespace_entry(entry) | entry := input.OCI.Linux.Namespaces[_]; own_namespace(entry.Type)]
	wanted := [namespace_entry(entry) | entry := p.OCI.Linux.Namespaces[_]]
	given == wanted

	masked := {path | path := input.OCI.Linux.MaskedPaths[_]}
	readonly := {path | path := input.OCI.Linux.ReadonlyPaths[_]}
	count({path | path := p.OCI.Linux.MaskedPaths[_]} - masked) == 0
	count({path | path := p.OCI.Linux.ReadonlyPaths[_]} - (readonly | masked)) == 0

	count({path | path := input.OCI.Linux.Devices[_].Path} - {path | path := p.OCI.Linux.Devices[_].Path}) == 0

	wanted_sysctl := p.OCI.Linux.Sysctl
	every key, value in input.OCI.Linux.Sysctl {
		wanted_sysctl[key] == value
	}
}

own_namespace(kind) if not kind in {"network", "cgroup"}

# two runtimes spell the mount namespace in two ways
namespace_entry(entry) := {"Path": entry.Path, "Type": "mnt"} if lower(entry.Type) == "mount"

namespace_entry(entry) := {"Path": entry.Path, "Type": entry.Type} if lower(entry.Type) != "mount"

network_paths := [entry.Path | entry := input.OCI.Linux.Namespaces[_]; entry.Type == "network"]

network_namespace := "" if count(network_paths) == 0

network_namespace := network_paths[0] if count(network_paths) == 1

# --- Processes ------------------------------------------------------------------------------------------------------

process_permitted(p, process, name, namespace) if {
	p.Cwd == process.Cwd
	p.NoNewPrivileges == process.NoNewPrivileges
	p.User.UID == process.User.UID
	p.User.GID == process.User.GID
	{gid | gid := p.User.AdditionalGids[_]} == {gid | gid := process.User.AdditionalGids[_]}
	every variable in process.Env {
		variable_permitted(p, variable, name, namespace)
	}
}

arguments_permitted(wanted, given, name, namespace) if {
	count(wanted) == count(given)
	every index, argument in given {
		argument_permitted(wanted[index], argument, name, namespace)
	}
}

argument_permitted(wanted, given, _, _) if {
	not startswith(wanted, "$(text-pattern)")
	replace(wanted, "$$", "$") == given
	literal(given)
}

argument_permitted(wanted, given, name, _) if {
	not startswith(wanted, "$(text-pattern)")
	replace(replace(wanted, "$$", "$"), "$(sandbox-name)", name) == given
	literal(given)
}

argument_permitted(wanted, given, name, namespace) if {
	startswith(wanted, "$(text-pattern)")
	text_matches(trim_prefix(wanted, "$(text-pattern)"), given, name, namespace)
}

# Text around a value that is known when the pod runs. Name and namespace are the host's words: no regex may be in them.
text_matches(pattern, text, name, namespace) if {
	regex.match("^[a-z0-9-]*$", namespace)
	named := replace(pattern, "$(sandbox-name)", replace(plain_name(name), ".", "[.]"))
	regex.match(concat("", ["^(?:", replace(named, "$(sandbox-namespace)", namespace), ")$"]), text)
}

plain_name(name) := name if regex.match("^[a-z0-9.-]+$", name)

# a pattern in place of a name, as in an exec: the name is the one the first container came with
plain_name(pattern) := name if {
	not regex.match("^[a-z0-9.-]+$", pattern)
	name := data.pstate.sandbox_name
	regex.match("^[a-z0-9.-]+$", name)
}

variable_permitted(p, variable, _, _) if {
	not contains(variable, "=$(text-pattern)")
	variable in p.Env
	literal(variable)
}

variable_permitted(p, variable, _, namespace) if {
	not contains(variable, "=$(text-pattern)")
	some wanted in p.Env
	replace(wanted, "$(sandbox-namespace)", namespace) == variable
	literal(variable)
}

variable_permitted(p, variable, name, namespace) if {
	some wanted in p.Env
	parts := split(wanted, "=$(text-pattern)")
	count(parts) == 2
	key := concat("", [parts[0], "="])
	startswith(variable, key)
	text_matches(parts[1], trim_prefix(variable, key), name, namespace)
}

variable_permitted(p, variable, _, _) if {
	foreign(p, variable)
	some pattern in policy_data.request_defaults.CreateContainerRequest.allow_env_regex
	matches(variable_pattern(pattern), variable)
}

# a variable of which the policy knows the name and the kind of value only
variable_permitted(p, variable, name, _) if {
	given := split(variable, "=")
	count(given) == 2
	some wanted in p.Env
	parts := split(wanted, "=")
	count(parts) == 2
	parts[0] == given[0]
	value_permitted(parts[1], given[1], name)
}

value_permitted(wanted, given, _) if {
	wanted in {"$(pod-ip)", "$(host-ip)"}
	ipv4(given)
}

ipv4(text) if {
	regex.match(`^([1-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])(\.([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])){3}$`, text)
}

variable_pattern(pattern) := d if {
	common := policy_data.common
	a := replace(pattern, "$(ipv4_a)", common.ipv4_a)
	b := replace(a, "$(ip_p)", common.ip_p)
	c := replace(b, "$(svc_name_downward_env)", common.svc_name_downward_env)
	d := replace(c, "$(dns_label)", common.dns_label)
}

capabilities_permitted(wanted, given) if {
	capability_set_permitted(wanted.Ambient, given.Ambient)
	capability_set_permitted(wanted.Bounding, given.Bounding)
	capability_set_permitted(wanted.Effective, given.Effective)
	capability_set_permitted(wanted.Inheritable, given.Inheritable)
	capability_set_permitted(wanted.Permitted, given.Permitted)
}

capability_set_permitted(wanted, given) if capability_names(wanted) == capability_names(given)

capability_set_permitted(wanted, given) if {
	wanted == ["$(default_caps)"]
	capability_names(policy_data.common.default_caps) == capability_names(given)
}

capability_set_permitted(wanted, given) if {
	wanted == ["$(privileged_caps)"]
	capability_names(policy_data.common.privileged_caps) == capability_names(given)
}

capability_names(list) := {trim_prefix(name, "CAP_") | name := list[_]}

# --- RemoveContainerRequest, ExecProcessRequest ----------------------------------------------------------------------

default RemoveContainerRequest := false

# The id stays in the state, so that it is never a new container's.
RemoveContainerRequest := {"allowed": true, "ops": [recorded(id, known.container, "removed")]} if {
	id := input.container_id
	known := data.pstate[id]
	known.phase != "removed"
}

default ExecProcessRequest := false

ExecProcessRequest if {
	is_null(input.string_user)
	input.process.SelinuxLabel == ""
	input.process.ApparmorProfile == ""
	is_null(input.process.Capabilities)
	p := policy_data.containers[container_of(input.container_id)]
	some key, pattern in p.OCI.Annotations
	key == "io.kubernetes.cri.sandbox-name"
	process_permitted(p.OCI.Process, input.process, exec_name(pattern), data.pstate.namespace)
	command_permitted(p)
}

command_permitted(_) if input.process.Args in policy_data.request_defaults.ExecProcessRequest.allowed_commands

command_permitted(p) if {
	input.process.Args in p.exec_commands
	input.process.Terminal == p.OCI.Process.Terminal
}

command_permitted(_) if {
	some pattern in policy_data.request_defaults.ExecProcessRequest.regex
	matches(pattern, concat(" ", input.process.Args))
}

# --- CopyFileRequest ------------------------------------------------------------------------------------------------

default CopyFileRequest := false

CopyFileRequest if {
	input.file_type in {"Regular", "Directory"}
	not climbs(input.path)
	some pattern in policy_data.request_defaults.CopyFileRequest
	begins(shared_path(pattern), input.path)
}

# a link may stand below a directory of the shared ones only, and point to nothing above itself
CopyFileRequest if {
	input.file_type == "Symlink"
	not climbs(input.path)
	some pattern in policy_data.request_defaults.CopyFileRequest
	below(shared_path(pattern), input.path)
	is_string(input.symlink_target)
	not climbs(input.symlink_target)
	not startswith(input.symlink_target, "/")
}

shared_path(pattern) := replace(expanded(pattern), "$(bundle-id)", "[a-z0-9]{64}")

climbs(path) if regex.match(`(^|/)\.\.($|/)`, path)

# --- CreateSandboxRequest and the network ----------------------------------------------------------------------------

default CreateSandboxRequest := false

CreateSandboxRequest := {"allowed": true, "ops": ops} if {
	input.guest_hook_path == ""
	count(input.kernel_modules) == 0
	input.sandbox_pidns == false
	distinct(input.storages)
	every storage in input.storages {
		storage in policy_data.sandbox.storages
	}
	ops := sandbox_pinned(input.sandbox_id)
}

default UpdateInterfaceRequest := false

UpdateInterfaceRequest if {
	limits := policy_data.request_defaults.UpdateInterfaceRequest
	bits.and(input.interface.raw_flags, bits.negate(limits.allow_raw_flags)) == 0
	name := input.interface.name
	not name in limits.forbidden_names
	address := input.interface.hwAddr
	not address in limits.forbidden_hw_addrs
}

default UpdateRoutesRequest := false

UpdateRoutesRequest if {
	every route in input.routes.Routes {
		route_permitted(route)
	}
}

route_permitted(route) if {
	limits := policy_data.request_defaults.UpdateRoutesRequest
	source := route.source
	device := route.device
	not device in limits.forbidden_device_names
	not address_forbidden(limits.forbidden_source_regex, source)
}

default AddARPNeighborsRequest := false

AddARPNeighborsRequest if {
	every neighbor in input.neighbors.ARPNeighbors {
		neighbor_permitted(neighbor)
	}
}

neighbor_permitted(neighbor) if {
	limits := policy_data.request_defaults.AddARPNeighborsRequest
	device := neighbor.device
	address := neighbor.toIPAddress.address
	not device in limits.forbidden_device_names
	neighbor.toIPAddress.mask == ""
	not address_forbidden(limits.forbidden_cidrs_regex, address)
	neighbor.state in limits.allowed_states

	# no flag but these two bits
	bits.or(neighbor.flags, 136) == 136
}

# loop: over the patterns
matches_any(patterns, text) if {
	some pattern in patterns
	regex.match(pattern, text)
}
