"""CC02: which objects are rendered, and the annotations that choose how."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0202": Row("error", "{what} {key} has no effect on {place}", "move it to {where}"),
    "CC0203": Row("error", "unknown {what} {key}", "{remedy}"),
    "CC0204": Row("error", "annotation {key}: {problem}", "{remedy}"),
    "CC0205": Row("error", "the egress annotation is empty", "name at least one egress, or remove the annotation"),
    "CC0206": Row("error", "pod template has no containers", "add spec.containers; an empty pod cannot be sealed"),
    "CC0207": Row(
        "error",
        "{key} must be {expected}, not {actual}",
        "write {expected}; put quotes around a text such as true",
    ),
    "CC0208": Row("error", "two {what}s are named {name}", "rename one; Kubernetes would reject the pod"),
}
