"""What `check` without a configuration says of roles, names and secrets that workloads share."""

from krm_function.check.check_output import check_output
from krm_function.config.collect import Config
from krm_function.config.generate import Coordinator, SharedSecret, WorkloadPolicy
from krm_function.kubernetes.workload import EMITTED
from tests.adversary.test_identity import LABEL, SECRET, base, told, web
from tests.world import an_object, coordinator, good, stream, values


def warnings(*documents: object, to: Config) -> list[str]:
    made = good(*documents, to=to)
    assert any(EMITTED in (value["metadata"].get("annotations") or {}) for value in values(made))
    output = stream(*values(made))
    assert not [one for one in check_output(output, config=to).findings if one.code == "CC0726"]
    return [one.message for one in check_output(output).findings if one.code == "CC0726"]


def test_nothing_is_said_of_what_is_each_ones_own() -> None:
    assert warnings(coordinator(), web(), an_object("Job", "jobs"), to=told()) == []


def test_a_shared_secret_is_said() -> None:
    shared = SharedSecret("one", ("Deployment/shop/web", "Job/shop/jobs"))
    documents = (coordinator(), web(annotations={SECRET: "one"}), an_object("Job", "jobs", annotations={SECRET: "one"}))
    (said,) = warnings(*documents, to=told(shared_secrets=(shared,)))
    assert said.endswith("have the workload secret one")
    assert "Deployment/shop/web" in said


def test_two_coordinators_are_said() -> None:
    to = told(base=base(coordinator()), coordinator=Coordinator("shop", "StatefulSet", "second"))
    (said,) = warnings(web(), an_object("StatefulSet", "second", labels=LABEL), to=to)
    assert "several coordinators" in said


def test_a_shared_name_is_said() -> None:
    named = {f"{kind}/shop/web": WorkloadPolicy() for kind in ("Deployment", "Job")}
    (said,) = warnings(coordinator(), web(), an_object("Job"), to=told(policies=named))
    assert "2 entries of the manifest have the name web" in said
