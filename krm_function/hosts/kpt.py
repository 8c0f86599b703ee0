"""Tell from a ResourceList whether kpt runs the function: kpt shows results, other orchestrators show standard error.

    every item has                             and none has                   results are
    the id of a call, and one of kpt's notes   kustomize's id of the item     shown by kpt
    anything else                              anything else                  perhaps seen by nobody

`kpt fn source | contrast-krm | kpt fn sink` and `kustomize fn run` have paths too, but no ids, or no notes of kpt.
Source: docs/facts/krm-functions.md#who-calls.

Rule of this file: the notes are annotations, which an author can write, too. Where one item lacks them, findings go to
standard error as well: said twice is better than not at all. An author cannot take kustomize's ids away.
"""

from collections.abc import Sequence

from krm_function.model.resource import Resource

OF_KUSTOMIZE = "kustomize.config.k8s.io/id"
OF_A_CALL = "internal.config.kubernetes.io/id"
OF_KPT = ("internal.config.kubernetes.io/seqindent", "internal.config.kubernetes.io/package-path")


def called_by_kpt(resources: Sequence[Resource]) -> bool:
    """Tell whether the items are as only kpt hands them to a function."""
    return bool(resources) and all(_is_noted_by_kpt(resource.text) for resource in resources)


def _is_noted_by_kpt(text: str) -> bool:
    return OF_KUSTOMIZE not in text and OF_A_CALL in text and any(note in text for note in OF_KPT)
