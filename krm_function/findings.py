"""Everything contrast-krm can say about an input, as one table.

Rule of this file: a sentence or a hint that a user reads about their input is written here and nowhere else. Code
raises a code and the values of its placeholders; severity, wording, remedy and documentation anchor come from the
table. A value is never a Secret's data, an env value or an annotation longer than 64 characters.
"""

from typing import Any, Literal, NamedTuple

from krm_function.krm.result import dotted

__all__ = ["KINDS", "Finding", "Kind", "Path", "Ref", "Severity", "dotted", "finding", "has_errors"]

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
        return f"docs/reference/findings.md#{self.code.lower()}"


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
    "CC0109": Kind(
        "error",
        "the input is empty",
        "Helm 3 sends nothing to a post-renderer under --output-dir; drop that flag, or pipe `helm template` into us",
    ),
    "CC0110": Kind(
        "error", "the edited text does not parse back to the intended object: {problem}", "report this as a bug"
    ),
    # --- CC02: selection and annotations
    "CC0202": Kind("error", "{what} {key} has no effect on {place}", "move it to {where}"),
    "CC0203": Kind("error", "unknown {what} {key}", "{remedy}"),
    "CC0204": Kind("error", "annotation {key}: {problem}", "{remedy}"),
    "CC0205": Kind("error", "the egress annotation is empty", "name at least one egress, or remove the annotation"),
    "CC0206": Kind("error", "pod template has no containers", "add spec.containers; an empty pod cannot be sealed"),
    "CC0207": Kind(
        "error", "{key} must be {expected}, not {actual}", "correct the type; Kubernetes would reject it as well"
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
        "add its digest and configuration to the ImageLock; see docs/how-to/release-and-lock.md",
    ),
    "CC0505": Kind(
        "error",
        "the ImageLock says {locked} for image {image}, which is pinned to another digest",
        "update the entry in the ImageLock; see docs/how-to/release-and-lock.md",
    ),
    "CC0506": Kind("info", "image {before} becomes {after}"),
    "CC0507": Kind(
        "error", "image {image} has tag {tag}, the release is {release}", "use the resources of release {release}"
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
        "pass one with --config, see docs/how-to/release-and-lock.md, or set policy.engine: none",
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
}
