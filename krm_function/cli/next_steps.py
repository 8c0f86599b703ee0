"""The steps after `contrast-krm init`: the purpose of each, and below it the command to copy."""

import os
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from krm_function.cli.existing_files import data_of, has_coordinator, plain_workloads, text_of, values_of
from krm_function.config.document import API_VERSION
from krm_function.config.wiring import Files, Function, HostName, function_of
from krm_function.contrast.injected import INITIALIZER_IMAGE
from krm_function.contrast.platforms import BARE, PLATFORMS
from krm_function.hosts.files import CHART, SUFFIXES, FileProblem, FoundFile, read_file
from krm_function.kubernetes.objects import dig, listed, mapping, maps
from krm_function.record import NamedTuple

# --- Whether Git ignores a file: by the .gitignore files of its work tree, and .git/info/exclude
#
#     pattern            ignores
#     *.pem              every file of such a name below the .gitignore
#     /keys/*.pem        such files in that directory, relative to the .gitignore
#     keys/              everything in a directory of that name
#     !public.pem        nothing: cancels an earlier pattern
#
# Rule: no program is started, and only the work tree is read. Patterns that a user has for all repositories are not
# read, so at worst an ignored file is reported as open.


def work_tree(path: str) -> str:
    """Return the top directory of the Git work tree that holds a path; "" if there is none."""
    directory = os.path.realpath(path)
    while not os.path.lexists(os.path.join(directory, ".git")):
        directory, below = os.path.dirname(directory), directory
        if directory == below:
            return ""
    return directory


def is_open_to_git(path: str) -> bool:
    """Tell whether `git add` would take a file: it is in a work tree, and no pattern ignores it."""
    directory = os.path.realpath(os.path.dirname(path) or ".")
    top = work_tree(directory)
    if not top:
        return False
    real = os.path.join(directory, os.path.basename(path))
    ignored = False
    for place, pattern in _read_patterns(top, directory):
        name, below = pattern.removeprefix("!"), os.path.relpath(real, place)
        if any(_matches(name, part, is_file=part == below) for part in _list_parents(below)):
            ignored = name == pattern
    return not ignored


def _read_patterns(top: str, directory: str) -> Iterator[tuple[str, str]]:
    """Yield directory and pattern of each line; later ones take precedence."""
    below = os.path.relpath(directory, top)
    steps = below.split(os.sep) if below != os.curdir else []
    places = [os.path.join(top, *steps[:count]) for count in range(len(steps) + 1)]
    files = [(top, os.path.join(top, ".git", "info", "exclude"))]
    for place, file in files + [(place, os.path.join(place, ".gitignore")) for place in places]:
        try:
            text = read_file(file, top).decode("utf-8", "replace") if os.path.isfile(file) else ""
        except FileProblem:
            continue
        lines = (line.rstrip() for line in text.splitlines())
        yield from ((place, line) for line in lines if line and not line.startswith("#"))


def _list_parents(path: str) -> Iterator[str]:
    while path:
        yield path
        path = os.path.dirname(path)


def _matches(pattern: str, path: str, *, is_file: bool) -> bool:
    if pattern.endswith("/") and is_file:
        return False
    pattern = pattern.rstrip("/")
    if "/" not in pattern.removeprefix("**/"):
        return fnmatchcase(os.path.basename(path), pattern.removeprefix("**/"))
    return fnmatchcase(path, pattern.removeprefix("/"))


# --- The commands for each form of the function in kustomize: build, show the input, install a plugin
#
#     form        options to build                         options to show the input of `lock` and `assess`
#     exec        --enable-alpha-plugins --enable-exec     the same without --enable-exec: kustomize skips the program
#     others      --enable-alpha-plugins                   the same in the form exec, and back again
#
# Rule: commands are text; the only check of the machine is whether the legacy plugin is installed.


PLUGIN = f"{API_VERSION}/contrastgenerate/ContrastGenerate"
HOME_VARIABLE = "KUSTOMIZE_PLUGIN_HOME"


def function_in(values: list[dict[str, object]]) -> Function:
    """Return the form of the ContrastGenerate among these objects."""
    return next((function_of(value) for value in values if value.get("kind") == "ContrastGenerate"), Function("exec"))


