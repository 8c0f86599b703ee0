"""CC08: injected containers, and the volumes that they and the pod mount."""

from krm_function.findings.row import Row

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
        "use a block device with the secure-pv annotation, or an emptyDir",
    ),
    "CC0808": Row("error", "volumeClaimTemplate {name} is not of volumeMode Block", "set volumeMode: Block"),
    "CC0809": Row("info", "replaces {container}, which the input already had"),
    "CC0810": Row(
        "error",
        "container {container} mounts {volume}, which the pod does not have",
        "add the volume or correct the name",
    ),
    "CC0812": Row(
        "error", "container {container} mounts {volume} at /contrast, where the secrets belong", "mount it elsewhere"
    ),
}
