"""The commands by which each host renders and applies, as texts with places to fill in.

Rule of this file: one row for each host, and nothing that holds for all of them. `alone` applies the coordinator before
the workloads; where a host cannot, it is empty, and `note` says what then happens.
"""

from typing import Literal

from krm_function.record import NamedTuple

HostName = Literal["kubectl", "kustomize", "helm3", "helm4", "kpt", "argo-cd", "flux"]

BUILD = "kustomize build --enable-alpha-plugins --enable-exec {directory} > {out}"
BARE_BUILD = "kustomize build --enable-alpha-plugins {directory} | contrast-krm lock {config} -o {lock}"
TEMPLATE = "helm template {release} {chart} --namespace {namespace}"
POST_RENDERED = TEMPLATE + " | contrast-krm post-render {config} > {out}"
APPLY = "kubectl apply -f rendered.yaml"
BY_LABEL = f"{APPLY} -l {{label}}"
COMMIT = ('git commit -am "Contrast {version}"', "git push")
UPGRADE = "helm upgrade --install {release} {chart} --namespace {namespace} --post-renderer contrast-krm "
TOGETHER = (
    "one command applies the coordinator and the workloads; the new pods wait in their initializer until the "
    "coordinator is ready, and a Deployment keeps its earlier pods until then"
)


class Host(NamedTuple):
    """A host. render: to the file {out}, of the input as it is. lock: looks up images that are new.

    publish: what the host applies from, if that is not the file. apply: everything. alone: the coordinator. by_label:
    whether that takes a label. note: about `alone`.
    """

    title: str
    render: tuple[str, ...]
    lock: str
    apply: tuple[str, ...]
    alone: tuple[str, ...] = ()
    by_label: bool = False
    publish: tuple[str, ...] = ()
    note: str = ""


HOSTS: dict[HostName, Host] = {
    "kubectl": Host(
        "kubectl",
        ("contrast-krm generate {paths} {config} -o {out}",),
        "contrast-krm lock {paths} {config} -o {lock}",
        (APPLY,),
        (BY_LABEL,),
        by_label=True,
    ),
    "kustomize": Host("kustomize and kubectl", (BUILD,), BARE_BUILD, (APPLY,), (BY_LABEL,), by_label=True),
    "helm3": Host(
        "Helm 3",
        (POST_RENDERED,),
        TEMPLATE + " | contrast-krm lock {config} -o {lock}",
        (UPGRADE + "--post-renderer-args post-render {arguments}",),
        note=TOGETHER,
    ),
    "helm4": Host(
        "Helm 4",
        (POST_RENDERED,),
        TEMPLATE + " | contrast-krm lock {config} -o {lock}",
        (UPGRADE + "{arguments} --post-renderer-args --report --post-renderer-args findings.txt",),
        note=TOGETHER + "; if somebody has changed a field by hand, add --force-conflicts",
    ),
    "kpt": Host(
        "kpt",
        ("kpt fn render --allow-exec {directory}", "kpt fn source {directory} > {out}"),
        "contrast-krm lock {directory} -o {lock}",
        ("kpt live apply {directory} --reconcile-timeout 15m",),
        note=f"{TOGETHER}; an annotation config.kubernetes.io/depends-on of the workloads makes kpt wait by itself",
    ),
    "argo-cd": Host(
        "Argo CD",
        (BUILD,),
        BARE_BUILD,
        ("argocd app sync {release}", "argocd app wait {release} --health"),
        ("argocd app sync {release} --resource apps:StatefulSet:{coordinator}",),
        publish=COMMIT,
        note="switch automated sync off before: argocd app set {release} --sync-policy none",
    ),
    "flux": Host(
        "Flux",
        (BUILD,),
        BARE_BUILD,
        ("flux reconcile kustomization {release} --with-source",),
        publish=COMMIT,
        note=f"{TOGETHER}; a Flux Kustomization of its own for the coordinator, which that of the workloads names "
        "under dependsOn, keeps the two apart",
    ),
}