def options_of(function: Function) -> str:
    """Return the options of `init` for this form."""
    return f"--function {function.form}" + (f" --image {function.image}" if function.image else "")


def look(function: Function, directory: str, pipe: str) -> str:
    """Return the command that passes the input of the function to `pipe`. directory: quoted."""
    line = f"kustomize build --enable-alpha-plugins {directory} | {pipe}"
    if function.form == "exec":
        return line
    init = f"contrast-krm init {directory} --kustomize"
    return f"{init} --function exec > /dev/null 2>&1 && {line}; {init} {options_of(function)}"


def install_plugin(function: Function) -> str:
    """Return the command that installs a legacy plugin for kustomize; "" if it is installed or not needed."""
    home = _plugin_home()
    if function.form != "legacy" or os.access(os.path.join(home, PLUGIN), os.X_OK):
        return ""
    if os.path.basename(home) == "plugin":
        return f"contrast-krm install {shlex.quote(os.path.dirname(home))}"
    return f"contrast-krm install contrast && export {HOME_VARIABLE}=$PWD/contrast/plugin"


def _plugin_home() -> str:
    """Return the directory that kustomize searches: docs/facts/kustomize.md#legacy-plugin."""
    home_variable = os.environ.get(HOME_VARIABLE, "").rstrip("/")
    if home_variable:
        return home_variable
    user = os.path.expanduser("~")
    settings = os.environ.get("XDG_CONFIG_HOME", "")
    below = ([settings] if settings else []) + [os.path.join(user, ".config"), user]
    homes = [os.path.join(place, "kustomize", "plugin") for place in below]
    return next((home for home in homes if os.path.isdir(home)), homes[0])


# --- The steps after `contrast-krm init`: the purpose of each, and below it the command to copy
#
# Rule: a step is listed while the files show that it is not done. The last steps leave no trace in files and are always
# listed. A command works unchanged in the directory where init was called; only numbers that no program can determine
# appear as letters.


PRIVATE_KEYS = "*-owner.pem"
IGNORES_KEYS = {PRIVATE_KEYS, "*.pem"}
IMPORT = "contrast --version | contrast-krm release import - runtime-*.yml coordinator.yml manifest.json"
TCB = "BootloaderVersion=B,TEEVersion=T,SNPVersion=S,MicrocodeVersion=M"


class State(NamedTuple):
    """A wired deployment. files: names below the directory; resources: files that a host reads.

    chart: directory of Helm's chart, or of plain files.
    """

    directory: str
    host: HostName
    files: Files
    generate: bytes
    release: bytes
    lock: bytes
    resources: Sequence[FoundFile]
    chart: str = ""


def steps(state: State) -> list[str]:
    """Return `next:` and, for each step, a line with its purpose and a line with its command."""
    lines = ["next:"]
    for number, (why, command) in enumerate(_steps(state), 1):
        lines += [f"  {number}. {why}:", f"     {command}"]
    return lines


def _steps(state: State) -> Iterator[tuple[str, str]]:
    place = _Places(state)
    options = values_of(state.generate)
    if not any(any(maps(dig(value, ("spec", "workloads")))) for value in options):
        yield from _runtime_classes(state, place)
    if not any(map(has_coordinator, state.resources)):
        why = "add the coordinator, coordinator.yml of the Contrast release, to your resources"
        yield why, _coordinator(state, place)
    imported = [mapping(value.get("spec")) for value in values_of(state.release)]
    if not any(spec.get("platforms") and INITIALIZER_IMAGE in mapping(spec.get("images")) for spec in imported):
        why = "copy the files of the release and a new manifest.json of `contrast generate` here, and import them"
        yield why, f"{IMPORT} -o {place.release}"
    if not any(dig(value, ("spec", "platform")) for value in options):
        first, *rest = [name for spec in imported for name in mapping(spec.get("platforms"))] or PLATFORMS
        why = "choose the platform of the bare placeholder contrast-cc: " + ", or ".join(["this one", *rest])
        yield why, f"{place.again} --platform {first}"
    yield from _keys(options, place)
    yield from _reference_values(state, options, place)
    if not any(dig(value, ("spec", "images")) for value in values_of(state.lock)):
        yield "look up the images, and pin the ones that only have a tag", _lock(state, place)
    classes = f"contrast-krm release runtime-classes {place.config}"
    yield "print the RuntimeClasses, to apply them once per cluster and not with each deployment", classes
    yield from _render(state, place)


