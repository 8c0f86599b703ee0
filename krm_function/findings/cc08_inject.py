"""CC08: injected containers, and the volumes that they and the pod mount."""

from krm_function.findings.row import Row

ENCRYPTED_STORAGE = "https://docs.edgeless.systems/contrast/1.25/howto/encrypted-storage"
ELSEWHERE = "mount it elsewhere, and put into the image what has to stand there"

ROWS: dict[str, Row] = {
    "CC0801": Row("info", "initializer injected"),
    "CC0802": Row("info", "service mesh injected"),
    "CC0803": Row("info", "image store injected"),
    "CC0804": Row("info", "secrets mounted into {container}"),
    "CC0805": Row(
        "error", "volume {volume} must be {expected}, it is {actual}", "rename the volume or change its source"
    ),
    "CC0806": Row(
        "error",
        "secure-pv {value}: {problem}",
        "{remedy}",
        {
            "form": (
                "must have the form device-name:mount-name",
                "name a volume and an emptyDir, joined by one colon",
            ),
            "device": (
                "device {device} not found",
                "add a persistentVolumeClaim or iscsi volume, or a StatefulSet's volumeClaimTemplate, of this name",
            ),
            "mount": ("the mount cannot be {mount}", "name an emptyDir of its own"),
        },
    ),
    "CC0807": Row(
        "error",
        "container {container} mounts {volume}, a {source} that the host controls",
        (
            "mount an emptyDir for what may be lost with the pod; for what stays, name a claim of volumeMode Block"
            f" in the annotation contrast.edgeless.systems/secure-pv, see {ENCRYPTED_STORAGE}, or in volumeDevices;"
            " rules of spec.volumes of the ContrastGenerate do the first two for claims and caches"
        ),
    ),
    "CC0808": Row(
        "error",
        "volumeClaimTemplate {name} is not of volumeMode Block",
        (
            "set volumeMode: Block, and in place of its mounts name it in the annotation"
            f" contrast.edgeless.systems/secure-pv, see {ENCRYPTED_STORAGE}, or in volumeDevices;"
            " or use an emptyDir for what may be lost with the pod"
        ),
    ),
    "CC0809": Row("info", "replaces {container}, which the input already had"),
    "CC0810": Row(
        "error",
        "container {container} mounts {volume}, which the pod does not have",
        "add the volume or correct the name",
    ),
    "CC0812": Row(
        "error", "container {container} mounts {volume} at {place}, where the secrets belong", "mount it elsewhere"
    ),
    "CC0813": Row(
        "warning",
        "the injected {container} runs as the pod's securityContext says: {problem}",
        "{remedy}",
        {
            "lock": (
                "there is no ImageLock entry for its image {image}, so the user of the image is not known",
                "lock the images with contrast-krm lock, and name the lock with --config",
            ),
            "user": (
                "the ImageLock does not say which number the user or group of its image {image} has",
                (
                    "remove the entry from the lock and run contrast-krm lock again;"
                    " if that gives the same, use an image whose User is a number"
                ),
            ),
        },
    ),
    "CC0820": Row(
        "error",
        "container {container}: the host writes the files of {what}, and so chooses {problem}",
        "{remedy}",
        {
            "secrets": ("{place}, where the pod's certificates and secrets are", "mount it elsewhere"),
            "loader": ("{place}, which the loader reads before any program runs", ELSEWHERE),
            "shell": ("{place}, which a shell runs when it starts", ELSEWHERE),
            "python": ("{place}, which Python runs when it starts", ELSEWHERE),
            "program": (
                "the program {program}, which the container starts",
                "put the program into the image, and mount its configuration and data elsewhere",
            ),
        },
    ),
    "CC0821": Row(
        "warning",
        "container {container} runs the script {program} out of {what}: the host writes its files and may replace it",
        "put the script into the image; the policy holds the command, and not the content of a mounted file",
    ),
    "CC0830": Row(
        "error",
        "volume {volume} is a block device of the pod, and PersistentVolumeClaim {claim} is not of volumeMode Block",
        "set spec.volumeMode: Block in PersistentVolumeClaim {claim}; else the kubelet never starts the pod",
    ),
    "CC0831": Row("info", "emptyDir {volume} becomes one emptyDir for each subPath"),
    "CC0832": Row("info", "claim {volume} becomes an encrypted volume"),
    "CC0833": Row("info", "an emptyDir is mounted at VOLUME {place} of an image"),
    "CC0834": Row("info", "cache {volume} on the node becomes an emptyDir"),
    "CC0835": Row("info", "PersistentVolumeClaim {claim} becomes a block device"),
    "CC0836": Row(
        "error",
        "splitSubPaths leaves emptyDir {volume} as it is: {problem}",
        "{remedy}",
        {
            "expression": (
                "container {container} mounts it by subPathExpr, which only the running container knows",
                "write a subPath in its place, or give that path an emptyDir of its own",
            ),
            "whole": (
                "container {container} mounts all of it, and so sees what is at the other paths",
                "mount an emptyDir of its own there, or the same paths",
            ),
            "nested": (
                "{below} is in {place}, so its files have to be in both",
                "mount {place} alone, or give one of the two an emptyDir of its own",
            ),
            "path": (
                "its subPath {place} is one that Kubernetes refuses",
                "write a path without .. that does not begin with /",
            ),
            "named": (
                "the annotation {key} names it",
                "take it out of the annotation, or write the emptyDirs and their names yourself",
            ),
            "limit": (
                "its sizeLimit is for {count} paths together",
                "write splitSubPaths: divideSizeLimit in spec.volumes, or remove the sizeLimit",
            ),
            "small": ("its sizeLimit cannot be divided among {count} paths", "correct the sizeLimit, or remove it"),
        },
    ),
    "CC0837": Row(
        "error",
        "securePV does not encrypt claim {volume}: {problem}",
        "{remedy}",
        {
            "initializer": (
                "the pod has no initializer, which would open it",
                "take the claim out of spec.volumes.securePV, or let the pod have its initializer",
            ),
            "one": (
                "the annotation contrast.edgeless.systems/secure-pv names {other}, and a pod has one encrypted volume",
                "take one of the two out, or keep what may be lost with the pod in an emptyDir",
            ),
            "claims": (
                "{names} are named as well, and a pod has one encrypted volume",
                "name one of them, and keep what may be lost with the pod in an emptyDir",
            ),
            "device": (
                "the pod has it as a block device already",
                "take the claim out of spec.volumes.securePV, or mount it in place of volumeDevices",
            ),
            "part": (
                "container {container} mounts the part {place} of it, and an encrypted volume is mounted as a whole",
                "mount it without subPath, and let the program use a directory below",
            ),
            "propagation": (
                "container {container} mounts it with another mountPropagation than HostToContainer",
                "remove mountPropagation",
            ),
            "read-only": (
                "its volume is readOnly, and it is formatted the first time",
                "remove readOnly of the volume",
            ),
            "several": (
                "{runs}, and two VMs would write one file system",
                "run one pod, or use a StatefulSet with a volumeClaimTemplate, which gives each pod a claim",
            ),
            "access": (
                "PersistentVolumeClaim {claim} is {mode}, and two VMs would write one file system",
                "make it ReadWriteOncePod or ReadWriteOnce",
            ),
            "shared": (
                "{users} has it as well, and two VMs would write one file system",
                "give each workload a claim of its own",
            ),
        },
    ),
    "CC0838": Row(
        "error",
        "hostPathCaches leaves volume {volume} as it is, {place} on the node: {problem}",
        "{remedy}",
        {
            "type": (
                "its type {type} asks for what is there",
                "put what the pod needs into the image or an encrypted volume; a cache is of type DirectoryOrCreate",
            ),
            "read-only": (
                "every container mounts it readOnly, so nothing would be in an emptyDir",
                "fill an emptyDir in an init container, or put the files into the image",
            ),
        },
    ),
    "CC0839": Row(
        "error",
        "container {container} mounts {written}, and VOLUME {place} of its image is the same place",
        "write the mountPath as the image does: {place}",
    ),
    "CC0840": Row(
        "error",
        "{problem}",
        "{remedy}",
        {
            "claim": (
                "spec.volumes.securePV.claims[{index}]: no confidential pod has a claim {name}",
                "correct the name: that of a claim, a volumeClaimTemplate or the volume of the pod; or remove it",
            ),
            "path": (
                "spec.volumes.hostPathCaches.paths[{index}]: no confidential pod mounts {place} of its node",
                "correct the path, or remove it",
            ),
        },
    ),
    "CC0841": Row(
        "warning",
        "container {container} gets an empty directory at {place}, without files that its image {image} may have there",
        "if the program needs such files, mount an emptyDir there and fill it in an init container of the same image",
    ),
    "CC0842": Row(
        "warning",
        "PersistentVolumeClaim {claim} of the encrypted volume {volume} is not in the input",
        "make it volumeMode: Block where it stands; the kubelet never starts the pod with a file system",
    ),
    "CC0843": Row(
        "warning",
        "{problem}, and both would have the encrypted volume {volume} open",
        "{remedy}",
        {
            "rolling": (
                "a rolling update of the Deployment starts a second pod before the first one ends",
                "set strategy.type: Recreate, or accessModes: [ReadWriteOncePod] in PersistentVolumeClaim {claim}",
            ),
            "schedule": (
                "the CronJob may start a second pod before the first one ends",
                "set concurrencyPolicy: Forbid, or accessModes: [ReadWriteOncePod] in PersistentVolumeClaim {claim}",
            ),
        },
    ),
    "CC0844": Row(
        "warning",
        "fsGroup {group} does not reach the encrypted volume {volume}: its directory belongs to root",
        "let an init container that runs as root change the owner, if the program runs as another user",
    ),
}
