"""Changed pods through genpolicy and through our generator: the stand-in of tests/genpolicy plays genpolicy.

What the stand-in does not do as genpolicy is documented to, a case does to a copy of our own data.
"""

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.policy.genpolicy_changes import CHANGES
from benchmarks.policy.genpolicy_differences import ROWS
from benchmarks.policy.genpolicy_pods import OBJECTS, Mutant, bases, mutants, plain
from benchmarks.policy.genpolicy_run import MADE_UP, Outcome, compared, from_environment, run_genpolicy
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, KATA, Profile
from krm_function.kubernetes.pod_names import kata_pattern
from krm_function.policy.expansion import PATTERNS
from krm_function.policy.initdata import Initdata, decode_toml, rego_document
from krm_function.policy.made_pod import SANDBOX_NAME
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests import quick_yaml as yaml
from tests.docs.test_citations import ROOT, sections
from tests.genpolicy.conftest import program
from tests.policy import pods

Json = dict[str, Any]
Said = pytest.CaptureFixture[str]
(IMAGE,) = MADE_UP
SEED = 7
BOTH = pytest.mark.parametrize("kind", ["plain", "patched"])


class Always:
    """A random source that takes the first of everything."""

    def choice(self, values: Any) -> Any:
        return values[0]

    def random(self) -> float:
        return 0.0


# --- the runs


@BOTH
def test_pods_are_equal_or_differ_for_a_known_reason_or_are_refused(tmp_path: Path, capsys: Said, kind: str) -> None:
    assert run_genpolicy(program(tmp_path, kind, tells=False), seed=SEED, count=24), capsys.readouterr().out
    said = capsys.readouterr().out
    assert "24 pods, seed 7" in said
    assert f"makes what fits       {'kata-4.1' if kind == 'plain' else 'contrast-1.25'}" in said
    assert re.search("of 24 .*(?:known|equal)", said)
    assert " known" in said
    assert "refused by genpolicy" in said
    assert "Traceback" not in said, "the stand-in lacks something"
    assert "new" not in said


ODD = {
    "a member": "{**make(given), 'more': 1}",
    "a root file system": "edit(make(given))",
}


@pytest.mark.parametrize("name", ODD)
def test_a_difference_without_a_row_fails_and_names_pod_and_field(tmp_path: Path, capsys: Said, name: str) -> None:
    more = "import tests.genpolicy.standin as s; make = s.policy_data; "
    more += "edit = lambda data: (data['containers'][-1]['OCI']['Root'].update(Path='/'), data)[1]; "
    more += f"s.policy_data = lambda given: {ODD[name]}"
    assert not run_genpolicy(program(tmp_path, "plain", tells=False, more=more), seed=SEED, count=6)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  new: ")]
    field = "more" if name == "a member" else "root path"
    assert lines
    assert all(f": {field} " in line for line in lines)
    (first,) = mutants(SEED, 1, [IMAGE])
    assert lines[0].startswith(f"  new: {first.name}: ")


