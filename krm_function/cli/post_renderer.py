"""The Helm post-renderer: a stream of documents in, the rendered stream out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from krm_function.cli.configuration import from_files, from_resources, overridden, selects_nothing
from krm_function.cli.messages import TEXT, Form, print_findings
from krm_function.cli.streams import write_pieces
from krm_function.config.collect import collect, reported
from krm_function.config.document import CONFIG_KINDS, GROUP, is_config
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.hosts.pass_through import passes_through
from krm_function.kubernetes.objects import HOOK, reference
from krm_function.kubernetes.resource import HELM_SOURCE, Resource, stream_finding, yaml_finding
from krm_function.text.errors import YamlError, decode

if TYPE_CHECKING:
    from krm_function.cli.attest import Attest
    from krm_function.config.collect import Config
    from krm_function.render.rendered import Rendered


# --- The Helm post-renderer: a stream of documents in, the rendered stream out
#
# Rule: an empty input is an error, because `helm template --output-dir` of Helm 3 sends nothing and would leave every
# pod unsealed (docs/facts/helm.md#helm-3-stream). On any error nothing is printed, so that Helm stops.


NOT_IN_INPUT = "CC0602"


def post_render(
    data: bytes,
    config_files: Sequence[str] = (),
    form: Form = TEXT,
    report: str = "",
    namespace: str | None = None,
    attest: "Attest | None" = None,
    *,
    strict: bool = False,
) -> int:
    """Render a stream to standard output.

    namespace: from the command line, None without one; Helm passes none. attest: collects the statement of --attest.
    strict: a warning that is not acknowledged is an error. Neither Helm shows the warnings of a post-renderer that ends
    well, so without a report those of pods outside of a VM are errors too.
    """
    if not data:
        return print_findings([finding("CC0109.helm")], form, report)
    if attest:
        attest.add_input("", data)
    documents, findings = from_files(config_files, "", attest.reader("config") if attest else read_file)
    if config_files and passes_through(data):
        config, unmet = collect(documents)
        if selects_nothing(config, findings + unmet):
            same = (data,)
            config = overridden(config, namespace, strict=strict, hidden=not report)
            return _print(lambda: same, (), form, report, attest, config, b"")

    from helm_plugin.helm_stream import decode_helm, encode_helm
    from krm_function.render.pipeline import render

    try:
        source = decode(data)
    except YamlError as problem:
        return print_findings([*findings, yaml_finding(problem, "")], form, report)
    del data  # a large stream must not be in memory three times
    try:
        stream = decode_helm(source)
    except YamlError as problem:
        return print_findings([*findings, stream_finding(problem, source.text)], form, report)
    del source
    from_stream, problems = from_resources(stream.resources)
    config, unmet = collect(documents + from_stream)
    config = overridden(config, namespace, strict=strict, hidden=not report)
    rendered = render(stream.resources, config, findings + problems + unmet)
    if rendered.failed:
        return print_findings((*rendered.findings, *_report_missing_hooks(stream.resources, rendered)), form, report)
    texts = _drop_configuration(stream.resources, rendered.texts)
    if texts != rendered.texts and not rendered.added and not any(map(_has_object, stream.resources, texts)):
        return print_findings([finding("CC0289.helm")], form, report)

    def pieces() -> Iterator[bytes]:
        return encode_helm(stream, texts, rendered.added)

    findings = (*rendered.findings, *reported(config, _check_release_size(rendered, pieces)))
    if has_errors(findings):
        return print_findings(findings, form, report)
    return _print(pieces, findings, form, report, attest, config, rendered.manifest)


def _report_missing_hooks(resources: Sequence[Resource], rendered: "Rendered") -> tuple[Finding, ...]:
    """Return CC0120 if a missing object may be a hook: Helm 3 sends no hooks, and `helm template` prints them."""
    if not any(problem.code == NOT_IN_INPUT for problem in rendered.findings):
        return ()
    by_helm_3 = any(f"\n{HELM_SOURCE}" in f"\n{resource.text}" for resource in resources)
    has_hooks = any(HOOK in resource.text for resource in resources)
    return (finding("CC0120"),) if by_helm_3 and not has_hooks else ()


def _drop_configuration(resources: Sequence[Resource], texts: Sequence[str | None]) -> tuple[str | None, ...]:
    """Drop the objects of our kinds, which are local since any other is CC0912: otherwise Helm would apply them."""

    def kept(resource: Resource) -> bool:
        if not resource.may_be(CONFIG_KINDS) or GROUP not in resource.text:
            return True
        try:
            ref = reference(resource.value)
        except YamlError:
            return True
        return ref.kind not in CONFIG_KINDS or not is_config(ref.api_version)

    return tuple(text if kept(item) else None for item, text in zip(resources, texts, strict=True))


def _has_object(resource: Resource, text: str | None) -> bool:
    """Tell whether a document is in the output, and is more than a comment or a null."""
    return bool(text) and (bool(resource.kind) or not resource.certain)


def _print(
    pieces: Callable[[], Iterable[bytes]],
    findings: Iterable[Finding],
    form: Form,
    report: str,
    attest: "Attest | None",
    config: "Config | None",
    manifest: bytes,
) -> int:
    """Print the findings and the output, then write the statement about it. pieces: the output, made anew each time."""
    if attest is None:
        code = print_findings(findings, form, report)
        write_pieces(pieces())
        return code
    with attest.beside_output(config, pieces, manifest) as put:
        code = print_findings(findings, form, report)
        put()
    return code


def _check_release_size(rendered: "Rendered", pieces: "Callable[[], Iterator[bytes]]") -> tuple[Finding, ...]:
    """Return CC1004 if Helm's Secret for this output nears its limit. pieces: the output."""
    from helm_plugin.release_size import LIMIT, NEARLY, may_be_large, release_size

    if not may_be_large(sum(len(text) for text in rendered.texts if text)):
        return ()
    if release_size(pieces(), 1) < NEARLY:
        return ()
    size = release_size(pieces())
    return () if size < NEARLY else (finding("CC1004", size=size, limit=LIMIT),)
