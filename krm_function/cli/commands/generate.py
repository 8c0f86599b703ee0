"""`contrast-krm generate`: files and directories in, one stream or the same files out.

Rule of this file: nothing is written before everything is known. The manifest is written last, since it vouches for the
files; only the statement of --attest, which names all of them, comes after it.
"""

import itertools
import os
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from krm_function.cli.inputs import read_inputs, read_plainly
from krm_function.cli.messages import print_findings
from krm_function.cli.outputs import changed_files, one_stream, open_ends, too_large
from krm_function.cli.parser import Parser, add_attest, add_findings, add_output_file, add_paths, add_render
from krm_function.cli.render_inputs import configured
from krm_function.cli.streams import write_out, write_pieces_first
from krm_function.config.collect import reported
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import FileProblem, find_files, same_file
from krm_function.hosts.write_files import NewFile, must_be_regular, staged, sweep, write_files
from krm_function.render.pipeline import render
from krm_function.render.rendered import Rendered
from krm_function.render.unsealed import describe_plain

if TYPE_CHECKING:
    from krm_function.cli.attest import Attest

DESCRIPTION = "Prints one stream, unless -o or --in-place is given. On an error nothing is printed or written."


def add_arguments(parser: Parser) -> None:
    """Add inputs, outputs, and the options of `contrast generate`, which render_inputs.py applies."""
    add_paths(parser, "PATH")
    where = parser.add_mutually_exclusive_group()
    add_output_file(where, "write everything to this file")
    where.add_argument(
        "--in-place",
        action="store_true",
        help="rewrite the files that change; new objects go to contrast-manifest.yaml",
    )
    add_render(parser, strict=True)
    add_attest(parser)
    add_findings(parser)
    like = parser.add_argument_group("as in `contrast generate`")
    like.add_argument(
        "--reference-values", metavar="PLATFORM", default="", help="platform of the bare placeholder contrast-cc"
    )
    like.add_argument("-m", "--manifest", metavar="FILE", default="", help="manifest.json to merge with and to write")
    like.add_argument("--skip-initializer", action="store_true", help="do not inject the initializer")
    like.add_argument("--skip-service-mesh", action="store_true", help="do not inject the service mesh")
    like.add_argument("--inject-image-store", action="store_true", help="inject the secure image store")
    like.add_argument("-p", "--policy", metavar="FILE", default="", help="Rego rules instead of the built-in ones")
    like.add_argument(
        "-s",
        "--settings",
        metavar="FILE|DIR",
        default="",
        help="genpolicy-settings.json instead of the built-in one, or a directory with it and "
        "genpolicy-settings.d/*.json",
    )
    like.add_argument(
        "--image-replacements",
        metavar="FILE",
        default="",
        help="`image = replacement` lines instead of the release's images",
    )
    like.add_argument(
        "-w",
        "--add-workload-owner-key",
        metavar="FILE",
        action="append",
        default=[],
        help="PEM file with an ECDSA key whose holder may update the manifest (repeatable)",
    )
    like.add_argument(
        "--add-seedshare-owner-key",
        metavar="FILE",
        action="append",
        default=[],
        help="PEM file with an RSA key whose holder may recover the coordinator (repeatable)",
    )
    like.add_argument(
        "-d", "--disable-updates", action="store_true", help="no workload owners: the manifest can never be updated"
    )


def run(options: Namespace) -> int:
    """Render files."""
    if options.in_place and (not options.paths or "-" in options.paths):
        return print_findings([finding("CC0909.stdin-in-place", option="--in-place")], options.format, options.report)
    if options.manifest:
        must_be_regular(options.manifest)
    attest, wrong_output = _prepare_statement(options)
    wrong_output += _output_among_inputs(options)
    if wrong_output:
        return print_findings(wrong_output, options.format, options.report)
    inputs = read_inputs(options.paths)
    if attest:
        attest.add_inputs(inputs)
    config, findings = configured(options, inputs, attest.read if attest else read_plainly)
    rendered = render(inputs.resources, config, findings)
    printed = [*rendered.findings, *_check_files(options, rendered)]
    if not options.in_place:
        printed += open_ends(inputs, rendered)
    in_place = changed_files(inputs, rendered, options.paths) if options.in_place and not has_errors(printed) else {}
    if has_errors(printed):
        return print_findings(printed, options.format, options.report)
    vouching = [NewFile(options.manifest, rendered.manifest)] if options.manifest else []
    stream = b"" if options.in_place else one_stream(inputs, rendered)
    printed += reported(config, too_large(len(stream)))
    if has_errors(printed):
        return print_findings(printed, options.format, options.report)
    if attest:
        whole = {source.file: source.data for source in inputs.sources} | in_place
        files = whole if options.in_place else {options.output: stream}
        vouching.append(attest.new_file(config, files, rendered.manifest))
    if options.in_place:
        sweep(source.file for source in inputs.sources)
        write_files([*itertools.starmap(NewFile, in_place.items()), *vouching])
    elif options.output:
        write_files([NewFile(options.output, stream), *vouching])
    else:
        _print(stream, vouching)
    seals = any(not planned.skipped for planned in rendered.plan)  # else the stream has no Contrast workload
    plain = describe_plain(planned.ref for planned in rendered.plan if planned.is_plain) if seals else ""
    return print_findings(printed, options.format, options.report, plain)


def _output_among_inputs(options: Namespace) -> list[Finding]:
    """Report --output if it is one of the input files; checked first, because the file would be in the input twice.

    Without --output, or if its file does not exist yet, there is nothing to compare.
    """
    if not options.output or not os.path.exists(options.output):
        return []
    try:
        inputs = [*options.config, *(path for path in options.paths if path != "-")]
        files = [source.path for source in find_files(inputs)]
    except FileProblem:
        return []  # reading the input reports it, with all other problems
    if not same_file(options.output, files):
        return []
    inside = any(os.path.isdir(path) for path in options.paths) and options.output not in options.paths
    return [finding("CC0909.input-directory" if inside else "CC0909.input-in-place", option="--output")]


def _check_files(options: Namespace, rendered: Rendered) -> list[Finding]:
    findings: list[Finding] = []
    if options.manifest and not rendered.manifest and not has_errors(rendered.findings):
        findings.append(finding("CC0909.no-manifest", option="--manifest"))
    if options.output and options.manifest and os.path.realpath(options.output) == os.path.realpath(options.manifest):
        findings.append(finding("CC0909.manifest-too", option="--output"))
    return findings


def _prepare_statement(options: Namespace) -> "tuple[Attest | None, list[Finding]]":
    """Return the collector of the --attest statement and findings about its file; None and [] without --attest."""
    if not options.attest:
        return None, []
    from krm_function.cli.attest import Attest, wrong_place

    return Attest(options, "generate"), wrong_place(options)


def _print(stream: bytes, files: Sequence[NewFile]) -> None:
    """Write standard output, then the files; none of them if writing fails or the pipe is closed."""
    if not files:
        write_out(stream)
        return
    with staged(files) as put:
        write_pieces_first((stream,), " and ".join(file.path for file in files))
        put()
