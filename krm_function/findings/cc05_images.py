"""CC05: image references, and the ImageLock."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0501": Row("error", "container {container} has no image", "name an image with its digest"),
    "CC0502": Row(
        "error",
        "image {image} {problem}",
        "{remedy}",
        {
            "tag": (
                "is not pinned",
                (
                    "append @sha256:<digest>, which contrast-krm lock prints; lock --write-kustomize FILE puts it into"
                    " images: of a kustomization, lock --write-values FILE into values of Helm, lock --write-files PATH"
                    " into plain files and packages of kpt"
                ),
            ),
            "algorithm": (
                "is pinned by a digest other than sha256, which a policy cannot bind",
                "replace the digest by @sha256:<digest> of the same image",
            ),
            "two": ("has two digests", "keep the one @sha256:<digest> that is meant"),
            "hex": ("has a digest that is none", "write @sha256: and 64 lower-case hex digits"),
        },
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
    "CC0510": Row(
        "warning",
        "image {image}: its digest is known as tag {known}, and nobody has looked {tag} up; a node pulls the digest",
        "if {tag} is what should run: contrast-krm lock, as you call it, with --upgrade {name} and with the option"
        " that names your files, --write-kustomize, --write-values or --write-files",
    ),
}
