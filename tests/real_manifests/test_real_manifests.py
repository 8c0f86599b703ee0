"""Charts, overlays and a kpt package in the style of public ones: how many of their workloads are sealed.

`expected.yaml` has every workload with its classes and what becomes of it. `sealed`, or the codes of its errors:

| column | configuration | manifests |
|---|---|---|
| kata-4.1 | of a new user, with this policy profile | as users have them |
| first | of a new user | as users have them |
| configured | as the hints advise: spec.policy.externalSources, spec.namespace | as users have them |
| adopted | what `adopt` writes with a yes to each choice | as users have them |
| owned | the same with `--volume-owner` | as users have them |
| reason | | why `configured` still refuses it |
| left | | why `owned` still refuses it |

What `adopted` and `owned` seal is able to write: no pod has CC0844.

With the manifests changed as the hints advise, too, every package is rendered as a whole. `WRITE_GOLDEN=1` writes the
file anew, with one worker (`-n0`).
"""

import os
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from krm_function.kubernetes.kinds import KINDS
from tests.hosts.documents import digests, load
from tests.hosts.running import ROOT, Machine, called, machine
from tests.quick_yaml import safe_dump, safe_load
from tests.real_manifests.classes import CLASSES, RARE, Workload, classes
from tests.real_manifests.packages import CONFIG, HERE, PACKAGES, Copy, Step, copy, render, report_to, unsealed

EXPECTED = HERE / "expected.yaml"
COLUMNS: dict[str, tuple[Step, str | None]] = {
    "kata-4.1": ("first", "kata-4.1"),
    "first": ("first", None),
    "configured": ("configured", None),
    "adopted": ("adopted", None),
    "owned": ("owned", None),
}
OWNER = f"registry.example.com/tools/busybox:1.37@sha256:{'b' * 64}"
TOTAL = 116
SHARE = {"kata-4.1": 105, "first": 96, "configured": 68, "adopted": 35, "owned": 26}  # refused workloads, of TOTAL
MOST_LEFT = 0.2  # of all workloads, and of those with a GPU and without a file system of the host, after `adopt` alone
CHOICES = (
    "externalSources,renameGPUs,leastVCPUs,splitSubPaths,securePV,imageVolumes,memory,hostPathCaches=/var/cache/models"
)
NODE = "a namespace of the node"
BY_CONTRAST = "Contrast refuses a variable whose object is not in its input; "

# Code, words of its message -> why it is refused in spite of the configuration. Contrast refuses all of them itself:
# docs/facts/contrast.md, docs/facts/contrast-node.md. But for hostNetwork, which Kata leaves out: docs/facts/kata.md.
LEFT = {
    ("CC0807", "that the host controls"): "a file system of the host",
    ("CC0808", "is not of volumeMode Block"): "a file system of the host",
    ("CC0604", "is part of an emptyDir"): "subPath of an emptyDir; Contrast refuses every subPath",
    ("CC0643", "VOLUME"): "a VOLUME of the image that no volume covers; Contrast makes no policy for it",
    ("CC0601", "hostPID"): NODE,
    ("CC0601", "hostNetwork"): NODE,
    ("CC0670", "controls"): f"{BY_CONTRAST}this one steers programs",
    ("CC0671", "expands"): f"{BY_CONTRAST}this one is part of a command",
    ("CC0411", "do not offer"): "a GPU by a name that Contrast's nodes do not offer",
}
LEFT_BY_ADOPT = {
    (
        "CC0602",
        "not in the input",
    ): "a variable that steers programs or is part of a command, left closed",
    ("CC0601", "hostPID"): NODE,
    ("CC0601", "hostNetwork"): NODE,
    ("CC0836", "mounts all of it"): "an emptyDir that is mounted by subPath and as a whole",
}
HOST = "a file system of the host"
AFTER_ADOPT = {key: why for key, why in LEFT.items() if why == HOST} | LEFT_BY_ADOPT


