"""A record in the input is a claim: it is proven or an error, in every command, and nothing is written."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from krm_function.cli.lock_task import needed
from krm_function.config.generate import ManifestOptions, PolicyOptions
from krm_function.kubernetes.workload import EMITTED, ORIGINAL
from krm_function.render.rendered import Rendered
from krm_function.text.writer import dump
from tests.adversary.record_cases import CASES, CLASS, OPEN, OWN, SEALED, Case, marked, plain, rendered
from tests.hosts.hosts import make_kustomize, quickstart, run_kustomize
from tests.hosts.running import EXAMPLES, Machine, called
from tests.world import HANDLERS, a_list, an_object, codes, config, coordinator, good, run, stream, values

# `uninject` knows no release, and nobody deploys what it prints: it takes these records at their word
UNINJECTED = ("another_image", *(f"containers_of_ours {number}:" for number in (0, 1, 3, 6, 7)))
UNINJECTED += tuple(f"beside_names_of_ours {number}:" for number in (0, 2, 3, 5, 6, 8))
UNINJECTED += ("initdata 0:", "initdata 1:", *(f"runtime_classes {number}:" for number in (6, 7, 8)))
UNINJECTED += tuple(f"taken_out_of_the_vm {number}:" for number in (2, 4, 5))  # a class that a render may have given
UNINJECTED += ("another_object 7:", "records_about_records 5:")  # a namespace that a render may have given
HANDLER = HANDLERS["metal-qemu-snp"].encode()
CONFIG = ("--config", str(EXAMPLES / "quickstart" / "config"))
HARMLESS = {name: case for name, case in CASES.items() if case.code == "sealed"}
HOSTILE = {name: case for name, case in CASES.items() if case.code != "sealed"}


def untouched(made: Rendered, *documents: Any) -> bool:
    return made.texts == tuple(one.text for one in stream(*documents)) and not made.added and not made.manifest


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_record_is_an_error_at_its_annotation(name: str) -> None:
    subject = marked(HOSTILE[name])
    documents = (subject,) if subject["kind"] == "List" else (coordinator(), subject)
    made = run(*documents)
    assert HOSTILE[name].code in codes(made)
    found = next(one for one in made.findings if one.code == HOSTILE[name].code)
    assert found.path[-1] == ORIGINAL or found.code == "CC0621"
    assert untouched(made, *documents)


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_record_changes_nothing(name: str) -> None:
    case = HARMLESS[name]
    made = good(coordinator(), marked(case))
    assert [text.count("\n---") for text in map(str, made.texts)] == [0, 0]
    bare = deepcopy(case.subject)
    bare["spec"]["template"]["metadata"].pop("annotations", None)  # what a render wrote
    assert without_records(values(made)) == without_records(values(good(coordinator(), bare)))


def without_records(objects: list[Any]) -> list[Any]:
    for value in objects:
        (value["metadata"].get("annotations") or {}).pop(ORIGINAL, None)
        if not value["metadata"].get("annotations"):
            value["metadata"].pop("annotations", None)
    return objects


@pytest.mark.parametrize("name", [name for name in HOSTILE if not name.startswith(UNINJECTED)])
def test_uninject_prints_nothing(name: str) -> None:
    ran = called("uninject", stdin=dump(marked(HOSTILE[name])).encode())
    assert (ran.code, ran.out) == (1, b"")
    assert "metadata.annotations" in ran.err
    assert ran.err.startswith(f"error {HOSTILE[name].code} ")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in HOSTILE if HOSTILE[name].subject["kind"] != "List"])
def test_in_a_list_it_is_as_well(name: str) -> None:
    document = a_list(coordinator(), marked(HOSTILE[name]), an_object("Job", "job"))
    made = run(document)
    assert HOSTILE[name].code in codes(made)
    found = next(one for one in made.findings if one.code == HOSTILE[name].code)
    assert found.path[:2] == ("items", 1)
    assert untouched(made, document)


@pytest.mark.parametrize("first, at", [("0/spec/replicas", 10), ("/../#0/spec/replicas", 0), ("/#0", 0)])
def test_a_record_of_a_list_reaches_no_other_member(first: str, at: int) -> None:
    members = [an_object(name=f"m{number}", replicas=1) for number in range(11)]
    case = Case("", an_object(name="m1", replicas=1), [["=", first, 0], OWN], "")
    members[1] = marked(case)
    made = run(a_list(coordinator(), *members[1:]))
    assert made.failed == (at == 10)
    assert all(value["spec"].get("replicas", 1) == 1 for value in values(made) if "spec" in value)


def test_lock_asks_no_registry_for_an_image_of_a_record() -> None:
    images = CASES["another_image 0: the image becomes one of theirs"]
    found = needed(stream(coordinator(), marked(images)), config())
    assert found.images == {}
    assert [one.code for one in found.findings] == ["CC0115"]


# --- every command and host


@pytest.mark.parametrize("command", ["generate", "post-render", "fn", "plan", "diff", "check"])
def test_no_command_passes_it(command: str) -> None:
    subject = dump(marked(Case("", plain(), [["-", CLASS], OWN])))
    data = f"{subject}---\n{dump(coordinator())}".encode()
    if command == "fn":
        items = [marked(Case("", plain(), [["-", CLASS], OWN])), coordinator()]
        data = dump({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}).encode()
    paths = ("-",) if command in ("generate", "plan", "diff", "check") else ()
    ran = called(command, *paths, *CONFIG, stdin=data)
    assert ran.code == 1
    assert command == "check" or "CC0115" in ran.err
    if command == "fn":
        assert ran.out.startswith(data.partition(b"results:")[0])
    else:
        assert HANDLER not in ran.out


@pytest.mark.parametrize("command", ["generate", "post-render", "fn"])
def test_without_configuration_it_does_not_pass_either(command: str) -> None:
    value = marked(Case("", plain(), [["-", CLASS], OWN]))
    data = dump(value).encode()
    if command == "fn":
        data = dump({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [value]}).encode()
    ran = called(command, stdin=data)
    assert ran.code == 1
    assert "CC0115" in ran.err
    assert ran.out.startswith(data) == (command == "fn")


@pytest.mark.slow
@pytest.mark.parametrize(
    "records",
    [[["-", CLASS], OWN], [["+", "/spec/template/spec/hostPID", True], OWN], [["=", "/kind", "DaemonSet"]], []],
    ids=["class", "hostPID", "kind", "nothing"],
)
def test_kustomize_fails(krm_machine: Machine, tmp_path: Path, records: list[list[Any]]) -> None:
    shop = quickstart()
    annotation = f"  annotations:\n    {ORIGINAL}: {json.dumps(json.dumps(records))}\n"
    changed = shop.changed(
        "web.yaml",
        "  name: web\n  namespace: shop\n  labels:\n    app: web\n",
        f"  name: web\n  namespace: shop\n{annotation}  labels:\n    app: web\n",
    )
    ran = run_kustomize(krm_machine, make_kustomize(krm_machine, tmp_path / "k", changed))
    assert ran.code != 0
    assert "CC0115" in ran.err
    assert ran.out == b""


def test_an_annotation_of_kustomize_for_all_objects_fails(krm_machine: Machine, tmp_path: Path) -> None:
    extra = f'commonAnnotations:\n  {ORIGINAL}: \'[["-","/spec/template/spec/runtimeClassName"]]\'\n'
    ran = run_kustomize(krm_machine, make_kustomize(krm_machine, tmp_path / "k", quickstart(), extra))
    assert ran.code != 0
    assert "CC0115" in ran.err
    assert ran.out == b""


# --- options


@pytest.mark.parametrize(
    "subject, operation", [(rendered(), "="), (rendered(), "+"), (an_object(annotations={"a": "b"}), "+")]
)
def test_without_an_engine_a_record_brings_no_initdata(subject: Any, operation: str) -> None:
    to = config(policy=PolicyOptions(engine="none"), manifest=ManifestOptions(emit="none"))
    documents = (coordinator(), marked(Case("", subject, [[operation, SEALED[1], OPEN], OWN])))
    made = run(*documents, to=to)
    assert codes(made) == ["CC0115"]
    assert untouched(made, *documents)


def test_the_message_names_the_place_and_no_value() -> None:
    made = run(coordinator(), marked(Case("", plain(), [["+", f"{CLASS.rpartition('/')[0]}/hostname", "CANARY"], OWN])))
    (found,) = (one for one in made.findings if one.severity == "error")
    assert "spec.template.spec.hostname" in found.message
    assert "CANARY" not in found.message + found.hint
    assert EMITTED not in found.message
