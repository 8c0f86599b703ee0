"""CC06: variables whose values only the cluster has."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0670": Row(
        "error",
        "{variable} would have any value, from a {kind} that only the cluster has, and steers {what}",
        "write its value into the pod, or put the {kind} into the input",
    ),
    "CC0671": Row(
        "error",
        "this expands $({variable}), which may have any value by spec.policy.externalSources",
        "let the program read the variable {variable} itself, or put its ConfigMap or Secret into the input",
    ),
    "CC0672": Row(
        "error",
        "{kind} {name} is not in the input, and its entry of spec.policy.externalSources {problem}",
        "{remedy}",
        {
            "namespace": (
                "is for namespace {other}, while that of the workload is {namespace}",
                "correct the namespace of the entry, or leave it out",
            ),
            "key": ("does not have the key {key} among its keys", "add {key} to the keys of the entry"),
            "keys": (
                "has no keys, which envFrom needs",
                "list the keys under keys of the entry: each becomes a variable of which the host chooses the value",
            ),
        },
    ),
    "CC0673": Row(
        "warning",
        "spec.policy.externalSources[{index}], {kind} {name}, {problem}",
        "{remedy}",
        {
            "input": ("is in the input, so its values are fixed", "remove the entry"),
            "unused": (
                "opens no variable of this input",
                "remove the entry: it would open a variable that is added later",
            ),
        },
    ),
    "CC0674": Row(
        "warning",
        "container {container}: the host may choose any value of {variables}",
        "keep what must be secret or true out of them: put their object into the input, or use /contrast/secrets",
    ),
}
