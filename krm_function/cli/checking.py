"""`mode: check` of a function: what there is to say of resources that were rendered before.

Rule of this file: the host decides what becomes of the answer; nothing is ever changed here.
"""

from collections.abc import Sequence

from krm_function.api import ConfigDocument, collect, options_in
from krm_function.findings import Finding, has_errors
from krm_function.model.resource import Resource
from krm_function.pipeline import NO_RELEASE


def asks_for_check(options: ConfigDocument) -> bool:
    """Whether a function's own configuration wants a check and no render."""
    return options_in(options).get("mode") == "check"


def checked(
    resources: Sequence[Resource], documents: Sequence[ConfigDocument], options: ConfigDocument
) -> tuple[Finding, ...]:
    """The verdict, and what is wrong with the configuration. documents: all that there is of it, options included.

    It is rendered again where the render's options are known: they are among the items, as in kpt, or stand beside
    `mode: check` in the function's own configuration.
    """
    from krm_function.verdict import verdict

    alone = options_in(options).keys() == {"mode"}
    config, unmet = collect(documents, "render" if alone else "check")
    given = [options_in(document) for document in documents]
    if alone and not any(spec and spec.get("mode") != "check" for spec in given):
        config = None
    problems = tuple(found for found in unmet if found.code != NO_RELEASE)
    return problems if has_errors(problems) else (*problems, *verdict(resources, None, config).findings)
