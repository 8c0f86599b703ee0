"""From one release to the next, wave by wave, with pods that restart, roll out and roll back in any order.

The invariant: at each moment each pod that runs has its policy and the measurement of its VM in the manifest that the
coordinator has, and each that is made anew has its class and its handler. Which waves there are, and in which order,
says the plan of `upgrade`; when the last one may begin, `manifest prune --cluster`.
"""

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.contrast.manifest import decode
from krm_function.findings import Ref
from krm_function.operations.live import earlier
from krm_function.operations.upgrade import Places, change_between, waves
from krm_function.render.rendered import Rendered
from tests.stages.test_keep import NEXT, OTHER, PLATFORM, Pod, config_of, deployment_of, pods_of, refused_of
from tests.world import RELEASE, Json, good, values

REFS = {
    name: Ref("apps/v1", kind, "shop", name)
    for kind, name in (("StatefulSet", "coordinator"), ("Deployment", "web"), ("StatefulSet", "db"))
}
PLACES = Places("resources", "--config c", ("c",), "c", "r", "l", "next.yaml", "shop", label="a=b")
OLD, NEW = (release.platforms[PLATFORM].handler for release in (RELEASE, NEXT))


def order() -> list[str]:
    """The waves as the plan has them."""
    change, findings = change_between(RELEASE, NEXT, [(ref, PLATFORM) for ref in REFS.values()], REFS["coordinator"])
    assert findings == []
    return [one.name for one in waves(change, PLACES, ["kubectl"])]


class Walk:
    """A cluster, its coordinator, and who acts on both."""

    def __init__(self, old: Rendered, new: Rendered, pruned: Rendered) -> None:
        self.old, self.new = pods_of(old), pods_of(new)
        self.manifests = {one: decode(made.manifest) for one, made in (("old", old), ("new", new), ("pruned", pruned))}
        self.objects = {
            one: {value["metadata"]["name"]: value for value in values(made) if "template" in value.get("spec", {})}
            for one, made in (("old", old), ("new", new))
        }
        self.active, self.handlers, self.classes = "old", {OLD}, {OLD}
        self.templates = dict(self.old)
        self.running = {name: {pod} for name, pod in self.old.items()}

    def begin(self, wave: str) -> None:
        """What an operator does in a wave."""
        match wave:
            case "runtime":
                self.handlers.add(NEW)
            case "classes":
                self.classes.add(NEW)
            case "manifest":
                self.active = "new"
            case "coordinator":
                self.templates["coordinator"] = self.new["coordinator"]
            case "workloads":
                self.templates = dict(self.new)
            case "prune":
                if not self.left():
                    self.active = "pruned"
            case _:
                assert wave == "render", "files alone"

    def act(self, action: str, name: str) -> None:
        """What happens meanwhile: a pod restarts, a rollout goes one step on, somebody rolls a workload back."""
        match action:
            case "restart":
                self.running[name] = {self.templates[name]}
                self.made(self.templates[name])
            case "surge":
                self.running[name] |= {self.templates[name]}
                self.made(self.templates[name])
            case "back" if self.active != "pruned":
                self.templates[name] = self.old[name]

    def made(self, pod: Pod) -> None:
        """A pod is made only of a class that is there, on a node that has the handler."""
        assert pod.handler in self.classes & self.handlers

    def left(self) -> list[Ref]:
        """What `manifest prune --cluster` finds of the earlier render."""
        old_policies = self.manifests["new"]["Policies"].keys() - self.manifests["pruned"]["Policies"].keys()
        found: list[Any] = []
        for name, template in self.templates.items():
            found.append(self.objects["old" if template == self.old[name] else "new"][name])
            releases = ["old" if pod == self.old[name] else "new" for pod in self.running[name]]
            found += [as_pod(self.objects[release][name]) for release in releases]
        return earlier(found, old_policies, {pod.handler for pod in self.new.values()})

    def refused(self) -> list[Pod]:
        """The pods that the coordinator refuses as soon as they ask."""
        every = {*self.templates.values(), *(pod for pods in self.running.values() for pod in pods)}
        return refused_of(iter(sorted(every)), self.manifests[self.active])


def as_pod(value: Json) -> Json:
    """A pod of a workload, as a cluster has it."""
    template = value["spec"]["template"]
    metadata = {**template["metadata"], "name": f"{value['metadata']['name']}-x", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


@cache
def walk(image: str) -> Walk:
    """The renders of the earlier release and of the next one, made once."""
    old = good(*deployment_of(), to=config_of())
    base = decode(old.manifest)
    resources = deployment_of(image) if image else deployment_of()
    new = good(*resources, to=config_of(NEXT, base, "previous"))
    return Walk(old, new, good(*resources, to=config_of(NEXT, base)))


ACTIONS = st.lists(st.tuples(st.sampled_from(("restart", "surge", "back")), st.sampled_from(sorted(REFS))), max_size=6)


def again(image: str) -> Walk:
    """The same walk from its beginning."""
    of = walk(image)
    made = object.__new__(Walk)
    made.__dict__.update(vars(of))
    made.handlers, made.classes = set(of.handlers), set(of.classes)
    made.templates, made.running = dict(of.templates), {name: set(pods) for name, pods in of.running.items()}
    return made


@settings(max_examples=60)
@given(image=st.sampled_from(["", OTHER]), between=st.lists(ACTIONS, min_size=len(order()), max_size=len(order())))
def test_no_pod_is_refused_whatever_restarts_when(image: str, between: list[list[tuple[str, str]]]) -> None:
    made = again(image)
    for wave, actions in zip(order(), between, strict=True):
        made.begin(wave)
        assert made.refused() == [], wave
        for action, name in actions:
            made.act(action, name)
            assert made.refused() == [], (wave, action, name)
    # whatever has happened: once all is rolled out, the last wave ends it
    made.begin("workloads")
    for name in REFS:
        made.act("restart", name)
    made.begin("prune")
    assert (made.active, made.left(), made.refused()) == ("pruned", [], [])


@pytest.mark.parametrize(
    ("first", "then"),
    [("coordinator", "manifest"), ("workloads", "manifest"), ("coordinator", "classes"), ("workloads", "runtime")],
    ids=lambda name: name,
)
def test_in_another_order_a_pod_is_refused_or_cannot_start(first: str, then: str) -> None:
    """Each two waves the other way round; else the test above could not fail."""
    waves_then = order()
    assert waves_then.index(then) < waves_then.index(first)
    waves_then.remove(first)
    waves_then.insert(waves_then.index(then), first)
    made, wrong = again(""), False
    for wave in waves_then[: waves_then.index(then)]:
        made.begin(wave)
        try:
            for name in REFS:
                made.act("restart", name)
        except AssertionError:
            wrong = True
        wrong = wrong or bool(made.refused())
    assert wrong


def test_pruned_too_early_a_pod_would_be_refused() -> None:
    made = again("")
    for wave in order()[:-1]:
        made.begin(wave)
    assert len(made.left()) == 3, "a pod of each workload"
    made.begin("prune")
    assert made.active == "new"
    made.active = "pruned"
    assert len(made.refused()) == 3
