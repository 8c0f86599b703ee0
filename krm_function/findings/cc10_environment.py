"""CC10: files, standard streams and the cluster."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    # in the words of the operating system, or of the code that opens the file
    "CC1001": Row("error", "cannot be read: {problem}", "check the path and its permissions"),
    "CC1002": Row(
        "error",
        "{problem}",
        "{remedy}",
        {
            "file": ("cannot be written: {error}", "check the path and its permissions"),
            "key": ("exists; a key is never overwritten", "name another file with {option}, or move that one away"),
        },
    ),
    "CC1003": Row(
        "error",
        "the cluster cannot be asked: {problem}",
        (
            "check the kubeconfig, its current context and its rights; or save what `kubectl get -o yaml` prints: nodes"
            " for plan --nodes, the objects for check"
        ),
        {
            "no-context": "there is no kubeconfig with a usable current context, and this runs in no cluster",
            "kubeconfig": "the kubeconfig cannot be used ({error})",  # the name of an exception, as below
            "status": "it answered {answer} when asked for {what}",
            "no-answer": "no answer ({error})",
            "slow": "its answer about {what} comes too slowly, with less than {least} bytes in {seconds} s",
            "time": "its answers took more than {seconds} s",
            "size": "its answer about {what} has more than {limit}",
            "size-of-all": "its answers have more than {limit}",
            "endless": "its list of {what} does not end",
            "compressed": "its answer about {what} is compressed, which was not asked for",
            "type": "its answer about {what} is no JSON, its type is {found}",
            "encoding": "its answer about {what} is not UTF-8",
            "depth": "its answer about {what} is nested too deeply",
            "text": "its answer about {what} {error}",  # in the words of the parser
            "kind": "its answer about {what} is no {wanted}",
            "items": "its answer about {what} has no list of items",
            "item": "item {number} of its answer about {what} is no object with a name that Kubernetes allows",
            "other": "its answer about {what} has {name}, which is of another kind, version or namespace",
            "twice": "its answer about {what} has {name} twice",
            "namespace": (
                "{namespace} is no name of a namespace",
                "see which object has it; a namespace has at most 63 small letters, digits and hyphens",
            ),
        },
    ),
    "CC1004": Row(
        "warning",
        (
            "Helm stores this output in a Secret, where it takes about {size} bytes, the chart not counted;"
            " the API server accepts {limit}"
        ),
        (
            "split the chart into several releases, the later ones with manifest.base; or pipe helm template through"
            " contrast-krm post-render and apply it with kubectl apply --server-side"
        ),
    ),
    "CC1005": Row(
        "warning",
        "the output has {size} bytes; check, manifest and uninject read files of at most {limit}",
        "let the input be several files, and use --in-place, which keeps them apart; or render parts of the deployment",
    ),
    "CC1006": Row(
        "error",
        "the policy cannot be asked: {problem}",
        "name another engine with --engine, or a newer one",
        {
            "none": (
                "{names} is not on PATH",
                (
                    "install OPA (https://www.openpolicyagent.org/docs#1-download-opa) or regorus (`cargo install"
                    " --example regorus regorus`), or name one with --engine"
                ),
            ),
            "load": ("{engine} does not load it: {error}", "use another engine, or a newer one"),  # in its own words
        },
    ),
}
