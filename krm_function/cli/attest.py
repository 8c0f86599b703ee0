"""`--attest FILE`: a statement about a render, written with its output; `check --attestation FILE` compares one."""

import os
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import Literal, get_args

from krm_function.check.output import ManifestFile
from krm_function.cli.build import this_build
from krm_function.cli.inputs import InputFile, Inputs, ReadFile
from krm_function.cli.outputs import new_objects_file
from krm_function.cli.render_inputs import public_key
from krm_function.cli.streams import write_pieces_first
from krm_function.config.collect import Config
from krm_function.config.release import chosen_profile
from krm_function.contrast.manifest import FILE
from krm_function.contrast.owner_keys import KeyProblem
from krm_function.findings import Finding, finding
from krm_function.hosts.files import SUFFIXES, find_files, read_file, same_file
from krm_function.hosts.write_files import NewFile, staged
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import EMITTED
from krm_function.provenance.attestation import (
    LONGEST,
    AttestationProblem,
    Statement,
    compare_inputs,
    compare_outputs,
    parse_attestation,
)
from krm_function.provenance.statement import (
    PROGRAM,
    STREAM,
    Artefact,
    Call,
    Command,
    Material,
    Option,
    Role,
    digest_of,
    make_statement,
)
from krm_function.render.make_manifest import read_emitted_manifest

# --- Where `--attest` may write: not to an output or input of the call, and not where the next render would read it
#
# Rule: paths are compared by the file that they lead to, which may be one that the shell has opened as standard
# input or output.


def wrong_place(options: Namespace) -> list[Finding]:
    """Return what is wrong with the file of --attest."""
    file = options.attest
    for option, path in _list_outputs(options).items():
        same = os.path.realpath(path) == os.path.realpath(file) if path else _is_descriptor(file, 1)
        if same and file != os.devnull:
            code = "CC0909.file-of" if path else "CC0909.attest-printed"
            return [finding(code, option="--attest", other=option)]
    for path, suffixes in _list_inputs(options):
        if _is_descriptor(file, 0) if path == STREAM else same_file(file, [path]):
            return [finding("CC0909.input", option="--attest")]
        below = os.path.realpath(file).startswith(os.path.join(os.path.realpath(path), ""))
        if os.path.isdir(path) and file.endswith(suffixes) and below:
            return [finding("CC0909.attest-read", option="--attest", directory=path)]
    return []


def _list_outputs(options: Namespace) -> dict[str, str]:
    """Return option -> file; "" for standard output."""
    if getattr(options, "in_place", False):
        first = {"--in-place": new_objects_file(options.paths)}
    else:
        first = {"--output": getattr(options, "output", "")}
    written = {"--manifest": getattr(options, "manifest", ""), "--report": options.report}
    return first | {option: path for option, path in written.items() if path}


def _list_inputs(options: Namespace) -> list[tuple[str, tuple[str, ...]]]:
    """Return the files and directories to read (`-`: standard input), each with the file name endings that it reads."""
    values = vars(options)
    keys = values.get("add_workload_owner_key", []) + values.get("add_seedshare_owner_key", [])
    single = [values.get(name, "") for name in ("policy", "image_replacements")]
    read = [*(values.get("paths") or [STREAM]), *options.config, *keys, *filter(None, single)]
    settings = values.get("settings", "")
    return [*((path, SUFFIXES) for path in read), *([(settings, (".json",))] if settings else [])]


def _is_descriptor(file: str, descriptor: int) -> bool:
    """Tell whether a path and a descriptor of this process are the same file."""
    try:
        return os.path.samestat(os.stat(file), os.fstat(descriptor))
    except OSError:
        return False


# --- `--attest FILE` of `generate` and `post-render`: a statement about the render, written together with its output
#
# Rule: the statement is about the bytes that were read and written, so nothing is read a second time. It is written
# last, after the manifest, which it names. A run that is killed before that leaves an output without a statement, or
# with an older one whose digests differ.


KEYS = ("add-workload-owner-key", "add-seedshare-owner-key")


