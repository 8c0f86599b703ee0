"""CC06: variables whose values only the cluster, or the running pod, has."""

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
            "variable": (
                "does not have {variable} among its variables",
                "add {variable} to the variables of the entry, or correct the name of the variable",
            ),
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
    "CC0680": Row(
        "error",
        "{variable} would have {value}, which the host chooses, and steers {what}",
        "write its value into the pod, or let the program read another variable; only numbers, addresses, the pod's own"
        " name and namespace may stand in a longer text there",
    ),
    "CC0681": Row(
        "error",
        "this puts {value}, which the host chooses, {problem}",
        "{remedy}",
        {
            "program": ("where a program is named", "write the program into the pod"),
            "code": (
                "into code that an interpreter runs",
                "let the code read the variable itself, such as $NAME in place of $(NAME) in a shell",
            ),
        },
    ),
    "CC0682": Row(
        "warning",
        "the pod template has no annotation {key}, so its variable is bound to the empty text",
        "add the annotation with its value to the pod template; if only the cluster sets it, mount it as a file with"
        " downwardAPI: a pod that has the annotation when it starts is denied",
    ),
    "CC0683": Row(
        "warning",
        "container {container}: the policy binds no form of {variables}, so the host may choose any value",
        "render it with the project's own rules and generator, which bind the form of each",
    ),
    "CC0690": Row(
        "error",
        "the controller of a {kind} writes {field} of the object into its pods, and that is no text and no number",
        "write {field} into the object",
    ),
    "CC0691": Row(
        "warning",
        "the controller of a {kind} writes {variables} into the pods that it makes; the policy allows all of that form",
        "none is needed; an entry for the kind under spec.podTemplates may be narrower or leave variables out",
    ),
    "CC0693": Row(
        "error",
        "an entry for {kind} gives {variable} a form, so that a host could choose its value, and it steers {what}",
        "give it a value that the object says, or leave it out of the entry",
    ),
    "CC0694": Row(
        "error",
        "no policy describes the pods that the controller of a {kind} makes: {reason}",
        "{instead}",
    ),
    "CC0695": Row(
        "warning",
        "no policy covers this of a {kind}: {reason}",
        "{instead}",
    ),
    "CC0696": Row(
        "warning",
        "kustomize gives {kind} {name} another name and leaves the old one in the pods of a {owner}, unless it is"
        " told of the field",
        "name the field in a nameReference under configurations in the kustomization, or keep the name: no prefix, and"
        " disableNameSuffixHash: true",
    ),
    "CC0692": Row(
        "error",
        "genpolicy does not know what the controller of a {kind} makes of this template",
        "leave out --genpolicy, so that the project's own generator seals it",
    ),
}
