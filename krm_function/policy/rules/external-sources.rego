
# --- Variables whose values only the cluster has
#
# In a policy only if it has such a variable. Any value without a NUL is allowed; the request has the variable once.

variable_permitted(p, variable, _, _) if {
	contains(variable, "=")
	not has_nul(variable)
	name := name_before_value(variable)
	wanted := concat("", [name, "=$(text-pattern)$(external-source)"])
	wanted in p.Env
	names := [name_before_value(other) | other := requested_variables[_]]
	count([1 | other := names[_]; other == name]) == 1
}

name_before_value(variable) := name if {
	parts := split(variable, "=")
	name := parts[0]
}

# JSON has a NUL, and nothing else, as backslash, u and four zeros; a backslash of the text is two
has_nul(text) if {
	written := replace(json.marshal(text), `\\`, "")
	regex.match(`[\\]u0{4}`, written)
}

# of a new container, or of a command in one
requested_variables := input.OCI.Process.Env

requested_variables := input.process.Env
