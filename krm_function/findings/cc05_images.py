"""CC05: image references, and the ImageLock."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0501": Row("error", "container {container} has no image", "name an image with its digest"),
    "CC0502": Row(
        "error",
        "image {image} is not pinned",
        "append @sha256:<digest>, which contrast-krm lock prints; lock --write-kustomize FILE puts it into images: of a"
        " kustomization, lock --write-values FILE into values of Helm",
    ),
    "CC0503": Row(
        "error", "image {image} is not a valid reference: {problem}", "write registry/name:tag@sha256:<64 hex digits>"
    ),
    "CC0504": Row(
        "error",
        "image {image} is not in the ImageLock",
        "run contrast-krm lock on the same resources, and commit what it writes",
    ),
    "CC0505": Row(
        "error",
        "the ImageLock says {locked} for image {image}, which is pinned to another digest",
        "remove the entry from the ImageLock and run contrast-krm lock",
    ),
    "CC0506": Row("info", "image {before} becomes {after}"),
    "CC0507": Row(
        "error", "image {image} has tag {tag}, the release is {release}", "use the resources of release {release}"
    ),
    "CC0508": Row(
        "error",
        "the ImageLock does not say which users image {image} has: its entry lacks {missing}",
        'run contrast-krm lock on the same resources, which fills it in; "" stands for an image without that file',
    ),
}