@pytest.fixture(scope="module")
def on(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return machine(tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="module")
def as_users_have_them(on: Machine, tmp_path_factory: pytest.TempPathFactory) -> list[Workload]:
    """The workloads of all packages."""
    top = tmp_path_factory.mktemp("packages")
    return [one for name in PACKAGES for one in workloads(unsealed(on, copy(name, "first", top / name)))]


def expected() -> dict[str, dict[str, dict[str, Any]]]:
    """Package -> workload -> column."""
    found: dict[str, dict[str, dict[str, Any]]] = safe_load(EXPECTED.read_text())
    return found


def every() -> list[dict[str, Any]]:
    return [columns for package in expected().values() for columns in package.values()]


def write_expected(value: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """One line per workload and column."""
    lines = ["# Written by test_real_manifests.py with WRITE_GOLDEN=1."]
    for package in PACKAGES:
        lines += [f"{package}:"] if package in value else []
        for workload, columns in value.get(package, {}).items():
            lines.append(f"  {workload}:")
            for key, one in columns.items():
                text = safe_dump(one, default_flow_style=True, width=10**6).splitlines()[0]
                lines.append(f"    {key}: {text}")
    EXPECTED.write_text("\n".join(lines) + "\n")


def workloads(stream: bytes) -> list[Workload]:
    """The Contrast workloads of a stream, without the coordinator."""
    objects = load(stream)
    images = safe_load((CONFIG / "images.yaml").read_text())["spec"]["images"]
    held = frozenset(
        (one["kind"], one["metadata"]["name"])
        for one in objects
        if one["kind"] in {"ConfigMap", "Secret", "PersistentVolumeClaim"}
    )
    found = [Workload(one, images, held) for one in objects if one["kind"] in KINDS]
    return [
        one
        for one in found
        if str(one.pod.get("runtimeClassName", "")).startswith("contrast-cc") and one.name != "StatefulSet/coordinator"
    ]


def adopted(package: Copy, stream: bytes) -> None:
    """Let `adopt` write into the configuration of a package; a second call changes nothing.

    The keys of objects that only the cluster has are those that the package's own configuration names.
    """
    of_package = safe_load((HERE / package.name / "configured.yaml").read_text())
    named = [one for one in of_package.get("policy", {}).get("externalSources", ()) if one.get("keys")]
    keys = [word for one in named for word in ("--keys", f"{one['kind']}/{one['name']}={','.join(one['keys'])}")]
    call = ("adopt", "--config", str(package.config), "--no-lock", "--yes-to", CHOICES, *keys)
    call += ("--volume-owner", OWNER) if package.step == "owned" else ()
    assert called(*call, stdin=stream).code in {0, 1}
    written = (package.config / "contrast.yaml").read_bytes()
    assert called(*call, stdin=stream).code in {0, 1}
    assert (package.config / "contrast.yaml").read_bytes() == written


def in_this_process(package: Copy, stream: bytes) -> dict[str, dict[str, str]]:
    """The errors of a render of the stream."""
    if package.step in {"adopted", "owned"}:
        adopted(package, stream)
    ran = called("generate", "--config", str(package.config), *report_to(package), stdin=stream)
    assert ran.code in {0, 1}, ran.err
    assert "CC0844" not in {one["code"] for one in package.findings()}, "what is sealed is able to write"
    return package.errors()


def reasons(errors: Mapping[str, str], known: Mapping[tuple[str, str], str]) -> list[str]:
    """Why a workload is refused; an error that is not in the table has its own message."""
    return sorted(
        {
            next((why for (of, words), why in known.items() if of == code and words in message), f"{code}: {message}")
            for code, message in errors.items()
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_the_workloads_of_a_package_are_sealed_or_refused_as_expected(on: Machine, tmp_path: Path, name: str) -> None:
    first = copy(name, "first", tmp_path / "tool")
    stream = unsealed(on, first)
    found = {one.name: one for one in workloads(stream)}
    ran = render(on, first)
    assert ran.code != 0, "as it is, no package is rendered"
    assert not ran.out.strip()
    errors = {
        column: in_this_process(copy(name, step, tmp_path / column, profile), stream)
        for column, (step, profile) in COLUMNS.items()
    }
    assert first.errors() == errors["first"], "the tool shows the function what it prints without it"
    nowhere = [one.name for one in found.values() if "no-namespace" in classes(one)]
    said = [one["message"] for one in first.findings() if one["code"] == "CC0210"]
    assert len(said) == bool(nowhere), "one warning for all workloads that name no namespace"
    assert {workload for column in errors.values() for workload in column} <= set(found)
    now = {
        workload: {
            "classes": list(classes(one)),
            **{column: sorted(errors[column].get(workload, ())) or "sealed" for column in COLUMNS},
            **({"reason": reasons(errors["configured"][workload], LEFT)} if workload in errors["configured"] else {}),
            **({"left": reasons(errors["owned"][workload], AFTER_ADOPT)} if workload in errors["owned"] else {}),
        }
        for workload, one in found.items()
    }
    if os.environ.get("WRITE_GOLDEN"):
        write_expected({**expected(), name: now})
    assert now == expected()[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_is_sealed_whole_when_all_advice_is_followed(on: Machine, tmp_path: Path, name: str) -> None:
    package = copy(name, "advised", tmp_path / "advised")
    stream = unsealed(on, package)
    out = render(on, package).ok()
    sealed = digests(out)
    confidential = {one.name for one in workloads(stream)}
    assert {key.replace("/shop/", "/") for key in sealed} == {*confidential, "StatefulSet/coordinator"}
    left_out = [columns for workload, columns in expected()[name].items() if workload not in confidential]
    assert all(HOST in columns["reason"] for columns in left_out), "only these have no way into a VM"
    # what the tool prints without the function, rendered as a stream: the same policies, again the same, and back
    generate = ("generate", "--config", str(package.config))
    rendered = called(*generate, stdin=stream).ok()
    assert digests(rendered) == sealed
    assert called(*generate, stdin=rendered).ok() == rendered
    assert called("uninject", stdin=rendered).ok() == stream
    assert called("check", stdin=out).ok() == b""
    assert called("check", "--config", str(package.config), stdin=out).ok() == b""
    if PACKAGES[name] == "helm":
        fourth = digests(render(on, package, "helm4").ok())
        assert fourth == {**sealed, **{key: fourth[key] for key in fourth if key == "Job/shop/shop-storefront-migrate"}}


def test_each_class_has_five_shapes_and_each_rare_one_a_workload(as_users_have_them: list[Workload]) -> None:
    shapes = defaultdict(set)
    for one in as_users_have_them:
        for name, shape in classes(one).items():
            shapes[name].add(shape)
    assert len({one.name for one in as_users_have_them}) == len(as_users_have_them) == len(every()) == TOTAL
    assert {name: len(shapes[name]) for name in CLASSES if len(shapes[name]) < 5} == {}
    assert {name for name in RARE if not shapes[name]} == set()


def test_the_kubelet_takes_the_users_of_every_workload(as_users_have_them: list[Workload]) -> None:
    refused = []
    for one in as_users_have_them:
        users = {one.user(container).partition(":")[0] for container in one.containers} - {""}
        if "pod-runs-as-non-root" in classes(one) and not all(user.isdecimal() and int(user) for user in users):
            refused.append((one.name, users))
    assert refused == []


def test_this_many_workloads_are_refused() -> None:
    assert {column: sum(one[column] != "sealed" for one in every()) for column in COLUMNS} == SHARE


def test_what_stays_refused_is_a_file_system_of_the_host_or_refused_by_contrast_too() -> None:
    left = Counter(reason for one in every() for reason in one.get("reason", ()))
    assert set(left) == set(LEFT.values())
    assert left[HOST] == 35
    assert sum("reason" in one for one in every()) == SHARE["configured"]


def test_adopt_alone_leaves_a_fifth_and_says_of_which_classes() -> None:
    refused = [one for one in every() if one["owned"] != "sealed"]
    assert {reason for one in refused for reason in one["left"]} == set(AFTER_ADOPT.values())
    assert sum(workload["left"] != [NODE] for workload in refused) <= MOST_LEFT * TOTAL  # no VM has one
    with_gpu = [one for one in every() if "gpu" in one["classes"] and one.get("left") != [HOST]]
    assert len(with_gpu) >= 10
    assert sum(one["owned"] != "sealed" for one in with_gpu) <= MOST_LEFT * len(with_gpu)


def test_what_adopt_writes_seals_no_less_than_what_a_person_writes_by_the_hints() -> None:
    worse = [one for one in every() if one["configured"] == "sealed" and one["adopted"] != "sealed"]
    assert worse == []


def test_the_page_of_limits_has_these_numbers() -> None:
    text = " ".join((ROOT / "docs" / "limits.md").read_text().split())
    total, reasons = len(every()), Counter(reason for one in every() for reason in one.get("reason", ()))
    assert (
        f"We test {total} workloads in the style of public charts and overlays "
        "([tests/real_manifests](../tests/real_manifests/expected.yaml)). With a configuration that follows the hints, "
        f"{total - SHARE['configured']} become confidential and {SHARE['configured']} are refused. "
        f"Of those {SHARE['configured']}, {reasons[HOST]} mount a file system of the host"
    ) in text
    adopted = f"{SHARE['adopted']} are still refused, and {SHARE['owned']} with `--volume-owner`"
    assert f"With the configuration that [`adopt`](how-to/adopt.md) writes, {adopted}" in text
