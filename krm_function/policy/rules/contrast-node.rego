
# --- A node of Contrast 1.25 -------------------------------------------------------------------------------------------

# The version of the runtime's specification is the node's own.
version_permitted(_) := true

# What containerd writes for the mounts of a container.
propagation_permitted(p) if input.OCI.Linux.RootfsPropagation == root_propagation(mount_options(p))

mount_options(p) := {option | option := p.OCI.Mounts[_].options[_]}

root_propagation(options) := "rshared" if "rshared" in options

root_propagation(options) := "rslave" if {
	"rslave" in options
	not "rshared" in options
}

root_propagation(options) := "" if count(options & {"rshared", "rslave"}) == 0

# The directory of a container is named after it.
bundle_pattern(path) := concat("", ["^", replace(path, "$(bundle-id)", "([0-9a-f]{64})"), "$"])

identified(bundle_id) if {
	bundle_id == input.container_id
	own_id(input.OCI.Annotations["io.kubernetes.cri.container-type"], input.OCI.Annotations["io.kubernetes.cri.sandbox-id"])
}

# The VM takes its own pause image for the container with the sandbox's id, which the state knows.
own_id("sandbox", sandbox_id) if input.container_id == sandbox_id

own_id("container", sandbox_id) if input.container_id != sandbox_id

# --- The life of a container
#
# An id is used once: what the agent mounted for it may still be there, whatever became of the container. A container of
# the policy has one id at a time. A new one takes its place if it was never started: that one is given up, and may only
# be removed. If it was started, its removal has to be asked for first.

sandbox_pinned(id) := pinned("sandbox_id", id)

creation(id, container) := array.concat(given_up, [recorded(id, container, "created")]) if {
	not is_pinned(id)
	count([1 | known := data.pstate[_]; known.container == container; known.phase == "started"]) == 0
	given_up := [recorded(other, container, "given up") |
		known := data.pstate[other]
		known.container == container
		known.phase == "created"
	]
}

default StartContainerRequest := false

StartContainerRequest := {"allowed": true, "ops": [recorded(id, data.pstate[id].container, "started")]} if {
	id := input.container_id
	data.pstate[id].phase == "created"
}

# Where containerd counts the container's resources, in the kubelet's hierarchy: with cgroupfs, and with systemd.
cgroup_permitted(path) if {
	count(path) < 256
	below := `(/[0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)*)*/`
	regex.match(concat("", ["^", below, "kubepods", below, input.container_id, "$"]), path)
}

cgroup_permitted(path) if {
	count(path) < 256
	regex.match(concat("", ["^([0-9A-Za-z_]+-)*kubepods(-[0-9A-Za-z_]+)*[.]slice:cri-containerd:", input.container_id, "$"]), path)
}

# Every storage is one of the policy, images included, and each of the policy is there as often as the policy has it.
storages_permitted(p, bundle_id, sandbox_id) if {
	count(p.storages) == count(input.storages)
	every storage in input.storages {
		storage_permitted(p, storage, bundle_id, sandbox_id)
	}
	every wanted in p.storages {
		storage_there(p, wanted, bundle_id, sandbox_id)
	}
}

# loop: over the request's storages, and the policy's own that are alike
storage_there(p, wanted, bundle_id, sandbox_id) if {
	given := [1 | storage := input.storages[_]; storage_matches(wanted, storage, bundle_id, sandbox_id)]
	alike := [1 | other := p.storages[_]; other == wanted]
	count(given) == count(alike)
}

# A block device is a volume of which the policy says no more than that.
plugged_permitted(wanted) if wanted.driver == ""

# The image that the VM pulls for the container.
storage_matches(wanted, storage, bundle_id, _) if {
	wanted.driver == "image_guest_pull"
	storage.driver == "image_guest_pull"
	wanted.driver_options == storage.driver_options
	wanted.fs_group == storage.fs_group
	wanted.fstype == storage.fstype
	wanted.options == storage.options
	wanted.shared == storage.shared
	image_permitted(wanted.source, storage.source)
	place := replace(wanted.mount_point, "$(root_path)", policy_data.common.root_path)
	point := replace(place, "$(bundle-id)", bundle_id)
	regex.match(concat("", ["^(?:", point, ")$"]), storage.mount_point)
}

# The sandbox has the image inside the VM.
image_permitted(wanted, given) if {
	input.OCI.Annotations["io.kubernetes.cri.container-type"] == "sandbox"
	wanted == "pause"
	given == "pause"
}

# Every other container has the image with this digest, from wherever the node has it.
image_permitted(wanted, given) if {
	input.OCI.Annotations["io.kubernetes.cri.container-type"] == "container"
	reference_permitted(given)
	image_digest(wanted) == image_digest(given)
}

# From the first @ to the end. Undefined where nothing stands before it, or it is not there.
image_digest(reference) := digest if {
	at := indexof(reference, "@")
	at > 0
	digest := substring(reference, at, -1)
}

# A container is told of the GPUs that it asks for; with this variable, of all GPUs of the pod, which the sandbox has.
gpus_announced_to(p, own) := own if not shares_gpus(p)

gpus_announced_to(p, _) := total if {
	shares_gpus(p)
	total := gpus_of(policy_data.containers[0])
	total > 0
}

shares_gpus(p) if {
	some pattern, _ in p.runtime_anno_patterns
	regex.match(pattern, "cdi.k8s.io/vfio0")
	visible := {variable | variable := p.OCI.Process.Env[_]; startswith(variable, "NVIDIA_VISIBLE_DEVICES=")}
	visible == {"NVIDIA_VISIBLE_DEVICES=all"}
}
