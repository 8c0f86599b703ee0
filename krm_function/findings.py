"""Everything contrast-krm can say about an input, as one table.

Rule of this file: a sentence or a hint that a user reads about their input is written here and nowhere else. Code
raises a code and the values of its placeholders; severity, wording, remedy and documentation anchor come from the
table. A value is never a Secret's data, an env value or an annotation longer than 64 characters.
"""

from typing import Any, Literal

from krm_function.krm.result import dotted
from krm_function.record import NamedTuple

__all__ = ["KINDS", "Finding", "Kind", "Path", "Ref", "Severity", "anchor_of", "dotted", "finding", "has_errors"]

Severity = Literal["error", "warning", "info"]
Path = tuple[str | int, ...]

LONGEST = 1000  # characters of a value in a sentence


class Kind(NamedTuple):
    """One row of the table: what a code means."""

    severity: Severity
    sentence: str  # lower case, no full stop; {placeholders} are filled by `finding`
    hint: str = ""  # what to do, as an imperative; may use the same placeholders


class Ref(NamedTuple):
    """Which object: apiVersion, kind, namespace ("" when absent) and name, as the document says them."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """`namespace/name`, the bare name, or `(unnamed Deployment)`."""
        name = self.name or f"(unnamed {self.kind})"
        return f"{self.namespace}/{name}" if self.namespace else name


class Finding(NamedTuple):
    """One thing to say about one place of the input. Lines and columns count from 1; 0 means unknown."""

    code: str
    severity: Severity
    message: str
    hint: str
    ref: Ref | None = None
    path: Path = ()
    line: int = 0
    column: int = 0
    file: str = ""

    @property
    def anchor(self) -> str:
        """Where docs/reference/findings.md explains this code."""
        return anchor_of(self.code)


def anchor_of(code: str) -> str:
    """Where docs/reference/findings.md explains a code."""
    return f"docs/reference/findings.md#{code.lower()}"


def finding(
    code: str, ref: Ref | None = None, path: Path = (), *, line: int = 0, column: int = 0, file: str = "", **values: Any
) -> Finding:
    """Make the Finding that `code` stands for, its sentence filled with `values`.

    Raises KeyError for an unknown code or a missing value: a bug of ours, caught by the tests of the table.
    """
    kind = KINDS[code]
    values = {name: f"{value[:LONGEST]}…" if len(str(value)) > LONGEST else value for name, value in values.items()}
    message, hint = kind.sentence.format(**values), kind.hint.format(**values)
    return Finding(code, kind.severity, message, hint, ref, path, line, column, file)


def has_errors(findings: "tuple[Finding, ...] | list[Finding]") -> bool:
    """Whether any finding forbids an output."""
    return any(found.severity == "error" for found in findings)


KINDS: dict[str, Kind] = {
    # --- CC01: the input as text
    "CC0101": Kind("error", "not valid YAML: {problem}", "fix the syntax at this place"),
    "CC0102": Kind("error", "the input is not UTF-8: {problem}", "save the file as UTF-8"),
    "CC0103": Kind("error", "the input is too large: {problem}", "split the input"),
    "CC0104": Kind("error", "nested too deeply: {problem}", "no Kubernetes object needs that; remove the nesting"),
    "CC0105": Kind("error", "{problem}", "write the repeated part out instead of using aliases"),
    "CC0106": Kind("error", "{problem}", "keep one of the two; Kubernetes tools disagree about which one wins"),
    "CC0107": Kind("error", "{problem}", "write the value without a tag"),
    "CC0108": Kind("error", "{problem}", "see docs/reference/hosts.md for the accepted inputs"),
    "CC0109": Kind("error", "the input is empty", "{remedy}"),
    "CC0110": Kind(
        "error", "the edited text does not parse back to the intended object: {problem}", "report this as a bug"
    ),
    "CC0111": Kind(
        "error",
        "a {kind} has items: kubectl reads it as a list, and other tools as a {kind}",
        "remove items, or put the object and its items into a kind: List",
    ),
    "CC0112": Kind(
        "error",
        "{problem}",
        "let a line that begins with --- hold nothing else, and indent text that has such a line",
    ),
    "CC0113": Kind(
        "error",
        "a member of a {list} has no kind, and kubectl takes it for a {kind}",
        "write its apiVersion and kind",
    ),
    "CC0115": Kind(
        "error",
        "annotation contrast-krm.dev/original is no record of a render: it would change {field}",
        "remove the annotation if the object is meant as it stands, else render its source again",
    ),
    "CC0116": Kind(
        "error",
        "annotation contrast-krm.dev/emitted marks what a render has added, and this is no such object: {problem}",
        "remove the annotation, or the object",
    ),
    "CC0118": Kind(
        "error",
        "{kind} {name} stands in the input twice, also at {other}",
        "remove one of the two, or give it another name; of two objects with one identity a cluster has only the last",
    ),
    # --- CC02: selection and annotations
    "CC0202": Kind("error", "{what} {key} has no effect on {place}", "move it to {where}"),
    "CC0203": Kind("error", "unknown {what} {key}", "{remedy}"),
    "CC0204": Kind("error", "annotation {key}: {problem}", "{remedy}"),
    "CC0205": Kind("error", "the egress annotation is empty", "name at least one egress, or remove the annotation"),
    "CC0206": Kind("error", "pod template has no containers", "add spec.containers; an empty pod cannot be sealed"),
    "CC0207": Kind(
        "error",
        "{key} must be {expected}, not {actual}",
        "write {expected}; put quotes around a text such as true",
    ),
    "CC0208": Kind("error", "two {what}s are named {name}", "rename one; Kubernetes would reject the pod"),
    # --- CC03: scheduling
    "CC0301": Kind("info", "pods will run on nodes with {selector}"),
    "CC0303": Kind("error", "RuntimeClass {name}: {problem}", "correct the RuntimeClass or the configuration"),
    "CC0304": Kind(
        "error",
        "nodeSelector {key}={pod} contradicts runtime class {name}, which needs {key}={wanted}",
        "remove the key from the pod template, or use the placeholder of the platform whose nodes have {key}={pod}",
    ),
    "CC0305": Kind(
        "error",
        "overhead is set but does not match runtime class {name}",
        "remove spec.overhead; the admission controller adds it",
    ),
    "CC0306": Kind("info", "scheduling of platform {platform} is written into RuntimeClass {name}"),
    "CC0307": Kind("info", "RuntimeClass {name} is emitted"),
    "CC0308": Kind(
        "error",
        "RuntimeClass {name} says {field}={found}, the configuration says {wanted}",
        "make the two agree",
    ),
    "CC0309": Kind("warning", "node label {label} is deprecated by Kubernetes", "use {successor}"),
    "CC0310": Kind(
        "warning", "nodeName pins the pod to {node} and bypasses the runtime class's scheduling", "remove nodeName"
    ),
    "CC0311": Kind(
        "error",
        "none of {count} takes the pod; closest is {node}: {reasons}",
        "add or label a node that fits, or change what the pod or its runtime class asks for",
    ),
    "CC0312": Kind(
        "warning",
        "{replicas} pods are wanted, but the nodes that fit hold {room} even when nothing else runs there",
        "add nodes, or lower the number of replicas",
    ),
    "CC0313": Kind(
        "warning",
        "runtime handler {handler} is not installed on {nodes}, where pods may be placed and would not start",
        "install the runtime of this release there, or keep the pods away with scheduling.nodeSelector",
    ),
    "CC0314": Kind("error", "{problem}", "give nodes as `kubectl get nodes -o yaml` prints them"),
    # --- CC04: runtime class placeholders
    "CC0401": Kind("error", "unknown runtime class {name}", "use one of {known}{suggestion}"),
    "CC0402": Kind(
        "error",
        "runtime class {name} names no platform and no default platform is configured",
        "set spec.platform in the ContrastGenerate, or use contrast-cc-<platform>",
    ),
    "CC0403": Kind(
        "error",
        "platform {platform} is not in release {release}",
        "add it to the ContrastRelease, or use one of {known}",
    ),
    "CC0404": Kind("info", "runtime class {before} becomes {after}"),
    "CC0405": Kind("error", "insecure platform {platform} is not supported", "use a confidential platform"),
    "CC0406": Kind(
        "error",
        "the pod needs {gpus} GPUs but its VM gets {vcpus} vCPUs",
        "raise the cpu limits: at least one vCPU a GPU",
    ),
    "CC0407": Kind(
        "error", "the pod's VM would have {vcpus} vCPUs; between 1 and 220 are possible", "lower the cpu limits"
    ),
    "CC0408": Kind("error", "{key}: {problem}", "write a Kubernetes quantity such as 500m or 2"),
    "CC0409": Kind(
        "warning",
        "the pod asks for a GPU but platform {platform} has none; an explicit platform is never changed",
        "use contrast-cc-{platform}-gpu, or the bare placeholder contrast-cc",
    ),
    # --- CC05: images
    "CC0501": Kind("error", "container {container} has no image", "name an image with its digest"),
    "CC0502": Kind("error", "image {image} is not pinned", "append @sha256:<digest>"),
    "CC0503": Kind(
        "error", "image {image} is not a valid reference: {problem}", "write registry/name:tag@sha256:<64 hex digits>"
    ),
    "CC0504": Kind(
        "error",
        "image {image} is not in the ImageLock",
        "run contrast-krm lock on the same resources, and commit what it writes",
    ),
    "CC0505": Kind(
        "error",
        "the ImageLock says {locked} for image {image}, which is pinned to another digest",
        "remove the entry from the ImageLock and run contrast-krm lock",
    ),
    "CC0506": Kind("info", "image {before} becomes {after}"),
    "CC0507": Kind(
        "error", "image {image} has tag {tag}, the release is {release}", "use the resources of release {release}"
    ),
    "CC0508": Kind(
        "error",
        "the ImageLock does not say which users image {image} has: its entry lacks {missing}",
        'run contrast-krm lock on the same resources, which fills it in; "" stands for an image without that file',
    ),
    # --- CC06: policy
    "CC0601": Kind(
        "error",
        "{field} is not covered by the policy generator yet",
        "remove the field, or set policy.engine: none and seal the pod with genpolicy",
    ),
    "CC0602": Kind("error", "{kind} {name} is not in the input", "render it together with the pod"),
    "CC0603": Kind("error", "{kind} {name} has no key {key}", "add the key or correct the reference"),
    "CC0604": Kind("error", "{field}: {problem}", "{remedy}"),
    "CC0605": Kind("error", "unknown field {field}", "{remedy}"),
    "CC0606": Kind("info", "policy sealed, digest {digest}"),
    "CC0607": Kind("info", "SNP ID block for {product}, {vcpus} vCPUs"),
    "CC0608": Kind(
        "error",
        "no SNP ID block can be made for platform {platform}: {problem}",
        "give TrustedMeasurement and APEIP in the release",
    ),
    "CC0609": Kind(
        "error", "no RTMR0 for {vcpus} vCPUs on platform {platform}", "add it to rtmr0ByVCPU of the release"
    ),
    "CC0610": Kind("error", "annotation {key} holds no initdata: {problem}", "remove it, or give valid initdata"),
    "CC0611": Kind(
        "error", "the annotations have {size} bytes, Kubernetes allows {limit}", "shorten the policy or the initdata"
    ),
    "CC0612": Kind("error", "policy settings: {problem}", "correct the settings"),
    "CC0613": Kind(
        "error",
        "initdata file {name} is in the pod's annotation and in spec.policy.initdata, with different texts",
        "keep one of the two",
    ),
    "CC0614": Kind("error", "genpolicy: {problem}", "{remedy}"),
    "CC0615": Kind(
        "error",
        "genpolicy answers without a usable initdata annotation: {problem}",
        "name the genpolicy of Contrast or of Kata 3.20 or newer; it is called with --base64-out",
    ),
    "CC0616": Kind(
        "error", "genpolicy {problem}", "see whether the image registry answers, or raise --genpolicy-timeout"
    ),
    "CC0617": Kind(
        "error",
        "weaker than the policy before: {what}: {why}",
        "take the change back, or review it and renew OLD",
    ),
    "CC0618": Kind("error", "the policy's data do not fit the rules of profile {profile}: {problem}", "{remedy}"),
    "CC0619": Kind("info", "stronger than the policy before: {what}: {why}"),
    "CC0621": Kind(
        "error",
        "the pod's annotation {key} holds {name}, which spec.policy.initdata does not",
        "remove the annotation; name each file that the pod needs under spec.policy.initdata",
    ),
    "CC0630": Kind(
        "warning",
        "the files of volume {volume} ({source}) are the host's, which can read and change them",
        "keep secrets in an emptyDir or in an encrypted volume, annotation contrast.edgeless.systems/secure-pv",
    ),
    "CC0631": Kind(
        "warning",
        "a device that comes with the resource {resource} is not in the policy, and the VM will not take it",
        "remove the resource, or name it as a GPU in the policy settings (devices.vfio.nvidia.pgpu_resource_keys)",
    ),
    "CC0640": Kind(
        "error",
        "{container}: {what} holds {token}, which profile strict cannot bind to one value",
        "write the value into the pod template, or leave out policy.profile: strict",
    ),
    "CC0641": Kind(
        "error",
        "policy settings: {member} is missing, as in a file of another Kata release",
        "take genpolicy-settings.json of Kata 4.1, or add the member with a drop-in",
    ),
    "CC0643": Kind(
        "error",
        "image {image} of {container} has a VOLUME {volume} that no volume of the pod covers: a host could fill it",
        "mount an emptyDir or an encrypted volume of spec.volumes at {volume}, written just so; no volumeClaimTemplate",
    ),
    "CC0650": Kind(
        "error",
        "release {version} is older than Contrast {oldest}, the oldest whose policies are known",
        "use a newer release; with policy.engine: none and manifest.emit: none all else is rendered",
    ),
    "CC0651": Kind(
        "warning",
        "release {version} is newer than Contrast {newest}; its nodes may refuse policies of profile {profile}",
        "update contrast-krm; until then try one pod before the others",
    ),
    "CC0652": Kind(
        "error",
        "profile {profile} is for nodes of Contrast {other}, the release is {version}",
        "leave out policy.profile, or set it to {right}",
    ),
    "CC0653": Kind(
        "warning",
        "profile {profile} is for nodes without Contrast; it does not bind {what}",
        "leave out policy.profile unless the nodes run plain Kata",
    ),
    # --- CC07: manifest
    "CC0701": Kind(
        "error",
        "no coordinator among the resources nor in manifest.base",
        "render coordinator.yml with them, set manifest.base, or set manifest.emit: none",
    ),
    "CC0702": Kind("error", "{field}: {problem}", "correct the manifest"),
    "CC0703": Kind(
        "warning", "please fill in all reference values for {entry}", "set {fields} under spec.manifest.referenceValues"
    ),
    "CC0704": Kind(
        "error",
        "{entry} still lacks {fields}, which only a manifest without a base may do",
        "fill in the values in the base or under spec.manifest.referenceValues",
    ),
    "CC0705": Kind(
        "error",
        "{first} and {second} have the same digest {digest}",
        "make the two differ, for instance by an annotation on the pod template; a manifest names each digest once",
    ),
    "CC0706": Kind("info", "manifest has {policies} policies"),
    "CC0707": Kind("error", "owner key: {problem}", "give the public key as PEM"),
    "CC0708": Kind(
        "error",
        "spec.manifest.policies names {name}, which is no workload of this render",
        "did you mean {suggestion}?",
    ),
    "CC0709": Kind(
        "error",
        "the manifest has no reference values for {platform}",
        "add them to the ContrastRelease or to manifest.base",
    ),
    "CC0711": Kind(
        "error",
        "{name} has no initdata to take its digest from, and policy.engine is none",
        "set policy.engine: native, set manifest.emit: none, or seal the pod first",
    ),
    "CC0712": Kind("error", "a workload without metadata.name cannot be in a manifest", "give it a name"),
    "CC0713": Kind(
        "error",
        "ConfigMap {name}, the base of the manifest, {problem}",
        "render the ConfigMap together with the workloads, or give the manifest itself as base",
    ),
    "CC0710": Kind(
        "error",
        "the object {name} of the input would be overwritten by the manifest",
        "set manifest.name to another name",
    ),
    # --- CC08: injection
    "CC0801": Kind("info", "initializer injected"),
    "CC0802": Kind("info", "service mesh injected"),
    "CC0803": Kind("info", "image store injected"),
    "CC0804": Kind("info", "secrets mounted into {container}"),
    "CC0805": Kind(
        "error", "volume {volume} must be {expected}, it is {actual}", "rename the volume or change its source"
    ),
    "CC0806": Kind("error", "secure-pv {value}: {problem}", "{remedy}"),
    "CC0807": Kind(
        "error",
        "container {container} mounts {volume}, a {source} that the host controls",
        "use a block device with the secure-pv annotation, or an emptyDir",
    ),
    "CC0808": Kind("error", "volumeClaimTemplate {name} is not of volumeMode Block", "set volumeMode: Block"),
    "CC0809": Kind("info", "replaces {container}, which the input already had"),
    "CC0810": Kind(
        "error",
        "container {container} mounts {volume}, which the pod does not have",
        "add the volume or correct the name",
    ),
    "CC0812": Kind(
        "error", "container {container} mounts {volume} at /contrast, where the secrets belong", "mount it elsewhere"
    ),
    # --- CC09: configuration
    "CC0901": Kind("error", "{kind} {name}: {field}: {problem}", "{remedy}"),
    "CC0902": Kind("error", "{kind} {name}: unknown field {field}", "did you mean {suggestion}?"),
    "CC0903": Kind(
        "error",
        "no ContrastRelease in the configuration",
        "pass one with --config, or add one to the resources with the local-config annotation",
    ),
    "CC0904": Kind("error", "two objects of kind {kind} in the configuration", "keep one"),
    "CC0905": Kind("error", "unknown kind {kind} in group contrast-krm.dev", "did you mean {suggestion}?"),
    "CC0906": Kind(
        "error",
        "no ImageLock in the configuration",
        "make one with contrast-krm lock and pass it with --config, or set policy.engine: none",
    ),
    "CC0907": Kind("error", "apiVersion {found} is not supported", "use contrast-krm.dev/v1alpha1"),
    "CC0908": Kind("error", "functionConfig of kind {kind} is not understood", "use a ContrastGenerate or a ConfigMap"),
    "CC0909": Kind("error", "{option}: {problem}", "{remedy}"),
    "CC0910": Kind("error", "the configuration cannot be read: {problem}", "{remedy}"),
    # --- CC10: environment
    "CC1001": Kind("error", "cannot be read: {problem}", "check the path and its permissions"),
    "CC1002": Kind("error", "cannot be written: {problem}", "check the path and its permissions"),
    "CC1003": Kind(
        "error",
        "the cluster cannot be asked for its nodes: {problem}",
        "check the kubeconfig and its current context, or save `kubectl get nodes -o yaml` and pass it with --nodes",
    ),
    # --- CC11: check
    "CC1101": Kind(
        "error",
        "placeholder {name} is left",
        "the function was not run on it: kustomize needs --enable-alpha-plugins --enable-exec; Helm 3 renders no hooks",
    ),
    "CC1102": Kind("error", "the pod has no policy", "render it with contrast-krm"),
    "CC1103": Kind(
        "error",
        "the pod is not what its policy describes: {field}",
        "nothing may change a pod template after it is sealed; render again",
    ),
    "CC1104": Kind("error", "digest {digest} is not in the manifest", "use the manifest of the same render"),
    "CC1105": Kind(
        "error",
        "the manifest has policies of no workload here: {names}",
        "check all resources of the deployment together",
    ),
    "CC1106": Kind("error", "no manifest in the input", "pass one with --manifest"),
    "CC1107": Kind(
        "error",
        "runtime class {name} does not exist in the input",
        "render with runtimeClasses: emit, or add the RuntimeClass",
    ),
    "CC1108": Kind(
        "error",
        "placeholder {name} is left in a Helm hook ({hook})",
        "Helm 3 sends no hooks to a post-renderer: use Helm 4, or pipe `helm template` into contrast-krm post-render",
    ),
    "CC1109": Kind(
        "error",
        "{kind} asks for runtime class {name}, but no pod of this kind is ever sealed",
        "use a Pod, ReplicationController, Deployment, DaemonSet, StatefulSet, ReplicaSet, Job or CronJob",
    ),
    "CC1110": Kind(
        "error",
        "the manifest gives the pod the role {found}, its template says {wanted}",
        "use the manifest of the same render",
    ),
    "CC1111": Kind(
        "error",
        "the manifest of {first} and that of {second} are not the same bytes",
        "keep one; Contrast signs and compares the manifest byte for byte",
    ),
    "CC1112": Kind(
        "error",
        "the manifest accepts no RTMR0 of a VM with {vcpus} vCPUs on platform {platform}",
        "the cpu limits were changed after the render; render again",
    ),
    "CC1113": Kind(
        "error",
        "a render with this configuration makes another manifest: {fields}",
        "render again, or check with the configuration of the render; what flags or hands add belongs in spec.manifest",
    ),
    "CC1114": Kind(
        "error",
        "a render with this configuration makes this object otherwise: {fields}",
        "nothing may change rendered output; render again, or check with the configuration of the render",
    ),
    "CC1115": Kind(
        "error",
        "a render with this configuration {problem}",
        "nothing may change rendered output; render again, or check with the configuration of the render",
    ),
    "CC1116": Kind(
        "error",
        "RuntimeClass {name} has the handler {handler}; a class of Contrast's has its own name as handler",
        "take the RuntimeClass of the release; with another handler its pods run in no confidential VM, or unsealed",
    ),
    "CC1117": Kind("info", "not compared with another render: {what}"),
    "CC1118": Kind(
        "error",
        "there is no document to check",
        "see why the command before made none; in a shell, `set -o pipefail` lets its failure through",
    ),
    # --- CC12: images, as `lock` finds them; from CC1250 on it is about the way to them
    "CC1201": Kind("warning", "image {image} is not pinned; now it is {digest}", "write {pinned}"),
    "CC1202": Kind(
        "error",
        "image {image} does not exist in {place}",
        "correct the name or the digest; is it for another registry?",
    ),
    "CC1203": Kind(
        "error",
        "image {image}: {what} {problem}, so it is not {digest}",
        "it was damaged or exchanged on its way; do not use it, and ask the operator of the registry",
    ),
    "CC1204": Kind("error", "image {image}: {what} {problem}", "build and push the image again with a current tool"),
    "CC1205": Kind(
        "error",
        "image {image} is not for linux/amd64, only for {found}",
        "build it for linux/amd64, the platform of confidential VMs",
    ),
    "CC1206": Kind(
        "error",
        "image {image}: {what} has more than {limit}",
        "use a smaller image; for layers --max-layer-size raises the limit",
    ),
    "CC1207": Kind(
        "warning",
        "image {image}: the archive has no manifest, so nothing proves that it has this digest",
        "compare the entry with the registry's, or save the image with a newer Docker",
    ),
    "CC1208": Kind(
        "error",
        "image {image}: {name} has no certain content: {problem}",
        "build the image with a plain file there, or write the entry by hand; see docs/how-to/release-and-lock.md",
    ),
    "CC1209": Kind(
        "error",
        "image {image} is not pinned, and the archive has no manifest to take its digest from",
        "pin the image, or save it with a newer Docker",
    ),
    "CC1210": Kind(
        "warning", "no Contrast workload in the input, so no image to lock", "give the resources of the deployment"
    ),
    "CC1211": Kind(
        "warning",
        "no ContrastRelease, so the images that a render injects are not locked",
        "pass the release with --config",
    ),
    "CC1212": Kind(
        "error",
        "{lock} is not written: for {seconds} s another run has been writing into the same directory",
        "wait for it or end it, then run this again; what was found is not kept",
    ),
    "CC1213": Kind(
        "warning",
        "{lock} is written without a lock against other runs: {problem}",
        "run one contrast-krm lock at a time on this file system",
    ),
    "CC1250": Kind("error", "image {image}: {registry}: {problem}", "{remedy}"),
    "CC1251": Kind(
        "error",
        "image {image}: {registry} refuses access: {problem}",
        "log in with docker login {registry}; logins are read from docker's config.json",
    ),
    "CC1252": Kind("error", "image {image}: {what} {problem}", "correct it, or run docker login again"),
    "CC1253": Kind(
        "error",
        "image {image}: {registry} would be spoken to over plain HTTP",
        "use HTTPS, or allow it with --insecure-registry {registry}",
    ),
    "CC1254": Kind("error", "{place}: {problem}", "check the path behind --from"),
    # --- CC13: a release's files, and setting a deployment up
    "CC1301": Kind(
        "error",
        "{field} is {first} in {one} and {second} in {other}",
        "give files of one release only; if a value that is there is wrong, remove it first",
    ),
    "CC1302": Kind(
        "error",
        "{one} and {other} are handlers of two releases",
        "give runtime files of one release, for all platforms",
    ),
    "CC1303": Kind("error", "no file says which release this is", "say it with --release"),
    "CC1304": Kind(
        "error",
        "not understood as a file of a Contrast release: {problem}",
        "give runtime-*.yml, coordinator.yml, image replacements, a manifest.json or the reference values of the CLI",
    ),
    "CC1305": Kind("warning", "{what}: left out, {why}", "give that file as well if you need it"),
    "CC1306": Kind(
        "error",
        "{field} is of release {before}, and no file says what it is in {now}",
        "give the file that says it, or remove the field first",
    ),
    "CC1307": Kind("warning", "not known: {what}", "{remedy}"),
    "CC1308": Kind(
        "warning",
        "{field} is the same as in release {before}",
        "let `contrast generate` of release {now} make a new manifest.json; it keeps the values of one that is there",
    ),
    "CC1310": Kind("error", "{what} in {directory}", "say which with --kustomize or --kpt"),
    "CC1311": Kind("error", "cannot be wired: {problem}", "correct or rename the file, or wire it by hand"),
    "CC1312": Kind(
        "warning",
        "{what} is not the last, {after} comes later",
        "put it last: nothing may change a pod after it is sealed",
    ),
    "CC1313": Kind("error", "more than one {kind}: {files}", "keep one, or list the one that counts"),
    "CC1320": Kind("error", "contrast-krm cannot be installed: {problem}", "name a Python that fits with --python"),
    "CC1321": Kind(
        "warning", "{python} is not on this machine, so the copy was not tried", "run it once where it will be used"
    ),
}
