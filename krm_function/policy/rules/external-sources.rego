
# --- Variables whose values only the cluster has
#
# In a policy only if it has such a variable. Any value without a NUL is allowed; the request has the variable once.

variable_permitted(p, variable, _, _) if {
	contains(variable, "=")
	regex.match(`^[^\x00]*$`, variable)
	name := name_before_value(variable)
	wanted := concat("", [name, "=$(text-pattern)$(external-source)"])
	wanted in p.Env
	given := [1 | other := requested_variables[_]; name_before_value(other) == name]
	count(given) == 1
}

name_before_value(variable) := name if {
	parts := split(variable, "=")
	name := parts[0]
}

# of a new container, or of a command in one
requested_variables := input.OCI.Process.Env

requested_variables := input.process.Env
