"""Prove the undo records of the input; the modules that this needs are imported only if there are any."""

from collections.abc import Sequence

from krm_function.api.records import Config
from krm_function.findings import Finding, Ref
from krm_function.model.resource import Resource


def unproven(
    resources: Sequence[Resource], config: Config | None, *, rendered: bool, seals: bool, taken_back: bool = False
) -> tuple[Finding, ...]:
    """Return CC0115 for each undo record of the input that is not proven, and what such a record takes out for good.

    config: None if there is none: then a record may restore any image, and nothing of the result is deployed. rendered:
    whether the resources have their new texts. seals: whether the render writes initdata. taken_back: nothing is
    rendered, so what a record takes away need not come back; else a class goes only where the configuration gives one.
    """
    if not any(resource.undone for resource in resources):
        return ()
    from krm_function.input_checks.prove import RenderOutcome, prove
    from krm_function.model.replaced_images import any_image, images_again, images_of
    from krm_function.stages.choose import is_confidential
    from krm_function.stages.daemon_sets import taken_out

    def class_comes_back(ref: Ref) -> bool:
        return taken_back if config is None else is_confidential(ref, config.generate)

    images = images_of(config.release.images) if config else any_image
    made = None
    if config is not None and rendered:
        made = RenderOutcome(images_again(config.release.images, images), seals, config.generate.scheduling)
    wrong: list[Finding] = []
    gone: list[Finding] = []
    for resource in resources:
        if not resource.undone or (made is not None and resource.output == resource.text):
            continue  # without a record, or the record changes nothing
        given = resource.given()
        wrong += prove(resource, given, images, made, class_may_go=class_comes_back)
        gone += taken_out(resource, given) if made is not None else ()
    return (*wrong, *gone)