BROKEN = {
    "no registry": ("import sys; sys.exit('error: no route to the registry')", "a simple pod is refused"),
    "settings": ("import sys; sys.exit('Merged settings are invalid: missing field')", "missing field"),
    "a signal": ("import os; os.kill(os.getpid(), 9)", "signal"),
    "no policy": ("import sys; sys.exit(0)", "nothing"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_program_that_does_not_run_has_compared_nothing(tmp_path: Path, capsys: Said, name: str) -> None:
    more, problem = BROKEN[name]
    assert not run_genpolicy(program(tmp_path, "plain", more=more), seed=SEED, count=3)
    said = capsys.readouterr().out
    assert "nothing is compared" in said
    assert problem in said
    assert "benchmarks/policy/README.md" in said


def but_for_the_simplest(other: str) -> str:
    """A line that makes the stand-in do something else with each pod but the one that it is asked about first."""
    simple = "given.object['metadata']['name'] == 'web' and len(given.pod['spec']) == 3"
    line = "import os; import tests.genpolicy.standin as s; make = s.policy_data; "
    return f"{line}s.policy_data = lambda given: make(given) if {simple} else {other}"


def test_a_program_that_refuses_every_pod_but_the_simplest_has_compared_nothing(tmp_path: Path, capsys: Said) -> None:
    more = but_for_the_simplest("1 / 0")
    assert not run_genpolicy(program(tmp_path, "plain", tells=False, more=more), seed=SEED, count=4)
    said = capsys.readouterr().out
    assert "of 4                    4 refused by genpolicy" in said
    assert "one of the two refuses each pod" in said


def test_a_program_that_dies_on_the_way_refuses_nothing_and_fails(tmp_path: Path, capsys: Said) -> None:
    more = but_for_the_simplest("os.kill(os.getpid(), 9)")
    assert not run_genpolicy(program(tmp_path, "plain", tells=False, more=more), seed=SEED, count=4)
    said = capsys.readouterr().out
    assert "nothing is compared" in said
    assert "refused" not in said


def test_no_path_to_a_program_is_an_error(tmp_path: Path, capsys: Said) -> None:
    assert not run_genpolicy(str(tmp_path / "nothing"), seed=SEED, count=1)
    assert "nothing is compared" in capsys.readouterr().out


def test_the_images_of_a_lock_are_those_of_the_pods(tmp_path: Path, capsys: Said) -> None:
    other = pods.pinned("busybox:1.36")
    facts = MADE_UP[IMAGE]
    entry = {"digest": other.partition("@")[2], "config": dict(facts.config), "passwd": "", "group": ""}
    lock = {"apiVersion": "contrast-krm.dev/v1alpha1", "kind": "ImageLock", "metadata": {"name": "images"}}
    path = tmp_path / "images.yaml"
    path.write_text(yaml.safe_dump({**lock, "spec": {"images": {other: entry}}}))
    more = "import tests.genpolicy.standin as s; make = s.policy_data; "
    more += f"s.policy_data = lambda given: make(given) if {other!r} in str(given.pod) else 1 / 0"
    assert run_genpolicy(program(tmp_path, "plain", tells=False, more=more), seed=SEED, count=4, lock=str(path))
    assert "ZeroDivisionError" not in capsys.readouterr().out
    path.write_text(yaml.safe_dump({**lock, "spec": {"images": {"busybox:1.36": entry}}}))
    assert not run_genpolicy(program(tmp_path, "plain", tells=False), seed=SEED, count=4, lock=str(path))
    assert "no image with a digest" in capsys.readouterr().out


def test_it_runs_where_the_environment_names_a_program_and_nowhere_else(tmp_path: Path, capsys: Said) -> None:
    assert from_environment({})
    assert not capsys.readouterr().out
    named = {"GENPOLICY": program(tmp_path, "plain", tells=False), "GENPOLICY_PODS": "2"}
    assert from_environment({**named, "GENPOLICY_SEED": "5"})
    assert "2 pods, seed 5" in capsys.readouterr().out
    assert not from_environment({**named, "GENPOLICY_SEED": "five"})
    assert "are numbers" in capsys.readouterr().out


# --- the pods


def test_a_seed_gives_the_same_pods_and_every_change_and_pod_has_its_turn() -> None:
    found = list(mutants(SEED, 300, [IMAGE]))
    assert found[:50] == list(mutants(SEED, 50, [IMAGE]))
    assert found[0].name != next(mutants(SEED + 1, 1, [IMAGE])).name
    for change in set(CHANGES):
        assert any(f": {change.__name__.strip('_').replace('_', ' ')} of " in one.name for one in found), change
    for base in bases():
        assert any(f" {base.name}: " in one.name for one in found), base.name


@pytest.mark.parametrize("profile", [KATA, CONTRAST], ids=lambda profile: profile.name)
@pytest.mark.parametrize("base", bases(), ids=lambda base: base.name)
def test_every_pod_has_a_policy_before_it_is_changed(base: Any, profile: Profile) -> None:
    subject = pods.of(copy.deepcopy(base.document))
    spec = plain(Always(), subject.pod_spec, [IMAGE])  # type: ignore[arg-type]
    subject.pod_spec.clear()
    subject.pod_spec.update(spec)
    made, findings = seal(subject, MADE_UP, References(base.objects), default_settings(profile), load_rules(profile))
    assert made is not None, findings


# --- the rows


def variables(*pairs: str) -> Json:
    return {"env": [{"name": name, "value": value} for name, _, value in (pair.partition("=") for pair in pairs)]}


def mounted(source: Json, path: str, **mount: Any) -> tuple[Json, Json]:
    return (
        {"volumeMounts": [{"name": "v", "mountPath": path, **mount}]},
        {"volumes": [{"name": "v", **source}]},
    )


Edit = Callable[[Json], object]  # of the container's policy: what genpolicy makes of it


def other_env(old: str, *new: str) -> Edit:
    def edit(entry: Json) -> None:
        env = entry["OCI"]["Process"]["Env"]
        assert old in env, env
        env[env.index(old) : env.index(old) + 1] = new

    return edit


def process(**members: Any) -> Edit:
    return lambda entry: entry["OCI"]["Process"].update(members)


def groups(*numbers: int) -> Edit:
    return lambda entry: entry["OCI"]["Process"]["User"].update(AdditionalGids=list(numbers))


def capabilities(*names: str) -> Edit:
    return process(Capabilities={key: [*names] for key in ("Bounding", "Effective", "Permitted")})


def mount_with(path: str, **members: Any) -> Edit:
    def edit(entry: Json) -> None:
        (found,) = [one for one in entry["OCI"]["Mounts"] if one["destination"] == path]
        before = dict(found)
        found.update({key: value(found[key]) if callable(value) else value for key, value in members.items()})
        assert found != before

    return edit


def announced(entry: Json) -> None:
    """The host may announce GPUs to the container."""
    entry["runtime_anno_patterns"] = ANNOUNCED | entry["runtime_anno_patterns"]


FROM = {"configMapRef": {"name": "changed"}}
ACCOUNT = {"name": "ACCOUNT", "valueFrom": {"fieldRef": {"fieldPath": "spec.serviceAccountName"}}}
CLAIM = "^/run/kata-containers/shared/containers/$(bundle-id)-[a-z0-9]{16}-data$"
DOWN = {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}}
ANNOUNCED = {r"^cdi\.k8s\.io/vfio[0-9]+$": r"^nvidia\.com/gpu=[0-9]+$"}
FILES = {"persistentVolumeClaim": {"claimName": "files"}}
ADD = {"securityContext": {"capabilities": {"drop": ["ALL"], "add": ["net_raw"]}}}
SLASHES = {"securityContext": {"sysctls": [{"name": "net/core/somaxconn", "value": "1"}]}}
DATA = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]
NODE = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
NODE_NAME = f"$(text-pattern)^{PATTERNS['node-name']}$"
TOLD = {"name": "TOLD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['example.com/told']"}}}


