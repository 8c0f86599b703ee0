"""docs/explanation/digests.md: each row of its tables is tried, and no row is without a trial."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from krm_function.config.collect import Config
from krm_function.config.generate import ExternalSource, ManifestOptions, PolicyOptions, Scheduling, WorkloadPolicy
from krm_function.config.release import InjectedMemory
from krm_function.render.rendered import Rendered
from tests.world import FACTS, LOCK, RELEASE, WEB, an_object, config, coordinator, digests, good, snp

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "digests.md"
HANDLER = "contrast-cc-metal-qemu-snp-99999999"


def rendered(edit: Callable[[Any], object] = lambda _: None, to: Config | None = None, *more: Any) -> str:
    """The digest of the workload `web` after an edit of its object."""
    web = an_object(annotations={"example.com/a": "b"}, replicas=1)
    edit(web)
    made: Rendered = good(coordinator(), web, *more, to=to)
    return digests(made)[web["metadata"]["name"]]


def template(edit: Callable[[Any], object]) -> Callable[[], str]:
    return lambda: rendered(lambda web: edit(web["spec"]["template"]))


def pod(**fields: Any) -> Callable[[], str]:
    return template(lambda part: part["spec"].update(fields))


def container(**fields: Any) -> Callable[[], str]:
    return template(lambda part: part["spec"]["containers"][0].update(fields))


def configured(**options: Any) -> Callable[[], str]:
    return lambda: rendered(to=config(**options))


def from_config_map() -> str:
    """A variable from a ConfigMap whose value is another than that of the row's first render."""
    reference = {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a"}}}
    one, two = (
        rendered(
            lambda web: web["spec"]["template"]["spec"]["containers"][0].update(env=[reference]),
            None,
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "settings", "namespace": "shop"},
                "data": data,
            },
        )
        for data in ({"a": "1"}, {"a": "2"})
    )
    return two if one != two else rendered()


def of_the_cluster(*sources: ExternalSource) -> str:
    reference = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "a", "optional": True}}}
    return rendered(
        lambda web: web["spec"]["template"]["spec"]["containers"][0].update(env=[reference]),
        config(policy=PolicyOptions(external_sources=sources)),
    )


def opened() -> str:
    """A variable that is open, in place of one that is left out."""
    one, two = of_the_cluster(), of_the_cluster(ExternalSource("Secret", name="db"))
    return two if one != two else rendered()


def without_links() -> str:
    """A pod without service links, in place of one with them, both with profile strict."""
    strict = config(policy=PolicyOptions(profile="strict"))

    def linked(links: bool) -> str:
        return rendered(lambda web: web["spec"]["template"]["spec"].update(enableServiceLinks=links), strict)

    one, two = linked(True), linked(False)
    return two if one != two else rendered()


OTHER_IMAGE = WEB.partition("@")[0] + "@sha256:" + "e" * 64
LIMITS = {"limits": {"cpu": "1500m", "memory": "200Mi"}}
TOOL = {"config.kubernetes.io/index": "3"}
LABEL = {"app": "web", "tier": "front"}
MEMORY = InjectedMemory(initializer="99Mi")
TRIALS: dict[str, Callable[[], str]] = {
    "name or namespace of the object": lambda: rendered(lambda web: web["metadata"].update(name="other")),
    "`namespace` of the configuration, for a workload that names none": lambda: rendered(
        lambda web: web["metadata"].pop("namespace"), config(namespace="prod")
    ),
    "image reference of a container": lambda: rendered(
        lambda web: web["spec"]["template"]["spec"]["containers"][0].update(image=OTHER_IMAGE),
        config(images={**LOCK, OTHER_IMAGE: FACTS}),
    ),
    "command, args, workingDir, securityContext": container(args=["another"]),
    "value of a variable": container(env=[{"name": "A", "value": "1"}]),
    "value of a ConfigMap or Secret in the input that a variable refers to": from_config_map,
    "`policy.externalSources`, if a variable comes from an object that it names": opened,
    "`enableServiceLinks: false`, with profile `strict`": without_links,
    "volumes and mounts": template(
        lambda part: part["spec"].update(
            volumes=[{"name": "scratch", "emptyDir": {}}],
            containers=[{**part["spec"]["containers"][0], "volumeMounts": [{"name": "scratch", "mountPath": "/s"}]}],
        )
    ),
    "annotation of the pod template": template(lambda part: part["metadata"]["annotations"].update(x="y")),
    "CPU limits, on SNP, if the number of vCPUs changes": container(resources=LIMITS),
    "entry of the image in the ImageLock": configured(
        images={**LOCK, WEB: FACTS._replace(config={**FACTS.config, "Cmd": ["another"]})}
    ),
    "reference values of the release, on SNP": lambda: rendered(
        to=config(RELEASE._replace(platforms={**RELEASE.platforms, "metal-qemu-snp": snp(products=("Milan",))}))
    ),
    "`policy.profile`, `policy.rules`, `policy.settings`": configured(policy=PolicyOptions(profile="kata-4.1")),
    "`policy.initdata`": configured(policy=PolicyOptions(initdata={"cdh.toml": "a = 1\n"})),
    "`initializer`, `serviceMesh`, `imageStore`": configured(image_store=True),
    "replicas": lambda: rendered(lambda web: web["spec"].update(replicas=7)),
    "labels and annotations of the object itself": lambda: rendered(
        lambda web: web["metadata"].update(labels=LABEL, annotations={"a": "b"})
    ),
    "labels of the pod template that no variable reads": template(lambda part: part["metadata"].update(labels=LABEL)),
    "annotations of kustomize, kpt and Helm": template(lambda part: part["metadata"]["annotations"].update(TOOL)),
    "memory limits, requests": container(resources={"limits": {"cpu": "500m", "memory": "300Mi"}}),
    "nodeSelector, tolerations, affinity": pod(nodeSelector={"a": "b"}),
    "`scheduling`": configured(scheduling={"metal-qemu-snp": Scheduling({"hardware": "snp"})}),
    "`manifest`: base, keys, SANs, TCB values": configured(
        manifest=ManifestOptions(policies={"web": WorkloadPolicy(("web.example.com",))})
    ),
    "handler of the runtime class": lambda: rendered(
        to=config(
            RELEASE._replace(
                platforms={
                    **RELEASE.platforms,
                    "metal-qemu-snp": RELEASE.platforms["metal-qemu-snp"]._replace(handler=HANDLER),
                }
            )
        )
    ),
    "memory of injected containers": lambda: rendered(to=config(RELEASE._replace(memory=MEMORY))),
}


def rows() -> dict[str, bool]:
    """Row -> whether the page says that it changes the digest."""
    text = PAGE.read_text()
    changes, _, keeps = text.partition("## Changes that do not")
    return dict.fromkeys(table(changes), True) | dict.fromkeys(table(keeps), False)


def table(text: str) -> list[str]:
    return [
        row.strip() for row in re.findall(r"^\| ([^|]+) \| [^|]+ \|$", text, re.MULTILINE) if row.strip() != "change"
    ]


def test_every_row_has_a_trial_and_every_trial_a_row() -> None:
    assert set(rows()) == set(TRIALS)


@pytest.mark.parametrize("row", TRIALS, ids=str)
def test_a_row_says_whether_the_digest_changes(row: str) -> None:
    assert (TRIALS[row]() != rendered()) == rows()[row]
