"""CC01: the input as text."""

from krm_function.findings.row import Row

# The rows of yamltext's errors (see model/finding_position) have its words as {problem}.
ROWS: dict[str, Row] = {
    "CC0101": Row("error", "not valid YAML: {problem}", "fix the syntax at this place"),
    "CC0102": Row("error", "the input is not UTF-8: {problem}", "save the file as UTF-8"),
    "CC0103": Row("error", "the input is too large: {problem}", "split the input"),
    "CC0104": Row("error", "nested too deeply: {problem}", "no Kubernetes object needs that; remove the nesting"),
    "CC0105": Row("error", "{problem}", "write the repeated part out instead of using aliases"),
    "CC0106": Row("error", "{problem}", "keep one of the two; Kubernetes tools disagree about which one wins"),
    "CC0107": Row("error", "{problem}", "write the value without a tag"),
    "CC0108": Row(
        "error",
        "{problem}",
        "see docs/reference/hosts.md for the accepted inputs",
        {
            "no-document": "there is no document in the input",
            "no-list": (
                "{error}",  # in the words of hosts/functions and of krm
                (
                    "without a command it is a KRM function and reads a ResourceList;"
                    " documents are read by contrast-krm generate --config FILE,"
                    " and Helm's by contrast-krm post-render --config FILE"
                ),
            ),
            "manifests": "{count} different manifests in the input",
            "open-end": "the last line belongs to a string and has no line end, so no document can follow",
        },
    ),
    "CC0109": Row(
        "error",
        "the input is empty",
        "{remedy}",
        {
            "resource-list": ("", "a host sends a ResourceList; to pipe documents in, use contrast-krm generate"),
            "helm": (
                "",
                (
                    "Helm 3 sends nothing to a post-renderer under --output-dir;"
                    " drop that flag, or pipe `helm template` into this command"
                ),
            ),
            "file": ("", "look at what writes this file, or give {command} another one"),
            "pipe": ("", "check the command before the pipe for errors, or name files: {command} FILE"),
            "workload": ("", "{text} was read as WORKLOAD; write {command} KIND/NAME {text}"),
        },
    ),
    "CC0110": Row(
        "error", "the edited text does not parse back to the intended object: {problem}", "report this as a bug"
    ),
    "CC0111": Row(
        "error",
        "a {kind} has items: kubectl reads it as a list, and other tools as a {kind}",
        "remove items, or put the object and its items into a kind: List",
    ),
    "CC0112": Row(
        "error",
        "{problem}",
        "let a line that begins with --- hold nothing else, and indent text that has such a line",
    ),
    "CC0113": Row(
        "error",
        "a member of a {list} has no kind, and kubectl takes it for a {kind}",
        "write its apiVersion and kind",
    ),
    "CC0115": Row(
        "error",
        "annotation contrast-krm.dev/original {problem}",
        "remove the annotation if the object is meant as it stands, else render its source again",
        {
            "change": "is no record of a render: it would change {field}",
            "class": (
                "takes runtimeClassName away, and no entry of spec.workloads gives the pod another one",
                (
                    "name {kind} {name} in spec.workloads of the configuration;"
                    " if it is to be plain from now on, render its source and not its output"
                ),
            ),
            "namespace": (
                "takes namespace {namespace} away, which this render does not give back",
                "render with --namespace {namespace} or spec.namespace: {namespace}, or render the source again",
            ),
        },
    ),
    "CC0116": Row(
        "error",
        "annotation contrast-krm.dev/emitted marks what a render has added, and this is no such object: {problem}",
        "remove the annotation, or the object",
        {
            "kind": "only RuntimeClasses and ConfigMaps are added",
            "fields": "it has more fields than an object that is added",
            "original": "nothing that is added has an annotation contrast-krm.dev/original",
            "hook": (
                "nothing that is added has an annotation helm.sh/hook, with which it would not be part of the release"
            ),
            "handler": "its handler and its name are not those of a Contrast RuntimeClass",
            "overhead": "its overhead is none of a Contrast RuntimeClass",
            "scheduling": "its scheduling is none of a Contrast RuntimeClass",
            "data": "it holds something else than manifest.json",
            "unreadable": "its manifest.json cannot be read",
            "no-manifest": "its manifest.json is no manifest",
        },
    ),
    "CC0117": Row(
        "warning",
        "namespace {namespace} is taken away from {names}, as the annotation contrast-krm.dev/original has it",
        "if the render was given that namespace, add --namespace {namespace}; else render their source again",
    ),
    "CC0118": Row(
        "error",
        "{kind} {name} is in the input twice, also at {other}",
        (
            "remove one of the two, or give it another name;"
            " a cluster keeps only the last of two objects with the same identity"
        ),
        {"outputs": ("", "diff renders its inputs; to compare two outputs: contrast-krm diff --policy OLD NEW")},
    ),
    "CC0119": Row(
        "error",
        "{problem}",
        "render it first and give what it prints, such as helm template CHART | contrast-krm post-render --config FILE;"
        " leave the template itself out, and put quotes around a text that begins like one",
    ),
    "CC0120": Row(
        "warning",
        "Helm 3 sends no hooks to a post-renderer, so an object with the annotation helm.sh/hook is never in the input",
        "if what is missing is a hook of the chart: use Helm 4, or pipe `helm template` into contrast-krm post-render",
    ),
}