class Attest:
    """The statement of one call, and a record of all that is read through it. `file`: where it goes."""

    def __init__(self, options: Namespace, command: Command) -> None:
        self.file: str = options.attest
        self._options = options
        self._command = command
        self._materials: list[Material] = []

    def add_inputs(self, inputs: Inputs) -> None:
        """Record the input of the render."""
        for source in inputs.sources:
            self.add_input(source.file, source.data)

    def add_input(self, name: str, data: bytes) -> None:
        """Record a part of the input. name: "" for standard input."""
        self._materials.append(Material("input", name or STREAM, digest_of(data)))

    def read(self, role: Role, path: str, root: str = "") -> bytes:
        """Read a file and record it. root: as for `read_file`. Raises FileProblem."""
        data = read_file(path, root)
        self._materials.append(Material(role, path, digest_of(_drop_private_half(role, data))))
        return data

    def reader(self, role: Role) -> ReadFile:
        """Return `read` for the files of one option."""
        return partial(self.read, role)

    def new_file(self, config: Config | None, files: Mapping[str, bytes | str], manifest: bytes) -> NewFile:
        """Return the file with the statement.

        files: the content or the digest of each output by its name, "" for standard output. manifest: what the render
        made, b"" for none; it is an output if it is written to a file of its own or emitted.
        """
        path = getattr(self._options, "manifest", "")
        outputs = [
            Artefact(name or STREAM, data if isinstance(data, str) else digest_of(data)) for name, data in files.items()
        ]
        if manifest and (path or (config is not None and config.generate.manifest.emit != "none")):
            outputs.append(Artefact(path or FILE, digest_of(manifest)))
        build = this_build()
        program = {PROGRAM: build.version, "commit": build.commit, "build": build.kind}
        return NewFile(self.file, make_statement(self._call(config), self._materials, outputs, program))

    @contextmanager
    def beside_output(
        self, config: Config | None, pieces: Callable[[], Iterable[bytes]], manifest: bytes
    ) -> Iterator[Callable[[], None]]:
        """Write the statement to a temporary file; the function that is yielded prints the output, then renames it.

        pieces: the output, made anew each time. Raises FileProblem.
        """
        digest = sha256()
        for piece in pieces():
            digest.update(piece)
        file = self.new_file(config, {"": digest.hexdigest()}, manifest)
        with staged([file]) as place:

            def put() -> None:
                write_pieces_first(pieces(), file.path)
                place()

            yield put

    def _call(self, config: Config | None) -> Call:
        engine: Literal["native", "none", ""] = ""
        profile = None
        if config is not None:
            policy = config.generate.policy
            engine = policy.engine
            if engine != "none":
                profile = chosen_profile(policy.profile, config.release, config.generate.name)[0]
        return Call(
            command=self._command,
            paths=tuple(getattr(self._options, "paths", ())) or (STREAM,),
            config=tuple(self._options.config),
            options=given_options(self._options),
            release=config.release.version if config else "",
            profile=profile.name if profile else "",
            engine=engine,
        )


def given_options(options: Namespace) -> Mapping[Option, bool | str | list[str]]:
    """Return the options of a call that change its output, without those that are not set."""
    names: tuple[Option, ...] = get_args(Option)
    values = {name: getattr(options, name.replace("-", "_"), None) for name in names}
    return {name: value for name, value in values.items() if value}


def _drop_private_half(role: Role, data: bytes) -> bytes:
    """Replace a private key by its public half; all other data stays."""
    if role not in KEYS or b"PRIVATE KEY" not in data:
        return data
    try:
        return public_key(data.decode("utf-8", "replace")).encode("utf-8")
    except KeyProblem:
        return b""  # the render finds the same and fails, so nothing is attested


# --- `check --attestation FILE`: compare the output and its inputs with a statement about a render
#
# Rule: the attestation is hostile input. Its signature is not verified here, and every call that passes reports that.


class FilesRead:
    """The files, other than the output, that a call of `check` has read, to compare with the statement in `file`."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.files: dict[Role, list[Artefact]] = {}

    def reader(self, role: Role) -> ReadFile:
        """Return a reader that remembers the digests of what it reads. Raises FileProblem."""
        artefacts = self.files.setdefault(role, [])

        def read(path: str, root: str = "") -> bytes:
            data = read_file(path, root)
            artefacts.append(Artefact(path, digest_of(data)))
            return data

        return read


def attestation_findings(
    files_read: FilesRead,
    sources: Sequence[InputFile],
    resources: Iterable[Resource],
    manifest: ManifestFile | None,
    inputs: Sequence[str],
) -> list[Finding]:
    """Return the verdict on an output. Raises FileProblem.

    inputs: files and directories from which the output was made, () if none are named.
    """
    if "-" in (files_read.file, *inputs):
        return [finding("CC0909.stdin-no-file", option="--attestation" if files_read.file == "-" else "--input")]
    if inputs:
        read = files_read.reader("input")
        for file in find_files(inputs):
            read(file.path, file.root)
    try:
        statement = parse_attestation(read_file(files_read.file, most=LONGEST + 1))
    except AttestationProblem as problem:
        return [finding(problem.cause.code, file=files_read.file, **problem.cause.values)]
    outputs = [Artefact(file.file, digest_of(file.data)) for file in sources]
    beside = [Artefact(manifest.name, digest_of(manifest.data))] if manifest else []
    findings = compare_outputs(
        statement, files_read.file, [*outputs, *beside], map(digest_of, _read_manifests(resources))
    )
    for role, files in files_read.files.items():
        findings += compare_inputs(statement, files_read.file, role, files)
    return findings or [_report_match(statement, files_read)]


def _read_manifests(resources: Iterable[Resource]) -> list[bytes]:
    items = (item for resource in resources if EMITTED in resource.text for item in resource.objects)
    texts = (read_emitted_manifest(item.value) for item in items)
    return [text.encode("utf-8") for text in texts if text is not None]


def _report_match(statement: Statement, files_read: FilesRead) -> Finding:
    unread = dict.fromkeys(material.role for material in statement.materials if material.role not in files_read.files)
    return finding(
        "CC1335.signed" if statement.signed else "CC1335.unsigned",
        file=files_read.file,
        version=statement.version,
        compared=", ".join(("output", *files_read.files)),
        left=", ".join(unread) or "nothing",
    )
