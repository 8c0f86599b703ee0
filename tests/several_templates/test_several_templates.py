"""An object may have any number of pod templates: every command treats each of them as a workload.

The kind is made up: contrast.yaml says where its pods are, in spec.podTemplates.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.hosts.running import EXAMPLES, ROOT, Ran

Json = dict[str, Any]
QUICKSTART = EXAMPLES / "quickstart"
FACTS = QUICKSTART / "config"
HERE = ROOT / "tests/several_templates"
FILES = (FACTS / "release.yaml", FACTS / "images.yaml", HERE / "contrast.yaml")
OPTIONS = tuple(part for file in FILES for part in ("--config", str(file)))
CALL = "import sys; from krm_function.cli.main import main; sys.exit(main())"
KIND = ("--config", str(HERE / "contrast.yaml"))
PLACES = (("spec", "leader"), ("spec", "groups", 0, "template"), ("spec", "groups", 1, "template"))
LOCKED = next(
    name for name in yaml.safe_load((FACTS / "images.yaml").read_text())["spec"]["images"] if "edgelesssys" not in name
)
COORDINATOR = (QUICKSTART / "resources/coordinator.yaml").read_text()


def pod(name: str, indent: int, runtime_class: str = "contrast-cc", image: str = LOCKED) -> str:
    lines = f"""\
metadata:
  labels:
    app: {name}  # a comment that stays
spec:
  runtimeClassName: {runtime_class}
  containers:
    - name: {name}
      image: {image}
      command: ["/bin/{name}"]
      securityContext: {{runAsUser: 1000, runAsGroup: 1000}}
      resources: {{limits: {{memory: 200Mi}}}}
