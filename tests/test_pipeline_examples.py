"""The examples through the pipeline: idempotent, in any order, and the same in every process."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from krm_function.check.pods import check_workload
from krm_function.cli.configuration import from_files
from krm_function.config.collect import Config, collect
from krm_function.config.references import References
from krm_function.hosts.stream import decode_stream, encode_stream
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import EMITTED
from krm_function.render.pipeline import render
from krm_function.render.rendered import Rendered
from krm_function.render.select import select
from tests.world import digests, values

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
WITH_RESOURCES = ("quickstart", "gpu", "multi-runtime", "every-field", "strict", "custom-resources")


@cache
def configuration(name: str) -> Config:
    documents, findings = from_files([str(EXAMPLES / name / "config")])
    config, problems = collect(documents)
    assert (findings, problems) == ((), ())
    assert config is not None
    return config


@cache
def resources(name: str) -> tuple[Resource, ...]:
    files = sorted((EXAMPLES / name / "resources").glob("*.yaml"))
    return tuple(one for file in files for one in decode_stream(file.read_bytes(), file.name).resources)


@cache
def rendered(name: str) -> Rendered:
    made = render(resources(name), configuration(name))
    assert not made.failed
    return made


def as_stream(made: Rendered) -> tuple[Resource, ...]:
    texts = [text if text is None or text.startswith("---") else f"---\n{text}" for text in made.texts]
    return decode_stream(encode_stream(decode_stream(b""), texts, made.added)).resources


@pytest.mark.parametrize("name", WITH_RESOURCES)
def test_an_example_rendered_again_is_the_same(name: str) -> None:
    first = rendered(name)
    once = as_stream(first)
    second = render(once, configuration(name))
    assert not second.failed
    assert second.added == ()
    assert [text for text in second.texts if text is not None] == [one.text for one in once]
    assert second.manifest == first.manifest


@pytest.mark.parametrize("name", WITH_RESOURCES)
def test_the_order_of_an_examples_files_changes_no_digest(name: str) -> None:
    first = rendered(name)
    backwards = render(tuple(reversed(resources(name))), configuration(name))
    assert (digests(backwards), backwards.manifest) == (digests(first), first.manifest)


@pytest.mark.parametrize("name", WITH_RESOURCES)
def test_every_pod_of_an_example_is_what_its_policy_describes(name: str) -> None:
    objects = values(rendered(name))
    workloads = [one for value in objects for one in select(value).workloads]
    assert {one.ref.name for one in workloads} == set(digests(rendered(name)))
    for one in workloads:
        openings = ("CC0691", "CC0695")  # what a controller writes, and what no policy covers
        found = check_workload(one, References(objects)).findings
        assert [each for each in found if one.made_by is None or each.code not in openings] == []


@pytest.mark.parametrize("name", WITH_RESOURCES)
def test_what_an_example_adds_is_marked(name: str) -> None:
    added = rendered(name).added
    assert added
    assert all(dig(one, ("metadata", "annotations", EMITTED)) for one in added)


def test_every_process_writes_the_same_bytes() -> None:
    program = "import sys; from krm_function.cli import main; sys.argv[0] = 'contrast-krm'; sys.exit(main())"
    command = [sys.executable, "-c", program, "generate", "resources", "--config", "config"]
    outputs = [
        subprocess.run(
            command,
            cwd=EXAMPLES / "quickstart",
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "4242")
    ]
    assert outputs[0] == outputs[1] != b""
