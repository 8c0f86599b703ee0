"""CC10: files, standard streams and the cluster."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    # in the words of the operating system, or of the code that opens the file
    "CC1001": Row("error", "cannot be read: {problem}", "check the path and its permissions"),
    "CC1002": Row("error", "cannot be written: {problem}", "check the path and its permissions"),
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
            "status": "it answered {status} {error} when asked for {what}",  # in the words of the API server
            "no-answer": "no answer ({error})",
            "answer": "{error}",
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
