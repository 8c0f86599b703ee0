
# --- Texts: as closely as Kata's own rules look at them, and no closer -------------------------------------------------

# any text is a pattern, and it may be found anywhere
matches(pattern, text) if regex.match(pattern, text)

begins(pattern, path) if regex.match(pattern, path)

below(pattern, path) if regex.match(concat("", [pattern, ".*/.+"]), path)

in_pattern(text) := text

annotation_permitted(_, key, _) if startswith(key, "io.kubernetes.cri.")

annotation_permitted(p, key, _) if has_key(p.OCI.Annotations, key)

argument_permitted(wanted, _, _, _) if {
	not startswith(wanted, "$(text-pattern)")
	contains(wanted, "$(node-name)")
}

value_permitted(wanted, given, name) if {
	wanted == "$(sandbox-name)"
	regex.match(name, given)
}

value_permitted(wanted, _, _) if {
	some token in {"$(host-name)", "$(node-name)", "$(pod-uid)", "$(resource-field)", "$(todo-annotation)"}
	contains(wanted, token)
}

literal(_) := true

foreign(_, _) := true

# the name is a pattern too, and in an exec that of the policy
exec_name(pattern) := pattern

distinct(_) := true

complete(_, _, _, _) := true

address_forbidden(patterns, text) if matches_any(patterns, text)

# whatever stands before the digest of an image
reference_permitted(_) := true
