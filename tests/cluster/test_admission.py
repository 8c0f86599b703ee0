"""What the schedule stage says of a pod and its RuntimeClass is what the API server does when the pod is created."""

from random import Random
from typing import Any

import pytest

from krm_function.findings import Ref
from krm_function.kubernetes.placement import demand
from krm_function.kubernetes.runtime_classes import (
    RuntimeClass,
    merge_node_selector,
    merge_tolerations,
    parse_runtime_class_object,
)
from krm_function.kubernetes.workload import workloads_of
from krm_function.render.classes import schedule
from tests.cluster.api import Answer, Api, Json
from tests.cluster.conftest import Sizes
from tests.cluster.random_objects import AMOUNTS, IMAGE, pod_spec, runtime_class

DRY = "?dryRun=All&fieldValidation=Strict"
REFUSED = {"CC0304", "CC0305"}  # by admission
PLAIN: Json = {"containers": [{"name": "app", "image": IMAGE}]}
PATIENCE = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}


def pod(spec: Json, namespace: str) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": namespace}, "spec": spec}


def parsed(value: Json) -> RuntimeClass:
    found = parse_runtime_class_object(value)
    assert not found.problems
    return found.runtime_class


def refusals(value: Json, cls: RuntimeClass) -> set[str]:
    """The codes with which we refuse a pod of a class."""
    ref = Ref("v1", "Pod", value["metadata"]["namespace"], value["metadata"]["name"])
    return {found.code for found in schedule(workloads_of(value, (), ref)[0], cls).findings} & REFUSED


def overhead(random: Random, cls: RuntimeClass) -> dict[str, Any]:
    """An overhead as a pod may bring it: mostly that of its class, perhaps written otherwise, perhaps changed."""
    same = {
        name: random.choice(next(row for row in AMOUNTS[name] if amount in row))
        for name, amount in cls.overhead.items()
    }
    changed = {name: random.choice(random.choice(rows)) for name, rows in AMOUNTS.items()}
    return random.choice((same, same, {**same, "memory": "1Gi"}, changed))


def test_random_pods_are_admitted_changed_and_refused_as_the_stage_says(api: Api, namespace: str, sizes: Sizes) -> None:
    random = sizes.random("admission")
    verdicts = []
    for number in range(sizes(500, 2500)):
        name = f"random-{number}"
        made = runtime_class(random, name)
        api.create(made).ok()
        cls = parsed(made)
        value = pod(pod_spec(random, name), namespace)
        if random.random() < 0.3 and (own := overhead(random, cls)):
            value["spec"]["overhead"] = own
        answer = api.create(value, DRY)
        verdicts.append(_verdict(value, cls, answer))
        api.delete("RuntimeClass", name)
    assert min(map(verdicts.count, ("admitted", "CC0304", "CC0305"))) > 5  # all three happen


def _verdict(value: Json, cls: RuntimeClass, answer: Answer) -> str:
    """Compare one answer with ours; what happened."""
    codes = refusals(value, cls)
    if answer.code != 201:
        assert answer.code == 403, (answer.message, value, cls)
        assert "pod rejected" in answer.message or "conflict: runtimeClass" in answer.message
        assert codes, (answer.message, value, cls)
        return min(codes)
    assert not codes, (codes, value, cls)
    admitted, wanted = answer.value["spec"], demand("Pod", value["spec"], cls)
    assert admitted.get("nodeSelector", {}) == wanted.node_selector == merge_node_selector(value["spec"], cls)[0]
    own = [one for one in admitted["tolerations"] if one.get("key") not in PATIENCE]
    merged = list(merge_tolerations(value["spec"], cls))
    if own != merged:  # without a selector and tolerations of the class, what others cover is not dropped: all the same
        assert not cls.node_selector, (value, cls)
        assert not cls.tolerations, (value, cls)
        assert own == value["spec"]["tolerations"]
        assert list(merge_tolerations({"tolerations": own}, cls)) == merged
    named = value["spec"].get("overhead") or cls.overhead
    assert admitted.get("overhead", {}).keys() == dict(named).keys()
    return "admitted"


