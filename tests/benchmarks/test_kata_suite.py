"""Kata's policy cases in both of their forms, out of checkouts that are made up here, on the real engines."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.policy import kata_run
from benchmarks.policy.kata_cases import read_cases
from benchmarks.policy.kata_run import from_environment, run_kata_suite
from benchmarks.policy.kata_suite import read_suite
from benchmarks.policy.request_shapes import SHAPES, normalised
from krm_function.contrast.profiles import KATA
from tests import quick_yaml as yaml
from tests.policy import host, node, pods
from tests.real_tools import needing

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
TESTDATA = "src/tools/genpolicy/tests/policy/testdata"
PINNED = pods.pinned("app:1")
CONTAINER = {"name": "app", "command": ["/web"], "livenessProbe": {"exec": {"command": ["/web", "health"]}}}
IMAGE = {"digest": PINNED.partition("@")[2], "config": pods.IMAGE.config, "passwd": "", "group": ""}


def pod(image: str = PINNED, **more: Any) -> Json:
    spec = {"runtimeClassName": "kata", "containers": [{**CONTAINER, "image": image}], **more}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}


def short(value: Any) -> Any:
    """A request as it is recorded: what has the value that it would have anyway is left out."""
    if isinstance(value, dict):
        made = {key: short(one) for key, one in value.items()}
        return {key: one for key, one in made.items() if one not in (None, "", 0, False, [])}
    return [short(one) for one in value] if isinstance(value, list) else value


def requests() -> dict[str, Json]:
    """What a correct host asks for; as an image is pulled on a node of Contrast, which Kata's rules do not mind."""
    workload = pods.of(pod())
    named = node.KATA._replace(sandbox_id=True)  # the sandbox's container has the sandbox's id
    asking = host.Host(pods.sealed(workload, profile=KATA).rego, "web", on=named)
    made = {name: asking.create(name) for name in ("pause", "app")}
    for one in made.values():
        one["storages"][0]["driver_options"] = []
    made["pause"]["storages"][0]["source"] = "pause"
    return {
        **{name: short(one) for name, one in made.items()},
        "exec": short(asking.execute("app", ["/web", "health"])),
    }


def first(asked: dict[str, Json]) -> list[Json]:
    """The first form: four requests of one agent."""
    other = copy.deepcopy(asked["app"])
    other["OCI"]["Process"]["Args"] = ["/bin/sh"]
    gone = {"container_id": asked["app"]["container_id"]}
    return [
        {"description": "exec before", "allowed": False, "type": "ExecProcess", **asked["exec"]},
        {"description": "sandbox", "allowed": True, "type": "CreateContainer", **asked["pause"]},
        {"description": "other command", "allowed": False, "kind": "CreateContainerRequest", "request": other},
        {"description": "app", "allowed": True, "kind": "CreateContainerRequest", "request": asked["app"]},
        {"description": "exec", "allowed": True, "type": "ExecProcessRequest", **asked["exec"]},
        {"description": "remove", "allowed": True, "type": "RemoveContainer", **gone},
        {"description": "exec after", "allowed": False, "type": "ExecProcess", **asked["exec"]},
        {"description": "log", "allowed": False, "type": "ReadStream", "container_id": "x"},
        {"description": "start", "allowed": True, "type": "StartContainer", "container_id": "x"},
    ]


def second(asked: dict[str, Json]) -> Json:
    """The second form: the same pod, with patches of both kinds and a base of several requests."""
    pause, app = ({"type": "CreateContainer", **asked[name]} for name in ("pause", "app"))
    version = {"OCI": {"Version": "0.0.1"}}
    return {
        "bases": {"app": app, "pod": [pause, app]},
        "cases": [
            {"description": "as it is", "allowed": True, "base": "pod"},
            {
                "description": "other command",
                "allowed": False,
                "base": "app",
                "patch": [{"op": "replace", "path": "/OCI/Process/Args/0", "value": "/bin/sh"}],
            },
            {"description": "hooks", "allowed": False, "base": "app", "patch": {"OCI": {"Hooks": {"Prestart": []}}}},
            {"description": "no terminal", "allowed": True, "base": "app", "patch": {"OCI": {"Hostname": None}}},
            {"description": "the last", "allowed": False, "base": "pod", "patch": [{"op": "remove", "path": "/1/OCI"}]},
            {"description": "no base", "allowed": False, **app, **version},
        ],
    }


