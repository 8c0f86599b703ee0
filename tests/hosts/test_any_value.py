"""Whatever one value of an input or of an output is replaced by, every command ends in one of its exit codes."""

import json
import os
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from krm_function.text.writer import dump
from tests.custom_resources.kinds import SEALED
from tests.custom_resources.objects import CONTRAST, OPTIONS, stream
from tests.diagnosis.objects import NAME, deployment, manifest, pod, replica_set, status
from tests.hosts.documents import load
from tests.hosts.running import EXAMPLES, Ran, called

NAMES = ("quickstart", "multi-runtime", "gpu", "every-field")
ODD: tuple[Any, ...] = (
    *(None, 0, -1, True, 1.5, float("inf"), 2**70, "", "x", "a/b", "a\nb", "\u2028", "$(X)", '{"a": 1}', "1e999"),
    *("contrast-cc", "contrast-cc-metal-qemu-snp", "@sha256:" + "a" * 64, [], {}, [None], [{}], [[]], {"name": "x"}),
)
ENDS = (0, 1, 2)
UNREADABLE = 3
LOG = Path(__file__).parents[1] / "replay/data/refused.jsonl"
FRESH = Random(os.environ.get("PROPERTY_SEED", "0")).sample(range(1 << 30, 1 << 31), 40)  # noqa: S311 (not for secrets)
SEEDS = [*range(40), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in FRESH)]


def written(values: list[Any]) -> bytes:
    return "".join(f"---\n{dump(value)}" for value in values).encode()


@cache
def read(name: str, part: str) -> bytes:
    """The resources or the configuration of an example, as one stream."""
    return written([v for path in sorted((EXAMPLES / name / part).iterdir()) for v in load(path.read_bytes())])


@cache
def rendered(name: str) -> bytes:
    return called("post-render", "--config", str(EXAMPLES / name / "config"), stdin=read(name, "resources")).ok()


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every value within: the collection that holds it, and its key there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(value, key) for key, _ in pairs] + [place for _, inner in list(pairs) for place in places(inner)]


def changed(random: Random, data: bytes) -> bytes:
    """A stream with one to three values changed, removed or copied; also within JSON in a text."""
    values = load(data)
    for _ in range(random.randrange(1, 4)):
        value = random.choice(values)
        holder, key = random.choice(places(value))
        old = holder[key]
        if isinstance(old, str) and old.startswith(("{", "[")) and random.random() < 0.8:
            inner = json.loads(old)
            part, name = random.choice(places(inner) or [([0], 0)])
            part[name] = random.choice(ODD)
            holder[key] = json.dumps(inner)
        elif random.random() < 0.25:
            del holder[key]
            if not value:
                values.remove(value)
        elif random.random() < 0.2 and isinstance(holder, list):
            holder.append(old)
        else:
            holder[key] = random.choice(ODD)
    return written(values)


def ends_well(ran: Ran) -> bool:
    """Whether a command ended as it says; errors are said, and never as a bug."""
    assert ran.code in ENDS, ran.err
    assert "internal error" not in ran.err
    assert bool(ran.code) == ("error" in ran.err)
    return not ran.code


def ends(*arguments: str, stdin: bytes = b"") -> None:
    """Call a command whose findings are also in its output."""
    ran = called(*arguments, stdin=stdin)
    assert ran.code in (*ENDS, UNREADABLE), ran.err
    assert "internal error" not in ran.err


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_of_an_input(seed: int, tmp_path: Path) -> None:
    random = Random(seed)  # noqa: S311 (the same every time)
    name = NAMES[seed % len(NAMES)]
    data, config = changed(random, read(name, "resources")), read(name, "config")
    (tmp_path / "config.yaml").write_bytes(changed(random, config) if random.random() < 0.3 else config)
    options = ("--config", str(tmp_path / "config.yaml"))
    ends_well(called("check", *options, stdin=data))
    ends_well(called("uninject", stdin=data))
    planned = called("plan", *options, stdin=data)
    done = called("post-render", *options, stdin=data)
    assert done.code == planned.code
    if ends_well(done):
        assert called("post-render", *options, stdin=done.out).ok() == done.out
        assert called("uninject", stdin=done.out).ok() == data
        ends_well(called("check", stdin=done.out))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_of_an_output(seed: int, tmp_path: Path) -> None:
    random = Random(seed)  # noqa: S311 (the same every time)
    name = NAMES[seed % len(NAMES)]
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_bytes(rendered(name))
    after.write_bytes(data := changed(random, rendered(name)))
    options = ("--config", str(EXAMPLES / name / "config"))
    ends_well(called("check", stdin=data))
    ends_well(called("check", *options, stdin=data))
    ends_well(called("check", "--no-weaker", str(before), stdin=data))
    ends_well(called("diff", "--policy", str(before), str(after)))
    ends_well(called("uninject", stdin=data))
    ends_well(called("manifest", stdin=data))
    ends_well(called("post-render", *options, stdin=data))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_of_a_custom_resource(seed: int, tmp_path: Path) -> None:
    random = Random(seed)  # noqa: S311 (the same every time)
    planted = SEALED[seed % len(SEALED)]
    given = stream(planted.value).encode()
    (tmp_path / "config.yaml").write_bytes(CONTRAST.read_bytes())
    options = (*OPTIONS[:4], "--config", str(tmp_path / "config.yaml"))
    data = changed(random, given)
    ends_well(called("plan", "-", *OPTIONS, stdin=data))
    ends_well(called("generate", "-", *OPTIONS, stdin=data))
    ends("assess", "-", stdin=data)
    ends("adopt", "-", *options, "--no-lock", "--yes-to", "externalSources", stdin=data)
    data = changed(random, called("generate", "-", *OPTIONS, stdin=given).ok())
    (tmp_path / "output.yaml").write_bytes(data)
    ends_well(called("check", "-", stdin=data))
    ends_well(called("check", "-", *OPTIONS, stdin=data))
    ends("guard", "--sealed", str(tmp_path / "output.yaml"), *OPTIONS)
    ends("assess", "-", stdin=data)
    for address in planted.sealed:
        ends("policy", "show", address, stdin=data)
        ends("why", address.partition("#")[0], stdin=data)


