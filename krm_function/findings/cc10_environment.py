"""CC10: files, standard streams and the cluster."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    # in the words of the operating system, or of the code that opens the file
    "CC1001": Row("error", "cannot be read: {problem}", "check the path and its permissions"),
    "CC1002": Row("error", "cannot be written: {problem}", "check the path and its permissions"),
    "CC1003": Row(
        "error",
        "the cluster cannot be asked for its nodes: {problem}",
        "check the kubeconfig and its current context, or save `kubectl get nodes -o yaml` and pass it with --nodes",
        {
            "no-context": "there is no kubeconfig with a usable current context, and this runs in no cluster",
            "kubeconfig": "the kubeconfig cannot be used ({error})",  # the name of an exception, as below
            "status": "it answered {status} {error}",  # in the words of the API server
            "no-answer": "no answer ({error})",
            "answer": "{error}",
        },
    ),
}