class Checkout:
    """A made-up checkout and a lock of its images."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lock = root / "images.yaml"
        spec = {"images": {PINNED: IMAGE}}
        meta = {"apiVersion": "contrast-krm.dev/v1alpha1", "kind": "ImageLock", "metadata": {"name": "images"}}
        self.lock.write_text(yaml.safe_dump({**meta, "spec": spec}))

    def add(self, place: str, cases: Any, *documents: Json, **files: Any) -> None:
        directory = self.root / TESTDATA / place
        directory.mkdir(parents=True)
        (directory / "testcases.json").write_text(json.dumps(cases))
        if documents:
            (directory / "pod.yaml").write_text(yaml.safe_dump_all(documents))
        for name, value in files.items():
            (directory / f"{name}.json").write_text(json.dumps(value))

    def run(self, *, lock: bool = True) -> bool:
        return run_kata_suite(str(self.root), str(self.lock) if lock else "")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.setattr(kata_run, "OUT", tmp_path / "out")
    return Checkout(tmp_path)


@pytest.fixture(scope="module")
def asked() -> dict[str, Json]:
    return requests()


Said = pytest.CaptureFixture[str]


@pytest.mark.parametrize("form", [first, second])
def test_both_forms_are_run_and_give_the_verdicts_of_kata(
    checkout: Checkout, asked: dict[str, Json], capsys: Said, form: Any
) -> None:
    cases = form(asked)
    checkout.add("createcontainer/app", cases, pod())
    assert checkout.run(), capsys.readouterr().out
    said = capsys.readouterr().out.splitlines()
    count = len(cases["cases"] if isinstance(cases, dict) else cases)
    assert said[0].startswith(f"Kata's cases            {count} in 1 directories")
    assert said[1].split(maxsplit=1) == ["kata-4.1", f"{count} equal, 0 different"]
    assert [line.split()[0] for line in said[1:4]] == ["kata-4.1", "contrast-1.25", "strict"]


def test_a_pinned_image_that_is_pulled_is_for_all_profiles_which_may_be_narrower_but_never_wider(
    checkout: Checkout, asked: dict[str, Json], capsys: Said
) -> None:
    cases = second(asked)
    cases["cases"].append(
        {"description": "version", "allowed": False, "base": "app", "patch": {"OCI": {"Version": "0"}}}
    )
    other = [{"op": "replace", "path": "/storages/0/source", "value": f"app@sha256:{'0' * 64}"}]
    cases["cases"].append({"description": "other image", "allowed": True, "base": "app", "patch": other})
    checkout.add("createcontainer/pinned", cases, pod())
    assert checkout.run(), capsys.readouterr().out
    said = capsys.readouterr().out
    assert "kata-4.1              8 equal, 0 different" in said
    for name in ("contrast-1.25", "strict"):
        assert f"narrower: {name}: {TESTDATA}/createcontainer/pinned/testcases.json: 8 other image" in said
        # which version a node of Contrast has is not asked
        assert f"wider: {name}: {TESTDATA}/createcontainer/pinned/testcases.json: 7 version: Kata denies" in said
    assert "wrong: " not in said
    cases["cases"][1]["allowed"] = True
    cases["cases"][0]["allowed"] = False
    checkout.add("createcontainer/wrong", cases, pod())
    assert not checkout.run()
    said = capsys.readouterr().out
    for name in ("kata-4.1", "contrast-1.25", "strict"):
        assert f"wrong: {name}: {TESTDATA}/createcontainer/wrong/testcases.json: 1 as it is: Kata denies" in said


def test_profiles_for_contrast_are_asked_without_the_options_of_a_pull_on_a_node_of_kata(
    checkout: Checkout, asked: dict[str, Json], capsys: Said
) -> None:
    told = copy.deepcopy(asked)
    for name in ("pause", "app"):
        told[name]["storages"][0]["driver_options"] = ['image_guest_pull={"metadata": {}}']
    checkout.add("pulled", first(told)[:7], pod())
    assert checkout.run(), capsys.readouterr().out
    assert capsys.readouterr().out.count("7 equal, 0 different") == 3
    for name in ("pause", "app"):
        told[name]["storages"][0]["driver_options"] = ["other=x"]
    checkout.add("other", first(told)[:7], pod())
    checkout.run()
    assert f"narrower: contrast-1.25: {TESTDATA}/other/testcases.json: 2 sandbox" in capsys.readouterr().out


def test_a_case_that_differs_is_named_with_what_an_empty_state_would_say(
    checkout: Checkout, asked: dict[str, Json], capsys: Said
) -> None:
    cases = first(asked)
    cases[4]["allowed"] = False
    moved = copy.deepcopy(asked["app"])
    moved["OCI"]["Annotations"]["io.kubernetes.cri.sandbox-namespace"] = "other"
    cases.append({"description": "elsewhere", "allowed": True, "type": "CreateContainer", **moved})
    checkout.add("state", cases, {**pod(), "metadata": {"name": "web"}})
    assert not checkout.run()
    said = capsys.readouterr().out
    place = f"wrong: kata-4.1: {TESTDATA}/state/testcases.json"
    assert f"{place}: 5 exec: Kata denies, kata-4.1 allows; to an empty state it denies" in said
    assert f"{place}: 10 elsewhere: Kata allows, kata-4.1 denies; to an empty state it allows" in said
    assert "8 equal, 2 different" in said


UNREADABLE: dict[str, tuple[Any, str]] = {
    "no list": ({"cases": {}}, "no list of cases"),
    "no case": ([], "no case in it"),
    "no verdict": ([{"description": "x", "type": "CreateContainer"}], "1 x: no allowed"),
    "a verdict of another kind": ([{"description": "x", "allowed": "yes", "type": "CreateContainer"}], "no boolean"),
    "an unknown request": ([{"description": "x", "allowed": True, "type": "Dance"}], "unknown type of request Dance"),
    "no type": ([{"description": "x", "allowed": True, "OCI": {}}], "no type"),
    "two types": ([{"allowed": True, "type": "CreateContainer", "kind": "CopyFile"}], "2 types"),
    "a field of another kind": ([{"allowed": True, "type": "CreateContainer", "OCI": [1]}], "OCI is no dict"),
    "an unknown base": ({"bases": {}, "cases": [{"allowed": True, "base": "b"}]}, "unknown base b"),
    "an unknown member": (
        {"bases": {"b": {"type": "CopyFile"}}, "cases": [{"allowed": True, "base": "b", "when": 1}]},
        "unknown member when",
    ),
    "an unknown operation": (
        {"bases": {"b": {"type": "CopyFile"}}, "cases": [{"allowed": True, "base": "b", "patch": [{"op": "dance"}]}]},
        "none of RFC 6902",
    ),
    "a patch that does not apply": (
        {
            "bases": {"b": {"type": "CopyFile"}},
            "cases": [{"allowed": True, "base": "b", "patch": [{"op": "remove", "path": "/path"}]}],
        },
        "does not apply",
    ),
    "a patch of no kind": (
        {"bases": {"b": {"type": "CopyFile"}}, "cases": [{"allowed": True, "base": "b", "patch": "x"}]},
        "neither a list of operations nor an object",
    ),
    "a patch of nothing": ({"cases": [{"allowed": True, "patch": []}]}, "a patch without a base"),
    "an unknown part": ({"bases": {}, "cases": [], "profiles": []}, "unknown member profiles"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_told_by_its_name(checkout: Checkout, capsys: Said, name: str) -> None:
    cases, problem = UNREADABLE[name]
    good = {"description": "good", "allowed": True, "type": "StartContainer"}
    checkout.add("good", [good], pod())
    checkout.add("odd", cases, pod())
    assert not checkout.run()
    said = capsys.readouterr().out
    assert f"not understood: {TESTDATA}/odd: testcases.json: " in said
    assert problem in said
    assert "1 equal, 0 different" in said


def test_files_that_nobody_understands_are_told_by_their_names(checkout: Checkout, capsys: Said) -> None:
    good = [{"description": "good", "allowed": True, "type": "StartContainer"}]
    checkout.add("binary", good, pod())
    (checkout.root / TESTDATA / "binary" / "state.bin").write_bytes(b"\0")
    checkout.add("broken", good, pod())
    (checkout.root / TESTDATA / "broken" / "more.json").write_text("{")
    checkout.add("without-a-pod", good)
    checkout.add("two-pods", good, pod(), pod())
    lost = checkout.root / TESTDATA / "lost"
    lost.mkdir()
    (lost / "pod.yaml").write_text(yaml.safe_dump(pod()))
    assert not checkout.run()
    said = capsys.readouterr().out
    for problem in (
        f"{TESTDATA}/binary: {TESTDATA}/binary/state.bin: neither cases, nor settings, nor resources",
        f"{TESTDATA}/broken: {TESTDATA}/broken/more.json: Expecting",
        f"{TESTDATA}/without-a-pod: no workloads",
        f"{TESTDATA}/two-pods: 2 workloads",
        f"{TESTDATA}/lost: no file of cases",
    ):
        assert f"not understood: {problem}" in said


def test_a_checkout_without_cases_is_an_error(checkout: Checkout, capsys: Said) -> None:
    assert not checkout.run()
    assert "no directory testdata with cases" in capsys.readouterr().out


def test_images_of_which_nothing_is_known_are_named_with_the_command_that_helps(
    checkout: Checkout, asked: dict[str, Json], capsys: Said
) -> None:
    checkout.add("app", first(asked), pod())
    checkout.add("other", first(asked), pod("other:2"))
    assert not checkout.run(lock=False)
    said = capsys.readouterr().out
    assert f"not run: no facts of {PINNED}: 9 cases of {TESTDATA}/app" in said
    assert f"not run: no facts of other:2: 9 cases of {TESTDATA}/other" in said
    assert "equal" not in said
    written = checkout.root / "out" / "pods.yaml"
    assert f"contrast-krm lock {written} -o {checkout.root / 'out' / 'images.yaml'}" in said
    # a lock with these two is what the command makes: it knows the file, and asks for nothing else
    lock = yaml.safe_load(checkout.lock.read_text())
    lock["spec"]["images"][pods.pinned("other:2")] = IMAGE
    checkout.lock.write_text(yaml.safe_dump(lock))
    written.write_text(written.read_text().replace("other:2", pods.pinned("other:2")))
    command = [str(Path(sys.executable).with_name("contrast-krm")), "lock", str(written)]
    command += ["--check", "--prune", "-o", str(checkout.lock)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert checkout.run()  # and a tag is found by the only entry of its name


def test_settings_and_drop_ins_of_a_directory_or_of_one_above_it_count(
    checkout: Checkout, asked: dict[str, Json], capsys: Said
) -> None:
    logs = [{"description": "log", "allowed": True, "type": "ReadStream"}]
    drop_in = [{"op": "replace", "path": "/request_defaults/ReadStreamRequest", "value": True}]
    checkout.add("own", logs, pod(), **{"10-logs": drop_in})
    above = checkout.root / TESTDATA / "above"
    (above / "genpolicy-settings.d").mkdir(parents=True)
    (above / "genpolicy-settings.d" / "10-logs.json").write_text(json.dumps(drop_in))
    (above / "pod.yaml").write_text(yaml.safe_dump(pod()))
    checkout.add("above/one", logs)
    assert checkout.run(), capsys.readouterr().out
    checkout.add("bad", logs, pod(), **{"10-logs": [{"op": "remove", "path": "/nothing"}]})
    assert not checkout.run()
    assert f"no policy: kata-4.1: {TESTDATA}/bad: no policy: settings: operation 1" in capsys.readouterr().out


def test_a_pod_that_our_generator_refuses_is_told(checkout: Checkout, asked: dict[str, Json], capsys: Said) -> None:
    checkout.add("refused", first(asked), pod(hostPID=True))
    assert not checkout.run()
    said = capsys.readouterr().out
    assert "0 equal, 0 different, 9 no policy" in said
    assert f"no policy: kata-4.1: {TESTDATA}/refused: no policy: CC06" in said


def test_members_that_no_request_has_are_dropped_and_told(
    checkout: Checkout, asked: dict[str, Json], capsys: Said
) -> None:
    cases = first(asked)
    cases[1]["OCI"] = {**cases[1]["OCI"], "type": "x"}
    cases[1]["colour"] = "red"
    checkout.add("stray", cases, pod())
    assert checkout.run()
    assert "stray/testcases.json: members that no request has: OCI.type (1), colour (1)" in capsys.readouterr().out


def test_a_request_has_every_field_that_the_host_of_the_policy_tests_sends() -> None:
    for shape, known in (("CreateContainerRequest", host.CREATE), ("ExecProcessRequest", {"process": host.PROCESS})):
        empty: Json = {"process": {}} if "process" in known else {}
        made, dropped = normalised(shape, empty)
        assert {key: made[key] for key in known} == known
        assert not dropped
    made, _ = normalised("CreateContainerRequest", {"OCI": {"Linux": {"Resources": {}}}})
    assert made["OCI"] == {**host.SPEC, "Linux": host.LINUX}
    assert {rule for rule in SHAPES if rule.endswith("Request")} == set(SHAPES)


def test_a_copied_file_is_judged_as_the_agent_digests_it() -> None:
    link, _ = normalised("CopyFileRequest", {"path": "/a", "file_mode": 0o120777, "data": list(b"../x")})
    assert (link["file_type"], link["symlink_target"], "data" in link) == ("Symlink", "../x", False)
    file, _ = normalised("CopyFileRequest", {"path": "/a", "file_mode": 0o100644, "data": [255]})
    assert (file["file_type"], file["symlink_target"]) == ("Regular", None)
    digested, _ = normalised("CopyFileRequest", {"path": "/a", "file_type": "Directory"})
    assert digested["file_type"] == "Directory"


def test_a_patch_leaves_the_base_as_it_is() -> None:
    bases = {"b": {"type": "RemoveContainer", "container_id": "a"}}
    patch = [{"op": "replace", "path": "/container_id", "value": "b"}]
    listed = [{"allowed": True, "base": "b", "patch": one} for one in (patch, {"container_id": None}, [])]
    found = read_cases({"bases": bases, "cases": listed})
    assert [case.requests[0].fields["container_id"] for case in found.cases] == ["b", "", "a"]


def test_without_a_checkout_nothing_is_run(monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    monkeypatch.delenv("KATA", raising=False)
    assert from_environment()
    assert not capsys.readouterr().out


def test_directories_called_testdata_are_found_wherever_they_are(tmp_path: Path) -> None:
    place = tmp_path / "testdata" / "a"
    place.mkdir(parents=True)
    (place / "cases.yaml").write_text(
        yaml.safe_dump({"bases": {}, "cases": [{"allowed": True, "type": "StatsContainer"}]})
    )
    (found,), problems = read_suite(tmp_path)
    assert (found.name, len(found.cases[0][1].cases), problems) == ("testdata/a", 1, [])


@needing("regorus-agent")
def test_the_command_runs_what_the_environment_names(checkout: Checkout, asked: dict[str, Json]) -> None:
    checkout.add("app", first(asked), pod())
    command = [sys.executable, "-m", "benchmarks.policy", "--oracles"]
    named = {"KATA": str(checkout.root), "KATA_IMAGES": str(checkout.lock)}

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if key not in {"KATA", "GENPOLICY"}} | more
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    done = run(**named)
    assert (done.returncode, "9 equal, 0 different" in done.stdout) == (0, True), done.stdout + done.stderr
    done = run(**named, GENPOLICY=str(checkout.root / "none"))
    assert (done.returncode, "nothing is compared" in done.stdout) == (1, True), done.stdout + done.stderr
    done = run()
    assert (done.returncode, "wants KATA=DIR or GENPOLICY=PATH" in done.stderr) == (2, True)