"""
    return "".join(f"{' ' * indent}{line}\n" for line in lines.splitlines())


def fleet(*, metadata: str = "  namespace: shop\n", leader: str = "contrast-cc", image: str = LOCKED) -> str:
    return (
        f"apiVersion: example.com/v1\nkind: Fleet\nmetadata:\n  name: trainer\n{metadata}spec:\n  leader:\n"
        f"{pod('leader', 4, leader)}  groups:\n"
        f"    - template:\n{pod('small', 8)}      replicas: 2\n    - template:\n{pod('large', 8, image=image)}"
    )


def ran(*arguments: str, stdin: str | bytes = b"") -> Ran:
    """One call of the program."""
    done = subprocess.run(
        [sys.executable, "-c", CALL, *arguments],
        cwd=ROOT,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def whole(text: str) -> str:
    """The input: the object and the coordinator."""
    return f"{text}---\n{COORDINATOR}"


def rendered(text: str, *options: str) -> Ran:
    return ran("generate", "-", *OPTIONS, *options, stdin=whole(text))


def value_of(data: bytes) -> Json:
    return next(one for one in yaml.safe_load_all(data) if one["kind"] == "Fleet")


def templates(value: Json) -> Iterator[Json]:
    for place in PLACES:
        found: Any = value
        for part in place:
            found = found[part]
        yield found


@pytest.fixture(name="output", scope="module")
def the_output() -> bytes:
    return rendered(fleet()).ok()


def test_each_template_is_sealed(output: bytes) -> None:
    policies = set()
    for template in templates(value_of(output)):
        spec, notes = template["spec"], template["metadata"]["annotations"]
        assert spec["runtimeClassName"].startswith("contrast-cc-metal-qemu-snp-")
        assert [one["name"] for one in spec["initContainers"]] == ["contrast-initializer"]
        assert [one["name"] for one in spec["volumes"]] == ["contrast-secrets"]
        policies.add(notes["io.katacontainers.config.hypervisor.cc_init_data"])
    assert len(policies) == len(PLACES)
    assert output.count(b"# a comment that stays") == len(PLACES)


def test_the_manifest_has_the_policy_of_each(output: bytes) -> None:
    manifest = next(one for one in yaml.safe_load_all(output) if one["kind"] == "ConfigMap")
    policies = json.loads(manifest["data"]["manifest.json"])["Policies"]
    assert len(policies) == len(PLACES) + 1
    assert [one["Role"] for one in policies.values() if one.get("Role")] == ["coordinator"]


def test_a_second_render_changes_nothing_and_uninject_gives_the_input_back(output: bytes) -> None:
    assert ran("generate", "-", *OPTIONS, stdin=output).ok() == output
    assert ran("uninject", *KIND, stdin=output).ok().decode() == whole(fleet())


def test_the_namespace_of_the_object_is_written_once() -> None:
    text = fleet(metadata="")
    output = rendered(text, "--namespace", "shop").ok()
    assert value_of(output)["metadata"]["namespace"] == "shop"
    record = json.loads(value_of(output)["metadata"]["annotations"]["contrast-krm.dev/original"])
    assert [one[1] for one in record].count("/metadata/namespace") == 1
    assert ran("uninject", *KIND, "--namespace", "shop", stdin=output).ok().decode() == whole(text)


def test_check_without_configuration_refuses_what_it_does_not_know(output: bytes) -> None:
    made = ran("check", "-", stdin=output)
    assert made.code == 1
    templates = "templates: [{path: 'spec.leader'}, {path: 'spec.groups[*].template'}]"
    assert f"podTemplates: [{{group: example.com, kind: Fleet, {templates}}}]" in made.err


@pytest.mark.slow
def test_check_looks_at_each(output: bytes) -> None:
    passed = ran("check", "-", *OPTIONS, stdin=output)
    assert passed.code == 0, passed.err
    assert "checked 4 Contrast workloads" in passed.err + passed.out.decode()
    for name in ("leader", "small", "large"):
        ran_as = f'command: ["/bin/{name}"]'.encode()
        changed = output.replace(ran_as, b'command: ["/bin/evil"]')
        assert changed != output
        found = ran("check", "-", *OPTIONS, stdin=changed)
        assert found.code == 1
        line = changed[: changed.index(b"/bin/evil")].count(b"\n") + 1
        assert "CC1103" in found.err
        assert line > 1


def test_plan_has_a_line_for_each() -> None:
    made = ran("plan", "-", "-o", "json", *OPTIONS, stdin=whole(fleet()))
    rows = [one for one in json.loads(made.ok())["workloads"] if one["kind"] == "Fleet"]
    assert len(rows) == len(PLACES)
    assert len({row["digest"] for row in rows}) == len(PLACES)


def test_lock_sees_the_images_of_each() -> None:
    text = whole(fleet(image="example.com/other@sha256:" + "a" * 64))
    made = ran("lock", "--check", "-o", str(FACTS / "images.yaml"), "-", *OPTIONS, stdin=text)
    assert made.code == 1
    assert "example.com/other" in made.err
    assert ran("lock", "--check", "-o", str(FACTS / "images.yaml"), "-", *OPTIONS, stdin=whole(fleet())).code == 0


def test_an_error_in_one_names_its_line_and_nothing_is_written() -> None:
    text = fleet(image="example.com/web:latest")
    made = rendered(text)
    assert (made.code, made.out) == (1, b"")
    line = whole(text)[: whole(text).index("example.com/web:latest")].count("\n") + 1
    assert f"line {line}" in made.err or f":{line}:" in made.err


def test_a_template_without_a_class_is_left_alone_and_said() -> None:
    output = rendered(fleet(leader="runc")).ok()
    leader, *others = templates(value_of(output))
    assert "initContainers" not in leader["spec"]
    assert all("initContainers" in one["spec"] for one in others)
    made = ran("plan", "-", "-o", "json", *OPTIONS, stdin=whole(fleet(leader="runc")))
    assert len(json.loads(made.ok())["skipped"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("at", ["/spec/leader", "/spec/groups/#1/template"])
@pytest.mark.parametrize("field", ["/spec/containers/@NAME/command", "/spec/runtimeClassName", "/metadata/labels/app"])
def test_a_forged_record_of_one_template_is_refused(output: bytes, at: str, field: str) -> None:
    name = "leader" if "leader" in at else "large"
    value = ["evil"] if "command" in field else "runc"
    _refused(output, ["=", at + field.replace("NAME", name), value])


def test_a_forged_record_of_a_template_that_is_not_sealed_is_refused() -> None:
    output = rendered(fleet(leader="runc")).ok()
    _refused(output, ["=", "/spec/leader/spec/runtimeClassName", "contrast-cc"])
    _refused(output, ["-", "/spec/leader/spec/containers/@leader/command"])
    _refused(output, ["-", "/spec/groups/#1"])


def _refused(output: bytes, forged: list[Any]) -> None:
    """A record with one change more, the last one, is CC0115 to every command that believes records."""
    text = output.decode()
    written = next(line for line in text.splitlines() if "contrast-krm.dev/original" in line and "/spec/groups" in line)
    record = [*json.loads(value_of(output)["metadata"]["annotations"]["contrast-krm.dev/original"]), forged]
    changed = text.replace(written, f"    contrast-krm.dev/original: {json.dumps(json.dumps(record))}")
    assert changed != text
    for command in (("uninject", *KIND), ("generate", "-", *OPTIONS), ("check", "-", *OPTIONS)):
        made = ran(*command, stdin=changed)
        assert made.code == 1
        assert "CC0115" in made.err