class _Places:
    """The paths of a deployment, quoted for a shell."""

    def __init__(self, state: State) -> None:
        self.directory = shlex.quote(state.directory)
        paths = [shlex.quote(os.path.join(state.directory, name)) for name in state.files]
        self.generate, self.release, self.lock = paths
        self.chart = shlex.quote(state.chart)
        self.function = function_in(values_of(state.generate))
        self.apart = state.host == "helm" or (state.host == "files" and not _is_same_path(state.chart, state.directory))
        of_host = {"helm": f" --helm {self.chart}", "files": f" --files {self.chart}" if self.apart else " --files"}
        self.again = f"contrast-krm init {self.directory}{of_host.get(state.host, '')}"
        alone = self.apart and _holds_only_configuration(state)
        self.config = _make_options([self.directory] if alone else [self.generate, self.release])
        self.whole = [self.directory] if alone else paths


def _is_same_path(left_path: str, right_path: str) -> bool:
    return os.path.realpath(left_path) == os.path.realpath(right_path)


def _make_options(paths: Sequence[str]) -> str:
    return " ".join(f"--config {path}" for path in paths)


def _holds_only_configuration(state: State) -> bool:
    """Tell whether a directory holds no documents other than the configuration, now and after the steps."""
    if _is_same_path(state.directory, "."):
        return False
    names = os.listdir(state.directory) if os.path.isdir(state.directory) else []
    return {name for name in names if name.endswith(SUFFIXES)} <= set(state.files)


def _coordinator(state: State, place: _Places) -> str:
    if state.host == "helm":
        return f"cp coordinator.yml {shlex.quote(os.path.join(state.chart, 'templates'))}"
    if state.host == "files":
        return f"cp coordinator.yml {place.chart}"
    listed = f" && {place.again}" if state.host == "kustomize" else ""  # init lists it under resources
    return f"cp coordinator.yml {place.directory}{listed}"


def _runtime_classes(state: State, place: _Places) -> Iterator[tuple[str, str]]:
    """Yield the step that makes workloads confidential, unless one is: other steps have no effect on a plain pod."""
    plain = plain_workloads(state.resources)
    if plain is None:
        return
    still_plain = f"; still plain: {listed(plain)}" if plain else ""
    task = f"set runtimeClassName: {BARE} in the pod spec of each workload that should be confidential"
    why = f"{task}, or list it under spec.workloads of {place.generate}{still_plain}"
    match state.host:
        case "helm":
            yield why, f"helm template {_release_name(state)} {place.chart} | contrast-krm assess - {place.config}"
        case "kustomize":
            yield why, look(place.function, place.directory, f"contrast-krm assess - {place.config}")
        case "files" | "kpt":
            yield why, f"contrast-krm assess {place.chart if state.host == 'files' else place.directory} {place.config}"


def _keys(options: Sequence[dict[str, Any]], place: _Places) -> Iterator[tuple[str, str]]:
    """Yield the steps for the owners' keys; Git must not get the private ones."""
    ignored = _make_ignore_command() if work_tree(".") else ""
    for owner, field, purpose in (
        ("workload", "workloadOwnerKeys", "update the manifest"),
        ("seedshare", "seedshareOwnerKeys", "recover the coordinator"),
    ):
        if not any(dig(value, ("spec", "manifest", field)) for value in options):
            why = f"create the {owner} owner key (needed to {purpose}); keep the private half out of Git"
            yield why, f"{ignored}contrast-krm keys new --{owner}-owner --add-to {place.generate}"
            ignored = ""


def _reference_values(state: State, options: Sequence[dict[str, Any]], place: _Places) -> Iterator[tuple[str, str]]:
    tees = {platform.tee for platform in map(PLATFORMS.get, _platforms(state, options)) if platform}
    stated = [mapping(dig(value, ("spec", "manifest", "referenceValues"))) for value in options]
    if "snp" in tees and not any(key == "snp" or "-snp" in key for values in stated for key in values):
        why = (
            "set the minimum firmware: replace B, T, S and M with the numbers that `snphost show tcb` prints on a node"
        )
        yield why, f"{place.again} --minimum-tcb {TCB}"
    if "tdx" in tees and not any(key == "tdx" or "-tdx" in key for values in stated for key in values):
        yield "set the accepted TDX module: replace HEX with its MrSeam", f"{place.again} --mr-seam HEX"