def of_node(entry: Json) -> None:
    """A token in place of the form of the node's name, as a variable and as an argument."""
    other_env(f"NODE={NODE_NAME}", "NODE=$(node-name)")(entry)
    assert entry["OCI"]["Process"]["Args"] == ["/entry", "serve", NODE_NAME]
    entry["OCI"]["Process"]["Args"][-1] = "$(node-name)"


def kata_name(entry: Json) -> None:
    entry["OCI"]["Annotations"][SANDBOX_NAME] = f"^{kata_pattern('Deployment', 'web')}$"


# row -> the container, more of the pod spec, and what genpolicy makes otherwise
CASES: dict[str, list[tuple[Json, Json, Edit]]] = {
    "envFrom prefix": [({"envFrom": [{"prefix": "P_", **FROM}]}, {}, other_env("P_COLOUR=red", "COLOUR=red"))],
    "envFrom literal": [
        (
            {"envFrom": [FROM], **variables("FIRST=one")},
            {},
            other_env("REFERS=$(FIRST) and $(SECOND)", "REFERS=one and $(SECOND)"),
        )
    ],
    "values of the running pod": [
        ({"env": [NODE]}, {}, other_env(f"NODE={NODE_NAME}", "NODE=$(node-name)")),
        ({"env": [TOLD]}, {}, other_env("TOLD=", "TOLD=$(todo-annotation)")),
        ({"env": [NODE], "args": ["serve", "$(NODE)"]}, {}, of_node),
    ],
    "service account": [
        ({"env": [ACCOUNT]}, {"serviceAccountName": "robot"}, other_env("ACCOUNT=robot", "ACCOUNT=default"))
    ],
    "the last of two variables": [
        (variables("FIRST=one", "FIRST=two"), {}, other_env("FIRST=two", "FIRST=one", "FIRST=two")),
        ({"envFrom": [FROM], **variables("COLOUR=blue")}, {}, other_env("COLOUR=blue", "COLOUR=red", "COLOUR=blue")),
    ],
    "$(VAR) as the kubelet expands": [
        (
            variables("FIRST=one", "SECOND=$(NOBODY) $(FIRST)"),
            {},
            other_env("SECOND=$(NOBODY) one", "SECOND=$(NOBODY) $(FIRST)"),
        ),
        ({"args": ["$$(FIRST)"], **variables("FIRST=one")}, {}, process(Args=["/entry", "$one"])),
    ],
    "$(VAR) in probes": [
        (
            {"livenessProbe": {"exec": {"command": ["/web", "$(FIRST)"]}}, **variables("FIRST=one")},
            {},
            lambda entry: entry.update(exec_commands=[["/web", "$(FIRST)"]]),
        )
    ],
    "groups as containerd computes them": [({"securityContext": {"runAsGroup": 1000}}, {}, groups(0, 1000))],
    "names of capabilities": [(ADD, {}, capabilities("CAP_net_raw"))],
    "sysctls with slashes": [({}, SLASHES, lambda entry: entry["OCI"]["Linux"]["Sysctl"].update({"net/core/x": "1"}))],
    "claims of a StatefulSet": [
        ({"volumeMounts": [{"name": "data", "mountPath": "/data"}]}, {}, mount_with("/data", source=CLAIM))
    ],
    "escaped paths": [(*mounted(DOWN, "/etc/a.b"), mount_with("/etc/a.b", source=lambda text: text.replace("\\", "")))],
    "paths that end in a slash": [(*mounted(DOWN, "/deep/er/"), mount_with("/deep/er/", source="$(sfprefix)$"))],
    "options of mounts": [
        (*mounted(FILES, "/files", readOnly=True), mount_with("/files", options=["rbind", "rprivate", "rw"]))
    ],
    "names of pods": [({}, {}, kata_name)],
    "GPUs by a variable": [(variables("NVIDIA_VISIBLE_DEVICES=all"), {}, announced)],
}


