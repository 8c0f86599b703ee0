"""CC12: images, as `lock` finds them; from CC1250 on it is about the way to them."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC1201": Row(
        "warning",
        "image {image} is not pinned; now it is {digest}",
        "write {pinned}, or run this again with the option that names your files: --write-kustomize FILE,"
        " --write-values FILE for Helm, --write-files PATH for plain files and packages of kpt",
    ),
    "CC1202": Row(
        "error",
        "image {image} does not exist in {place}",
        "correct the name or the digest; is it for another registry?",
    ),
    "CC1203": Row(
        "error",
        "image {image}: {what} {problem}, so it is not {digest}",
        "it was damaged or exchanged on its way; do not use it, and ask the operator of the registry",
        {
            "longer": "is longer than its {size} bytes",
            "shorter": "ends after {count} of its {size} bytes",
            "other": "holds something else",
        },
    ),
    "CC1204": Row(
        "error",
        "image {image}: {what} {problem}",
        "build and push the image again with a current tool",
        {
            # manifests, indexes and configurations
            "schema-version": "has a schemaVersion other than 2",
            "both": "can be read as an image and as an index",
            "media-type": "is of no known media type",
            "no-image": "belongs to no container image",
            "layer-type": "has a layer of an unknown media type",
            "nested-index": "leads to another index",
            "list": "has no list {key}",
            "descriptor": "has a descriptor without mediaType or size",
            "digest": "has a digest that is not sha256: and 64 hex digits",
            "layer-count": "lists {count} layers, the manifest {layers}",
            "diff-id": "has a diffID that is not its layer's",
            "config": "has a config that is no map",
            "field": "config.{field} {error}",  # in the words of api's schemas
            "encoding": "is not UTF-8",
            "depth": "is nested too deeply",
            "json": "{error}",  # in the words of the JSON parser
            "not-in-registry": "is not in the registry, though the manifest names it",
            "not-in-layout": "is not in the layout, though the manifest names it",
            # compressed layers
            "gzip": "is damaged gzip",
            "gzip-end": "is gzip that ends early",
            "zstd": "is damaged zstd",
            "zstd-end": "is zstd that ends early",
            "behind": "has something behind its compressed stream",
            # tar archives
            "archive-behind": "has something behind the end of its tar archive",
            "file-end": "ends inside of a file",
            "header": "has a damaged header",
            "extended": "has a damaged extended header",
            "extended-end": "ends inside of an extended header",
            "extended-last": "ends behind an extended header",
            "extended-size": "has an extended header of absurd size",
            "extended-twice": "has extended headers that not all tools read alike",
            "global": "has a global header that not all tools read alike",
            "sparse": "has a sparse file that not all tools read alike",
            "negative": "has a file of negative size",
            "size": "has a file of negative or absurd size",
            "kind": "has a member that is neither a file nor a directory, link or device",
            "nul": "has a path with NUL",
            "parent": "has a path with ..",
            "path": "has a path of more than {limit} bytes",
            "link": "has a link to more than {limit} characters",
            "circle": "has entries below links that lead in a circle, or too far",
            "hard-link-directory": "has a hard link to a directory",
            "hard-link-nothing": "has a hard link to nothing",
            "whiteout": "has a whiteout of nothing",
            "opaque": "has an opaque whiteout behind what it may remove",
        },
    ),
    "CC1205": Row(
        "error",
        "image {image} is not for linux/amd64, only for {found}",
        "build it for linux/amd64, the platform of confidential VMs",
    ),
    "CC1206": Row(
        "error",
        "image {image}: {what} has more than {limit}",
        "use a smaller image; for layers --max-layer-size raises the limit",
    ),
    "CC1207": Row(
        "warning",
        "image {image}: the archive has no manifest, so nothing proves that it has this digest",
        "compare the entry with the registry's, or save the image with a newer Docker",
    ),
    "CC1208": Row(
        "error",
        "image {image}: {name} has no certain content: {problem}",
        "build the image with a plain file there, or write the entry by hand, with the fields of `contrast-krm schema "
        "ImageLock`",
        {
            "encoding": "it is not UTF-8",
            "links": "it leads through too many links",
            "directories": "it leads through too many directories",
            "hard-link": "it is a hard link to what its layer does not have",
            "size": "it is too large",
            "kind": "it is no regular file",
            "removed": "one layer both adds and removes it",
            "two-kinds": "one layer has it as a directory and as something else",
            "below-link": "there are entries below a directory that is a link",
            "below-file": "there are entries below a directory that is a link or a file",
        },
    ),
    "CC1209": Row(
        "error",
        "image {image} is not pinned, and the archive has no manifest to take its digest from",
        "pin the image, or save it with a newer Docker",
    ),
    "CC1210": Row(
        "warning", "no Contrast workload in the input, so no image to lock", "give the resources of the deployment"
    ),
    "CC1211": Row(
        "warning",
        "no ContrastRelease, so the images that a render injects are not locked",
        "pass the release with --config",
    ),
    "CC1212": Row(
        "error",
        "{lock} is not written: for {seconds} s another run has been writing into the same directory",
        "wait for it or end it, then run this again; what was found is not kept",
    ),
    "CC1213": Row(
        "warning",
        "{lock} is written without a lock against other runs: {problem}",
        "run one contrast-krm lock at a time on this file system",
    ),  # in the words of the operating system
    "CC1214": Row(
        "warning",
        "image {image} {problem}, and with policy.profile {profile} a pod has to say so",
        "{remedy}",
        {
            # the hint lists up to three settings, as that of CC0604.unnamed
            "unnamed": ("runs with {identity}", "{remedy}"),
            "user-number": (
                "runs as user {user}, whose number is not in its /etc/passwd",
                "set runAsUser and runAsGroup in the container's securityContext",
            ),
        },
    ),
    "CC1215": Row(
        "warning",
        "image {image} is not pinned in {into}: {problem}",
        "write {pinned} where the image is named",
        {
            "other": "an entry of images: is for all tags of a name, and {other} is in the input as well",
            "files": ("no object there names it", "write {pinned} where the image is named, or name that file"),
            "value": (
                "no value there makes it up",
                (
                    "copy the values of the image from `helm show values CHART` into {into}, and run this again; if the"
                    " chart has none, write {pinned} in its template"
                ),
            ),
        },
    ),
    "CC1216": Row(
        "error",
        "image {image}: {problem}",
        "{remedy}",
        {
            "tag": (
                "without a digest it is in no lock",
                (
                    "write its digest where the image is named; without --check, --write-kustomize FILE,"
                    " --write-values FILE or --write-files PATH do it"
                ),
            ),
            "absent": ("{lock} lacks it", "run the same command without --check, and commit what it writes"),
            "silent": (
                "its entry in {lock} lacks passwd or group",
                "run the same command without --check, and commit what it writes",
            ),
            "unsized": (
                "its entry in {lock} lacks the sizes of layers",
                "run the same command without --check, and commit what it writes",
            ),
        },
    ),
    "CC1217": Row(
        "error",
        "{lock} has {image}, which no Contrast workload of the input uses",
        "run the same command without --check, and commit what it writes; or leave out --prune",
    ),
    "CC1240": Row(
        "warning",
        "image {image}: tag {tag} is now {digest}, and no file has that",
        "write {pinned}, or run this again with the option that names your files: --write-kustomize FILE,"
        " --write-values FILE for Helm, --write-files PATH for plain files and packages of kpt",
    ),
    "CC1241": Row(
        "error",
        "{option} {image}: {problem}",
        "{remedy}",
        {
            "unknown": (
                "no Contrast workload of the input has such an image",
                "name one of: {known}; files and directories stand before --upgrade",
            ),
            "no-tag": (
                "it has a digest and no tag to look up",
                "write the tag that you want, and leave the digest out",
            ),
            "release": (
                "the images of Contrast belong to its release",
                "import the files of the new release with contrast-krm release import",
            ),
        },
    ),
    "CC1242": Row(
        "warning",
        "private key {key} is in a work tree of Git, and no .gitignore leaves it out",
        "echo '{pattern}' >> .gitignore, or move it out of the work tree",
    ),
    "CC1250": Row(
        "error",
        "image {image}: {registry}: {problem}",
        "check the registry's name and the network, and run it again",
        {
            "time": ("took more than {seconds} s", "raise --timeout, or look at what slows the registry down"),
            "name": "its name cannot be resolved",
            "connection": "cannot be connected to",
            "silent": "does not answer in time",
            "slow": "sends less than {least} bytes in {seconds} s",
            "broken": "the connection broke",
            "endless": "answers without end",
            "tls": (
                "TLS fails: {error}",  # in the words of OpenSSL
                (
                    "name a CA bundle in SSL_CERT_FILE or,"
                    " if it speaks plain HTTP only, add --insecure-registry {registry}"
                ),
            ),
            "status": "answers {status}",
            "status-again": "answers {status} again and again",
            "redirect": ("redirects to what is no URL", "ask the operator of the registry"),
            "redirects": "redirects too often",
            "no-token-server": "names no server for tokens",
            "token-status": "its token server answers {status}",
            "token-endless": "its token server answers without end",
            "token-json": "its token server answers no JSON object",
            "token-none": "its token server answers no token",
        },
    ),
    "CC1251": Row(
        "error",
        "image {image}: {registry} refuses access: {problem}",
        "log in with docker login {registry}; logins are read from docker's config.json",
        {
            "no-login": "it wants a login, and there is none for it",
            "login-kind": "it wants a login of an unknown kind",
            "refused": "its token server refuses the login",
            "token": "the token for it is malformed",
            "image": "the login is not good for this image, or there is no such image",
        },
    ),
    "CC1252": Row(
        "error",
        "image {image}: {what} {problem}",
        "correct it, or run docker login again",
        {
            "system": "{error}",  # in the words of the operating system
            "json": "is no JSON object",
            "base64": "has an auth that is not base64",
            "helper-name": "has a name that is no name",
            "helper-path": "is not on PATH",
            "helper-exit": "exits with {status}",
            "helper-time": "takes more than {seconds} s",
            "helper-json": "answers something else than a JSON object",
            "helper-login": "answers no Username and Secret",
        },
    ),
    "CC1253": Row(
        "error",
        "image {image}: {registry} would be spoken to over plain HTTP",
        "use HTTPS, or allow it with --insecure-registry {registry}",
    ),
    "CC1254": Row(
        "error",
        "{place}: {problem}",
        "check the path behind --from",
        {
            "system": "{error}",  # in the words of the operating system
            "tar": "is no tar archive, or a compressed one",
            "version": "is an OCI layout of an unknown version",
            "lacks": "has no {name}",
            "link": "it is a link that leads out of {root}",
            "size": "its {name} is too large",
            "json": "its {name} is no JSON object",
            "json-list": "its manifest.json is no JSON list",
            "diff-ids": "it does not list one diffID for each layer",
            "file": "it lists a file that it does not have",
            "configuration": "it lacks a configuration",
            "too-large": "its manifest.json or a configuration is too large",
        },
    ),
}
