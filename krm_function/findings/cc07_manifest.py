"""CC07: the manifest."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0701": Row(
        "error",
        "no coordinator among the resources nor in manifest.base",
        "render coordinator.yml with them, set manifest.base, or set manifest.emit: none",
    ),
    "CC0742": Row(
        "warning",
        "the base has fields of a newer manifest, which are kept as they are: {names}",
        "look whether there is a version of contrast-krm that knows them; remove them if they are a mistake",
    ),
    "CC0741": Row(
        "error",
        "it runs the coordinator's image and is no coordinator: {problem}",
        "{remedy}",
        {
            "plain": (
                "its pod names no class of Contrast's, and runs outside of a VM",
                "render coordinator.yml of the release in its place, with runtimeClassName: contrast-cc in its pod",
            ),
            "kind": (
                "a {kind} has the role in older releases alone",
                "render coordinator.yml of the release in its place, which has a StatefulSet",
            ),
            "unlabelled": (
                "its pod template has no label that gives it the role",
                "add the label {label}: coordinator to its pod template, as coordinator.yml of the release has it",
            ),
        },
    ),
    # without a variant in the words of krm_function/manifest, which validates as Contrast does
    "CC0702": Row(
        "error",
        "{field}: {problem}",
        "correct the manifest",
        {
            "role": "unknown role {role}",
            "unfilled": (
                "not filled in",
                "set these under spec.manifest.referenceValues of the ContrastGenerate, and render again",
            ),
        },
    ),
    "CC0703": Row(
        "warning", "please fill in all reference values for {entry}", "set {fields} under spec.manifest.referenceValues"
    ),
    "CC0704": Row(
        "error",
        "{entry} still lacks {fields}, which only a manifest without a base may do",
        "fill in the values in the base or under spec.manifest.referenceValues",
    ),
    "CC0770": Row(
        "warning",
        "nobody will be able to update the manifest: it has no workload owner key",
        "make one with contrast-krm keys new --workload-owner, or write disableUpdates: true if that is meant",
    ),
    "CC0771": Row(
        "error",
        "the initializers look for the coordinator at {host}, and its Service is {service}",
        "leave namePrefix, nameSuffix and another namespace out of the kustomization or chart that has the coordinator",
    ),
    "CC0705": Row(
        "error",
        "{first} and {second} have the same digest {digest}",
        "make the two differ, for instance by an annotation on the pod template; a manifest names each digest once",
    ),
    "CC0706": Row("info", "manifest has {policies} policies"),
    # in the words of manifest/owner_keys, as for options of the command line
    "CC0707": Row("error", "owner key: {problem}", "give the public key as PEM"),
    "CC0708": Row(
        "error",
        "spec.manifest.policies names {name}, {problem}",
        "did you mean {suggestion}? if there is no such workload any more, remove the entry",
        {
            "absent": "which is no workload of this render",
            "none": ("which is no workload of this render", "remove the entry; there is no Contrast workload here"),
            "skipped": (
                "which is no Contrast workload: {reason}",
                "set the runtimeClassName of {workload} to contrast-cc-<platform>, or remove the entry",
            ),
        },
    ),
    "CC0709": Row(
        "error",
        "the manifest has no reference values for {platform}",
        "add them to the ContrastRelease or to manifest.base",
    ),
    "CC0711": Row(
        "error",
        "{name} has no initdata to take its digest from, and policy.engine is none",
        "set policy.engine: native, set manifest.emit: none, or seal the pod first",
    ),
    "CC0712": Row("error", "a workload without metadata.name cannot be in a manifest", "give it a name"),
    "CC0713": Row(
        "error",
        "ConfigMap {name}, the base of the manifest, {problem}",
        "render the ConfigMap together with the workloads, or give the manifest itself as base",
        {
            "absent": "is not in the input",
            "twice": "is in the input more than once",
            "content": "{error}",  # in the words of config/document, which reads the configuration's as well
        },
    ),
    "CC0714": Row(
        "warning",
        "{problem}",
        "{remedy}",
        {
            "apply": (
                "the ConfigMap {name} takes {size} of the {limit} bytes that kubectl apply can keep in its annotation",
                (
                    "use kubectl apply --server-side, which keeps none; or set manifest.emit: LocalConfig,"
                    " with which contrast-krm manifest still prints it"
                ),
            ),
            "object": (
                "the ConfigMap {name} takes {size} of the {limit} bytes that the API server accepts",
                "set manifest.emit: none, and write the manifest to a file with generate --manifest FILE",
            ),
        },
    ),
    "CC0715": Row(
        "warning",
        "{problem}",
        "{remedy}",
        {
            "apply": (
                "{name} takes {size} of the {limit} bytes that kubectl apply can keep in its annotation",
                "use kubectl apply --server-side, Helm, kpt or GitOps with server-side apply, which keep none",
            ),
            "etcd": (
                "{name} has {size} bytes, of the {limit} that etcd takes in one request",
                "move what makes it long, such as variables, into a ConfigMap or an image; nothing stores a larger one",
            ),
        },
    ),
    "CC0710": Row(
        "error",
        "the object {name} of the input would be overwritten by the manifest",
        "set manifest.name to another name",
    ),
    "CC0720": Row(
        "error",
        "{problem}",
        "{remedy}",
        {
            "several": (
                "{names} all have the label pod-role: coordinator",
                "leave it on the one that is the coordinator, and look for commonLabels, which write it to every pod",
            ),
            "kind": (
                "{name} has the label pod-role: coordinator and is no StatefulSet",
                "remove the label; if it is the coordinator, set spec.manifest.{configured}",
            ),
            "other": (
                "{name} has the label pod-role: coordinator, and spec.manifest.coordinator names {configured}",
                "remove the label, or name this workload",
            ),
            "base": (
                "{name} has the label pod-role: coordinator, and the coordinator is {other}",
                "remove the label; if the coordinator has moved, set spec.manifest.{configured}",
            ),
            "unlabelled": (
                "spec.manifest.coordinator names {configured}, which has not the label pod-role: coordinator",
                "add the label contrast.edgeless.systems/pod-role: coordinator to its pod template",
            ),
            "absent": (
                "spec.manifest.coordinator names {configured}, which is neither here nor in manifest.base",
                "correct kind, namespace and name, render it with the others, or remove the entry",
            ),
            "lost": (
                "the coordinator of manifest.base has not the label pod-role: coordinator any more",
                "add the label contrast.edgeless.systems/pod-role: coordinator to its pod template",
            ),
        },
    ),
    "CC0721": Row(
        "error",
        "spec.manifest.policies names {name}, which is {owners}",
        "give the whole key in place of the name: {keys}",
    ),
    "CC0722": Row(
        "error",
        "{name} would be in the certificate of this workload, and is a name of {others}",
        "rename the workload; if a client may take one for the other, set spec.manifest.{setting}",
    ),
    "CC0723": Row(
        "error",
        "the workload secret {id} is {problem}",
        "{remedy}",
        {
            "derived": (
                "the one of {others}",
                "remove the annotation workload-secret-id; if they may share it, set spec.manifest.{setting}",
            ),
            "base": (
                "the one of {others} in manifest.base, and an annotation does not prove that this is the same workload",
                "if it is the same, or if they may share it, set spec.manifest.{setting}",
            ),
            "shared": (
                "also the one of {others}",
                (
                    "remove the annotation workload-secret-id, and look for commonAnnotations, which write it to every "
                    "pod; if they may share it, set spec.manifest.{setting}"
                ),
            ),
        },
    ),
    "CC0724": Row(
        "error",
        "{problem}",
        "{remedy}",
        {
            "name": (
                "{entry} has no WorkloadSecretID, so that only its name says that it is of this workload",
                "if it is, set spec.manifest.{setting}; else rename the workload",
            ),
            "digest": (
                "the digest {digest} is that of {entry}, which is another workload than {key}",
                "remove the entry from the base if this is the same workload; else make their pod templates differ",
            ),
        },
    ),
    "CC0725": Row(
        "error",
        "spec.manifest.sharedSecrets: {problem}",
        "{remedy}",
        {
            "absent": ("nothing has the workload secret {id}", "correct the id and the workloads, or remove the entry"),
            "other": (
                "{names} has another workload secret than {id}",
                "set the annotation workload-secret-id of its pod template, or remove it from the list",
            ),
        },
    ),
    "CC0726": Row(
        "warning",
        "{problem}",
        "see that it is meant, or check with --config",
        {
            "role": "the manifest has several coordinators: {names}",
            "secret": "{names} have the workload secret {id}",
            "name": "{names} entries of the manifest have the name {name} in their certificates",
        },
    ),
    "CC0730": Row(
        "warning",
        "the manifest keeps {policies} policies and {values} reference values of manifest.base beside the new ones",
        "when no pod of the earlier render is left, contrast-krm manifest prune --cluster, then take manifest.keep out",
    ),
    "CC0731": Row(
        "warning",
        "the manifest also has earlier policies of {names}",
        "when no pod of the earlier render is left, contrast-krm manifest prune --cluster, then take manifest.keep out",
    ),
    "CC0732": Row(
        "warning",
        "manifest.keep: previous keeps nothing without manifest.base",
        "name the manifest that the coordinator has now under spec.manifest.base, or leave keep out",
    ),
    "CC0733": Row(
        "error",
        "not pruned: {count} pods or templates of the earlier render are left: {names}",
        "wait for the rollout to end; contrast-krm why says of a pod why it does not",
    ),
    "CC0734": Row(
        "error",
        "there is nothing to prune: {problem}",
        "{remedy}",
        {
            "keep": (
                "spec.manifest.keep of the configuration is not previous",
                "call it with the configuration and the input of the render that kept them",
            ),
        },
    ),
}
