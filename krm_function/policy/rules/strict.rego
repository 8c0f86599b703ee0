
# --- Texts: everything that a host may vary is bound to the pod --------------------------------------------------------
#
# Each rule here allows a part of what its namesake among Kata's texts allows, so the whole allows a part of the whole.

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
	reference_permitted(value)
	some storage in p.storages
	storage.driver == "image_guest_pull"
	image_digest(storage.source) == image_digest(value)
}

# A name, a tag if there is one, and the digest of an image.
reference_permitted(text) if regex.match(`^([A-Za-z0-9]|\[)([A-Za-z0-9._:/-]|\[|\])*@sha256:[0-9a-f]{64}$`, text)

# A directory of the host, which the VM does not use.
annotation_permitted(p, key, value) if {
	key == "io.katacontainers.pkg.oci.bundle_path"
	regex.match(concat("", ["^/([A-Za-z0-9._-]+/)*", bundle(p), "$"]), value)
}

# The one value of which the data have a token and no form.
value_permitted(wanted, given, _) if {
	wanted == "$(host-name)"
	matches("^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", given)
}

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
complete(p, name, namespace, _) if {
	regex.match("^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", name)
	regex.match("^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", namespace)
	own_cgroup(input.OCI.Linux.CgroupsPath, input.OCI.Annotations["io.kubernetes.cri.sandbox-uid"])
	variables_complete(p)
	mounts_complete(p)
	volumes_apart(p)
	devices_complete(p)
}

own_cgroup(path, uid) if {
	some class in {"", "burstable/", "besteffort/"}
	path == concat("", ["/kubepods/", class, "pod", uid, "/", input.container_id])
}

own_cgroup(path, uid) if {
	some class in {"", "burstable-", "besteffort-"}
	path == concat("", ["kubepods-", class, "pod", replace(uid, "-", "_"), ".slice:cri-containerd:", input.container_id])
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

# Volumes on block devices are alike to the policy; no device is two of them.
volumes_apart(p) if {
	found := {[name, mount.source] | mount := input.OCI.Mounts[_]; name := p.block_volumes[mount.destination]}
	count({source | source := found[_][1]}) == count(found)
}

devices_complete(p) if {
	given := [path | path := input.devices[_].container_path; not startswith(path, gpu_prefix)]
	distinct(given)
	{path | path := given[_]} == {path | path := p.devices[_].container_path; path != gpu_prefix}
}

# A single address, with or without its /32 or /128; none of a network, which may hold loopback, and no IPv4 as IPv6.
address_forbidden(patterns, text) if matches_any(patterns, text)

address_forbidden(patterns, text) if matches_any(patterns, split(text, "/")[0])

address_forbidden(_, text) if regex.match("^[0:]*:ffff:", lower(text))

# loopback of IPv6, for a neighbour as for a route; as all of IPv6, without dots
address_forbidden(_, text) if regex.match("^[0:]*:0*1$", split(text, "/")[0])

address_forbidden(_, text) if {
	contains(text, ":")
	contains(text, ".")
}

address_forbidden(_, text) if {
	contains(text, "/")
	not regex.match("^([0-9.]+/32|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*/128)$", text)
}