def judged(container: Json, more: Json, edit: Edit, profile: Profile, kind: str = "Deployment") -> Outcome:
    """Our policy of a pod beside an edited copy of it."""
    spec = {"containers": [{"name": "app", "image": IMAGE, "command": ["/entry"], **container}], **more}
    subject = pods.workload(spec, kind)
    if kind == "StatefulSet":
        subject.object["spec"]["volumeClaimTemplates"] = DATA
    references = References(OBJECTS)
    made, findings = seal(subject, MADE_UP, references, default_settings(profile), load_rules(profile))
    assert made is not None, findings
    data = copy.deepcopy(made.data)
    edit(data["containers"][1])
    theirs = Initdata("0.1.0", "sha256", {"policy.rego": rego_document(load_rules(profile), data)})
    return compared(Mutant("pod", subject, OBJECTS), profile, theirs, decode_toml(made.toml), references)


@pytest.mark.parametrize("profile", [KATA, CONTRAST], ids=lambda profile: profile.name)
@pytest.mark.parametrize("name", CASES)
def test_each_row_knows_its_difference(name: str, profile: Profile) -> None:
    for container, more, edit in CASES[name]:
        kind = "StatefulSet" if "claims" in name else "Deployment"
        found = judged(container, more, edit, profile, kind)
        assert found.kind == "known", found.lines
        assert found.rows == {name}


def test_each_row_is_tested_and_its_reason_stands_in_the_facts() -> None:
    assert [row.name for row in ROWS] == list(CASES)
    for row in ROWS:
        page, _, section = row.facts.partition("#")
        assert section in sections(ROOT / page), row.facts


# the same kinds of differences, in a pod that gives no reason for them
WITHOUT_REASON: dict[str, Edit] = {
    "one variable more": lambda entry: entry["OCI"]["Process"]["Env"].append("FIRST=two"),
    "another value": other_env("FIRST=one", "FIRST=two"),
    "another argument": process(Args=["/entry", "x"]),
    "another user": lambda entry: entry["OCI"]["Process"]["User"].update(UID=1),
    "one capability more": capabilities("CAP_SYS_TIME"),
    "one sysctl more": lambda entry: entry["OCI"]["Linux"]["Sysctl"].update({"net.x": "1"}),
    "another source of a mount": mount_with("/files", source="$(sfprefix)other$"),
    "another place for a claim": mount_with("/files", source=CLAIM),
    "another type of a mount": mount_with("/files", type_="tmpfs"),
    "other options of a runtime's mount": mount_with("/proc", options=["rw"]),
    "a command to run": lambda entry: entry.update(exec_commands=[["/bin/sh"]]),
    "no new privileges": process(NoNewPrivileges=True),
    "GPUs that are announced": announced,
    "a storage": lambda entry: entry.update(storages=[*entry["storages"], {"driver": "blk"}]),
}


@pytest.mark.parametrize("name", WITHOUT_REASON)
def test_the_same_difference_without_its_reason_is_new(name: str) -> None:
    container, more = mounted(FILES, "/files")
    found = judged({**container, **variables("FIRST=one")}, more, WITHOUT_REASON[name], KATA)
    assert found.kind == "new"
    assert not found.rows


def test_groups_are_no_reason_where_the_pod_leaves_nothing_to_derive() -> None:
    assert judged({}, {}, groups(0, 7), KATA).kind == "new"
    # on a Contrast node they come from the image
    assert judged({}, {}, groups(0, 7), CONTRAST).kind == "known"


def test_no_value_of_a_variable_is_told() -> None:
    found = judged(variables("FIRST=one"), {}, other_env("FIRST=one", "FIRST=hunter2"), KATA)
    assert found.lines
    assert "hunter2" not in str(found.lines)


def test_equal_data_are_equal_under_each_profile() -> None:
    for profile in (KATA, CONTRAST):
        assert judged({}, {}, lambda _: None, profile).kind == "equal"
