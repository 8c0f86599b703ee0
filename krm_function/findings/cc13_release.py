"""CC13: the files of a Contrast release, setting a deployment up, attestations of a render, adopting, and guards."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC1301": Row(
        "error",
        "{field} is {first} in {one} and {second} in {other}",
        "give files of one release only; if a value that is there is wrong, remove it first",
    ),
    "CC1302": Row(
        "error",
        "{one} and {other} are handlers of two releases",
        "give runtime files of one release, for all platforms",
    ),
    "CC1303": Row("error", "no file says which release this is", "say it with --release"),
    "CC1304": Row(
        "error",
        "not understood as a file of a Contrast release: {problem}",
        "give runtime-*.yml, coordinator.yml, image replacements, a manifest.json or the reference values of the CLI",
        {
            "json": "{error}",  # in the words of config/document and of contrast/manifest
            "depth": "is nested too deeply",
            "object": "a JSON object that is neither a manifest.json nor the CLI's reference values",
            "nothing": "no runtime class of Contrast, no coordinator and no image replacements in it",
            "release": "a ContrastRelease already; to update one, name it with -o",
            "replacement": "not `image = replacement@sha256:<digest>`",
            "platform": "ReferenceValues.{field} does not say its Platform, as Contrast does since v1.17",
            "handler": "{handler} is not the name of a runtime handler, contrast-cc-<platform>-<hash>",
            "names": "the RuntimeClass is named {name}, its handler {handler}",
        },
    ),
    "CC1305": Row(
        "warning",
        "{what}: left out, {problem}",
        "give that file as well if you need it",
        {
            "handler": "no runtime-{platform}.yml says what its handler is",
            "insecure": "insecure platforms are not supported",
            "platform": "this platform is not supported",
            "operator": (
                "an operator's values are not the release's",
                "set them under spec.manifest.referenceValues of the ContrastGenerate",
            ),
        },
    ),
    "CC1306": Row(
        "error",
        "{field} is of release {before}, and no file says what it is in {now}",
        "give the file that says it, or remove the field first",
    ),
    "CC1307": Row(
        "warning",
        "not known: {problem}",
        "{remedy}",
        {
            "platform": ("any platform", "import the release's runtime-<platform>.yml"),
            "reference-values": (
                "the reference values of platform {platform}",
                "import a manifest.json that `contrast generate` made for this platform",
            ),
            "apeip": (
                "APEIP of platform {platform}, {product}",
                (
                    "import a manifest.json that `contrast generate` made for this platform;"
                    " without it only pods with one vCPU can be measured"
                ),
            ),
            "rtmr0": (
                "RTMR0 of platform {platform} by number of vCPUs",
                "import a manifest.json made for pods with N vCPUs with --vcpus N, once for each N in use",
            ),
            "image": (
                "the pinned image for {image}",
                "import the release's image replacements, or add it by hand",
            ),
        },
    ),
    "CC1308": Row(
        "warning",
        "{field} is the same as in release {before}",
        "let `contrast generate` of release {now} make a new manifest.json; it keeps the values of one that is there",
    ),
    "CC1310": Row(
        "error",
        "{problem} in {directory}",
        "say which with --kustomize, --kpt or --files",
        {
            "both": "both a kustomization and a Kptfile are",
            "neither": (
                "neither a kustomization nor a Kptfile is",
                (
                    "say which with --kustomize or --kpt; for plain files or a chart, name a directory for the"
                    " configuration: contrast-krm init config --files RESOURCES, or"
                    " contrast-krm init config --helm CHART"
                ),
            ),
            "chart": (
                "a chart of Helm is",
                "name another directory for the configuration: contrast-krm init config --helm {directory}",
            ),
            "no-chart": (
                "no Chart.yaml is",
                "name the directory of a chart; helm pull --untar gets one out of a repository",
            ),
        },
    ),
    "CC1311": Row(
        "error",
        "cannot be wired: {problem}",
        "correct or rename the file, or wire it by hand",
        {
            "no-map": "it is not a map",
            "map": "{field} is not a map",
            "list": "{field} is not a list",
            "kptfile": "its kind is not Kptfile",
            "kustomization": "its kind is {kind}, and the function belongs into the outermost overlay",
            "taken": "it is there, and is no {kind}",
            "content": "{error}",  # in the words of wiring/generate_fields
        },
    ),
    "CC1312": Row(
        "warning",
        "{what} is not the last, {after} comes later",
        "put it last: nothing may change a pod after it is sealed",
    ),
    "CC1313": Row("error", "more than one {kind}: {files}", "keep one, or list the one that counts"),
    "CC1320": Row(
        "error",
        "contrast-krm cannot be installed: {problem}",
        "name a Python that fits with --python",
        {
            "run": "it does not run: {error}",  # in the words of the operating system or of the copy itself
            "copy": "{error}",  # in the words of cli/build
        },
    ),
    "CC1321": Row(
        "warning", "{python} is not on this machine, so the copy was not tried", "run it once where it will be used"
    ),
    "CC1330": Row(
        "error",
        "not understood as an attestation of a render: {problem}",
        "name what --attest wrote, or the envelope or bundle in which it was signed; one attestation in one file",
        {
            "size": "has more than {limit} bytes",
            "encoding": "is not UTF-8",
            "json": "{error}",  # in the words of config/document
            "depth": "is nested too deeply",
            "form": "is neither a statement nor a DSSE envelope nor a sigstore bundle",
            "forms": "is of two forms at once",
            "signature": "a bundle with a signature of a file, and no statement",
            "name": "{name} looks like {known}, and programs do not agree whether it is",
            "field": "{field} is not {wanted}",
            "parameter": "the parameter {name} is not known to this version",
        },
    ),
    "CC1331": Row(
        "error",
        "it is about another output: {name} has the digest {found}, and it names {names}",
        "take the attestation of this render, or render again with --attest",
    ),
    "CC1332": Row(
        "error",
        "it is about more than is here: {names}",
        "check all outputs of that render together, a manifest.json with --manifest",
    ),
    "CC1333": Row(
        "error",
        "it names no {role} with the digest of {name}, {found}",
        "take the files of that render, or render again with --attest",
    ),
    "CC1334": Row(
        "error",
        "it names as {role} what is not here: {names}",
        "name all files of that render",
    ),
    "CC1335": Row(
        "info",
        "by its word contrast-krm {version} made this output; compared: {compared}; not compared: {left}; {problem}",
        "",
        {
            "signed": "its signature was not verified; cosign verify-blob-attestation or gh attestation verify does it",
            "unsigned": "it is not signed",
        },
    ),
    "CC1341": Row(
        "warning",
        "envFrom takes all keys of {kind} {name}, which is not in the input, and nobody has named them",
        "name the keys that it has in the cluster: --keys {kind}/{name}=KEY,KEY; each becomes a variable of which the "
        "host chooses the value",
    ),
    "CC1370": Row(
        "warning",
        "{kind} of {group}: the guard does not look at the pod templates at {place}, through two lists",
        "nothing is left open: the pods that the controller makes are looked at when it makes them, and check finds a"
        " placeholder in a file",
    ),
    "CC1371": Row(
        "error",
        "no pod in it is sealed",
        "name rendered output: what generate, kustomize build or helm template with the post-renderer prints",
    ),
    "CC1372": Row(
        "error",
        "{name} is no name that an object can have",
        "give --name lower-case letters, digits, inner hyphens and dots, such as sealed-containers-shop",
    ),
    "CC1373": Row(
        "error",
        "neither a configuration nor a manifest is named",
        "name one or both: {option} FILE, --manifest FILE",
    ),
    "CC1374": Row(
        "error",
        "{text} {problem}",
        "use one of {known}, which contrast-krm keys list shows",
        {
            "none": "is neither the name nor the fingerprint of an owner key in {where}",
            "several": "stands for {count} owner keys in {where}",
            "empty": (
                "cannot be removed: {where} has no owner keys",
                "name the file with the ContrastGenerate that has the key",
            ),
        },
    ),
    "CC1375": Row(
        "error",
        "{key} is the last {owner} owner key: {consequence}",
        "add the next one first: contrast-krm keys add; or say that it is meant: --last",
    ),
    "CC1376": Row(
        "error",
        "the manifest has policies of no workload here: {names}",
        "name every rendered output that they are of, the newest last: contrast set wants each policy once",
    ),
    "CC1377": Row(
        "error",
        "release {version} has no platform {name}; it has {known}",
        "import the release's runtime-{name}.yml too, or move the workload to another platform first",
    ),
    "CC1378": Row(
        "error",
        "there is nothing to upgrade: {problem}",
        "{remedy}",
        {
            "same": (
                "release {after} has the handlers, reference values and images that {before} has",
                "name the next release: contrast-krm release import FILE... -o next.yaml, then --to next.yaml",
            ),
            "nothing": (
                "no workload of the input is Contrast's",
                "name the input of the render, or what it printed",
            ),
        },
    ),
    "CC1379": Row(
        "error",
        "pods of release {after} are wanted already, but {problem}",
        "finish that wave first; until then these pods do not start, and those of the present release serve",
        {
            "runtime": "wave runtime is open: no node has handler {names}",
            "classes": "wave classes is open: the cluster has no RuntimeClass {names}",
        },
    ),
    "CC1380": Row(
        "warning",
        "no coordinator is in the input, so its wave is that of another deployment",
        "upgrade the deployment that has the coordinator first; its manifest is spec.manifest.base of this one",
    ),
}
