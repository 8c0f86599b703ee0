"""CC09: the configuration, and options of the command line."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0901": Row("error", "{kind} {name}: {field}: {problem}", "{remedy}"),
    "CC0902": Row("error", "{kind} {name}: unknown field {field}", "did you mean {suggestion}?"),
    "CC0903": Row(
        "error",
        "no ContrastRelease in the configuration",
        "pass one with --config, or add one to the resources with the local-config annotation",
    ),
    "CC0904": Row("error", "two objects of kind {kind} in the configuration", "keep one"),
    "CC0905": Row("error", "unknown kind {kind} in group contrast-krm.dev", "did you mean {suggestion}?"),
    "CC0906": Row(
        "error",
        "no ImageLock in the configuration",
        "make one with contrast-krm lock and pass it with --config, or set policy.engine: none",
    ),
    "CC0907": Row("error", "apiVersion {found} is not supported", "use contrast-krm.dev/v1alpha1"),
    "CC0908": Row("error", "functionConfig of kind {kind} is not understood", "use a ContrastGenerate or a ConfigMap"),
    "CC0909": Row("error", "{option}: {problem}", "{remedy}"),
    "CC0910": Row("error", "the configuration cannot be read: {problem}", "{remedy}"),
}
