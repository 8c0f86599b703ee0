"""A change of a role, a name or a secret shows where changes are reviewed: in `diff` and in `check --no-weaker`."""

from pathlib import Path
from typing import Any

from krm_function.cli.inputs import read_rendered_output
from krm_function.cli.sealed_policies import weaker_findings
from krm_function.config.collect import Config
from krm_function.config.generate import SharedSecret
from krm_function.report.diff import identity_text
from krm_function.text.writer import dump
from tests.adversary.test_identity import SANS, SECRET, first, told, web
from tests.world import an_object, coordinator, good, values


def written(file: Path, *documents: Any, to: Config) -> str:
    file.write_text("".join(f"---\n{dump(value)}" for value in values(good(*documents, to=to))))
    return str(file)


def test_diff_names_what_the_base_does_not_give() -> None:
    shared = SharedSecret("one", ("Deployment/shop/web",))
    to = told(base=first(), policies=SANS, shared_secrets=(shared,))
    text = identity_text(good(web(annotations={SECRET: "one"}), an_object("Job", "jobs"), to=to))
    assert "# new names in its certificate: pay.example.com\n" in text
    assert "# workload secret one instead of apps/v1/Deployment/shop/web\n" in text
    assert "# new in the manifest: names jobs; workload secret batch/v1/Job/shop/jobs\n" in text


def test_diff_says_nothing_of_identities_that_stay() -> None:
    assert identity_text(good(coordinator(), web(), to=told())) == ""
    assert identity_text(good(web(), to=told(base=first()))) == ""


def test_no_weaker_finds_a_name_and_a_shared_secret(tmp_path: Path) -> None:
    old = written(tmp_path / "old.yaml", coordinator(), web(), an_object("Job", "jobs"), to=told())
    shared = SharedSecret("one", ("Deployment/shop/web", "Job/shop/jobs"))
    notes = {SECRET: "one"}
    new = written(
        tmp_path / "new.yaml",
        *(coordinator(), web(annotations=notes), an_object("Job", "jobs", annotations=notes)),
        to=told(shared_secrets=(shared,), policies=SANS),
    )
    found = weaker_findings(old, read_rendered_output([new]))
    assert {one.code for one in found} == {"CC0617"}
    said = " ".join(one.message for one in found)
    assert "name added pay.example.com" in said
    assert "workload secret added Job/shop/jobs" in said
    assert weaker_findings(old, read_rendered_output([old])) == ()