WAITING = {"waiting": {"web": ["CreateContainerError", '"CreateContainerRequest is blocked by policy: "']}}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_of_the_objects_of_a_cluster_and_the_files_of_a_release(seed: int, tmp_path: Path) -> None:
    random = Random(seed)  # noqa: S311 (the same every time)
    objects = written([status(pod(), WAITING), replica_set(), deployment(), manifest()])
    for address in ("deploy/web", f"pod/{NAME}"):
        ends("why", address, stdin=changed(random, objects))
    (tmp_path / "to.yaml").write_bytes(changed(random, (EXAMPLES / "quickstart/config/release.yaml").read_bytes()))
    config, data = str(EXAMPLES / "quickstart/config"), changed(random, read("quickstart", "resources"))
    ends("upgrade", "--config", config, "--to", str(tmp_path / "to.yaml"), stdin=data)
    ends("release", "import", str(tmp_path / "to.yaml"))
    ends("policy", "replay", "Deployment/shop/web", "--log", str(LOG), stdin=changed(random, objects))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_of_a_configuration_nodes_and_a_statement(seed: int, tmp_path: Path) -> None:
    random = Random(seed)  # noqa: S311 (the same every time)
    name = NAMES[seed % len(NAMES)]
    data, output = read(name, "resources"), rendered(name)
    config, nodes, statement = (tmp_path / part for part in ("config.yaml", "nodes.yaml", "statement.json"))
    options = ("--config", str(config))
    config.write_bytes(read(name, "config"))
    called("generate", *options, "--attest", str(statement), stdin=data)
    statement.write_text(json.dumps(load(changed(random, statement.read_bytes()))[0]))
    ends("check", *options, "--attestation", str(statement), stdin=output)
    nodes.write_bytes(changed(random, (EXAMPLES / "quickstart/nodes.yaml").read_bytes()))
    ends("plan", *options, "--nodes", str(nodes), stdin=data)
    odd = changed(random, read(name, "config"))
    for *words, given in (
        *(
            ("policy", "settings", *options, b""),
            ("release", "show", odd),
            ("release", "runtime-classes", *options, b""),
        ),
        *(("lock", "--check", *options, data), ("explain", "deploy/web", *options, data)),
        ("manifest", "keep", "--in", str(config), output),
        ("keys", "new", "--workload-owner", "-o", str(tmp_path / "key.pem"), "--add-to", str(config), b""),
        ("init", "--files", str(tmp_path), str(tmp_path), b""),
    ):
        config.write_bytes(odd)
        ends(*words, stdin=given)
    ends("manifest", "workloads", stdin=changed(random, output))
    ends("manifest", "keep", "--in", str(config), stdin=changed(random, output))


@pytest.mark.parametrize("spec", [None, [], "x", {"template": []}, {"template": {"spec": None}}], ids=repr)
def test_a_workload_without_a_template_is_told_by_why(spec: Any) -> None:
    owner = {**deployment(), "spec": spec}
    if spec is None:
        del owner["spec"]
    for address in ("deploy/web", f"pod/{NAME}"):
        ends("why", address, stdin=written([status(pod(), WAITING), replica_set(), owner]))
