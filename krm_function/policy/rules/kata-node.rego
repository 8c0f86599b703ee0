
# --- A node with plain Kata 4.1 ----------------------------------------------------------------------------------------

version_permitted(p) if p.OCI.Version == input.OCI.Version

propagation_permitted(_) if input.OCI.Linux.RootfsPropagation == ""

bundle_pattern(path) := replace(path, "$(bundle-id)", "([0-9a-f]{64}|[a-z0-9][a-z0-9.-]*)")

# The directory of a container need not be named after it.
identified(_) := true

# --- The life of a container
#
# An id may be created again as the same container. One that was removed is used no more.

sandbox_pinned(_) := []

creation(id, container) := [recorded(id, container, "created")] if not is_pinned(id)

creation(id, container) := [] if data.pstate[id] == {"container": container, "phase": "created"}

default StartContainerRequest := true

# As Kata: the patch removes a key of the state, or fails.
RemoveContainerRequest := {"allowed": true, "ops": [{"op": "remove", "path": state_path(id)}]} if {
	id := input.container_id
	not is_container(id)
}

is_container(id) if data.pstate[id].phase

cgroup_permitted(_) := true

# The image that the VM pulls itself is the one storage a policy does not list.
pulled_images := [storage | storage := input.storages[_]; storage.driver == "image_guest_pull"]

storages_permitted(p, bundle_id, sandbox_id) if {
	count(p.storages) == count(input.storages) - count(pulled_images)
	every storage in input.storages {
		storage_permitted(p, storage, bundle_id, sandbox_id)
	}
}

storage_permitted(_, storage, bundle_id, _) if {
	storage.driver == "image_guest_pull"
	storage.fstype == "overlay"
	is_null(storage.fs_group)
	storage.shared == false
	count(storage.options) == 0
	storage.mount_point == replace(policy_data.common.root_path, "$(bundle-id)", bundle_id)
}

# A container is told of the GPUs that it asks for.
gpus_announced_to(_, own) := own

# Any storage of the policy may come as a block device.
plugged_permitted(_) := true
