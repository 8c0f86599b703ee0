"""Prove the undo records of the input; the modules that this needs are imported only if there are any."""

from collections.abc import Sequence

from krm_function.api.records import Config
from krm_function.findings import Finding
from krm_function.model.edits import ObjectEdits
from krm_function.model.resource import Resource
from krm_function.stages.read import ReadDocuments
from krm_function.stages.write import WriteResult


def unproven(
    resources: Sequence[Resource],
    source: ReadDocuments,
    config: Config | None,
    written: WriteResult | None,
    edits: Sequence[ObjectEdits],
    *,
    seals: bool,
) -> tuple[Finding, ...]:
    """Return CC0115 for each undo record of the input that is not proven, and what such a record takes out for good.

    written: None if nothing was written.
    """
    if not source.claims:
        return ()
    from krm_function.model.inverse import any_image, images_again, images_of
    from krm_function.stages.daemon_sets import taken_out
    from krm_function.stages.prove import RenderOutcome, prove

    images = images_of(config.release.images) if config else any_image
    made = None
    if written is not None and config is not None:
        by_object = {(one.resource, one.root): one.edits for one in edits}
        later = images_again(config.release.images, images)
        made = RenderOutcome(written.texts, by_object, later, seals, config.generate.scheduling)
    findings = prove(resources, source.documents, source.claims, images, made)
    return findings if made is None else (*findings, *taken_out(resources, source.claims, made.texts))
