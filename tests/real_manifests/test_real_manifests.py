"""Charts, overlays and a kpt package in the style of public ones: how many of their workloads are sealed.

`expected.yaml` has every workload with its classes and what happens to it:

| column | configuration | manifests |
|---|---|---|
| kata-4.1 | of a new user, with this policy profile | as users have them |
| first | of a new user | as users have them |
| configured | as the hints advise: policy.externalSources, namespace | as users have them |

`sealed`, or the codes of its errors. With the manifests changed as the hints advise, too, every package is rendered as a
whole. `WRITE_GOLDEN=1` writes the file anew (one worker, `-n0`).
"""

import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from krm_function.model.kinds import KINDS
from tests.hosts.documents import annotations, digests, load, pod_templates
from tests.hosts.running import Machine, called, machine
from tests.quick_yaml import safe_dump, safe_load
from tests.real_manifests.classes import CLASSES, Workload, classes
from tests.real_manifests.packages import CONFIG, HERE, PACKAGES, Copy, Step, copy, render, report_to, unsealed

EXPECTED = HERE / "expected.yaml"
COLUMNS = ("kata-4.1", "first", "configured")

# What stays refused, and whose refusal it is.
LEFT = {
    "CC0807": "a file system of the host; Contrast refuses it as well (NoSharedFSMount)",
    "CC0808": "a file system of the host; Contrast refuses it as well (NoSharedFSMount)",
}


@pytest.fixture(scope="module")
def on(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return machine(tmp_path_factory.mktemp("machine"))


def expected() -> dict[str, dict[str, dict[str, Any]]]:
    """Package -> workload -> `classes` and the columns."""
    found: dict[str, dict[str, dict[str, Any]]] = safe_load(EXPECTED.read_text())
    return found


def workloads(stream: bytes) -> list[Workload]:
    """The Contrast workloads of a stream, without the coordinator."""
    objects = load(stream)
    images = safe_load((CONFIG / "images.yaml").read_text())["spec"]["images"]
    held = frozenset((one["kind"], one["metadata"]["name"]) for one in objects if one["kind"] in {"ConfigMap", "Secret"})
    found = [Workload(one, images, held) for one in objects if one["kind"] in KINDS]
    return [
        one
        for one in found
        if str(one.pod.get("runtimeClassName", "")).startswith("contrast-cc") and one.name != "StatefulSet/coordinator"
    ]


def in_this_process(package: Copy, stream: bytes) -> dict[str, set[str]]:
    """The errors of a render of the stream, by workload."""
    ran = called("generate", "--config", str(package.config), *report_to(package), stdin=stream)
    assert ran.code in {0, 1}, ran.err
    return package.errors()


def outcome(errors: dict[str, set[str]], workload: str) -> str | list[str]:
    return sorted(errors[workload]) if workload in errors else "sealed"


@pytest.mark.parametrize("name", PACKAGES)
def test_the_workloads_of_a_package_are_sealed_or_refused_as_expected(on: Machine, tmp_path: Path, name: str) -> None:
    first = copy(name, "first", tmp_path / "first")
    stream = unsealed(on, first)
    found = {one.name: one for one in workloads(stream)}
    assert len(found) == len(workloads(stream))
    ran = render(on, first)
    assert ran.code != 0, "as it is, no package is rendered"
    assert not ran.out.strip()
    errors = {"first": first.errors()}
    others: tuple[tuple[str, Step, str | None], ...] = (("kata-4.1", "first", "kata-4.1"), ("configured", "configured", None))
    for column, step, profile in others:
        errors[column] = in_this_process(copy(name, step, tmp_path / column, profile), stream)
    for column, by_name in errors.items():
        assert set(by_name) <= set(found), f"{column}: an error that belongs to no workload"
    now = {
        workload: {
            "classes": list(classes(one)),
            **{column: outcome(errors[column], workload) for column in COLUMNS},
        }
        for workload, one in found.items()
    }
    if os.environ.get("WRITE_GOLDEN"):
        write_expected({**expected(), name: now})
    assert now == expected()[name]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_is_sealed_whole_when_all_advice_is_followed(on: Machine, tmp_path: Path, name: str) -> None:
    package = copy(name, "advised", tmp_path / "advised")
    stream = unsealed(on, package)
    out = render(on, package).ok()
    sealed = digests(out)
    wanted = {one.name for one in workloads(stream)}
    assert {f"{key.split('/')[0]}/{key.split('/')[2]}" for key in sealed} - {"StatefulSet/coordinator"} == wanted
    assert all(key.split("/")[1] == "shop" for key in sealed)
    left_out = {name for name, columns in expected()[name].items() if name not in wanted}
    assert all(set(expected()[name][one]["configured"]) <= set(LEFT) for one in left_out)
    again = ("generate", "--config", str(package.config))
    # what the tool gives, without the function, rendered as a stream: the same, again the same, and back
    rendered = called(*again, stdin=stream).ok()
    assert {key: value for key, value in digests(rendered).items() if key in sealed} == sealed
    assert called(*again, stdin=rendered).ok() == rendered
    assert called("uninject", stdin=rendered).ok() == stream
    assert called("check", stdin=out).ok() == b""
    assert called("check", "--config", str(package.config), stdin=out).ok() == b""
    assert all("contrast-cc" in pod["spec"]["runtimeClassName"] for pod in pod_templates(out).values() if annotations(pod))
    if PACKAGES[name] == "helm":
        fourth = digests(render(on, package, "helm4").ok())
        assert {key: value for key, value in fourth.items() if key in sealed} == sealed
        assert {key.split("/")[2] for key in fourth if key not in sealed} <= {"shop-storefront-migrate"}


def write_expected(value: dict[str, Any]) -> None:
    """One line per workload and column."""
    lines = ["# Written by the tests of test_real_manifests.py with WRITE_GOLDEN=1."]
    for package in PACKAGES:
        lines.append(f"{package}:")
        for workload, columns in value.get(package, {}).items():
            lines.append(f"  {workload}:")
            lines += [f"    {key}: {safe_dump(one, default_flow_style=True, width=10**6).split(chr(10))[0]}" for key, one in columns.items()]
    EXPECTED.write_text("\n".join(lines) + "\n")


def every() -> list[dict[str, Any]]:
    return [columns for package in expected().values() for columns in package.values()]


def test_there_are_sixty_workloads_and_each_class_has_five_shapes(on: Machine, tmp_path: Path) -> None:
    shapes = defaultdict(set)
    count = 0
    for name in PACKAGES:
        for one in workloads(unsealed(on, copy(name, "first", tmp_path / name))):
            count += 1
            for of, shape in classes(one).items():
                shapes[of].add(shape)
    assert count == len(every()) >= 60
    assert {name: len(shapes[name]) for name in CLASSES if len(shapes[name]) < 5} == {}


def test_what_stays_refused_is_a_file_system_of_the_host_or_refused_by_contrast_too() -> None:
    left = Counter(code for one in every() if one["configured"] != "sealed" for code in one["configured"])
    assert set(left) <= set(LEFT), left
