
# --- Profile kata-4.1: as closely as Kata's own rules look at it, and no closer --------------------------------------

default RemoveContainerRequest := true

removable(_) := true

id_permitted(_) := true

# a pattern may be found anywhere in a text, and any text is a pattern
matches(pattern, text) if regex.match(pattern, text)

path_match(pattern, path) if regex.match(pattern, path)

begins(pattern, path) if regex.match(pattern, path)

below(pattern, path) if regex.match(concat("", [pattern, ".*/.+"]), path)

in_pattern(text) := text

bundle_pattern(path) := replace(path, "$(bundle-id)", "([0-9a-f]{64}|[a-z0-9][a-z0-9.-]*)")

# of an annotation that the policy knows, and of the runtime's own, any value
annotation_permitted(_, key, _) if startswith(key, "io.kubernetes.cri.")

annotation_permitted(p, key, _) if has_key(p.OCI.Annotations, key)

argument_permitted(wanted, _, _) if contains(wanted, "$(node-name)")

value_permitted(wanted, _, _) if {
	some token in {"$(host-name)", "$(node-name)", "$(pod-uid)", "$(resource-field)", "$(todo-annotation)"}
	contains(wanted, token)
}

literal(_) := true

foreign(_, _) := true

# the name of the pod is a pattern too; an exec may come with any name that the pod could have had
names(name, given) if regex.match(name, given)

exec_name(pattern) := pattern

distinct(_) := true

# what the policy lists need not be in the request
complete(_, _, _, _) := true
