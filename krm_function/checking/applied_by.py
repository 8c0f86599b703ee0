"""Tell by what an object has in a cluster who applies it, since that decides what puts it right.

Rule of this file: what the host itself writes counts, in the order of this table; what a chart or a package may write
does not. Sources: docs/facts/helm.md#objects, docs/facts/delivery.md#what-hosts-write-into-objects.

    the live object has                                              it is applied by
    annotation argocd.argoproj.io/tracking-id                        gitops
    label kustomize.toolkit.fluxcd.io/name or helm.toolkit.…/name    gitops
    annotation config.k8s.io/owning-inventory                        kpt
    annotation meta.helm.sh/release-name                             helm
    nothing of that                                                  kubectl
"""

from collections.abc import Iterable
from typing import Any, Literal

from krm_function.model.lookup import dig

Host = Literal["kubectl", "helm", "kpt", "gitops"]

MARKS: tuple[tuple[str, str, Host], ...] = (
    ("annotations", "argocd.argoproj.io/tracking-id", "gitops"),
    ("labels", "kustomize.toolkit.fluxcd.io/name", "gitops"),
    ("labels", "helm.toolkit.fluxcd.io/name", "gitops"),
    ("annotations", "config.k8s.io/owning-inventory", "kpt"),
    ("annotations", "meta.helm.sh/release-name", "helm"),
)


def applied_by(live: Any) -> Host:
    """Return who applies an object. live: as the cluster has it."""
    return next((host for field, key, host in MARKS if dig(live, ("metadata", field, key)) is not None), "kubectl")


def applied_together(every: Iterable[Any]) -> Host:
    """Return who applies what is not there yet: whoever applies the first of the others that has a mark."""
    return next((host for host in map(applied_by, every) if host != "kubectl"), "kubectl")
