"""What can be said of the image without an engine, and that the wheel it installs is whole."""

import json
import re
import tomllib
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines if line.strip()]


def last_stage() -> dict[str, str]:
    found = instructions()
    start = max(at for at, (keyword, _) in enumerate(found) if keyword == "FROM")
    return dict(found[start:])


def test_every_source_of_a_copy_exists_and_is_in_the_context() -> None:
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignore[0] == "*"
    sources = [
        word
        for keyword, rest in instructions()
        if keyword in {"COPY", "ADD"} and "--from=" not in rest
        for word in rest.split()[:-1]
    ]
    assert sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in ignore, source


def test_the_context_holds_what_the_package_is_built_from() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    build = project["tool"]["hatch"]["build"]
    needed = {*build["targets"]["wheel"]["packages"], *(hook["path"] for hook in build["hooks"].values())}
    needed |= {project["project"]["readme"], *project["project"]["license-files"], "pyproject.toml"}
    copies = [rest.split() for keyword, rest in instructions() if keyword == "COPY" and "--from=" not in rest]
    assert needed <= {source for *sources, _ in copies for source in sources}
    assert {place for *sources, place in copies if place not in {*sources, "./"}} == set(), "in the place of the clone"


def test_artifact_hub_finds_what_it_wants_of_an_image() -> None:
    """The labels that its page on container images calls required, and a category of its list."""
    labels = dict(re.findall(r'([\w.-]+(?:/[\w.-]+)?)="([^"]*)"', last_stage()["LABEL"]))
    page = labels["io.artifacthub.package.readme-url"].partition("${REVISION}/")[2]
    assert page.endswith(".md")
    assert (ROOT / page).is_file()
    assert labels["org.opencontainers.image.created"] == "${CREATED}"
    (default,) = [rest.partition("=")[2] for keyword, rest in instructions() if rest.startswith("CREATED=")]
    assert datetime.fromisoformat(default).tzinfo
    assert labels["org.opencontainers.image.description"]
    assert labels["io.artifacthub.package.category"] in {"security", "integration-delivery"}
    assert labels["io.artifacthub.package.license"] == labels["org.opencontainers.image.licenses"]


def test_the_entry_point_is_in_exec_form_and_needs_no_argument() -> None:
    stage = last_stage()
    assert json.loads(stage["ENTRYPOINT"]) == ["/opt/contrast-krm/bin/contrast-krm"]
    assert "CMD" not in stage


def test_the_last_stage_starts_from_nothing_and_runs_nothing() -> None:
    stage = last_stage()
    assert stage["FROM"] == "scratch"
    assert stage["COPY"] == "--from=build /image /"
    assert "RUN" not in stage


def test_the_base_is_a_tag_in_the_file_and_the_same_one_by_digest_in_a_release() -> None:
    text = (ROOT / "Dockerfile").read_text()
    bases = [rest for keyword, rest in instructions() if keyword == "ARG" and rest.startswith("BASE")]
    assert bases == ["BASE=python:3.13-slim", "BASE"]
    release = (ROOT / ".github/workflows/release.yml").read_text()
    assert f"/{bases[0].removeprefix('BASE=')}\n" in release
    assert "'{{.Digest}}'" in release
    assert [rest for keyword, rest in instructions() if keyword == "FROM"] == [
        "scratch AS wheels",
        "${BASE} AS build",
        "scratch",
    ]
    assert not re.search(r"sha256:[0-9a-f]", text)


def test_the_user_is_a_number_and_not_root() -> None:
    user = re.fullmatch(r"(\d+):(\d+)", last_stage()["USER"])
    assert user is not None
    assert user[1] == user[2] == "65534"


def test_no_build_takes_a_library_that_is_not_in_the_lock_file() -> None:
    builds = [
        step for keyword, rest in instructions() if keyword == "RUN" for step in rest.split("&&") if "/pip " in step
    ]
    assert len(builds) == 4
    assert all({"--require-hashes", "--no-index", "--no-deps"} & set(step.split()) for step in builds)
    (fetch,) = [step for step in builds if "--require-hashes" in step]
    assert "--only-binary :all:" in fetch
