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
            "for what may be lost with the pod mount an emptyDir (medium: Memory keeps it in the VM's memory);"
            " for what stays name a claim of volumeMode Block in the annotation contrast.edgeless.systems/secure-pv"
            f" and mount the emptyDir that it opens, see {ENCRYPTED_STORAGE},"
            " or list the claim in volumeDevices as a block device"
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
}
