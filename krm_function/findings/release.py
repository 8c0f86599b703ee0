"""CC13: the files of a Contrast release, and setting a deployment up."""

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
    ),
    "CC1305": Row("warning", "{what}: left out, {why}", "give that file as well if you need it"),
    "CC1306": Row(
        "error",
        "{field} is of release {before}, and no file says what it is in {now}",
        "give the file that says it, or remove the field first",
    ),
    "CC1307": Row("warning", "not known: {what}", "{remedy}"),
    "CC1308": Row(
        "warning",
        "{field} is the same as in release {before}",
        "let `contrast generate` of release {now} make a new manifest.json; it keeps the values of one that is there",
    ),
    "CC1310": Row("error", "{what} in {directory}", "say which with --kustomize or --kpt"),
    "CC1311": Row("error", "cannot be wired: {problem}", "correct or rename the file, or wire it by hand"),
    "CC1312": Row(
        "warning",
        "{what} is not the last, {after} comes later",
        "put it last: nothing may change a pod after it is sealed",
    ),
    "CC1313": Row("error", "more than one {kind}: {files}", "keep one, or list the one that counts"),
    "CC1320": Row("error", "contrast-krm cannot be installed: {problem}", "name a Python that fits with --python"),
    "CC1321": Row(
        "warning", "{python} is not on this machine, so the copy was not tried", "run it once where it will be used"
    ),
}