def _platforms(state: State, options: Sequence[dict[str, Any]]) -> Iterator[str]:
    for value in options:
        yield str(dig(value, ("spec", "platform")) or "").lower()
    for file in state.resources:
        text = text_of(file)
        yield from (name for name in PLATFORMS if f"{BARE}-{name}" in text)


def _lock(state: State, place: _Places) -> str:
    lock = f"contrast-krm lock {place.config} -o {place.lock}"
    match state.host:
        case "kustomize":
            return look(place.function, place.directory, f"{lock} --write-kustomize {place.directory}")
        case "helm":
            values = os.path.join(state.chart, "values.yaml")
            pins = f" --write-values {shlex.quote(values)}" if os.path.isfile(values) else ""
            return f"helm template {_release_name(state)} {place.chart} | {lock}{pins}"
        case "kpt":
            return f"contrast-krm lock {place.directory} -o {place.lock} --write-files {place.directory}"
        case "files":
            config = f" {place.config}" if place.apart else ""
            return f"contrast-krm lock {place.chart}{config} -o {place.lock} --write-files {place.chart}"


CHECK = "render, and check the output (if it refuses a pod, contrast-krm adopt lists and writes the remedies)"


def _render(state: State, place: _Places) -> Iterator[tuple[str, str]]:
    config = _make_options(place.whole)
    check = f"contrast-krm check rendered.yaml {config}"
    match state.host:
        case "kustomize":
            plugin = install_plugin(place.function)
            if plugin:
                yield "install the program where kustomize looks for legacy plugins", plugin
            yield CHECK, f"kustomize build {place.function.flags} {place.directory} > rendered.yaml && {check}"
        case "kpt":
            render = f"kpt fn render --allow-exec {place.directory}"
            yield CHECK, f"{render} && contrast-krm check {place.directory} {config}"
        case "files":
            output = _rendered_file(state)
            render = f"contrast-krm generate {place.chart}{f' {config}' if place.apart else ''} -o {output}"
            yield CHECK, f"{render} && contrast-krm check {output} {config}"
        case "helm":
            name = _release_name(state)
            template = f"helm template {name} {place.chart}"
            yield CHECK, f"{template} | contrast-krm post-render {config} > rendered.yaml && {check}"
            renderer = f"helm upgrade --install {name} {place.chart} --post-renderer contrast-krm"
            arguments = " ".join(f"--post-renderer-args --config --post-renderer-args {path}" for path in place.whole)
            helm3 = f"{renderer} --post-renderer-args post-render {arguments}"
            yield "install it with Helm 3, without --wait or --atomic: pods wait for contrast set", helm3
            why = "or with Helm 4 (plugin: contrast-krm-VERSION.tgz of a release, or the directory helm_plugin)"
            yield why, f"{renderer} {arguments} --post-renderer-args --report --post-renderer-args findings.txt"


def _rendered_file(state: State) -> str:
    """Return a file for the rendered output, outside of the resources."""
    directory, resources = os.path.realpath("."), os.path.realpath(state.chart)
    if os.path.commonpath((directory, resources)) != resources:
        return "rendered.yaml"
    return shlex.quote(os.path.join(os.path.relpath(os.path.dirname(resources)), "rendered.yaml"))


def _release_name(state: State) -> str:
    chart = data_of(FoundFile(os.path.join(state.chart, CHART), state.chart))
    name = next((value.get("name") for value in values_of(chart)), None)
    return shlex.quote(name) if isinstance(name, str) and name else "release"


def _make_ignore_command() -> str:
    """Return the command that makes Git ignore the private keys; "" if .gitignore of the working directory does."""
    ignored = text_of(FoundFile(".gitignore", "."))
    if IGNORES_KEYS & set(ignored.split()):
        return ""
    line = f"echo '{PRIVATE_KEYS}'" if not ignored or ignored.endswith("\n") else f"printf '\\n%s\\n' '{PRIVATE_KEYS}'"
    return f"{line} >> .gitignore && "
