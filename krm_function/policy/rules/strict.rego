
# --- Profile strict: everything that a host may vary is bound to the pod ---------------------------------------------
#
# Each rule here allows a part of what its namesake in kata-4.1 allows, so the whole allows a part of the whole.

default RemoveContainerRequest := false

# The id of a container is a key of the state, but the state's own keys are no containers.
removable(id) if {
	regex.match("^[0-9a-f]{64}$", id)
	is_pinned(id)
}

# A pattern says where it begins, and is about the whole text. Any other text is no pattern.
matches(pattern, text) if {
	startswith(pattern, "^")
	regex.match(concat("", ["^(?:", pattern, ")$"]), text)
}

# The pattern of shared files is the beginning of a path by its nature; a name follows.
begins(pattern, path) if regex.match(concat("", ["^(?:", pattern, ")[^/]"]), path)

below(pattern, path) if regex.match(concat("", ["^(?:", pattern, ")[^/].*/.+"]), path)

# Of all that a name may hold only the dot has a meaning in a pattern.
in_pattern(name) := replace(name, ".", `\.`)

bundle_pattern(path) := concat("", ["^", replace(path, "$(bundle-id)", "([0-9a-f]{64})"), "$"])

# The values that role, name and namespace are read from are looked at there.
annotation_permitted(_, key, _) if {
	key in {
		"io.kubernetes.cri.sandbox-id",
		"io.kubernetes.cri.sandbox-log-directory",
		"io.kubernetes.cri.sandbox-name",
		"io.kubernetes.cri.sandbox-namespace",
		"nerdctl/network-namespace",
	}
}

annotation_permitted(p, key, value) if p.OCI.Annotations[key] == value

annotation_permitted(p, key, value) if {
	key == "io.kubernetes.cri.image-name"
	value in p.images
}

# A directory of the host, which the VM does not use.
annotation_permitted(p, key, value) if {
	key == "io.katacontainers.pkg.oci.bundle_path"
	regex.match(concat("", ["^/([A-Za-z0-9._-]+/)*", bundle(p), "$"]), value)
}

# What a value may be that only the running pod has. None of them takes part in another text.
token_patterns := {
	"$(host-name)": "^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?",
	"$(node-name)": "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?",
	"$(pod-uid)": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
	"$(resource-field)": "^[0-9]+",
}

argument_permitted(wanted, given, _, _) if {
	wanted == "$(node-name)"
	matches(token_patterns[wanted], given)
}

value_permitted(wanted, given, name) if {
	wanted == "$(sandbox-name)"
	given == name
}

value_permitted(wanted, given, _) if matches(token_patterns[wanted], given)

literal(text) if not regex.match(`\$\((sandbox-name|sandbox-namespace|(host|node)-name|(host|pod)-ip|pod-uid|resource-field|todo-annotation)\)`, text)

exec_name(_) := data.pstate.sandbox_name

# A variable of the policy is what the policy says; the patterns of the settings are for all others.
foreign(p, variable) if not variable_name(variable) in variable_names(p.Env)

variable_names(list) := {name | variable := list[_]; name := variable_name(variable)}

variable_name(variable) := name if {
	parts := split(variable, "=")
	name := parts[0]
}

distinct(list) if count({entry | entry := list[_]}) == count(list)

# The request is about this container as a whole: nothing in it is there twice, nothing of the policy is missing.
complete(p, name, namespace, bundle_id) if {
	regex.match("^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", name)
	regex.match("^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", namespace)
	bundle_id == input.container_id
	not is_pinned(bundle_id)
	image_permitted(p)
	variables_complete(p)
	mounts_complete(p)
	devices_complete(p)
	every wanted in p.storages {
		storage_complete(p, wanted, bundle_id)
	}
}

# The VM pulls the image that the pod names, by its digest; the sandbox has the one inside the VM.
image_permitted(p) if {
	count(pulled_images) == 1
	image := pulled_images[0]
	image.source in p.images
	count(image.driver_options) == 1
	option := image.driver_options[0]
	startswith(option, "image_guest_pull=")
	pull := json.unmarshal(trim_prefix(option, "image_guest_pull="))
	claimed(pull) == {input.OCI.Annotations["io.kubernetes.cri.container-type"]}
}

# What the pull itself says of the container: by that the agent takes the image inside the VM or another one.
claimed(pull) := container_types(pull) if not has_key(pull, "metadata")

claimed(pull) := container_types(pull) | container_types(pull.metadata) if has_key(pull, "metadata")

container_types(said) := {said[key] |
	said[key]
	key in {"io.kubernetes.cri.container-type", "io.kubernetes.cri-o.ContainerType"}
}

variables_complete(p) if {
	given := variable_names(input.OCI.Process.Env)
	count(given) == count(input.OCI.Process.Env)
	count({name | name := p.required_variables[_]} - given) == 0
}

mounts_complete(p) if {
	given := {mount.destination | mount := input.OCI.Mounts[_]}
	count(given) == count(input.OCI.Mounts)
	count({destination | destination := p.required_mounts[_]} - given) == 0
}

devices_complete(p) if {
	given := [path | path := input.devices[_].container_path; not startswith(path, gpu_prefix)]
	distinct(given)
	wanted := {path | path := p.devices[_].container_path; path != gpu_prefix}
	{path | path := given[_]} == wanted
}

# loop: over the request's storages, and the policy's own that are alike
storage_complete(p, wanted, bundle_id) if {
	sandbox_id := input.OCI.Annotations["io.kubernetes.cri.sandbox-id"]
	given := [1 | storage := input.storages[_]; storage_matches(wanted, storage, bundle_id, sandbox_id)]
	alike := [1 | other := p.storages[_]; other == wanted]
	count(given) == count(alike)
}