KEY = "node.kubernetes.io/not-ready"
TOLERATIONS = {
    "none": [],
    "of-everything": [{"operator": "Exists"}],
    "of-another-key": [{"key": "gpu", "operator": "Exists"}],
    "the-same": [{"key": KEY, "operator": "Exists", "effect": "NoExecute"}],
    "for-a-while": [{"key": KEY, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
    "another-effect": [{"key": KEY, "operator": "Exists", "effect": "NoSchedule"}],
    "every-effect": [{"key": KEY, "operator": "Exists"}],
    "a-value": [{"key": KEY, "operator": "Equal", "value": "mine", "effect": "NoExecute"}],
    "a-value-of-every-effect": [{"key": KEY, "operator": "Equal", "value": "mine"}],
}


@pytest.mark.parametrize("name", TOLERATIONS)
def test_a_pod_tolerates_nodes_that_are_not_ready_only_where_kubernetes_lets_it(
    api: Api, namespace: str, name: str
) -> None:
    """Truth: whether a toleration of the admitted pod passes the taint not-ready:NoExecute."""
    from krm_function.kubernetes.nodes import Taint, untolerated

    spec = {**PLAIN, "tolerations": TOLERATIONS[name]}
    admitted = api.create(pod(spec, namespace), DRY).ok()["spec"]["tolerations"]
    taints = [Taint(KEY, "", "NoExecute"), Taint("node.kubernetes.io/unreachable", "", "NoExecute")]
    assert untolerated(taints, demand("Pod", spec, None).tolerations) == untolerated(taints, admitted)


@pytest.mark.parametrize("has", [True, False])
def test_an_empty_overhead_of_a_pod_is_refused_where_the_class_has_none(api: Api, namespace: str, has: bool) -> None:
    name = f"overhead-{has}".lower()
    made: Json = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": "kata"}
    if has:
        made["overhead"] = {"podFixed": {"memory": "1Gi"}}
    api.create(made).ok()
    value = pod({**PLAIN, "runtimeClassName": name, "overhead": {}}, namespace)
    answer = api.create(value, DRY)
    api.delete("RuntimeClass", name)
    assert bool(refusals(value, parsed(made))) == (answer.code == 403), answer.message


def test_a_pod_of_a_class_that_is_not_there_is_refused(api: Api, namespace: str) -> None:
    answer = api.create(pod({**PLAIN, "runtimeClassName": "nowhere"}, namespace), DRY)
    assert (answer.code, 'RuntimeClass "nowhere" not found' in answer.message) == (403, True)


PARTS: dict[str, Any] = {
    "nothing": {},
    "memory": {"overhead": {"podFixed": {"memory": "682Mi"}}},
    "overhead-of-nothing": {"overhead": {}},
    "no-domain": {"overhead": {"podFixed": {"disk": "1"}}},
    "negative": {"overhead": {"podFixed": {"memory": "-1"}}},
    "no-quantity": {"overhead": {"podFixed": {"memory": "1 Gi"}}},
    "half-a-device": {"overhead": {"podFixed": {"sev-snp.amd.com/esids": "0.5"}}},
    "a-number": {"overhead": {"podFixed": {"cpu": 1}}},
    "huge-pages": {"overhead": {"podFixed": {"hugepages-2Mi": "4Mi", "memory": "1Gi"}}},
    "huge-pages-cut": {"overhead": {"podFixed": {"hugepages-2Mi": "3Mi", "memory": "1Gi"}}},
    "huge-pages-alone": {"overhead": {"podFixed": {"hugepages-2Mi": "4Mi"}}},
    "requests": {"overhead": {"podFixed": {"requests.example.com/gpu": "1"}}},
    "label-key": {"scheduling": {"nodeSelector": {"a b": "c"}}},
    "label-value": {"scheduling": {"nodeSelector": {"a": "c d"}}},
    "equal-without-key": {"scheduling": {"tolerations": [{"value": "a"}]}},
    "exists-with-value": {"scheduling": {"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}},
    "twice": {"scheduling": {"tolerations": [{"key": "a"}, {"key": "a"}]}},
    "seconds-of-no-schedule": {
        "scheduling": {"tolerations": [{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 3}]}
    },
    "empty-effect": {"scheduling": {"tolerations": [{"key": "a", "operator": "", "effect": ""}]}},
    "no-effect": {"scheduling": {"tolerations": [{"key": "a", "effect": "Never"}]}},
    "no-operator": {"scheduling": {"tolerations": [{"key": "a", "operator": "Like"}]}},
    "handler": {"handler": "Not_A_Label"},
    "name": {"metadata": {"name": "Not_A_Name"}},
}


@pytest.mark.parametrize("part", PARTS)
def test_a_runtime_class_is_valid_where_the_server_says_so(api: Api, part: str) -> None:
    head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "tried"}, "handler": "kata"}
    value = {**head, **PARTS[part]}
    answer = api.create(value, DRY)
    assert (answer.code == 201) == (not parse_runtime_class_object(value).problems), answer.message
