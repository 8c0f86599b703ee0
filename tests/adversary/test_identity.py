"""What one author's object may take of another author's: a role, a name, a secret, an entry of the base manifest.

Each row is an object that somebody adds to a deployment that is fine: it is refused at its own place, and the hint has
the line of the configuration that would allow it.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from krm_function.config.collect import Config
from krm_function.config.generate import Coordinator, ManifestOptions, SharedSecret, WorkloadPolicy
from krm_function.contrast.manifest import decode
from krm_function.render.rendered import Rendered
from tests.world import ROLE, an_object, codes, config, coordinator, good, named, run

SECRET = "contrast.edgeless.systems/workload-secret-id"
LABEL = {ROLE: "coordinator"}
WEB_ID = "apps/v1/Deployment/shop/web"
COORDINATOR_ID = "apps/v1/StatefulSet/shop/coordinator"
TCB = {"BootloaderVersion": 4, "TEEVersion": 0, "SNPVersion": 24, "MicrocodeVersion": 219}
HOST = "COORDINATOR_HOST"


def told(**options: Any) -> Config:
    filled: Mapping[str, Any] = {"snp": ({"MinimumTCB": TCB},)}
    return config(manifest=ManifestOptions(**{"reference_values": filled, **options}))


def evil(kind: str = "Deployment", name: str = "evil", namespace: str = "evil", **parts: Any) -> Any:
    return an_object(kind, name, namespace, **parts)


def with_id(chosen: str, kind: str = "Deployment", name: str = "evil") -> Any:
    return evil(kind, name, annotations={SECRET: chosen})


def web(**parts: Any) -> Any:
    return an_object(**parts)


def base(*values: Any, **options: Any) -> dict[str, Any]:
    """The manifest of an earlier release."""
    return decode(good(*values, to=told(**options)).manifest)


def entries(made: Rendered) -> dict[str, Any]:
    """The entries of the manifest by WorkloadSecretID."""
    return {entry["WorkloadSecretID"]: entry for entry in decode(made.manifest)["Policies"].values()}


def custom_base() -> dict[str, Any]:
    """A base with a workload whose id is its own."""
    return base(coordinator(), web(annotations={SECRET: "the shop's"}))


def nameless_base() -> dict[str, Any]:
    """A base of before workloads had ids."""
    made = base(coordinator(), web())
    for entry in made["Policies"].values():
        if entry["SANs"] == ["web"]:
            del entry["WorkloadSecretID"]
    return made


def first() -> dict[str, Any]:
    return base(coordinator(), web())


# what somebody does -> the objects, the configuration, the code, what the hint says
SANS = {"web": WorkloadPolicy(("pay.example.com",))}
ROWS: dict[str, tuple[list[Any], Any, str, str]] = {
    "a later release takes an entry of the base by its id": (
        [with_id(WEB_ID)],
        lambda: told(base=first()),
        "CC0723",
        f"sharedSecrets: [{{id: {WEB_ID}, workloads: [Deployment/evil/evil, Deployment/shop/web]}}]",
    ),
    "a Pod takes the coordinator's entry by its id": (
        [with_id(COORDINATOR_ID, "Pod")],
        lambda: told(base=first()),
        "CC0723",
        "Pod/evil/evil",
    ),
    "a later release takes an entry of the base by an id that somebody chose": (
        [with_id("the shop's", name="web")],
        lambda: told(base=custom_base()),
        "CC0723",
        'sharedSecrets: [{id: "the shop\'s", workloads: [Deployment/evil/web]}]',
    ),
    "a later release takes an entry of the base by its name": (
        [evil(name="web")],
        lambda: told(base=nameless_base()),
        "CC0724",
        "policies: {Deployment/evil/web: {}}",
    ),
    "a later release has the name of an entry of the base": (
        [evil(name="web")],
        lambda: told(base=first()),
        "CC0722",
        "policies: {Deployment/evil/web: {}}",
    ),
    "a later release brings a coordinator": (
        [coordinator("conductor", "evil")],
        lambda: told(base=first()),
        "CC0720",
        "coordinator: {namespace: evil, kind: StatefulSet, name: conductor}",
    ),
    "a namesake gets the names of the configuration": (
        [coordinator(), web(), evil(name="web")],
        lambda: told(policies=SANS),
        "CC0721",
        "Deployment/shop/web",
    ),
    "a namesake of the base gets the names of the configuration": (
        [evil(name="web")],
        lambda: told(policies=SANS, base=first()),
        "CC0721",
        "Deployment/evil/web",
    ),
    "a name of the configuration is the name of an object": (
        [coordinator(), web(), evil(name="pay.example.com")],
        lambda: told(policies=SANS),
        "CC0722",
        "policies: {Deployment/evil/pay.example.com: {}}",
    ),
    "a name below a wildcard of the configuration": (
        [coordinator(), web(), evil(name="pay.example.com")],
        lambda: told(policies={"web": WorkloadPolicy(("*.Example.com",))}),
        "CC0722",
        "",
    ),
    "a namesake that may share the secret and not the name": (
        [with_id("one", name="web")],
        lambda: told(
            base=base(coordinator(), web(annotations={SECRET: "one"})),
            shared_secrets=(SharedSecret("one", ("Deployment/shop/web", "Deployment/evil/web")),),
        ),
        "CC0722",
        "policies: {Deployment/evil/web: {}}",
    ),
    "a name that stands for all names": ([coordinator(), web(), evil(name="*")], told, "CC0722", ""),
    "a namesake in another namespace": (
        [coordinator(), web(), evil(name="web")],
        told,
        "CC0722",
        "policies: {Deployment/shop/web: {}, Deployment/evil/web: {}}",
    ),
    "a namesake of another kind": ([coordinator(), web(), an_object("Job")], told, "CC0722", "Job/shop/web"),
    "the label on a Deployment": (
        [coordinator(), web(), evil(labels=LABEL)],
        told,
        "CC0720",
        "commonLabels",
    ),
    "the label on a Deployment that is the only one": (
        [web(), evil(labels=LABEL)],
        told,
        "CC0720",
        "coordinator: {namespace: evil, kind: Deployment, name: evil}",
    ),
    "the label on a second StatefulSet, in front": (
        [coordinator("conductor", "evil"), coordinator(), web()],
        told,
        "CC0720",
        "commonLabels",
    ),
    "the label on a second StatefulSet, behind": (
        [coordinator(), web(), coordinator("conductor", "evil")],
        told,
        "CC0720",
        "commonLabels",
    ),
    "the label beside a coordinator that the configuration names": (
        [coordinator(), web(), coordinator("conductor", "evil")],
        lambda: told(coordinator=Coordinator("shop", "StatefulSet", "coordinator")),
        "CC0720",
        "remove the label",
    ),
    "commonLabels": ([coordinator(), web(labels=LABEL)], told, "CC0720", "commonLabels"),
    "commonAnnotations": (
        [coordinator(), web(annotations={SECRET: "one"}), an_object("Job", "jobs", annotations={SECRET: "one"})],
        told,
        "CC0723",
        "commonAnnotations",
    ),
    "the id of a workload of this render": ([coordinator(), web(), with_id(WEB_ID)], told, "CC0723", WEB_ID),
    "the id of a workload that is not there": ([coordinator(), with_id(WEB_ID)], told, "CC0723", WEB_ID),
    "the id of a kind that nobody has": (
        [coordinator(), with_id("example.com/v1/Thing/shop/web")],
        told,
        "CC0723",
        "",
    ),
    "the role is taken from the coordinator of the base": (
        [an_object("StatefulSet", "coordinator")],
        lambda: told(base=first()),
        "CC0720",
        "pod-role: coordinator",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_nobody_takes_what_is_anothers(name: str) -> None:
    values, configured, code, hint = ROWS[name]
    made = run(*values, to=configured())
    assert set(codes(made)) - {"CC0604"} == {code}  # a name of * is none of Kubernetes either
    assert made.manifest == b""
    errors = [found for found in made.findings if found.severity == "error"]
    assert any(hint in found.hint for found in errors)
    assert all(found.ref and (found.line or found.ref.kind == "ContrastGenerate") and found.path for found in errors)


def host(made: Rendered, name: str) -> str:
    env = named(made, name).init_containers[0]["env"]
    (value,) = (one["value"] for one in env if one["name"] == HOST)
    return str(value)


# what the configuration allows: the objects, the configuration, the ids of the manifest
def test_a_coordinator_that_is_named_may_be_of_any_kind() -> None:
    named_so = told(coordinator=Coordinator("ops", "Deployment", "conductor"))
    made = good(web(), an_object("Deployment", "conductor", "ops", labels=LABEL), to=named_so)
    assert entries(made)["apps/v1/Deployment/ops/conductor"]["Role"] == "coordinator"
    assert host(made, "web") == "coordinator-ready.ops"
    assert "initContainers" not in named(made, "conductor").pod_spec


def test_a_coordinator_of_another_release_says_where_it_is() -> None:
    elsewhere = base(coordinator(namespace="ops"))
    named_so = told(coordinator=Coordinator("ops", "StatefulSet", "coordinator"), base=elsewhere)
    assert host(good(web(), to=named_so), "web") == "coordinator-ready.ops"


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
def test_a_coordinator_that_nobody_has_is_an_error(kind: str) -> None:
    named_so = told(coordinator=Coordinator("ops", kind, "coordinator"))
    assert codes(run(web(), coordinator(), to=named_so)) == ["CC0720", "CC0720"]
    unlabelled = an_object(kind, "coordinator", "ops")
    assert codes(run(web(), unlabelled, to=named_so)) == ["CC0720", "CC0701"]


def test_a_coordinator_that_moves_is_named() -> None:
    named_so = told(coordinator=Coordinator("ops", "StatefulSet", "conductor"), base=first())
    made = good(web(), coordinator("conductor", "ops"), to=named_so)
    assert host(made, "web") == "coordinator-ready.ops"
    assert {COORDINATOR_ID, "apps/v1/StatefulSet/ops/conductor"} < entries(made).keys()


def test_names_by_full_key_go_to_this_object_alone() -> None:
    key = "Deployment/shop/web"
    to = told(policies={key: SANS["web"], "Deployment/evil/web": WorkloadPolicy()})
    made = entries(good(coordinator(), web(), evil(name="web"), to=to))
    assert made[WEB_ID]["SANs"] == ["web", "pay.example.com"]
    assert made["apps/v1/Deployment/evil/web"]["SANs"] == ["web"]


def test_a_full_key_of_nobody_is_an_error_with_the_nearest() -> None:
    made = run(coordinator(), web(), to=told(policies={"Deployment/shop/wbe": WorkloadPolicy()}))
    assert codes(made) == ["CC0708"]
    assert "Deployment/shop/web" in next(found.hint for found in made.findings if found.code == "CC0708")


def test_a_secret_that_the_configuration_shares_is_shared() -> None:
    shared = SharedSecret("one", ("Deployment/shop/web", "Job/shop/jobs"))
    values = (coordinator(), web(annotations={SECRET: "one"}), an_object("Job", "jobs", annotations={SECRET: "one"}))
    made = good(*values, to=told(shared_secrets=(shared,)))
    ids = [entry["WorkloadSecretID"] for entry in decode(made.manifest)["Policies"].values()]
    assert sorted(ids) == [COORDINATOR_ID, "one", "one"]
    third = an_object("Job", "third", annotations={SECRET: "one"})
    assert codes(run(*values, third, to=told(shared_secrets=(shared,)))) == ["CC0723"]


def test_an_own_id_is_its_own() -> None:
    for chosen in ("mine", WEB_ID, "shop/db"):
        assert chosen in entries(good(coordinator(), web(annotations={SECRET: chosen}), to=told()))


def test_an_own_id_of_the_base_needs_a_line_of_the_configuration() -> None:
    values = (coordinator(), web(annotations={SECRET: "the shop's"}))
    shared = SharedSecret("the shop's", ("Deployment/shop/web",))
    made = good(*values, to=told(base=custom_base(), shared_secrets=(shared,)))
    assert entries(made).keys() == {COORDINATOR_ID, "the shop's"}


def test_another_release_keeps_the_entry_that_shares_a_secret() -> None:
    shared = SharedSecret("one", ("Deployment/shop/web", "Deployment/shop/other"))
    before = base(coordinator(), web(annotations={SECRET: "one"}), shared_secrets=(shared,))
    made = good(an_object(name="other", annotations={SECRET: "one"}), to=told(base=before, shared_secrets=(shared,)))
    names = sorted(entry["SANs"] for entry in decode(made.manifest)["Policies"].values())
    assert names == [["coordinator"], ["other"], ["web"]]


@pytest.mark.parametrize("shared", [("zzz", "Deployment/shop/web"), ("one", "Deployment/shop/wbe")])
def test_a_shared_secret_that_nothing_has_is_an_error(shared: tuple[str, str]) -> None:
    to = told(shared_secrets=(SharedSecret(shared[0], (shared[1],)),))
    assert set(codes(run(coordinator(), web(), to=to))) == {"CC0725"}


def test_a_digest_of_the_base_that_is_anothers_is_not_taken() -> None:
    before = first()
    for entry in before["Policies"].values():
        if entry["SANs"] == ["web"]:
            entry.update(SANs=["till"], WorkloadSecretID="apps/v1/Deployment/shop/till")
    made = run(coordinator(), web(), to=told(base=before))
    assert (codes(made), made.manifest) == (["CC0724"], b"")


def test_what_is_the_same_object_replaces_its_entry_with_its_names() -> None:
    before = base(coordinator(), web(), policies=SANS)
    changed = web(annotations={"a": "b"})
    made = entries(good(changed, to=told(base=before)))
    assert made[WEB_ID]["SANs"] == ["web", "pay.example.com"]
    assert made.keys() == {WEB_ID, COORDINATOR_ID}


def test_the_plan_names_what_changes_against_the_base() -> None:
    shared = SharedSecret("one", ("Deployment/shop/web", "Job/shop/jobs"))
    values = (web(annotations={SECRET: "one"}), an_object("Job", "jobs", annotations={SECRET: "one"}))
    made = good(*values, to=told(base=first(), shared_secrets=(shared,), policies=SANS))
    said = {one.ref.name: " ".join(one.notes) for one in made.plan}
    assert "pay.example.com" in said["web"]
    assert "Job/shop/jobs" in said["web"]
    assert WEB_ID in said["web"]
    assert "Deployment/shop/web" in said["jobs"]
